/**
 * The last frames of an awake session, for readers that are nearly up to date. Frames that no log keeps go first; of the others the last ones
 * stay longer, so that a reader that fell back needs no file. What is older is in the event log.
 */
import type { DeltaRun } from "./agent-lines.ts";
import { bodyOf, type Encoding, encoded, socketFrames, socketFramesOf } from "./frames.ts";

export interface RingFrame {
	seq: number;
	type: string;
	isDurable: boolean;
	json: string;
}

/** Frames that were encoded together, as messages of a socket. All their readers get these bytes; the texts are not kept besides them. */
interface Segment {
	/** The position of its first frame, and the one after its last. */
	from: number;
	to: number;
	bytes: Buffer;
	/** Where each frame begins, and the end. */
	starts: readonly number[];
	types: ReadonlySet<string>;
}

class KeptFrame implements RingFrame {
	readonly seq: number;
	readonly type: string;
	readonly isDurable: boolean;
	readonly size: number;
	/** Until it has a segment. */
	#text: string | undefined;
	#segment: Segment | undefined;
	#index = 0;

	constructor(seq: number, type: string, isDurable: boolean, size: number) {
		this.seq = seq;
		this.type = type;
		this.isDurable = isDurable;
		this.size = size;
	}

	get json(): string {
		return this.#text ?? this.#decoded();
	}

	set json(text: string) {
		this.#text = text;
	}

	get segment(): Segment | undefined {
		return this.#segment;
	}

	putInto(segment: Segment, index: number): void {
		this.#segment = segment;
		this.#index = index;
		this.#text = undefined;
	}

	/** A segment is not kept for one frame: it keeps its text. */
	detach(): void {
		this.#text = this.json;
		this.#segment = undefined;
	}

	#decoded(): string {
		const { bytes, starts } = this.#segment as Segment;
		return bodyOf(bytes, starts[this.#index] as number, starts[this.#index + 1] as number);
	}
}

const onlyDeltas: ReadonlySet<string> = new Set(["message_update"]);
const limit = 4 * 1024 * 1024;
/** Encoded together, so that the unsent bytes of a reader stay near their bound. A frame that is longer is alone. */
const segmentLength = 256 * 1024;

export class Ring {
	readonly sessionId: string;
	#frames: KeptFrame[] = [];
	/** The position of the first frame that is kept. Positions count all frames there ever were. */
	#first = 0;
	/** Durable frames that are older than those. */
	#older: KeptFrame[] = [];
	#size = 0;
	#ephemeralSize = 0;
	#lastSeq = 0;
	/** All durable frames after this number are here. */
	#durableAfter = 0;
	#limit: number;
	/** Frames before this position have their segment, or had no reader. */
	#sealed = 0;
	/** The last segment in another encoding: its readers mostly read the same frames at the same time. */
	#other = new Map<Encoding, Segment>();

	constructor(sessionId: string, most = limit) {
		this.sessionId = sessionId;
		this.#limit = most;
	}

	/** The position of the oldest frame. */
	get start(): number {
		return this.#first;
	}

	/** The position after the newest frame. */
	get end(): number {
		return this.#first + this.#frames.length;
	}

	get size(): number {
		return this.#size;
	}

	get lastSeq(): number {
		return this.#lastSeq;
	}

	/** The log knows of numbers that no frame here had. */
	reach(seq: number): void {
		if (seq <= this.#lastSeq) return;
		this.#lastSeq = seq;
		this.#durableAfter = seq;
	}

	/** A durable frame had no number: the log alone can tell a reader of it. */
	miss(): void {
		this.#durableAfter = this.#lastSeq + 1;
	}

	add({ seq, type, isDurable, json }: RingFrame): void {
		const frame = new KeptFrame(seq, type, isDurable, json.length);
		frame.json = json;
		this.#put(frame);
		if (this.#size > this.#limit) this.#trim();
	}

	/** Deltas, which are encoded at once: they never become texts unless a reader needs one. */
	addDeltas(run: DeltaRun): void {
		this.#seal();
		const segment: Segment = { from: this.end, to: this.end + run.seqs.length, types: onlyDeltas, ...socketFramesOf(run) };
		for (let index = 0; index < run.seqs.length; index++) {
			const size = (segment.starts[index + 1] as number) - (segment.starts[index] as number);
			const frame = new KeptFrame(run.seqs[index] as number, "message_update", false, size);
			frame.putInto(segment, index);
			this.#put(frame);
		}
		this.#sealed = this.end;
		if (this.#size > this.#limit) this.#trim();
	}

	#put(frame: KeptFrame): void {
		this.#frames.push(frame);
		this.#size += frame.size;
		if (!frame.isDurable) this.#ephemeralSize += frame.size;
		if (frame.seq > this.#lastSeq) this.#lastSeq = frame.seq;
	}

	/** Removes a quarter at once: removing one by one would cost a copy of the list each. */
	#trim(): void {
		const enough = this.#limit * 0.75;
		let count = 0;
		while (this.#size > enough && this.#ephemeralSize > 0 && count < this.#frames.length - 1) {
			const frame = this.#frames[count++] as KeptFrame;
			if (frame.isDurable) {
				frame.detach();
				this.#older.push(frame);
				continue;
			}
			this.#size -= frame.size;
			this.#ephemeralSize -= frame.size;
		}
		let oldest = 0;
		while (this.#size > enough && oldest < this.#older.length) this.#size -= this.#drop(this.#older[oldest++] as KeptFrame);
		while (this.#size > enough && count < this.#frames.length - 1) this.#size -= this.#drop(this.#frames[count++] as KeptFrame);
		this.#older.splice(0, oldest);
		this.#frames.splice(0, count);
		this.#first += count;
		this.#sealed = Math.max(this.#sealed, this.#first);
	}

	/** Gives its size. */
	#drop({ seq, size }: KeptFrame): number {
		this.#durableAfter = Math.max(this.#durableAfter, seq);
		return size;
	}

	/** Whether all durable frames after a number are in memory. */
	hasDurableAfter(seq: number): boolean {
		return seq >= this.#durableAfter;
	}

	/** Durable frames of a range, in order, as far as they are in memory. */
	*durable(after: number, upTo: number): Generator<RingFrame> {
		for (const frames of [this.#older, this.#frames])
			for (const frame of [...frames]) if (frame.isDurable && frame.seq > after && frame.seq <= upTo) yield frame;
	}

	at(position: number): RingFrame | undefined {
		return this.#frames[position - this.#first];
	}

	/** The first reader comes: frames so far are encoded only if one needs them. */
	skip(): void {
		this.#sealed = this.end;
	}

	/** How far frames from a position on were encoded together, and their types, perhaps with those of some more. */
	span(from: number, end: number): { to: number; types: ReadonlySet<string> } {
		if (from >= this.#sealed) this.#seal();
		const frame = this.at(from) as KeptFrame;
		const { segment } = frame;
		return segment ? { to: Math.min(end, segment.to), types: segment.types } : { to: from + 1, types: new Set([frame.type]) };
	}

	/** Whether frames from a position on are several spans. */
	isSplitAfter(position: number): boolean {
		const frame = this.#frames[position - this.#first];
		return frame !== undefined && frame.segment?.to !== this.end && position + 1 < this.end;
	}

	/** The frames of a span, as a reader without a filter gets them. */
	bytes(from: number, to: number, encoding: Encoding): Buffer {
		const { segment } = this.at(from) as KeptFrame;
		if (!segment) return this.bytesAt(from, encoding);
		const { bytes, starts, from: first, to: end } = encoding === "socket" ? segment : this.#inOther(segment, encoding);
		return from === first && to === end ? bytes : bytes.subarray(starts[from - first], starts[to - first]);
	}

	/** One frame. */
	bytesAt(position: number, encoding: Encoding): Buffer {
		const { segment, json, seq } = this.at(position) as KeptFrame;
		return encoding === "socket" && segment ? this.bytes(position, position + 1, encoding) : encoded(json, encoding, this.sessionId, seq);
	}

	/** Encodes the frames that came since the last time. */
	#seal(): void {
		while (this.#sealed < this.end) {
			const from = this.#sealed;
			const frames: KeptFrame[] = [];
			let length = 0;
			while (this.#sealed < this.end) {
				const frame = this.at(this.#sealed) as KeptFrame;
				if (frames.length > 0 && length + frame.size > segmentLength) break;
				length += frame.size;
				frames.push(frame);
				this.#sealed++;
			}
			const segment = { from, to: this.#sealed, types: typesOf(frames), ...socketFrames(frames) };
			for (let index = 0; index < frames.length; index++) (frames[index] as KeptFrame).putInto(segment, index);
		}
	}

	#inOther(segment: Segment, encoding: Encoding): Segment {
		const known = this.#other.get(encoding);
		if (known && known.to === segment.to) return known;
		// Its first frames may be gone.
		const from = Math.max(segment.from, this.#first);
		const frames = this.#frames.slice(from - this.#first, segment.to - this.#first);
		const parts = frames.map(({ json, seq }) => encoded(json, encoding, this.sessionId, seq));
		const starts = [0];
		for (const { length } of parts) starts.push((starts.at(-1) as number) + length);
		const made = { ...segment, from, bytes: Buffer.concat(parts), starts };
		this.#other.set(encoding, made);
		return made;
	}

	/** Whether a durable frame has a number in this range. Frames that were dropped count as such. */
	hasDurableBetween(after: number, upTo: number): boolean {
		for (let position = this.end - 1; position >= this.#first; position--) {
			const frame = this.at(position) as RingFrame;
			if (frame.seq <= after) return false;
			if (frame.seq <= upTo && frame.isDurable) return true;
		}
		return after < this.#durableAfter || this.#older.some(({ seq }) => seq > after && seq <= upTo);
	}
}

function typesOf(frames: readonly RingFrame[]): Set<string> {
	const types = new Set<string>();
	let last = "";
	for (const { type } of frames) {
		if (type === last) continue;
		types.add(type);
		last = type;
	}
	return types;
}
