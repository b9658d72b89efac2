/** A session served over lines of JSON, from the first byte to the exit code. Does not know the process: the caller provides the pipes. */
import { RecordReader, toLine } from "../lib/jsonl.ts";
import { UsageError } from "../lib/usage-error.ts";
import type { UnknownFlag } from "../live/arguments.ts";
import type { Subagent } from "../live/as-subagent.ts";
import type { Front } from "../live/front.ts";
import { identityOf } from "../live/identity.ts";
import { checkFlags, loadExtensions, openSession } from "../live/open-session.ts";
import { openWorkspace } from "../live/workspace.ts";
import type { Options } from "../protocol/flags.ts";
import type { ControlFrame, OutboundFrame } from "../protocol/frames.ts";
import { classic, loadDialect } from "./dialects/index.ts";
import { Ending } from "./ending.ts";
import { EventWriter, type UpdateMode } from "./event-writer.ts";
import { Dialogs } from "./extension-ui.ts";
import { HostTools } from "./host-tools.ts";
import { longAnswers } from "./long-answers.ts";
import { redactExits } from "./redact-exits.ts";
import { Server } from "./server.ts";
import { FrameWriter, type OutputStream } from "./stdio.ts";

const maxLineBytes = 32 * 1024 * 1024;
/** How the family spells yes in a variable. */
const isTruthy = (value: string | undefined) => /^(1|true|yes|on)$/i.test(value ?? "");

/** The pipes of a process, or a program that has the session inside. */
export interface Pipes {
	cwd: string;
	env: NodeJS.ProcessEnv;
	output: OutputStream;
	warn: (text: string) => void;
	/** Asks to send nothing for a while, or to go on. */
	pauseInput: (paused: boolean) => void;
	/** Everything is over. */
	exit: (code: number) => void;
	/** Calls back when everything has ended, for whatever reason. */
	atExit: (then: () => void) => void;
	/** Set when another agent of ours started this process. */
	subagent?: Subagent;
	/** Receives how to remove credentials from stderr, where that belongs to the session alone. */
	redactStderr?: (redact: (text: string) => string) => void;
}

export interface Service {
	/** Takes bytes; its end is the end of the session. */
	input: Pick<RecordReader, "push" | "end">;
	/** Ends at once: kills what runs, and answers nothing. */
	kill: (code: number) => void;
}

/** Throws UsageError for flags that do not go together. */
function checkNumbers({ seq, gate, dialect, "seq-after": after }: Options, isSubagent: boolean): void {
	if (after !== undefined && !seq) throw new UsageError("--seq-after needs --seq: without it frames have no numbers.");
	if (after !== undefined && !(/^\d+$/.test(after) && Number.isSafeInteger(Number(after))))
		throw new UsageError(`--seq-after must be a whole number, as in --seq-after 4790; got ${JSON.stringify(after)}.`);
	if (seq && dialect === "strict")
		throw new UsageError("--seq adds members to every frame, which --dialect strict does not allow: choose one of them.");
	if (gate !== undefined && !seq && !isSubagent)
		throw new UsageError("--gate needs --seq: the host must know up to which frame everything is on disk.");
}

export async function serve(pipes: Pipes, options: Options, unknown: readonly UnknownFlag[]): Promise<Service> {
	const { cwd, env, output, warn, pauseInput, exit, atExit, subagent } = pipes;
	checkNumbers(options, subagent !== undefined);
	const workspace = await openWorkspace({ options, isRpc: true, cwd, env, unknown, subagent });
	const loading = loadExtensions(workspace, warn);
	await checkFlags(workspace, loading, warn);

	const ending = new Ending(exit);
	const writer = new FrameWriter(output, () => void ending.kill(1));
	const asked = options.updates as UpdateMode | undefined;
	const voice = { writer, updates: asked, tell: (frame: OutboundFrame) => events.tell(frame) };
	const dialect = options.dialect === undefined ? classic : await loadDialect(options.dialect, voice);
	await workspace.sandbox?.open();
	const announce = (more?: object) => {
		if (dialect.ready && !options["no-ready"]) writer.write(toLine({ type: "ready", ...identityOf(workspace), ...more, ...dialect.ready }));
	};
	// With numbers it says where they go on, which is known when the session is open.
	if (!options.seq) announce();
	const updates = asked ?? dialect.updates;
	const events: EventWriter = new EventWriter(writer, updates, () => performance.now(), dialect.frames);
	const hostTools = new HostTools({ send: events.send, now: Date.now });
	const { opensUrls, withdrawsLateDialogs } = dialect;
	const emitsTitle = dialect.emitsTitle ?? isTruthy(env.PI_RPC_EMIT_TITLE);
	const dialogs = new Dialogs({ send: events.send, emitsTitle, opensUrls, withdrawsLateDialogs, now: Date.now });
	// A subagent's host is an agent, which answers no dialogs.
	if (subagent) dialogs.close();
	const front: Front = {
		flow: writer,
		pauseInput,
		ui: dialogs,
		hasUI: true,
		approvals: { choose: (...question) => dialogs.choose(...question), hasAnswered: () => dialogs.hasAnswered() },
		host: { tools: hostTools, setEventFilter: (names) => events.setFilter(names) },
		warn,
		atExit,
		sendFailed: (command, error, code) => events.send({ type: "response", command, success: false, error, code }),
		shutdown: () => void ending.atRest(),
		disconnect() {
			hostTools.close();
			dialogs.close();
		},
		askGate: events.send,
		reader: { replay: (...given) => events.replay(...given) },
		numbered(sequence) {
			if (options.seq) announce({ epoch: sequence.epoch, asOf: sequence.asOf });
			stopWatching?.();
			events.numbers = sequence;
			dialogs.onClosed = (id) => sequence.close(id);
			sequence.tell = dialect.frames ? events.write : events.tell;
			writer.beforeWrite = sequence.flush;
		},
		variations: dialect,
	};
	let stopWatching: (() => void) | undefined;
	const { live } = await openSession(workspace, front, loading, dialect.handlers ?? (dialect.frames ? undefined : longAnswers));
	redactExits({ writer, events, redactStderr: pipes.redactStderr }, live.assembly.knownSecrets);
	ending.attach({ live, events, writer });
	if (!live.sequence) stopWatching = live.observe(events.write);
	const onControl = (frame: ControlFrame) => {
		if (frame.type === "permission_response") live.assembly.permissions.receive(frame);
		else if (frame.type === "extension_ui_response") dialogs.receive(frame);
		else if (frame.type === "gate_response") live.assembly.gate.current?.receive(frame);
		else hostTools.receive(frame);
	};
	const server = new Server({
		commands: live.commands,
		lanes: live.lanes,
		writer,
		dialect,
		asOf: () => events.asOf,
		onControl,
		log: live.assembly.log,
	});
	if (dialect.greet) void live.lanes.inTurn(async () => dialect.greet?.(live));
	const limit = Number(env.BOWLINE_MAX_LINE_BYTES) || maxLineBytes;
	const reader = new RecordReader({ record: (line) => server.receive(line), tooLong: (longest) => server.receiveTooLong(longest) }, limit);

	return {
		input: {
			push: (chunk) => reader.push(chunk),
			end() {
				reader.end();
				void ending.finish();
			},
		},
		kill: (code) => void ending.kill(code),
	};
}
