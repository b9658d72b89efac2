/** The frames of a run as its agents sent them, from the lines in the queue: bodies that its session holds are put in again. Across takeovers. */
import { toLine } from "../lib/jsonl.ts";
import type { ToolResultMessage } from "../protocol/messages.ts";
import type { Gap } from "../protocol/sequence.ts";
import { type Bodies, frameLine } from "../transcript/event-frames.ts";
import { type KeptFrame, keptFrameOf } from "../transcript/event-log.ts";
import type { Line, RunQueue } from "./queue.ts";

export interface RunFrame {
	seq: number;
	type: string;
	/** Of the worker that wrote it. */
	epoch: number;
	/** Its place in the event log; a takeover may have cut it. */
	place: number;
	/** JSON. */
	line: string;
}

const linesAtOnce = 500;

/** One reader of one run. */
export class RunFrames {
	readonly #queue: Pick<RunQueue, "lines">;
	readonly #runId: string;
	readonly #bodies = new SessionBodies();
	/** Frames whose bodies are not stored yet, and those after them. */
	#waiting: { frame: KeptFrame; epoch: number; place: number }[] = [];
	#place = 0;

	constructor(queue: Pick<RunQueue, "lines">, runId: string) {
		this.#queue = queue;
		this.#runId = runId;
	}

	/** What came since the last call. `isEnded`: no lines will be added any more, so a body that is missing stays missing. */
	async next(isEnded: boolean): Promise<RunFrame[]> {
		for await (const { body, epoch, line } of this.#new("events", this.#place)) {
			this.#place = line;
			const frame = keptFrameOf(body);
			if (frame) this.#waiting.push({ frame, epoch, place: line });
		}
		// After the events: what these name was written before them.
		for await (const { body, line } of this.#new("session", this.#bodies.lines)) this.#bodies.add(body, line);
		const ready: RunFrame[] = [];
		for (const [index, { frame, epoch, place }] of this.#waiting.entries()) {
			if (!isEnded && !this.#bodies.hasAllOf(frame)) {
				this.#waiting = this.#waiting.slice(index);
				return ready;
			}
			const { seq } = frame;
			const gap: Gap = { type: "gap", from: seq, to: seq, reason: "hole", durableLost: true };
			const line = frameLine(frame, this.#bodies);
			const type = line === undefined ? gap.type : (/"type":"(\w+)"/.exec(frame.text)?.[1] ?? "");
			ready.push({ seq, type, epoch, place, line: line ?? JSON.stringify(gap) });
		}
		this.#waiting = [];
		return ready;
	}

	async *#new(file: "session" | "events", after: number): AsyncGenerator<Line> {
		for (let from = after; ; ) {
			const lines = await this.#queue.lines(this.#runId, file, from, linesAtOnce);
			yield* lines;
			if (lines.length < linesAtOnce) return;
			from = lines.at(-1)?.line ?? from;
		}
	}
}

/** The messages of a session, from its lines: those that a takeover has cut, too. */
class SessionBodies implements Bodies {
	readonly #messages = new Map<string, string>();
	readonly #places = new Map<string, number>();
	readonly #results = new Map<string, { place: number; json: string }[]>();
	lines = 0;

	add(body: string, line: number): void {
		this.lines = line;
		let entry: { type?: string; id?: string; message?: ToolResultMessage };
		try {
			entry = JSON.parse(body);
		} catch {
			// A line that another program wrote: no frame names it.
			return;
		}
		const { type, id, message } = entry;
		if (typeof id !== "string") return;
		this.#places.set(id, line);
		if (type !== "message" || !message) return;
		this.#messages.set(id, toLine(message));
		if (message.role !== "toolResult") return;
		const json = toLine({ content: message.content, details: message.details });
		this.#results.set(message.toolCallId, [...(this.#results.get(message.toolCallId) ?? []), { place: line, json }]);
	}

	has(id: string): boolean {
		return this.#messages.has(id);
	}

	message(id: string): string | undefined {
		return this.#messages.get(id);
	}

	/** The first one after that entry. */
	result(toolCallId: string, after: string | null): string | undefined {
		const from = after === null ? 0 : (this.#places.get(after) ?? 0);
		return this.#results.get(toolCallId)?.find(({ place }) => place > from)?.json;
	}

	hasAllOf(frame: KeptFrame): boolean {
		let isWhole = true;
		const noted: Bodies = {
			has: (id) => this.has(id),
			message: (id) => this.#note(this.message(id), () => (isWhole = false)),
			result: (call, after) => this.#note(this.result(call, after), () => (isWhole = false)),
		};
		return frameLine(frame, noted) !== undefined && isWhole;
	}

	#note(found: string | undefined, missing: () => void): string | undefined {
		if (found === undefined) missing();
		return found;
	}
}
