/** A connection with an editor, from its first byte to the exit code. Does not know the process: the caller provides the pipes. */

import { setImmediate } from "node:timers/promises";
import { RecordReader } from "../lib/jsonl.ts";
import { stderrLog } from "../lib/log.ts";
import type { UnknownFlag } from "../live/arguments.ts";
import type { Options } from "../protocol/flags.ts";
import { FrameWriter, type OutputStream } from "../rpc/stdio.ts";
import { Methods } from "./methods.ts";
import type { Opening } from "./open.ts";
import { Peer } from "./peer.ts";
import type { Send } from "./voice.ts";
import { within } from "./within.ts";

const maxLineBytes = 32 * 1024 * 1024;
/** Above this many bytes that the client has not read, nothing more is read from it. */
const mostWaiting = 32 * 1024 * 1024;
/** How long everything may take at the end. */
const endMs = 4500;
const flushMs = 2000;
/** Of that, how long requests may take that are open when the input ends. */
const answerMs = 4000;

export interface AcpPipes {
	env: NodeJS.ProcessEnv;
	version: string;
	opening: Opening;
	output: OutputStream;
	/** Asks to send nothing for a while, or to go on. */
	pauseInput: (paused: boolean) => void;
	exit: (code: number) => void;
	/** Calls back when the process ends. Returns how to undo that. */
	atExit: (then: () => void) => () => void;
	redactStderr: (redact: (text: string) => string) => void;
	/** Receives every line with its direction. */
	log?: (direction: "in" | "out", line: string) => void;
}

export interface AcpService {
	input: Pick<RecordReader, "push" | "end">;
	/** Ends at once: kills what runs, and answers nothing. */
	kill: (code: number) => void;
}

export function serveAcp(pipes: AcpPipes, options: Options, unknown: readonly UnknownFlag[]): AcpService {
	const { env, version, opening, output, pauseInput, exit, atExit, redactStderr, log } = pipes;
	const faults = stderrLog();
	let hasEnded = false;
	const end = async (code: number, close: () => Promise<unknown>) => {
		if (hasEnded) return;
		hasEnded = true;
		peer.close();
		try {
			await within(close(), endMs);
		} catch (error) {
			faults.error("could not end cleanly", error);
		}
		exit(code);
	};
	const kill = (code: number) => void end(code, async () => methods.sessions?.closeAll("kill"));
	const writer = new FrameWriter(output, () => kill(1));
	const clean = (line: string) => methods.sessions?.redactor.line(line) ?? line;
	const send: Send = (line, { isClean = false, alone = false } = {}) => {
		const shown = isClean ? line : clean(line);
		log?.("out", shown);
		writer.write(shown, alone, true);
		if (writer.waiting > mostWaiting) {
			pauseInput(true);
			void writer.whenOpen().then(() => pauseInput(false));
		}
	};
	const peer: Peer = new Peer({
		send: (line, alone) => send(line, { alone }),
		request: (method, params, incoming) => methods.request(method, params, incoming),
		notification: (method, params) => methods.notification(method, params),
		onBug: (method, error) => faults.error(`${method} failed unexpectedly`, error),
	});
	const methods: Methods = new Methods({
		version,
		async openSessions(client) {
			const { Sessions } = await import("./sessions.ts");
			const sessions = new Sessions({ opening, client, peer, writer, send, env, options, unknown, atExit });
			redactStderr((text) => sessions.redactor.text(text));
			writer.onDrain = () => sessions.drained();
			return sessions;
		},
	});
	const receive = (line: string) => {
		log?.("in", clean(line));
		peer.receive(line);
	};
	const reader = new RecordReader(
		{ record: receive, tooLong: (limit) => peer.receiveTooLong(limit) },
		Number(env.BOWLINE_MAX_LINE_BYTES) || maxLineBytes,
	);
	const finish = async () => {
		methods.cancelWaiting();
		// What came in the same piece of input as the end is handed over first.
		await setImmediate();
		await Promise.all([methods.sessions?.closeAll("finish"), within(peer.answered(), answerMs)]);
		// What was opened meanwhile.
		await methods.sessions?.closeAll("finish");
		await within(writer.drained(), flushMs);
	};
	return {
		input: {
			push: (chunk) => reader.push(chunk),
			end() {
				reader.end();
				void end(0, finish);
			},
		},
		kill,
	};
}
