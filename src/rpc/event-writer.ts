/**
 * Puts events on the wire. Deltas that come faster than a host can use are joined; everything else is sent unchanged, in order.
 * In full mode each delta frame carries the reply so far twice, so the wait before the next one grows with its size.
 */
import { toLine } from "../lib/jsonl.ts";
import type { TextFilter } from "../lib/redact.ts";
import type { AgentEvent, EventOf } from "../protocol/events.ts";
import type { OutboundFrame } from "../protocol/frames.ts";
import type { Dialect } from "./dialects/dialect.ts";
import type { FrameWriter } from "./stdio.ts";

export type UpdateMode = "full" | "delta";

type Update = EventOf<"message_update">;
type Delta = Extract<Update["assistantMessageEvent"], { delta: string }>;

const frameIntervalMs = 16;
const snapshotBytesPerMs = 8000;

/** A host that hides these would wait for something that it never hears of. */
const unfiltered: ReadonlySet<string> = new Set(["prompt_result", "permission_request", "permission_resolved"]);

export class EventWriter {
	#writer: FrameWriter;
	#mode: UpdateMode;
	#frames: Dialect["frames"];
	#now: () => number;
	/** The delta that waits; its update is the newest one of the block. */
	#pending: { update: Update; delta: string } | undefined;
	/** Tool progress that waits while the host lags far behind; the newest per call. */
	#progress = new Map<string, OutboundFrame>();
	#nextFrameAt = 0;
	/** Makes a filter that removes credentials from a block that comes in deltas; nothing when there are no credentials. */
	filterDeltas: (() => TextFilter | undefined) | undefined;
	/** Of the block that is coming. */
	#filter: TextFilter | undefined;
	/** The newest delta of a block that has a filter. */
	#newestUpdate: Update | undefined;
	/** The events that the host wants; all when not set. */
	#wanted: ReadonlySet<string> | undefined;
	#timer: NodeJS.Timeout | undefined;

	constructor(writer: FrameWriter, mode: UpdateMode, now: () => number, frames?: Dialect["frames"]) {
		this.#writer = writer;
		this.#mode = mode;
		this.#frames = frames;
		this.#now = now;
		writer.onDrain = () => this.#resume();
	}

	/** Writes only these events from now on; all without names. */
	setFilter(names: readonly string[] | undefined): void {
		this.#wanted = names && new Set(names);
	}

	write = (event: AgentEvent): void => {
		if (!this.#frames) return this.tell(event);
		for (const frame of this.#frames(event)) this.tell(frame);
	};

	/** Writes an event in the words of the dialect. */
	tell = (event: OutboundFrame): void => {
		if (this.#wanted && !this.#wanted.has(event.type) && !unfiltered.has(event.type)) return;
		if (event.type === "message_update" && "delta" in event.assistantMessageEvent) return this.#filtered(event, event.assistantMessageEvent);
		if (event.type === "message_update" || event.type === "message_end") this.#changeBlock(event.type === "message_update");
		if (event.type === "tool_execution_update" && !this.#writer.isOpen) {
			this.#progress.set(event.toolCallId, event);
			return;
		}
		this.flush();
		if (event.type === "message_update") this.#frame(event, event.assistantMessageEvent);
		else this.#put(() => eventLine(event), this.#writer.isAccepting ? 0 : sizeOf(event), event.type === "agent_settled");
	};

	/** Writes a frame that is not an event, in order. */
	send = (frame: OutboundFrame): void => {
		this.flush();
		for (const spoken of this.#frames?.(frame) ?? [frame]) this.#writer.write(toLine(spoken));
	};

	/** Writes what waits. */
	flush(): void {
		if (this.#timer) {
			clearTimeout(this.#timer);
			this.#timer = undefined;
		}
		if (this.#progress.size) {
			for (const event of this.#progress.values()) this.#writer.write(toLine(event));
			this.#progress.clear();
		}
		if (!this.#pending) return;
		const { update, delta } = this.#pending;
		this.#pending = undefined;
		this.#writer.hold(-delta.length);
		this.#frame(update, { ...(update.assistantMessageEvent as Delta), delta });
	}

	/** A key may arrive in several deltas: the end of one is held while it may be the beginning of a key. */
	#filtered(update: Update, step: Delta): void {
		if (!this.#filter) return this.#delta(update, step);
		this.#newestUpdate = update;
		const delta = this.#filter.push(step.delta);
		if (delta !== "") this.#delta(update, delta === step.delta ? step : { ...step, delta });
	}

	/** A block begins or ends: the held rest of the one before is written. */
	#changeBlock(mayBegin: boolean): void {
		const rest = this.#filter?.end();
		if (rest && this.#newestUpdate) this.#delta(this.#newestUpdate, { ...(this.#newestUpdate.assistantMessageEvent as Delta), delta: rest });
		this.#newestUpdate = undefined;
		this.#filter = mayBegin ? this.filterDeltas?.() : undefined;
	}

	#delta(update: Update, step: Delta): void {
		const pending = this.#pending;
		if (pending) {
			// Deltas of another block never wait together: its start came in between and flushed.
			pending.update = update;
			pending.delta += step.delta;
			this.#writer.hold(step.delta.length);
			return;
		}
		const wait = this.#nextFrameAt - this.#now();
		if (wait <= 0 && this.#writer.isAccepting) return this.#frame(update, step);
		this.#pending = { update, delta: step.delta };
		this.#writer.hold(step.delta.length);
		this.#timer = setTimeout(() => this.#resume(), Math.max(wait, 1));
	}

	/** The wait has ended, or stdout accepts bytes again. */
	#resume(): void {
		if (!this.#pending && this.#progress.size === 0) return;
		const wait = this.#nextFrameAt - this.#now();
		if (wait <= 0 && this.#writer.isAccepting) return this.flush();
		clearTimeout(this.#timer);
		// While stdout is blocked its drain calls again.
		this.#timer = wait > 0 ? setTimeout(() => this.#resume(), wait) : undefined;
	}

	#frame(update: Update, step: Update["assistantMessageEvent"]): void {
		const hasSnapshots = this.#mode === "full" && step.partial !== undefined;
		const size = hasSnapshots || !this.#writer.isAccepting ? sizeOf(step) : 0;
		let wait = "delta" in step ? frameIntervalMs : 0;
		if (hasSnapshots) wait = Math.max(wait, (2 * size) / snapshotBytesPerMs);
		this.#nextFrameAt = Math.max(this.#nextFrameAt, this.#now() + wait);
		// Deltas have been filtered.
		this.#put(() => updateLine(update, step, hasSnapshots), hasSnapshots ? 2 * size : size, false, !hasSnapshots && "delta" in step);
	}

	/** Serialises at once, or, while stdout takes no bytes, when the frame's turn comes: events are values, they do not change. */
	#put(line: () => string, size: number, alone = false, isClean = false): void {
		this.#writer.write(this.#writer.isAccepting ? line() : { size, line }, alone, isClean);
	}
}

/** No string is longer than half a gigabyte. A run that produced more has ended all the same; its messages were sent one by one. */
function eventLine(event: OutboundFrame): string {
	try {
		return toLine(event);
	} catch (error) {
		if (event.type !== "agent_end" || !(error instanceof RangeError)) throw error;
		return toLine({ ...event, messages: [] });
	}
}

function updateLine(update: Update, step: Update["assistantMessageEvent"], hasSnapshots: boolean): string {
	const { partial, ...bare } = step;
	const { usage, messageId } = update;
	const event = toLine(bare);
	const head = `{"type":"message_update",${messageId ? `"messageId":"${messageId}",` : ""}${usage ? `"usage":${JSON.stringify(usage)},` : ""}`;
	if (!hasSnapshots) return `${head}"assistantMessageEvent":${event}}`;
	const snapshot = toLine(partial);
	return `${head}"message":${snapshot},"assistantMessageEvent":${event.slice(0, -1)},"partial":${snapshot}}}`;
}

/** Nearly how long a value is as JSON, without making it. */
function sizeOf(value: unknown): number {
	if (typeof value === "string") return value.length + 2;
	if (typeof value !== "object" || value === null) return 8;
	let size = 2;
	for (const key in value) size += key.length + 4 + sizeOf((value as Record<string, unknown>)[key]);
	return size;
}
