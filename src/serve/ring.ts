/**
 * The last frames of an awake session, for readers that are nearly up to date. Frames that no log keeps go first; of the others the last ones
 * stay longer, so that a reader that fell back needs no file. What is older is in the event log.
 */
import { type Encoding, encoded } from "./frames.ts";

export interface RingFrame {
	seq: number;
	type: string;
	isDurable: boolean;
	json: string;
	/** Made when the first reader of each kind needs it. */
	bytes: Partial<Record<Encoding, Buffer>>;
}

const limit = 4 * 1024 * 1024;

export class Ring {
	readonly sessionId: string;
	#frames: RingFrame[] = [];
	/** The position of the first frame that is kept. Positions count all frames there ever were. */
	#first = 0;
	/** Durable frames that are older than those. */
	#older: RingFrame[] = [];
	#size = 0;
	#ephemeralSize = 0;
	#lastSeq = 0;
	/** All durable frames after this number are here. */
	#durableAfter = 0;
	#limit: number;
	/** Readers mostly read the same frames at the same time. */
	#batch: { from: number; to: number; encoding: Encoding; bytes: Buffer } | undefined;

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

	add(frame: Omit<RingFrame, "bytes">): void {
		this.#frames.push({ ...frame, bytes: {} });
		this.#size += frame.json.length;
		if (!frame.isDurable) this.#ephemeralSize += frame.json.length;
		if (frame.seq > this.#lastSeq) this.#lastSeq = frame.seq;
		if (this.#size > this.#limit) this.#trim();
	}

	/** Removes a quarter at once: removing one by one would cost a copy of the list each. */
	#trim(): void {
		const enough = this.#limit * 0.75;
		let count = 0;
		while (this.#size > enough && this.#ephemeralSize > 0 && count < this.#frames.length - 1) {
			const frame = this.#frames[count++] as RingFrame;
			if (frame.isDurable) {
				frame.bytes = {};
				this.#older.push(frame);
				continue;
			}
			this.#size -= frame.json.length;
			this.#ephemeralSize -= frame.json.length;
		}
		let oldest = 0;
		while (this.#size > enough && oldest < this.#older.length) this.#size -= this.#drop(this.#older[oldest++] as RingFrame);
		while (this.#size > enough && count < this.#frames.length - 1) this.#size -= this.#drop(this.#frames[count++] as RingFrame);
		this.#older.splice(0, oldest);
		this.#frames.splice(0, count);
		this.#first += count;
	}

	/** Gives its size. */
	#drop({ seq, json }: RingFrame): number {
		this.#durableAfter = Math.max(this.#durableAfter, seq);
		return json.length;
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

	/** Everything from a position up to another one, as a reader without a filter gets it. */
	bytes(from: number, to: number, encoding: Encoding): Buffer {
		const known = this.#batch;
		if (known && known.from === from && known.to === to && known.encoding === encoding) return known.bytes;
		const parts: Buffer[] = [];
		for (let position = from; position < to; position++) parts.push(this.bytesOf(this.at(position) as RingFrame, encoding));
		const bytes = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
		this.#batch = { from, to, encoding, bytes };
		return bytes;
	}

	bytesOf(frame: RingFrame, encoding: Encoding): Buffer {
		frame.bytes[encoding] ??= encoded(frame.json, encoding, this.sessionId, frame.seq);
		return frame.bytes[encoding];
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
