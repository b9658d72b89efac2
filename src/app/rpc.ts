/** `--mode rpc`: a session behind stdin and stdout, from the first byte to the exit code. */
import { RecordReader } from "../lib/jsonl.ts";
import { Dialogs } from "../rpc/extension-ui.ts";
import { handlers } from "../rpc/handlers/index.ts";
import { HostTools } from "../rpc/host-tools.ts";
import { Server } from "../rpc/server.ts";
import { FrameWriter, type OutputStream } from "../rpc/stdio.ts";
import { EventWriter, type UpdateMode } from "../rpc/updates.ts";
import type { Options } from "./args.ts";
import { assemble } from "./assemble.ts";
import { userDirectory } from "./directories.ts";
import { loadSettings } from "./settings.ts";
import { builtInNames, toolNames } from "./toolbox.ts";

const maxLineBytes = 32 * 1024 * 1024;
/** How the family spells yes in a variable. */
const isTruthy = (value: string | undefined) => /^(1|true|yes|on)$/i.test(value ?? "");

/** How long a host may read nothing before we stop waiting for it at the end. */
const flushPatienceMs = 2000;

export async function runRpc(options: Options, stdout: OutputStream, warn: (text: string) => void): Promise<void> {
	const { env } = process;
	const cwd = process.cwd();
	const directory = await userDirectory(env);
	const settings = await loadSettings({
		userDirectory: directory,
		cwd,
		isHermetic: options.hermetic ?? false,
		approve: options["no-approve"] ? false : options.approve,
		config: options.config,
		assignments: options.set ?? [],
		environment: env.BOWLINE_SETTINGS,
		isRpc: true,
	});
	settings.warnings.forEach(warn);
	if (options.dialect && options.dialect !== "classic") warn(`Dialect ${options.dialect} is still to come; classic is spoken.`);
	const unknownTools = toolNames(options)?.filter((name) => !builtInNames.includes(name)) ?? [];
	if (unknownTools.length) warn(`--tools: there is no tool ${unknownTools.join(", ")}. There are ${builtInNames.join(", ")}.`);

	const writer = new FrameWriter(stdout, () => void end(1));
	if (!options["no-ready"]) writer.write('{"type":"ready"}');
	const events = new EventWriter(writer, (options.updates as UpdateMode | undefined) ?? "full", () => performance.now());
	const hostTools = new HostTools({ send: events.send, takenNames: async () => builtInNames, now: Date.now });
	const dialogs = new Dialogs({ send: events.send, emitsTitle: isTruthy(env.PI_RPC_EMIT_TITLE), now: Date.now });
	const { session, retry, compaction, bash, catalogue, slashCommands, starting, close } = assemble({
		options,
		settings,
		cwd,
		userDirectory: directory,
		environment: env,
		flow: writer,
		hostTools: () => hostTools.tools,
		warn,
	});
	session.observe(events.write);

	const { stdin } = process;
	const server = new Server({
		handlers: handlers({ session, retry, compaction, bash, catalogue, hostTools, events, slashCommands }),
		writer,
		onControl: (frame) => (frame.type === "extension_ui_response" ? dialogs.receive(frame) : hostTools.receive(frame)),
		pauseInput: (paused) => void (paused ? stdin.pause() : stdin.resume()),
	});
	if (starting) server.hold(starting);
	const reader = new RecordReader(
		{ record: (line) => server.receive(line), tooLong: (limit) => server.receiveTooLong(limit) },
		Number(env.BOWLINE_MAX_LINE_BYTES) || maxLineBytes,
	);

	let isEnding = false;
	/** Children are killed first; whatever happens, the process ends. */
	const end = async (code: number, before: () => Promise<unknown> = async () => undefined) => {
		if (isEnding) return;
		isEnding = true;
		try {
			await Promise.all([close(), before()]);
		} catch (error) {
			console.error("bowline: could not end cleanly:", error);
		}
		process.exit(code);
	};
	const finish = async () => {
		// Nobody answers any more.
		hostTools.close();
		dialogs.close();
		const answered = Promise.all([session.abort(), server.finish()]).then(async () => {
			await session.close();
			events.flush();
			return writer.drained();
		});
		await Promise.race([answered, writer.stuck(flushPatienceMs)]);
	};

	stdin.on("data", (chunk: Buffer) => reader.push(chunk));
	stdin.on("end", () => {
		reader.end();
		void end(0, finish);
	});
	stdin.on("error", () => void end(0, finish));
	process.on("SIGTERM", () => void end(143));
	process.on("SIGHUP", () => void end(129));
	// Ctrl+C reaches the whole foreground group; the host answers it with abort.
	process.on("SIGINT", () => undefined);
	process.on("uncaughtException", (error) => console.error("bowline: unexpected error:", error));
	process.on("unhandledRejection", (error) => console.error("bowline: unexpected rejection:", error));
}
