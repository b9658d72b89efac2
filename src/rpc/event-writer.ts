/**
 * Puts events on the wire. Deltas that come faster than a host can use are joined; everything else is sent unchanged, in order.
 * In full mode each delta frame carries the reply so far twice, so the wait before the next one grows with its size.
 */
import { toLine } from "../lib/jsonl.ts";
import type { TextFilter } from "../lib/redact.ts";
import type { Replay } from "../live/sequence.ts";
import type { AgentEvent, EventOf } from "../protocol/events.ts";
import type { OutboundFrame } from "../protocol/frames.ts";
import { isEphemeral, isNumbered } from "../protocol/live.ts";
import type { Dialect } from "./dialects/dialect.ts";
import type { FrameWriter } from "./stdio.ts";

export type UpdateMode = "full" | "delta";

type Update = EventOf<"message_update">;
type Delta = Extract<Update["assistantMessageEvent"], { delta: string }>;

const frameIntervalMs = 16;
const snapshotBytesPerMs = 8000;

/** A host that hides these would wait for something that it never hears of; the last are no session events in dialect `omp`, which alone has them. */
const unfiltered: ReadonlySet<string> = new Set([
	...["prompt_result", "permission_request", "permission_resolved", "extension_ui_request"],
	...["session_settled", "available_commands_update", "command_output", "session_info_update", "config_update"],
	...["subagent_lifecycle", "subagent_progress", "subagent_event"],
]);

/** A frame that waits. */
interface Held {
	frame: OutboundFrame;
	seq: number | undefined;
	isEvent: boolean;
}

/** Where numbers come from. */
export interface Numbers {
	readonly asOf: number;
	/** A number for a further frame of an event that has one already. */
	next(): number | undefined;
	/** Numbers a frame that is not an event. */
	take(frame: OutboundFrame): number | undefined;
}

export class EventWriter {
	#writer: FrameWriter;
	#mode: UpdateMode;
	#frames: Dialect["frames"];
	#now: () => number;
	/** The delta that waits; its update is the newest one of the block. */
	#pending: { update: Update; delta: string; seq: number | undefined } | undefined;
	/** Tool progress that waits while the host lags far behind; the newest per call. */
	#progress = new Map<string, { event: OutboundFrame; seq: number | undefined }>();
	#nextFrameAt = 0;
	/** Makes a filter that removes credentials from a block that comes in deltas; nothing when there are no credentials. */
	filterDeltas: (() => TextFilter | undefined) | undefined;
	/** Of the block that is coming. */
	#filter: TextFilter | undefined;
	/** The newest delta of a block that has a filter. */
	#newestUpdate: Update | undefined;
	/** The number of the rest that the filter holds: above those of all frames so far, below those of all to come. */
	#restSeq: number | undefined;
	/** Frames that waited are written, with numbers from before. */
	#isLate = false;
	/** The events that the host wants; all when not set. */
	#wanted: ((type: string) => boolean) | undefined;
	/** The numbers, where frames have some. */
	numbers: Numbers | undefined;
	/** Whether frames that are not kept are sent. */
	#hasDeltas = true;
	/** Frames that wait while the reader gets what it missed. */
	#behind: Held[] | undefined;
	/** Up to where frames were sent again. */
	#replayed = 0;
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
		const wanted = names && new Set(names);
		this.#wanted = wanted && ((type) => wanted.has(type));
	}

	/** All frames up to this number have been written. Nothing without numbers. */
	get asOf(): number | undefined {
		const { numbers } = this;
		if (!numbers) return undefined;
		if (this.#behind) return this.#replayed;
		const held = [this.#restSeq, this.#pending?.seq, ...[...this.#progress.values()].map(({ seq }) => seq)].filter((seq) => seq !== undefined);
		// A delta that waits is joined with those after it: the first of them counts.
		return held.length ? Math.min(...held, this.#heldFrom ?? Number.POSITIVE_INFINITY) - 1 : numbers.asOf;
	}

	/** The number of the first delta that waits. */
	#heldFrom: number | undefined;

	/** Sends what a reader missed, in order; what happens meanwhile waits. */
	async replay({ gap, lines, snapshot, replayTo }: Replay, { filter, deltas }: { filter?: readonly string[]; deltas: boolean }): Promise<void> {
		this.flush();
		this.#wanted = filter && matcher(filter);
		this.#hasDeltas = deltas;
		const behind: Held[] = [];
		this.#behind = behind;
		try {
			if (gap) this.#writer.write(toLine(gap));
			for (const { seq, type, line } of lines()) {
				if (this.#isWanted(type)) this.#replayLine(line);
				this.#replayed = seq;
				if (!this.#writer.isOpen) await this.#writer.whenOpen();
			}
			this.#writer.write(toLine(snapshot));
			this.#replayed = replayTo;
		} finally {
			this.#behind = undefined;
			this.#isLate = true;
			for (const { frame, seq, isEvent } of behind) {
				this.#writer.hold(-sizeOf(frame));
				if (isEvent) this.tell(frame, seq);
				else this.#send(frame, seq);
			}
			this.#isLate = false;
		}
	}

	/** In the words of the dialect. */
	#replayLine(line: string): void {
		if (!this.#frames) return this.#writer.write(line);
		const { seq, ...frame } = JSON.parse(line) as OutboundFrame & { seq: number };
		const spoken = this.#frames(frame as OutboundFrame);
		for (const [index, each] of spoken.entries()) this.#writer.write(numbered(toLine(each), index === spoken.length - 1 ? seq : undefined));
	}

	#isWanted(type: string): boolean {
		return !this.#wanted || this.#wanted(type) || unfiltered.has(type);
	}

	write = (event: AgentEvent, seq?: number): void => {
		if (!this.#frames) return this.tell(event, seq);
		const frames = this.#frames(event);
		for (const [index, frame] of frames.entries()) this.tell(frame, index === frames.length - 1 ? seq : undefined);
	};

	/** Writes an event in the words of the dialect. */
	tell = (event: OutboundFrame, seq?: number): void => {
		if (this.#wanted && !this.#isWanted(event.type)) return;
		if (this.#behind) return this.#wait(event, seq, true);
		if (!this.#hasDeltas && isEphemeral(event)) return;
		if (event.type === "message_update" && "delta" in event.assistantMessageEvent) return this.#filtered(event, event.assistantMessageEvent, seq);
		if (event.type === "message_update" || event.type === "message_end") this.#changeBlock(event.type === "message_update");
		this.#numberRest(seq);
		if (event.type === "tool_execution_update" && !this.#writer.isOpen) {
			this.#progress.set(event.toolCallId, { event, seq });
			return;
		}
		this.flush();
		if (event.type === "message_update") this.#frame(event, event.assistantMessageEvent, seq);
		else this.#put(() => numbered(eventLine(event), seq), this.#writer.isAccepting ? 0 : sizeOf(event), event.type === "agent_settled");
	};

	/** Writes a frame that is not an event, in order. */
	send = (frame: OutboundFrame): void => {
		const seq = this.numbers && isNumbered(frame) ? this.numbers.take(frame) : undefined;
		if (this.#behind && frame.type !== "response" && frame.type !== "gate_request") return this.#wait(frame, seq, false);
		this.#send(frame, seq);
	};

	#send(given: OutboundFrame, seq: number | undefined): void {
		if (!this.#hasDeltas && isEphemeral(given)) return;
		this.flush();
		this.#numberRest(seq);
		const { asOf } = this;
		const frame = given.type === "response" && asOf !== undefined ? { asOf, ...given } : given;
		const frames = this.#frames?.(frame) ?? [frame];
		for (const [index, spoken] of frames.entries()) this.#writer.write(numbered(toLine(spoken), index === frames.length - 1 ? seq : undefined));
	}

	#wait(frame: OutboundFrame, seq: number | undefined, isEvent: boolean): void {
		this.#behind?.push({ frame, seq, isEvent });
		this.#writer.hold(sizeOf(frame));
	}

	/** Writes what waits. */
	flush(): void {
		if (this.#timer) {
			clearTimeout(this.#timer);
			this.#timer = undefined;
		}
		if (this.#progress.size) {
			const waiting = [...this.#progress.values()].sort((a, b) => (a.seq ?? 0) - (b.seq ?? 0));
			this.#progress.clear();
			// The delta that waits keeps its place among them.
			const before = this.#pending?.seq ?? Number.POSITIVE_INFINITY;
			for (const { event, seq } of waiting) if ((seq ?? 0) < before) this.#writer.write(numbered(toLine(event), seq));
			this.#flushPending();
			for (const { event, seq } of waiting) if ((seq ?? 0) > before) this.#writer.write(numbered(toLine(event), seq));
			return;
		}
		this.#flushPending();
	}

	#flushPending(): void {
		if (!this.#pending) return;
		const { update, delta, seq } = this.#pending;
		this.#pending = undefined;
		this.#heldFrom = undefined;
		this.#writer.hold(-delta.length);
		this.#frame(update, { ...(update.assistantMessageEvent as Delta), delta }, seq);
	}

	/** A key may arrive in several deltas: the end of one is held while it may be the beginning of a key. */
	#filtered(update: Update, step: Delta, seq: number | undefined): void {
		if (!this.#filter) return this.#delta(update, step, seq);
		this.#newestUpdate = update;
		const delta = this.#filter.push(step.delta);
		if (delta !== "") this.#delta(update, delta === step.delta ? step : { ...step, delta }, seq);
		this.#restSeq = seq;
		if (delta !== "") this.#numberRest(seq);
	}

	/** A frame takes its place in front of the rest that the filter holds. */
	#numberRest(seq: number | undefined): void {
		if (seq === undefined) return;
		// Frames that waited are followed by others that have their numbers already: then the rest has none.
		this.#restSeq = this.#filter?.held && !this.#isLate ? this.numbers?.next() : undefined;
	}

	/** A block begins or ends: the held rest of the one before is written. */
	#changeBlock(mayBegin: boolean): void {
		const rest = this.#filter?.end();
		if (rest && this.#newestUpdate)
			this.#delta(this.#newestUpdate, { ...(this.#newestUpdate.assistantMessageEvent as Delta), delta: rest }, this.#restSeq);
		this.#newestUpdate = undefined;
		this.#restSeq = undefined;
		this.#filter = mayBegin ? this.filterDeltas?.() : undefined;
	}

	#delta(update: Update, step: Delta, seq: number | undefined): void {
		const pending = this.#pending;
		if (pending) {
			// Deltas of another block never wait together: its start came in between and flushed.
			pending.update = update;
			pending.delta += step.delta;
			pending.seq = seq ?? pending.seq;
			this.#writer.hold(step.delta.length);
			return;
		}
		const wait = this.#nextFrameAt - this.#now();
		if (wait <= 0 && this.#writer.isAccepting) return this.#frame(update, step, seq);
		this.#pending = { update, delta: step.delta, seq };
		this.#heldFrom = seq;
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

	#frame(update: Update, step: Update["assistantMessageEvent"], seq: number | undefined): void {
		const hasSnapshots = this.#mode === "full" && step.partial !== undefined;
		const held = this.#filter?.held ?? 0;
		if (hasSnapshots && held > 0) step = { ...step, partial: withoutEnd(step.partial, step.contentIndex, held) };
		const size = hasSnapshots || !this.#writer.isAccepting ? sizeOf(step) : 0;
		let wait = "delta" in step ? frameIntervalMs : 0;
		if (hasSnapshots) wait = Math.max(wait, (2 * size) / snapshotBytesPerMs);
		this.#nextFrameAt = Math.max(this.#nextFrameAt, this.#now() + wait);
		// Deltas have been filtered.
		this.#put(() => updateLine(update, step, hasSnapshots, seq), hasSnapshots ? 2 * size : size, false, !hasSnapshots && "delta" in step);
	}

	/** Serialises at once, or, while stdout takes no bytes, when the frame's turn comes: events are values, they do not change. */
	#put(line: () => string, size: number, alone = false, isClean = false): void {
		this.#writer.write(this.#writer.isAccepting ? line() : { size, line }, alone, isClean);
	}
}

/** Leaves out of a snapshot what its deltas hold back: it may be the beginning of a key. */
function withoutEnd(message: Update["assistantMessageEvent"]["partial"], contentIndex: number, held: number): typeof message {
	const cut = (text: string) => text.slice(0, -held);
	return (
		message && {
			...message,
			content: message.content.map((block, index) => {
				if (index !== contentIndex) return block;
				if (block.type === "text") return { ...block, text: cut(block.text) };
				return block.type === "thinking" ? { ...block, thinking: cut(block.thinking) } : block;
			}),
		}
	);
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

function updateLine(update: Update, step: Update["assistantMessageEvent"], hasSnapshots: boolean, seq: number | undefined): string {
	const { partial, ...bare } = step;
	const { usage, messageId } = update;
	const event = toLine(bare);
	const head = `{${seq === undefined ? "" : `"seq":${seq},`}"type":"message_update",${messageId ? `"messageId":"${messageId}",` : ""}${usage ? `"usage":${JSON.stringify(usage)},` : ""}`;
	if (!hasSnapshots) return `${head}"assistantMessageEvent":${event}}`;
	const snapshot = toLine(partial);
	return `${head}"message":${snapshot},"assistantMessageEvent":${event.slice(0, -1)},"partial":${snapshot}}}`;
}

/** A line with its number at its head: a server reads no further. */
function numbered(line: string, seq: number | undefined): string {
	return seq === undefined ? line : `{"seq":${seq},${line.slice(1)}`;
}

/** Names; a star at the end of one stands for any characters. */
function matcher(names: readonly string[]): (type: string) => boolean {
	const whole = new Set(names);
	const beginnings = names.flatMap((name) => (name.endsWith("*") ? [name.slice(0, -1)] : []));
	return (type) => whole.has(type) || beginnings.some((beginning) => type.startsWith(beginning));
}

/** Nearly how long a value is as JSON, without making it. */
function sizeOf(value: unknown): number {
	if (typeof value === "string") return value.length + 2;
	if (typeof value !== "object" || value === null) return 8;
	let size = 2;
	for (const key in value) size += key.length + 4 + sizeOf((value as Record<string, unknown>)[key]);
	return size;
}
