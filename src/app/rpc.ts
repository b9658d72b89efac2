/** `--mode rpc`: a session behind stdin and stdout, from the first byte to the exit code. */
import { join, resolve } from "node:path";
import { RecordReader } from "../lib/jsonl.ts";
import { handlers } from "../rpc/handlers/index.ts";
import { Server } from "../rpc/server.ts";
import { FrameWriter, type OutputStream } from "../rpc/stdio.ts";
import { EventWriter, type UpdateMode } from "../rpc/updates.ts";
import type { Options } from "./args.ts";
import { assemble } from "./assemble.ts";
import { loadSettings } from "./settings.ts";
import { builtInNames, toolNames } from "./toolbox.ts";

const maxLineBytes = 32 * 1024 * 1024;
/** How long a host may read nothing before we stop waiting for it at the end. */
const flushPatienceMs = 2000;

export async function runRpc(options: Options, stdout: OutputStream, warn: (text: string) => void): Promise<void> {
	const { env } = process;
	const cwd = process.cwd();
	const userDirectory = resolve(env.BOWLINE_DIR || join(env.HOME || (await import("node:os")).homedir(), ".bowline"));
	const settings = await loadSettings({
		userDirectory,
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
	const { session, retry, bash, catalogue, starting, close } = assemble({
		options,
		settings,
		cwd,
		userDirectory,
		environment: env,
		flow: writer,
		warn,
	});
	const events = new EventWriter(writer, (options.updates as UpdateMode | undefined) ?? "full", () => performance.now());
	session.observe(events.write);

	const { stdin } = process;
	const server = new Server({
		handlers: handlers({ session, retry, bash, catalogue }),
		writer,
		onControl: () => undefined,
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
