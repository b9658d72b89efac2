/**
 * The numbered frames of a session, in a file next to its own: `<session>.events`. A frame is kept as a line; messages that the session file has
 * are named, not repeated. The log can be lost without harm to the conversation: the session file decides.
 */
import { closeSync, constants, existsSync, fdatasync, fstatSync, ftruncateSync, openSync, readSync, renameSync, writeSync } from "node:fs";
import { bootId } from "../lib/claim.ts";
import type { GapReason } from "../protocol/sequence.ts";
import type { Write } from "./session-file.ts";

/** Numbers are reserved in steps, so that none is used twice after a crash. */
const step = 4096;
const maxBytes = 256 * 1024 * 1024;
/** What a session without a file keeps. */
const maxMemory = 8 * 1024 * 1024;
const chunkBytes = 256 * 1024;
/** Most logs ended in order: what the last lines say is enough. */
const tailBytes = 16 * 1024;
const lf = 0x0a;

/** A frame as it was kept. */
export interface KeptFrame {
	seq: number;
	/** The frame as JSON, with references. */
	text: string;
	/** There are no references in it, whatever it looks like. */
	isInline: boolean;
}

export interface OpenRun {
	runId: string;
	key?: string;
}

/** What a log holds after its last idle moment. */
export interface Unfinished {
	frames: KeptFrame[];
	runs: OpenRun[];
	/** Dialogs that were answered. */
	closed: Set<string>;
}

/** Something that a range of the log lacks. */
export interface Missing {
	reason: Extract<GapReason, "hole" | "restart" | "log_trimmed" | "log_missing">;
	from: number;
	to: number;
}

interface Header {
	type: "events";
	version: 1;
	sessionId: string;
	/** The first number that this log may have. */
	first: number;
	/** Why there is nothing before it, if there was something. */
	lost?: "log_trimmed" | "log_missing";
	/** How far the log was written: see `markOf`. Absent in logs of earlier versions. */
	mark?: string;
}

export interface EventLogOptions {
	sessionId: string;
	/** The log's own path; without one it is kept in memory. */
	path: string | undefined;
	/** Whether the conversation has begun: then a log that is missing was lost, or never there. */
	hasHistory: boolean;
	now: () => number;
	/** Takes credentials out of a line. */
	redact?: (line: string) => string;
	/** Nothing is written before this: a session without a message leaves no file. */
	mayWrite?: () => boolean;
	/** How bytes get to the file; tests inject failures here. */
	write?: Write;
	maxBytes?: number;
	maxMemory?: number;
	/** Another process writes the log, or none does: nothing of it is changed. */
	isReader?: true;
	/** Of a reader: another process writes the log at the moment. */
	hasWriter?: boolean;
	/** Called once when lines cannot be written. */
	onFailure?: (error: Error) => void;
	/** Called when the path held something that is no event log, which is now at `aside`. */
	onSetAside?: (aside: string) => void;
}

/** `<session>.events` for `<session>.jsonl`. */
export function eventLogPath(sessionFile: string): string {
	return `${sessionFile.replace(/\.jsonl$/, "")}.events`;
}

export class EventLog {
	readonly path: string | undefined;
	readonly unfinished: Unfinished = { frames: [], runs: [], closed: new Set() };
	/** How many processes have written it, this one included. */
	epoch = 1;
	/** The process that wrote it before ended in order. */
	isEnded = false;
	#options: EventLogOptions;
	#header: Header;
	#last = 0;
	/** Numbers up to this one are reserved. */
	#reserved = 0;
	/** Lines that are not in the file yet; without a file: all. */
	#waiting: string[] = [];
	#waitingBytes = 0;
	/** Whether the file has a header. */
	#hasHeader = false;
	#hasReserved = false;
	/** A reservation whose line is not in the file yet. */
	#asked: number | undefined;
	/** Frames that had to be kept were sent without a number. */
	#hasLost = false;
	#descriptor: number | undefined;
	/** Of the file and the boot of the system, for the mark. */
	#identity = "";
	/** Writes the mark, which is in the middle of the file. */
	#marking: { descriptor: number; at: number } | undefined;
	#size = 0;
	/** A write failed in the middle of a line. */
	#isTorn = false;
	/** The numbers of frames that could not be written. */
	#hole: [number, number] | undefined;
	#hasFailed = false;
	/** What memory no longer has. */
	#droppedTo = 0;
	#isClosed = false;

	constructor(options: EventLogOptions) {
		this.#options = options;
		this.path = options.path;
		this.#header = { type: "events", version: 1, sessionId: options.sessionId, first: 1 };
		if (options.hasHistory) this.#beginAgain();
		if (this.path !== undefined) this.#read(this.path);
	}

	/** Starts beyond every number that was given before: nothing is known of them. */
	#beginAgain(): void {
		const first = this.#options.now();
		this.#header = { ...this.#header, first, lost: "log_missing" };
		this.#last = this.#reserved = first - 1;
	}

	/** The first number that may be found here. */
	get first(): number {
		return Math.max(this.#header.first, this.#droppedTo + 1);
	}

	/** The last number that was given. For a reader: the last one that the log tells of. */
	get last(): number {
		return this.#last;
	}

	/**
	 * The next number, which no other process gives again: its reservation is on disk. Undefined while that cannot be written. The frame is then
	 * sent without a number; if it had to be kept, call `lose`.
	 */
	next(): number | undefined {
		if (this.#last >= this.#reserved || !this.#hasReserved) this.#reserve();
		return this.#asked === undefined ? ++this.#last : undefined;
	}

	/** A frame that had to be kept has no number. Readers get a gap in its place. */
	lose(): void {
		this.#hasLost = true;
	}

	/** Whether frames without numbers were lost, and no line tells of them yet. */
	get hasLost(): boolean {
		return this.#hasLost;
	}

	/** Keeps a frame. `text` is its JSON. */
	keep(seq: number, text: string, isInline = false): void {
		this.#add(`{"s":${seq},"t":${this.#options.now()},${isInline ? '"i":1,' : ""}"f":${text}}`);
	}

	/** A run was accepted: it has exactly one `run_result`, whatever happens to this process. */
	run({ runId, key }: OpenRun): void {
		// A log without a reservation says nothing.
		if (!this.#hasReserved) this.#reserve();
		this.#add(JSON.stringify({ run: runId, ...(key !== undefined && { key }) }));
	}

	/** A dialog was answered: nothing has to withdraw it. */
	closed(id: string): void {
		this.#add(JSON.stringify({ closed: id }));
	}

	/** Nothing is open: the next process that opens the log need not look further back. */
	idle(): void {
		if (this.#hasReserved) this.#add(`{"idle":${this.#last},"r":${this.#reserved},"e":${this.epoch}}`);
	}

	/** Gives numbers above this one from now on: another process may have given it. */
	skipTo(seq: number): void {
		if (seq <= this.#last) return;
		this.#last = seq;
		this.#hasReserved = false;
	}

	get hasWaiting(): boolean {
		return this.path !== undefined && this.#waiting.length > 0;
	}

	/** Writes what waits, in one piece. A failure does not stop the run: the next piece says which numbers are missing. */
	flush(): void {
		const { path } = this;
		if (path === undefined || this.#waiting.length === 0 || !(this.#options.mayWrite?.() ?? true)) return;
		const hole = this.#hole && `{"hole":[${this.#hole[0]},${this.#hole[1]}]}\n`;
		const lines = this.#waiting;
		this.#waiting = [];
		this.#waitingBytes = 0;
		try {
			const descriptor = this.#open(path, lines);
			const isNew = !this.#hasHeader && !lines.some((line) => line.startsWith('{"r":'));
			const reserved = isNew && this.#hasReserved ? `{"r":${this.#reserved},"e":${this.epoch}}\n` : "";
			const head = this.#hasHeader ? "" : `${JSON.stringify({ ...this.#header, mark: markOf(0, this.#identity) })}\n${reserved}`;
			const bytes = Buffer.from(`${this.#isTorn ? "\n" : ""}${head}${hole ?? ""}${lines.join("\n")}\n`);
			this.#writeAll(descriptor, bytes);
			this.#hasHeader = true;
			this.#isTorn = false;
			this.#hole = undefined;
			this.#writeMark(path);
			// Numbers are used from now on: after a power loss the reservation must still be there.
			if (this.#asked !== undefined) fdatasync(descriptor, () => undefined);
			this.#grant();
			if (this.#size > (this.#options.maxBytes ?? maxBytes)) this.#trim(path);
		} catch (error) {
			this.#lose(lines);
			if (!this.#hasFailed) this.#options.onFailure?.(error as Error);
			this.#hasFailed = true;
		}
	}

	/** A clean end: the next number after it is the next one. */
	end(): void {
		if (this.#isClosed) return;
		this.#isClosed = true;
		if (this.#hasReserved) this.#add(`{"s":${this.#last},"end":true,"e":${this.epoch}}`);
		this.flush();
		this.close();
	}

	close(): void {
		for (const descriptor of [this.#descriptor, this.#marking?.descriptor]) if (descriptor !== undefined) closeSync(descriptor);
		this.#descriptor = undefined;
		this.#marking = undefined;
	}

	/** Says at the head of the file how long it is, so that the next process sees when its end was lost. A mark that lags behind does no harm. */
	#writeMark(path: string): void {
		try {
			if (!this.#marking) {
				const descriptor = openSync(path, "r+");
				const line = firstLineOf(descriptor, this.#size);
				const at = line.indexOf('"mark":"');
				this.#marking = { descriptor, at: at < 0 ? at : Buffer.byteLength(line.slice(0, at)) };
			}
			const { descriptor, at } = this.#marking;
			if (at >= 0) writeSync(descriptor, markOf(this.#size, this.#identity), at + '"mark":"'.length);
		} catch {
			// The lines themselves are written.
		}
	}

	/** The kept frames with `after < seq <= to`, in order. */
	*frames(after: number, to: number): Generator<KeptFrame> {
		let last = after;
		for (const line of this.#lines(after)) {
			const seq = seqOf(line);
			// A line may be there twice.
			if (seq === undefined || seq <= last) continue;
			if (seq > to) return;
			const frame = frameOf(line, seq);
			if (!frame) continue;
			last = seq;
			yield frame;
		}
	}

	/** What a reader that has seen everything up to `after` cannot get; the worst first. Also how many kept frames there are. */
	missing(after: number, to: number): { missing: Missing[]; count: number } {
		const missing: Missing[] = [];
		let count = 0;
		const lost = this.#droppedTo >= this.#header.first ? "log_trimmed" : this.#header.lost;
		if (lost && after + 1 < this.first) missing.push({ reason: lost, from: after + 1, to: this.first - 1 });
		let previous = Math.max(after, this.first - 1);
		let isDamaged = false;
		const addHole = (from: number, end: number) => {
			if (from <= end && end > after && from <= to) missing.push({ reason: "hole", from: Math.max(from, after + 1), to: Math.min(end, to) });
		};
		for (const line of this.#lines(after)) {
			const seq = seqOf(line);
			if (seq !== undefined) {
				const isFrame = frameOf(line, seq) !== undefined;
				if (isDamaged) addHole(previous + 1, Math.min(isFrame ? seq - 1 : seq, to));
				isDamaged = false;
				if (seq > to) break;
				if (!isFrame && !line.includes('"end":true')) addHole(seq, seq);
				else if (isFrame && seq > previous) count++;
				previous = Math.max(previous, seq);
				continue;
			}
			if (!line.startsWith("{") || !line.endsWith("}")) isDamaged = true;
			const { hole, from } = (/^\{"(hole|r)"/.test(line) ? parsed(line) : {}) as { hole?: [number, number]; from?: number };
			if (hole) addHole(...hole);
			if (from !== undefined && from > previous + 1 && from - 1 > after && previous < to)
				missing.push({ reason: "restart", from: previous + 1, to: Math.min(from - 1, to) });
		}
		if (isDamaged && previous < to) addHole(previous + 1, to);
		if (this.#hasLost) missing.push({ reason: "hole", from: after + 1, to: Math.max(after + 1, to) });
		if (this.#hole) addHole(...this.#hole);
		return { missing, count };
	}

	/** Takes a further step of numbers. Those of a log that has a file are not used before the file says so. */
	#reserve(): void {
		// Its line waits: every flush tries to write it.
		if (this.#asked !== undefined) return;
		this.#asked = Math.max(this.#reserved, this.#last) + step;
		this.#add(`{"r":${this.#asked},"e":${this.epoch}${this.#hasReserved ? "" : `,"from":${this.#last + 1}`}}`);
		// If a log without a file is never written, the next one begins beyond these numbers, at the present time.
		if (this.#hasHeader) this.flush();
		else this.#grant();
	}

	#grant(): void {
		if (this.#asked === undefined) return;
		this.#reserved = this.#asked;
		this.#hasReserved = true;
		this.#asked = undefined;
		if (!this.#hasLost) return;
		// The loss takes a number of its own, so that every reader learns of it.
		this.#hasLost = false;
		this.#last++;
		this.#add(`{"hole":[${this.#last},${this.#last}]}`);
	}

	#add(line: string): void {
		const { redact } = this.#options;
		const text = redact ? redact(line) : line;
		this.#waiting.push(text);
		if (this.path !== undefined) return;
		this.#waitingBytes += text.length;
		if (this.#waitingBytes > (this.#options.maxMemory ?? maxMemory)) this.#forget();
	}

	/** Memory keeps its newer half. */
	#forget(): void {
		const limit = (this.#options.maxMemory ?? maxMemory) / 2;
		let count = 0;
		while (this.#waitingBytes > limit && count < this.#waiting.length) {
			const line = this.#waiting[count++] as string;
			this.#waitingBytes -= line.length;
			this.#droppedTo = Math.max(this.#droppedTo, seqOf(line) ?? 0);
		}
		this.#waiting = this.#waiting.slice(count);
	}

	#open(path: string, lines: readonly string[]): number {
		if (this.#descriptor !== undefined) {
			if (fstatSync(this.#descriptor).nlink > 0) return this.#descriptor;
			// It was deleted under us: a new one begins, beyond every number that was given.
			this.close();
			const first = lines.map(seqOf).find((seq) => seq !== undefined) ?? this.#last + 1;
			this.#header = { ...this.#header, first, lost: "log_missing" };
			this.#hasHeader = false;
		}
		this.#descriptor = openSync(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT, 0o600);
		this.#size = fstatSync(this.#descriptor).size;
		this.#identity = identityOf(this.#descriptor);
		return this.#descriptor;
	}

	#writeAll(descriptor: number, bytes: Buffer): void {
		const write = this.#options.write ?? ((to: number, from: Buffer) => writeSync(to, from));
		for (let done = 0; done < bytes.length; ) {
			const count = write(descriptor, done ? bytes.subarray(done) : bytes);
			if (count <= 0) throw Object.assign(new Error("nothing was written"), { code: "EIO" });
			done += count;
		}
		this.#size += bytes.length;
	}

	/** These lines are not in the file. Their frames become a hole; what is not a frame is written next time. */
	#lose(lines: readonly string[]): void {
		const numbers = lines.flatMap((line) => seqOf(line) ?? []);
		const [from, to] = [numbers[0], numbers.at(-1)];
		if (from !== undefined && to !== undefined) this.#hole = [Math.min(this.#hole?.[0] ?? from, from), to];
		this.#waiting = [...lines.filter((line) => seqOf(line) === undefined), ...this.#waiting];
		if (this.#descriptor === undefined) return;
		try {
			ftruncateSync(this.#descriptor, this.#size);
		} catch {
			// Then the rest of a line stays, and the next piece begins with a line end.
			this.#isTorn = true;
		}
	}

	/** Learns from the end of the file where the numbers go on and what was left open. */
	#read(path: string): void {
		const { isReader, hasWriter, now } = this.#options;
		let descriptor: number | undefined;
		let isEmpty = false;
		try {
			descriptor = openSync(path, isReader ? constants.O_RDONLY : constants.O_RDWR);
			// Before the size: a process that writes meanwhile moves its mark behind the lines.
			const before = fstatSync(descriptor).size;
			const header = parsed(firstLineOf(descriptor, before)) as Partial<Header> | undefined;
			const { size } = fstatSync(descriptor);
			isEmpty = before === 0;
			// The process that made it writes its first line any moment.
			if (isEmpty && isReader) return;
			if (header?.type !== "events" || header.version !== 1 || typeof header.first !== "number") throw new Error("not an event log");
			const end = wholeEnd(descriptor, size);
			const tail = tailOf(descriptor, end);
			if (tail.reserved === undefined) throw new Error("no numbers");
			const isLive = isReader && hasWriter;
			const isCut = !isLive && isCutShort(header.mark ?? "", identityOf(descriptor), end, tail.isEnded);
			if (end < size && !isReader) ftruncateSync(descriptor, end);
			this.#header = header as Header;
			this.#hasHeader = true;
			this.epoch = tail.epoch + (isReader ? 0 : 1);
			this.isEnded = tail.isEnded && !isCut;
			this.#last = this.#reserved = tail.isEnded || isLive ? tail.last : tail.reserved;
			if (isCut) {
				// Reservations may have been cut off, too: no number that was given is below the present time.
				this.#last = this.#reserved = Math.max(tail.reserved, now() - 1);
				this.#hole = [tail.last + 1, this.#last];
			}
			Object.assign(this.unfinished, tail.unfinished);
		} catch (error) {
			const { code } = error as NodeJS.ErrnoException;
			// A reader that has no file to spare for a moment knows nothing of the log.
			if (code === "ENOENT" || (isReader && code !== undefined)) return;
			this.#beginAgain();
			if (!isReader && !isEmpty) this.#setAside(path);
		} finally {
			if (descriptor !== undefined) closeSync(descriptor);
		}
	}

	/** Makes room for a new log. Where that fails, lines go nowhere and a hole says so. */
	#setAside(path: string): void {
		let aside = `${path}.unusable`;
		for (let count = 2; existsSync(aside); count++) aside = `${path}.unusable-${count}`;
		try {
			renameSync(path, aside);
			this.#options.onSetAside?.(aside);
		} catch (error) {
			this.#options.onFailure?.(error as Error);
			this.#hasFailed = true;
		}
	}

	/** The oldest half goes. */
	#trim(path: string): void {
		const descriptor = this.#descriptor as number;
		const from = lineAfter(descriptor, this.#size >> 1, this.#size);
		const beside = `${path}.new`;
		const target = openSync(beside, "w", 0o600);
		try {
			let first = this.#header.first;
			for (const line of linesOf(descriptor, from, this.#size)) {
				const seq = seqOf(line);
				if (seq === undefined) continue;
				first = seq;
				break;
			}
			this.#header = { ...this.#header, first, lost: "log_trimmed" };
			writeSync(target, `${JSON.stringify({ ...this.#header, mark: markOf(0, identityOf(target)) })}\n`);
			const chunk = Buffer.alloc(1 << 20);
			for (let at = from; at < this.#size; ) {
				const count = readSync(descriptor, chunk, 0, Math.min(chunk.length, this.#size - at), at);
				if (count === 0) break;
				writeSync(target, chunk, 0, count);
				at += count;
			}
			// The reservation may have been in the half that went.
			writeSync(target, `{"r":${this.#reserved},"e":${this.epoch}}\n`);
			renameSync(beside, path);
		} finally {
			closeSync(target);
		}
		this.close();
	}

	/** All lines that may concern numbers above `after`: those of the file, then those that wait. */
	*#lines(after: number): Generator<string> {
		const { path } = this;
		if (path !== undefined && this.#hasHeader) {
			const descriptor = openSync(path, "r");
			try {
				const { size } = fstatSync(descriptor);
				yield* linesOf(descriptor, placeBefore(descriptor, size, after), size);
			} finally {
				closeSync(descriptor);
			}
		}
		yield* [...this.#waiting];
	}
}

/** How far the log was written. Always of the same length: it is replaced in place. */
const markOf = (size: number, identity: string) => `${String(size).padStart(15, "0")} ${identity}`;

/** The inode, because a copy is not held to the mark, and the boot of the system. */
function identityOf(descriptor: number): string {
	return `${String(fstatSync(descriptor).ino).padStart(20, "0")} ${bootId().slice(0, 8).padEnd(8, "-")}`;
}

/** Whether lines at the end are lost, or may be: a power loss takes the newest ones, and perhaps the mark that tells of them. */
function isCutShort(mark: string, identity: string, end: number, isEnded: boolean): boolean {
	const [size, inode, boot] = mark.split(" ");
	const [ownInode, ownBoot] = identity.split(" ");
	return inode === ownInode && (end < Number(size) || (!isEnded && boot !== ownBoot));
}

/** The number at the head of a line. */
function seqOf(line: string): number | undefined {
	if (!line.startsWith('{"s":')) return undefined;
	const seq = Number.parseInt(line.slice(5, 25), 10);
	return Number.isNaN(seq) ? undefined : seq;
}

/** The frame that a line keeps, if it keeps one. */
export function keptFrameOf(line: string): KeptFrame | undefined {
	const seq = seqOf(line);
	return seq === undefined ? undefined : frameOf(line, seq);
}

/** Cut out of the line, not parsed: a replay costs what reading costs. */
function frameOf(line: string, seq: number): KeptFrame | undefined {
	const isInline = line.includes(',"i":1,"f":{');
	const at = line.indexOf('"f":{');
	return at < 0 || at > 64 || !line.endsWith("}}") ? undefined : { seq, text: line.slice(at + 4, -1), isInline };
}

function parsed(line: string): Record<string, unknown> | undefined {
	try {
		const value: unknown = JSON.parse(line);
		return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
	} catch {
		// A line that was torn, or that another program wrote: it says nothing.
		return undefined;
	}
}

function firstLineOf(descriptor: number, size: number): string {
	for (const line of linesOf(descriptor, 0, size)) return line;
	return "";
}

/** The end of the last whole line. */
function wholeEnd(descriptor: number, size: number): number {
	const chunk = Buffer.allocUnsafe(Math.min(size, tailBytes));
	for (let end = size; end > 0; ) {
		const start = Math.max(0, end - chunk.length);
		const count = readSync(descriptor, chunk, 0, end - start, start);
		const found = chunk.lastIndexOf(lf, count - 1);
		if (found >= 0 && found < count) return start + found + 1;
		end = start;
	}
	return 0;
}

interface Tail {
	unfinished: Unfinished;
	last: number;
	reserved: number | undefined;
	epoch: number;
	isEnded: boolean;
}

/** What follows the last idle moment, and the numbers. Reads backwards, in growing pieces. */
function tailOf(descriptor: number, end: number): Tail {
	for (let length = tailBytes; ; length *= 8) {
		const from = length >= end ? 0 : lineAfter(descriptor, end - length, end);
		const tail = tailFrom(descriptor, from, end);
		if (tail || from === 0)
			return tail ?? { unfinished: { frames: [], runs: [], closed: new Set() }, last: 0, reserved: undefined, epoch: 0, isEnded: false };
	}
}

/** Undefined when the piece holds no idle moment and does not begin at the beginning. */
function tailFrom(descriptor: number, from: number, end: number): Tail | undefined {
	let isKnown = from === 0;
	let unfinished: Unfinished = { frames: [], runs: [], closed: new Set() };
	let [last, epoch] = [0, 0];
	let reserved: number | undefined;
	let isEnded = false;
	for (const line of linesOf(descriptor, from, end)) {
		const seq = seqOf(line);
		if (seq !== undefined) {
			const frame = frameOf(line, seq);
			isEnded = !frame && line.includes('"end":true');
			// A line may be there twice.
			if (frame && seq > last) unfinished.frames.push(frame);
			last = Math.max(last, seq);
			if (!isEnded) continue;
		}
		const { r, e, run, key, idle, closed } = parsed(line) ?? {};
		if (typeof r === "number") {
			reserved = r;
			isEnded = false;
		}
		if (typeof e === "number") epoch = e;
		if (typeof run === "string") unfinished.runs.push({ runId: run, ...(typeof key === "string" && { key }) });
		if (typeof closed === "string") unfinished.closed.add(closed);
		if (typeof idle === "number") last = Math.max(last, idle);
		if (typeof idle === "number" || isEnded) {
			isKnown = true;
			unfinished = { frames: [], runs: [], closed: new Set() };
			if (isEnded) reserved = Math.max(reserved ?? 0, last);
		}
	}
	return isKnown ? { unfinished, last, reserved, epoch, isEnded } : undefined;
}

/** The place of the first line that begins after `at`. */
function lineAfter(descriptor: number, at: number, end: number): number {
	const chunk = Buffer.allocUnsafe(Math.min(tailBytes, Math.max(1, end - at)));
	for (let start = Math.max(0, at); start < end; ) {
		const count = readSync(descriptor, chunk, 0, Math.min(chunk.length, end - start), start);
		if (count === 0) return end;
		const found = chunk.subarray(0, count).indexOf(lf);
		if (found >= 0) return start + found + 1;
		start += count;
	}
	return end;
}

/** A place in the file before which no number is above `after`. */
function placeBefore(descriptor: number, size: number, after: number): number {
	let [low, high] = [0, size];
	while (high - low > 4 * chunkBytes) {
		const middle = Math.floor((low + high) / 2);
		const seq = firstNumber(descriptor, middle, high);
		if (seq === undefined || seq.number > after) high = middle;
		else low = seq.at;
	}
	return low;
}

function firstNumber(descriptor: number, at: number, end: number): { number: number; at: number } | undefined {
	let place = lineAfter(descriptor, at, end);
	for (const line of linesOf(descriptor, place, end)) {
		const number = seqOf(line);
		if (number !== undefined) return { number, at: place };
		place += Buffer.byteLength(line) + 1;
	}
	return undefined;
}

function* linesOf(descriptor: number, from: number, end: number): Generator<string> {
	let rest: Buffer[] = [];
	// The first line alone costs a small read, a long replay few reads.
	let size = tailBytes;
	for (let at = from; at < end; size = Math.min(4 * size, chunkBytes)) {
		const chunk = Buffer.allocUnsafe(Math.min(size, end - at));
		const count = readSync(descriptor, chunk, 0, chunk.length, at);
		if (count === 0) return;
		at += count;
		let start = 0;
		for (let stop = chunk.indexOf(lf); stop >= 0 && stop < count; stop = chunk.indexOf(lf, start)) {
			const piece = chunk.subarray(start, stop);
			const line = rest.length ? Buffer.concat([...rest, piece]) : piece;
			rest = [];
			start = stop + 1;
			if (line.length) yield line.toString("utf8");
		}
		if (start < count) rest.push(chunk.subarray(start, count));
	}
}
