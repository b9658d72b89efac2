/**
 * The only place that touches stdin and stdout. Frames are collected and written once per tick; while the host does not read,
 * they wait here and `flow` makes all producers of frames wait too.
 */
import fs from "node:fs";
import type { Flow } from "../agent/contracts.ts";
import { onAbort } from "../lib/abort.ts";
import { deferred } from "../lib/deferred.ts";
import { stderrLog } from "../lib/log.ts";
import type { ByteFilter } from "../lib/redact.ts";

/** Above this many waiting bytes producers wait; below the second they go on. */
const highWater = 8 * 1024 * 1024;
const lowWater = 4 * 1024 * 1024;
/** Enough for one write to be efficient, small enough to see progress. */
const batchSize = 64 * 1024;

export interface OutputStream {
	/** Whole lines. */
	write(text: string, done: (error?: Error | null) => void): void;
	/** Parts of lines. Without it, long frames are written as one text. */
	writeBytes?: (bytes: Uint8Array, done: (error?: Error | null) => void) => void;
	/** Bytes that were written and that the system has not taken. */
	unsent(): number;
}

/** A frame that is serialized when its turn comes: while the host lags behind, only the value is kept, which it shares with other frames. */
export interface LateFrame {
	/** Nearly its length. */
	size: number;
	line: () => string;
}

/** A frame whose parts are made one by one while it is written: it is never in memory as a whole. */
export interface LongFrame {
	/** Nearly its length. */
	size: number;
	parts: Iterable<Uint8Array>;
}

type Frame = string | LateFrame | LongFrame;

const isLong = (frame: Frame | undefined): frame is LongFrame => typeof frame === "object" && "parts" in frame;

/** What a frame costs while it waits: many small ones cost more than their characters. */
const overhead = 64;
const sizeOf = (frame: Frame) => (typeof frame === "string" ? frame.length : frame.size) + overhead;

export class FrameWriter implements Flow {
	#stream: OutputStream;
	#onError: (error: Error) => void;
	#frames: Frame[] = [];
	/** Index in `#frames` of frames that need a write of their own; long ones always do. */
	#alone = new Set<number>();
	#waiting = 0;
	#held = 0;
	/** Bytes (nearly) that the stream has taken since the start. */
	#taken = 0;
	#isWriting = false;
	#isScheduled = false;
	#hasFailed = false;
	#opened = deferred();
	#isOpen = true;
	#written = deferred();
	/** Called before bytes are written: what must be on disk before a reader sees it. */
	beforeWrite: (() => void) | undefined;
	/** Called when stdout takes bytes again after it did not. */
	onDrain: () => void = () => undefined;
	/** Removes credentials from a line. */
	redact: ((line: string) => string) | undefined;
	/** The same for one frame that comes in parts. */
	redactParts: (() => ByteFilter) | undefined;
	/** Splits every line from now on into parts, each of them a line. */
	split: ((line: string) => string) | undefined;

	constructor(stream: OutputStream, onError: (error: Error) => void) {
		this.#stream = stream;
		this.#onError = onError;
	}

	/** Queues one frame. `alone`: in a write of its own, not together with its neighbours. `isClean`: there are no credentials in it. */
	write(frame: Frame, alone = false, isClean = false): void {
		if (this.#hasFailed) return;
		if (typeof frame === "string") {
			if (this.redact && !isClean) frame = this.redact(frame);
			if (this.split) frame = this.split(frame);
		} else {
			frame = this.#prepared(frame, isClean);
			alone ||= isLong(frame);
		}
		if (alone) this.#alone.add(this.#frames.length);
		this.#frames.push(frame);
		this.#add(sizeOf(frame));
		if (this.#isScheduled || this.#isWriting) return;
		this.#isScheduled = true;
		setImmediate(() => {
			this.#isScheduled = false;
			this.#flush();
		});
	}

	/** A frame that is made later, with what has to be done to its lines. */
	#prepared(frame: Frame, isClean: boolean): Frame {
		if (isLong(frame) && (this.split || !this.#stream.writeBytes)) frame = Buffer.concat([...frame.parts]).toString("utf8");
		if (isLong(frame) && this.redactParts) frame = { size: frame.size, parts: filtered(frame.parts, this.redactParts()) };
		if (this.redact && !isClean) frame = mapped(frame, this.redact);
		return this.split ? mapped(frame, this.split) : frame;
	}

	/** Counts bytes that wait elsewhere to become frames (or, negative, no longer do). */
	hold(bytes: number): void {
		this.#held += bytes;
		this.#weigh();
	}

	/** Bytes (nearly) that the host has not taken yet. */
	get waiting(): number {
		return this.#waiting + this.#held;
	}

	/** Whether stdout currently accepts bytes. */
	get isAccepting(): boolean {
		return !this.#isWriting;
	}

	get isOpen(): boolean {
		return this.#isOpen;
	}

	async whenOpen(signal?: AbortSignal): Promise<void> {
		if (this.#isOpen || signal?.aborted) return;
		if (!signal) return this.#opened.promise;
		const aborted = deferred();
		const release = onAbort(signal, () => aborted.resolve());
		await Promise.race([this.#opened.promise, aborted.promise]);
		release();
	}

	/** Resolves when everything has been taken, or can no longer be. */
	async drained(): Promise<void> {
		while (this.#frames.length || this.#isWriting) {
			this.#written = deferred();
			if (!this.#isWriting) this.#flush();
			await this.#written.promise;
		}
	}

	/** Resolves when frames wait and the host has taken nothing for so long. Looks until `isOver`. */
	stuck(patienceMs: number, isOver: () => boolean): Promise<void> {
		return new Promise((resolve) => {
			const taken = () => this.#taken - this.#stream.unsent();
			let mark = taken();
			const look = () => {
				if (isOver()) return;
				if (this.#waiting > 0 && taken() === mark) return resolve();
				mark = taken();
				setTimeout(look, patienceMs).unref();
			};
			setTimeout(look, patienceMs).unref();
		});
	}

	#add(bytes: number): void {
		this.#waiting += bytes;
		this.#weigh();
	}

	#weigh(): void {
		const { waiting } = this;
		if (this.#isOpen && waiting > highWater) {
			this.#isOpen = false;
			this.#opened = deferred();
		} else if (!this.#isOpen && waiting < lowWater) {
			this.#isOpen = true;
			this.#opened.resolve();
		}
	}

	#flush(): void {
		if (this.#isWriting || this.#frames.length === 0 || this.#hasFailed) return;
		this.beforeWrite?.();
		this.#isWriting = true;
		const [first] = this.#frames;
		if (isLong(first)) {
			this.#drop(1);
			return this.#writeParts(first.parts[Symbol.iterator](), sizeOf(first));
		}
		const { text, length } = this.#nextBatch();
		this.#stream.write(text, (error) => this.#onWritten(error, length));
	}

	/** `left`: what the rest of the frame counts for. */
	#writeParts(parts: Iterator<Uint8Array>, left: number): void {
		const { value, done } = parts.next();
		if (done) return this.#stream.write("\n", (error) => this.#onWritten(error, left));
		this.#stream.writeBytes?.(value, (error) => {
			if (error) return this.#onWritten(error, left);
			const length = Math.min(value.length, left);
			this.#taken += length;
			this.#add(-length);
			this.#writeParts(parts, left - length);
		});
	}

	#onWritten(error: Error | null | undefined, length: number): void {
		this.#isWriting = false;
		if (error) return this.#fail(error);
		this.#taken += length;
		this.#add(-length);
		this.#written.resolve();
		if (this.#frames.length) this.#flush();
		else this.onDrain();
	}

	#nextBatch(): { text: string; length: number } {
		let count = 0;
		let length = 0;
		if (this.#alone.size === 0 && this.#waiting <= batchSize) {
			count = this.#frames.length;
			length = this.#waiting;
		} else {
			for (; count < this.#frames.length && length < batchSize; count++) {
				const isAlone = this.#alone.has(count);
				if (isAlone && count > 0) break;
				length += sizeOf(this.#frames[count] as Frame);
				if (isAlone) {
					count++;
					break;
				}
			}
		}
		let text = "";
		for (const frame of this.#drop(count)) {
			const line = typeof frame === "string" ? frame : lineOf(frame as LateFrame);
			if (line !== undefined) text += `${line}\n`;
		}
		return { text, length };
	}

	/** Removes the first frames from the queue. */
	#drop(count: number): Frame[] {
		const dropped = count === this.#frames.length ? this.#frames : this.#frames.slice(0, count);
		this.#frames = dropped === this.#frames ? [] : this.#frames.slice(count);
		if (this.#alone.size) this.#alone = new Set([...this.#alone].flatMap((index) => (index >= count ? [index - count] : [])));
		return dropped;
	}

	#fail(error: Error): void {
		if (this.#hasFailed) return;
		this.#hasFailed = true;
		this.#frames = [];
		this.#waiting = 0;
		this.#isOpen = true;
		this.#opened.resolve();
		this.#written.resolve();
		this.#onError(error);
	}
}

function mapped(frame: Frame, change: (line: string) => string): Frame {
	if (isLong(frame)) return frame;
	return typeof frame === "string" ? change(frame) : { size: frame.size, line: () => change(frame.line()) };
}

function* filtered(parts: Iterable<Uint8Array>, filter: ByteFilter): Generator<Uint8Array> {
	for (const part of parts) {
		const clean = filter.push(Buffer.from(part.buffer, part.byteOffset, part.byteLength));
		if (clean.length) yield clean;
	}
	yield filter.end();
}

/** A frame that cannot be serialized must not make its neighbours fail. */
function lineOf(frame: LateFrame): string | undefined {
	try {
		return frame.line();
	} catch (error) {
		stderrLog().error("a frame could not be written", error);
		return undefined;
	}
}

/** Writes to descriptor 1 that go around `process.stdout` go to stderr too. Frames do not come this way: `process.stdout` has its own. */
function redirectDescriptor(): void {
	for (const name of ["write", "writeSync", "writev", "writevSync"] as const) {
		const original = fs[name] as (descriptor: number, ...rest: unknown[]) => unknown;
		Object.assign(fs, { [name]: (descriptor: number, ...rest: unknown[]) => original(descriptor === 1 ? 2 : descriptor, ...rest) });
	}
}

/** Keeps stdout for frames: all other output goes to stderr. Returns the only way to write frames. */
export function claimStdout(): OutputStream {
	const { stdout } = process;
	const write = stdout.write.bind(stdout);
	// Not bound in advance: making stderr's stream would cost every start a millisecond.
	stdout.write = ((...words: Parameters<typeof stdout.write>) => {
		if (process.stderr.listenerCount("error") === 0) process.stderr.on("error", () => undefined);
		return process.stderr.write(...words);
	}) as typeof stdout.write;
	// Code that ends stdout after printing must not end the protocol.
	stdout.end = ((last?: unknown) => {
		if (typeof last === "string" || last instanceof Uint8Array) stdout.write(last);
		return stdout;
	}) as typeof stdout.end;
	const toStderr = (...words: unknown[]) => console.error(...words);
	console.log = toStderr;
	console.info = toStderr;
	console.debug = toStderr;
	console.dir = (value: unknown) => console.error(value);
	console.table = (value: unknown) => console.error(value);
	redirectDescriptor();
	// The write's own callback reports a broken pipe; without a listener the event would end the process.
	stdout.on("error", () => undefined);
	const handle = (stdout as { _handle?: { writeQueueSize?: number } })._handle;
	return {
		write: (text, done) => void write(text, done),
		writeBytes: (bytes, done) => void write(bytes, done),
		unsent: () => handle?.writeQueueSize ?? 0,
	};
}
