/** Frames that are not in memory any more, and the ends of what a killed process had begun: from the event log and the session file. */
import { statSync } from "node:fs";
import { randomBytes } from "../lib/ids.ts";
import type { OutboundFrame } from "../protocol/frames.ts";
import { idleState, nextState } from "../protocol/live.ts";
import { balanceClosedLog } from "../transcript/balance-log.ts";
import { gapOf, linesOfLog, TranscriptBodies } from "../transcript/event-frames.ts";
import { EventLog, eventLogPath } from "../transcript/event-log.ts";
import { openTranscript } from "../transcript/open.ts";
import type { Transcript } from "../transcript/transcript.ts";
import type { Ring, RingFrame } from "./ring.ts";

export interface PastFrame {
	seq: number;
	type: string;
	json: string;
}

export interface PastQuery {
	after: number;
	upTo: number;
	reason: "ephemeral" | "slow_reader";
	epoch: number;
	ring: Ring;
	/** Results that may not be in the session file yet, by number. */
	exact: ReadonlyMap<number, string>;
	/** Of the agent; absent while there is none. */
	snapshot: string | undefined;
}

export interface LogPosition {
	firstSeq: number;
	lastSeq: number;
	epoch: number;
	/** A process was killed, and what it had begun has no end. */
	isUnfinished: boolean;
}

const sourceOptions = { mode: "read", cwd: "", now: Date.now, redact: (text: string) => text, newId: () => randomBytes(4).toString("hex") } as const;
const nowhere: LogPosition = { firstSeq: 0, lastSeq: 0, epoch: 0, isUnfinished: false };
/** Many readers come back at the same time: they share what was read. */
const sharedMs = 5000;

function logOf(file: string): EventLog {
	return new EventLog({ sessionId: "", path: eventLogPath(file), hasHistory: false, now: Date.now, isReader: true });
}

const isThere = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;

export function logPosition(file: string): LogPosition {
	if (!isThere(eventLogPath(file))) return nowhere;
	const log = logOf(file);
	const { frames, runs } = log.unfinished;
	return { firstSeq: log.first, lastSeq: log.last, epoch: log.epoch, isUnfinished: !log.isEnded && (frames.length > 0 || runs.length > 0) };
}

/** The past of one session. */
export class SessionPast {
	#file: () => string | undefined;
	#bodies: { mark: string; bodies: TranscriptBodies } | undefined;
	#timer: NodeJS.Timeout | undefined;

	constructor(file: () => string | undefined) {
		this.#file = file;
	}

	/** One `gap` if something is missing, kept frames, one `snapshot`. */
	*frames(query: PastQuery): Generator<{ json: string; seq?: number; type: string }> {
		const { after, upTo, epoch, snapshot } = query;
		const file = this.#file();
		const hasLog = file !== undefined && isThere(file) && isThere(eventLogPath(file));
		let state = idleState;
		for (const frame of hasLog ? this.#fromLog(file, query) : fromRing(query)) {
			if (snapshot === undefined && frame.seq !== undefined) state = nextState(state, JSON.parse(frame.json) as OutboundFrame);
			yield frame;
		}
		yield { type: "snapshot", json: snapshot ?? JSON.stringify({ type: "snapshot", seq: Math.max(after, upTo), epoch, live: state }) };
	}

	*#fromLog(file: string, { after, upTo, reason, exact }: PastQuery): Generator<{ json: string; seq?: number; type: string }> {
		if (after >= upTo) return;
		const log = logOf(file);
		const bodies = this.#bodiesOf(file);
		const gap = gapOf(log, bodies, after, upTo, reason);
		if (gap) yield { type: "gap", json: JSON.stringify(gap) };
		for (const { seq, type, line } of linesOfLog(log, bodies, after, upTo, exact)) yield { seq, type, json: line };
	}

	#bodiesOf(file: string): TranscriptBodies {
		const { size, mtimeMs, ino } = statSync(file);
		const mark = `${ino}:${size}:${mtimeMs}`;
		if (this.#bodies?.mark !== mark) this.#bodies = { mark, bodies: new TranscriptBodies(openTranscript(file, sourceOptions) as Transcript) };
		clearTimeout(this.#timer);
		this.#timer = setTimeout(() => (this.#bodies = undefined), sharedMs);
		this.#timer.unref();
		return this.#bodies.bodies;
	}

	/** Kept frames after a number, when no process writes the log. After a crash the ends that are missing are added first. */
	after(seq: number, isCrash: boolean, report: (text: string) => void): PastFrame[] {
		const file = this.#file();
		if (file === undefined || !isThere(file) || !isThere(eventLogPath(file))) return [];
		try {
			if (isCrash) balanceUnderLock(file);
			return [...linesOfLog(logOf(file), this.#bodiesOf(file), seq, Number.MAX_SAFE_INTEGER)].map(({ line, ...frame }) => ({ ...frame, json: line }));
		} catch (error) {
			// The agent does the same when it is started again.
			report(`the event log could not be closed: ${(error as Error).message}`);
			return [];
		}
	}
}

/** As an agent does when it opens such a session. Its lock is held meanwhile. */
function balanceUnderLock(file: string): void {
	const transcript = openTranscript(file, { ...sourceOptions, mode: "write", owner: "serve" });
	try {
		if (transcript) balanceClosedLog(transcript, { now: Date.now });
	} finally {
		transcript?.close();
	}
}

/** A session without a file: what memory has. */
function* fromRing({ after, upTo, reason, ring }: PastQuery): Generator<{ json: string; seq?: number; type: string }> {
	if (after >= upTo) return;
	const first = ring.at(ring.start);
	const isLost = ring.start > 0 && first !== undefined && after < first.seq - 1;
	yield {
		type: "gap",
		json: JSON.stringify({ type: "gap", from: after + 1, to: upTo, reason: isLost ? "log_trimmed" : reason, durableLost: isLost }),
	};
	for (let position = ring.start; position < ring.end; position++) {
		const { seq, type, json, isDurable } = ring.at(position) as RingFrame;
		if (isDurable && seq > after && seq <= upTo) yield { seq, type, json };
	}
}
