/** A session behind lines of JSON, from the first byte to the exit code. Knows no process: who it serves is the host's business. */
import type { Hooks } from "../agent/contracts.ts";
import { deferred } from "../lib/deferred.ts";
import { RecordReader } from "../lib/jsonl.ts";
import { sleep } from "../lib/sleep.ts";
import { type Options, refuseUnknown, type UnknownFlag, unexpectedText } from "../live/arguments.ts";
import type { Subagent } from "../live/as-subagent.ts";
import { assemble } from "../live/assemble.ts";
import { loadBudget } from "../live/budget.ts";
import { handlers } from "../live/commands/index.ts";
import { mayHaveExtensions } from "../live/extension-places.ts";
import type { Extensions } from "../live/extensions.ts";
import { builtInNames, warnOfUnknownTools } from "../live/tool-names.ts";
import { surroundings } from "../live/workspace.ts";
import { classic, loadDialect } from "./dialects/classic.ts";
import { EventWriter, type UpdateMode } from "./event-writer.ts";
import { Dialogs } from "./extension-ui.ts";
import { HostTools } from "./host-tools.ts";
import { Server } from "./server.ts";
import { FrameWriter, type OutputStream } from "./stdio.ts";

const maxLineBytes = 32 * 1024 * 1024;
/** How the family spells yes in a variable. */
const isTruthy = (value: string | undefined) => /^(1|true|yes|on)$/i.test(value ?? "");

/** How long a host may read nothing before we stop waiting for it at the end. */
const flushPatienceMs = 2000;

/** How long extensions may still load when the host has gone. */
const loadPatienceMs = 1000;
/** How long hooks may take when a signal ends the process. */
const lastWordMs = 700;

/** What a session is served with: the pipes of a process, or a program that has it inside. */
export interface Host {
	cwd: string;
	env: NodeJS.ProcessEnv;
	output: OutputStream;
	warn: (text: string) => void;
	/** Asks to send nothing for a while, or to go on. */
	pauseInput: (paused: boolean) => void;
	/** Everything is over. */
	exit: (code: number) => void;
	/** Calls back when everything is over, whatever ended it. */
	atExit: (then: () => void) => void;
	/** Set when we were sent by another process of ours. */
	subagent?: Subagent;
}

export interface Service {
	/** Takes bytes; its end is the end of the session. */
	input: Pick<RecordReader, "push" | "end">;
	/** Ends at once: kills what runs, and answers nobody. */
	kill: (code: number) => void;
}

export async function serve(
	{ cwd, env, output, warn, pauseInput, exit, atExit, subagent }: Host,
	options: Options,
	unknown: UnknownFlag[],
): Promise<Service> {
	const { userDirectory, settings } = await surroundings(options, true, cwd, env, subagent?.settings);
	settings.warnings.forEach(warn);
	warnOfUnknownTools(options, warn);

	const input = { options, settings, cwd, userDirectory };
	const mayExtend = mayHaveExtensions(input);
	// A subagent may work where an extension of its sender is missing; the extension's flags then mean nothing.
	const refuse = (unregistered: UnknownFlag[]) => (subagent ? undefined : refuseUnknown(unregistered, warn));
	if (!mayExtend) refuse(unknown);
	const loading = mayExtend ? import("../live/extensions.ts").then(({ Extensions }) => Extensions.load(input, warn)) : undefined;
	let extensions: Extensions | undefined;
	// Flags are wrong or right before anything is announced.
	const flags = unknown.length ? (await loading)?.setFlags(unknown) : undefined;
	if (flags) refuse(flags.unknown);
	if (flags?.strays[0]) throw new Error(unexpectedText(flags.strays[0].following as string));

	const budget = await loadBudget(settings, warn, subagent?.inheritance.budget);
	const writer = new FrameWriter(output, () => void end(1));
	const dialect = options.dialect === undefined ? classic : await loadDialect(options.dialect, { writer, tell: (frame) => events.tell(frame) });
	if (dialect.ready && !options["no-ready"]) writer.write(dialect.ready);
	const updates = (options.updates as UpdateMode | undefined) ?? dialect.updates;
	const events: EventWriter = new EventWriter(writer, updates, () => performance.now(), dialect.frames);
	const hooks: Hooks = {};
	const hostTools = new HostTools({ send: events.send, takenNames: async () => [...builtInNames, ...(extensions?.toolNames ?? [])], now: Date.now });
	const dialogs = new Dialogs({ send: events.send, emitsTitle: dialect.emitsTitle ?? isTruthy(env.PI_RPC_EMIT_TITLE), now: Date.now });
	// Nobody is there who could be asked.
	if (subagent) dialogs.close();
	const assembly = assemble({
		options,
		unknown,
		settings,
		cwd,
		userDirectory,
		environment: env,
		flow: writer,
		hostTools: () => hostTools.tools,
		hooks,
		budget,
		dialect,
		warn,
		atExit,
		subagent,
	});
	const { session, models, prompting, close } = assembly;
	// Whatever ends it, save a kill: nobody finds a lock of ours.
	atExit(() => session.transcript.close());
	if (loading) session.observe((event) => extensions?.hear(event));
	session.observe(events.write);

	const slashCommands = async () => [...(extensions?.commands() ?? []), ...(await prompting.commands())];
	const table = handlers({ ...assembly, catalogue: models, hostTools, events, hooks, slashCommands, cwd, dialect });
	const server = new Server({
		handlers: table,
		writer,
		dialect,
		long: { get_messages: () => ({ member: "messages", ...session.messagesJson }) },
		onControl: (frame) => (frame.type === "extension_ui_response" ? dialogs.receive(frame) : hostTools.receive(frame)),
		pauseInput,
	});
	/** An extension that hangs must not hold the end. */
	const leaving = deferred();
	const startExtensions = (loaded: Extensions) => {
		extensions = loaded;
		return loaded.start({
			...assembly,
			settings,
			handlers: table,
			server,
			events,
			hooks,
			hostTools,
			ui: dialogs,
			hasUI: true,
			cwd,
			shutdown,
			leaving: leaving.promise,
			now: Date.now,
		});
	};
	if (loading) {
		const started = loading.then(startExtensions).catch((error) => console.error("bowline: extensions could not be started:", error));
		server.hold(Promise.race([started, leaving.promise]));
	} else {
		const choosing = assembly.chooseModel();
		if (choosing) server.hold(choosing);
	}
	if (dialect.greet) void server.inTurn(async () => dialect.greet?.({ session, slashCommands }));
	const reader = new RecordReader(
		{ record: (line) => server.receive(line), tooLong: (limit) => server.receiveTooLong(limit) },
		Number(env.BOWLINE_MAX_LINE_BYTES) || maxLineBytes,
	);

	let isEnding = false;
	/** Children are killed first; whatever happens, it ends. */
	const end = async (code: number, before = lastWord) => {
		if (isEnding) return;
		isEnding = true;
		// Nobody answers any more; before anything is aborted, so that calls end with the reason.
		hostTools.close();
		dialogs.close();
		try {
			const closed = close();
			await Promise.all([closed, before(closed)]);
		} catch (error) {
			console.error("bowline: could not end cleanly:", error);
		}
		exit(code);
	};
	const lastWord = async (closed: Promise<void>) => {
		await closed;
		if (extensions) await Promise.race([extensions.shutdown(), sleep(lastWordMs)]);
	};
	const finish = async (closed: Promise<void>) => {
		hooks.abort?.();
		const lastLoad = setTimeout(leaving.resolve, loadPatienceMs);
		const given = new AbortController();
		const answered = Promise.all([session.abort(), server.finish()]).then(async () => {
			await closed;
			await extensions?.shutdown();
			await session.close();
			events.flush();
			return writer.drained();
		});
		await Promise.race([answered, writer.stuck(flushPatienceMs, given.signal)]).finally(() => {
			clearTimeout(lastLoad);
			given.abort();
		});
	};

	/** Asked by an extension: what was read is answered, and what runs ends by itself. */
	const shutdown = () =>
		void server
			.inTurn(async () => undefined)
			.then(() => session.settled())
			.then(() => end(0, finish));

	return {
		input: {
			push: (chunk) => reader.push(chunk),
			end: () => {
				reader.end();
				void end(0, finish);
			},
		},
		kill: (code) => void end(code),
	};
}
