/** Frames that are not in memory any more, and the ends of what a killed process had begun: from the event log and the session file. */

import { randomBytes } from "node:crypto";
import { statSync } from "node:fs";
import { claimOf } from "../lib/claim.ts";
import type { OutboundFrame } from "../protocol/frames.ts";
import { idleState, nextState } from "../protocol/live.ts";
import { balanceClosedLog } from "../transcript/balance-log.ts";
import { frameLine, gapOf, isStored, linesOfLog, TranscriptBodies } from "../transcript/event-frames.ts";
import { EventLog, eventLogPath } from "../transcript/event-log.ts";
import { openTranscript } from "../transcript/open.ts";
import type { Transcript } from "../transcript/transcript.ts";
import { headOf } from "./frames.ts";
import type { Ring } from "./ring.ts";

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
	/** What memory has; absent where nothing is kept in memory. */
	ring?: Ring;
	/** Results that may not be in the session file yet, by number. */
	exact: ReadonlyMap<number, string>;
	/** Of the agent; absent while there is none. */
	snapshot: string | undefined;
	/** What an agent without a file gave again from its own memory: a gap and frames, as lines. */
	remembered?: readonly string[];
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

function logOf(file: string, hasWriter = claimOf(`${file}.lock`) !== undefined): EventLog {
	return new EventLog({ sessionId: "", path: eventLogPath(file), hasHistory: false, now: Date.now, isReader: true, hasWriter });
}

const isThere = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;

/** `hasWriter`: a process writes the log; else its numbers end where those of the next process begin. */
export function logPosition(file: string, hasWriter?: boolean): LogPosition {
	if (!isThere(eventLogPath(file))) return nowhere;
	const log = logOf(file, hasWriter);
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
		let state = idleState;
		for (const frame of this.#kept(query)) {
			if (snapshot === undefined && frame.seq !== undefined) state = nextState(state, JSON.parse(frame.json) as OutboundFrame);
			yield frame;
		}
		yield { type: "snapshot", json: snapshot ?? JSON.stringify({ type: "snapshot", seq: Math.max(after, upTo), epoch, live: state }) };
	}

	#kept(query: PastQuery): Iterable<{ json: string; seq?: number; type: string }> {
		const { after, ring, remembered, reason } = query;
		if (remembered) return remembered.map((line) => rememberedFrame(line, reason));
		// Most readers that reconnect missed little.
		if (ring?.hasDurableAfter(after)) return fromRing(query, ring);
		const file = this.#file();
		if (file !== undefined && isThere(file) && isThere(eventLogPath(file))) return this.#fromLog(file, query);
		return ring ? fromRing(query, ring) : [];
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

	/** Changes when one of the files grows or is replaced. */
	get mark(): string {
		const file = this.#file();
		const stats = file === undefined ? [] : [file, eventLogPath(file)].map((path) => statSync(path, { throwIfNoEntry: false }));
		return stats.map((each) => `${each?.ino}:${each?.size}`).join(" ");
	}

	/** Kept frames after a number while another process writes the log. Up to the first one whose body is not stored yet. */
	*news(after: number): Generator<PastFrame> {
		const file = this.#file();
		if (file === undefined || !isThere(file) || logPosition(file).lastSeq <= after) return;
		const bodies = this.#bodiesOf(file);
		for (const frame of logOf(file).frames(after, Number.MAX_SAFE_INTEGER)) {
			const line = isStored(frame, bodies) ? frameLine(frame, bodies) : undefined;
			const head = line === undefined ? undefined : headOf(line);
			if (line === undefined || head?.kind !== "event") return;
			yield { seq: frame.seq, type: head.type, json: line };
		}
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

/** What memory has. */
function* fromRing({ after, upTo, reason }: PastQuery, ring: Ring): Generator<{ json: string; seq?: number; type: string }> {
	if (after >= upTo) return;
	const frames = [...ring.durable(after, upTo)];
	const isLost = !ring.hasDurableAfter(after);
	if (isLost || frames.length < upTo - after)
		yield {
			type: "gap",
			json: JSON.stringify({ type: "gap", from: after + 1, to: upTo, reason: isLost ? "log_trimmed" : reason, durableLost: isLost }),
		};
	for (const { seq, type, json } of frames) yield { seq, type, json };
}

/** A line of the agent's own replay. Why this reader missed deltas is known here alone. */
function rememberedFrame(line: string, reason: PastQuery["reason"]): { json: string; seq?: number; type: string } {
	const head = headOf(line);
	if (head?.kind === "event") return { seq: head.seq, type: head.type, json: line };
	return { type: "gap", json: reason === "ephemeral" ? line : line.replace('"reason":"ephemeral"', `"reason":"${reason}"`) };
}
