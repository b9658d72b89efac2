/** The lines of a session file. The first bytes of a line tell what it is; the rest is parsed when a caller asks for it. */
import { isUtf8 } from "node:buffer";
import { type Entry, kindOf } from "./entries.ts";
import { entryOf, isPlainMessage } from "./parse.ts";

/** Where a line is in the bytes that were read. */
interface Place {
	/** -1 when the line was added later. */
	start: number;
	end: number;
	/** Where the message begins, when it is the last member of the line; else -1. */
	body: number;
}

const nowhere: Place = { start: -1, end: -1, body: -1 };
const lf = 0x0a;
const cr = 0x0d;
const closeBrace = 0x7d;
/** As in `kindOf`. */
const messagePrefix = "message:";
/** Bytes in which nearly every line tells what it is, and those after which it is parsed. */
const usualHead = 256;
const longestHead = 4096;
/** How often all lines are searched for an id before they are numbered. */
const cheapLooks = 4;
/** So many bytes are made into one text. */
const mostAtOnce = 64 * 1024 * 1024;
/** So many added lines are looked at one by one. */
const fewLines = 16;

/** What is known of a line in numbers, in the order in which it is kept. */
const parentColumn = 0;
const startColumn = 1;
const endColumn = 2;
const bodyColumn = 3;
const columns = 4;

/** In columns: an object for each line of a long session would keep the garbage collector busy. */
export class Lines {
	#ids: string[] = [];
	#kinds: string[] = [];
	#numbersOf = new Int32Array(64 * columns);
	/** Of the lines that were parsed or added. */
	#entries = new Map<number, Entry>();
	#bytes: Buffer | undefined;
	/** How many lines are still only in the bytes. */
	#unread = 0;
	#numbers = new Map<string, number>();
	#numbered = 0;
	#looks = 0;
	#isUtf8: boolean | undefined;
	#found = new Map<string, Set<number>>();
	/** Whether lines were parsed at once: their JSON may be written with spaces. */
	#hasOddLines = false;

	get count(): number {
		return this.#ids.length;
	}

	id(number: number): string {
		return this.#ids[number] as string;
	}

	/** As `kindOf`. */
	kind(number: number): string {
		return this.#kinds[number] as string;
	}

	get hasMessages(): boolean {
		return this.#kinds.some((kind) => kind.startsWith(messagePrefix));
	}

	/** The last line of a kind, -1 when there is none. */
	lastOf(kind: string): number {
		return this.#kinds.lastIndexOf(kind);
	}

	/** Number of the parent's line, -1 for a root. Always smaller than the own, so that no file can make a circle. */
	parent(number: number): number {
		return this.#number(number, parentColumn);
	}

	/** For the last line. */
	setParent(parent: number): void {
		this.#numbersOf[(this.count - 1) * columns + parentColumn] = parent;
	}

	isRead(number: number): boolean {
		return this.#entries.has(number);
	}

	/** Bytes of the line in the file, 0 when it was added later. */
	size(number: number): number {
		return this.#number(number, endColumn) - this.#number(number, startColumn);
	}

	#number(number: number, column: number): number {
		return this.#numbersOf[number * columns + column] as number;
	}

	/** Takes what was read, from the first byte after the header on. Lines that are not entries are skipped. */
	read(bytes: Buffer, from: number): void {
		this.#bytes = bytes;
		const heads = new Heads();
		for (let start = from, stop = 0; start < bytes.length; start = stop + 1) {
			const next = bytes.indexOf(lf, start);
			stop = next < 0 ? bytes.length : next;
			// A line that was not finished is not looked at, only parsed.
			if (next >= 0 && this.#addUnread(bytes, start, stop, heads)) continue;
			if (stop > start) this.#parse(start, stop);
		}
	}

	/** Adds a line that begins as usual. False when it does not. */
	#addUnread(bytes: Buffer, start: number, end: number, heads: Heads): boolean {
		const head = heads.find(bytes, start, end);
		if (!head) return false;
		this.#unread++;
		const { id, parentId, kind, body } = head;
		this.#add(copied(id), parentId, kind, { start, end, body });
		return true;
	}

	add(entry: Entry): void {
		this.#add(entry.id, entry.parentId, kindOf(entry), nowhere, entry);
	}

	/** Removes the last line again. */
	removeLast(): void {
		if (this.count === 0) return;
		this.#ids.pop();
		this.#kinds.pop();
		this.#entries.delete(this.count);
		if (this.#numbered <= this.count) return;
		// An earlier line with the same id counts again; that happens in no file that we wrote, so it may take its time.
		this.#numbers.clear();
		this.#numbered = 0;
	}

	/** The number of the last line with this id, -1 when there is none. */
	find(id: string): number {
		for (; this.#numbered < this.count; this.#numbered++) this.#numbers.set(this.id(this.#numbered), this.#numbered);
		return this.#numbers.get(id) ?? -1;
	}

	/** Whether a line has this id. Most processes ask a few times; then comparing all ids is cheaper than numbering all lines. */
	has(id: string): boolean {
		if (this.#looks >= cheapLooks || this.#numbered > 0) return this.find(id) >= 0;
		this.#looks++;
		return this.#ids.includes(id);
	}

	entry(number: number): Entry {
		const known = this.#entries.get(number);
		if (known) return known;
		const entry = this.#readEntry(number);
		this.#entries.set(number, entry);
		this.#unread--;
		// Once everything has been parsed the bytes are garbage.
		if (this.#unread === 0) this.#bytes = undefined;
		return entry;
	}

	/** Returns an entry without keeping what had to be parsed for it. */
	peek(number: number): Entry {
		return this.#entries.get(number) ?? this.#readEntry(number);
	}

	/**
	 * Returns the message of a line as JSON, straight from the file's bytes. They are parsed as a check, and nothing of that is kept.
	 * undefined if `entry` must be used instead: the line was parsed before, has no message at its end, or its message needs repair.
	 */
	messageBytes(number: number): Uint8Array | undefined {
		const body = this.#number(number, bodyColumn);
		const end = this.#number(number, endColumn);
		const bytes = this.#bytes;
		if (!bytes || body < 0 || this.isRead(number)) return undefined;
		this.#isUtf8 ??= isUtf8(bytes);
		// Without the brace that closes the entry.
		const last = bytes[end - 1] === cr ? end - 2 : end - 1;
		return this.#isUtf8 && isPlainMessage(bytes.toString("utf8", body, last)) ? bytes.subarray(body, last) : undefined;
	}

	/**
	 * Lines that follow one another in the file, with their line ends, each byte as one character. Nothing when the bytes are no longer in memory,
	 * are not UTF-8, are very many, or when there is something between the lines.
	 */
	bytesOf(first: number, last: number): string | undefined {
		const bytes = this.#bytes;
		const start = this.#number(first, startColumn);
		if (!bytes || start < 0) return undefined;
		this.#isUtf8 ??= isUtf8(bytes);
		if (!this.#isUtf8) return undefined;
		if (this.#number(last, endColumn) - start > mostAtOnce) return undefined;
		for (let number = first; number < last; number++) {
			if (this.#number(number + 1, startColumn) !== this.#number(number, endColumn) + 1) return undefined;
		}
		return bytes.toString("latin1", start, this.#number(last, endColumn) + 1);
	}

	/** A line as it is in the file, if its bytes are still in memory. */
	textOf(number: number): string | undefined {
		const start = this.#number(number, startColumn);
		return start < 0 ? undefined : this.#bytes?.toString("utf8", start, this.#number(number, endColumn)).trimEnd();
	}

	/** False only when the line surely does not hold this member, with or without a space after its colon. */
	mayHold(number: number, text: string): boolean {
		if (!this.#bytes || this.isRead(number)) return true;
		return this.#holding(this.#bytes, text).has(number);
	}

	/** False only when surely no line holds this text. */
	mayHoldAnywhere(text: string): boolean {
		if (!this.#bytes || this.#hasOddLines || this.#holding(this.#bytes, text).size > 0) return true;
		// Those that were added follow those that were read. A file that was just opened gets one or two.
		let added = 0;
		for (let number = this.count - 1; number >= 0 && this.#number(number, startColumn) < 0; number--) {
			if (++added > fewLines || JSON.stringify(this.entry(number)).includes(text)) return true;
		}
		return false;
	}

	#holding(bytes: Buffer, text: string): Set<number> {
		let found = this.#found.get(text);
		if (!found) {
			found = this.#search(bytes, text);
			this.#found.set(text, found);
		}
		return found;
	}

	/** The lines that hold a text: one pass over the bytes is many times cheaper than one per line. */
	#search(bytes: Buffer, text: string): Set<number> {
		const found = new Set<number>();
		for (const spelling of [text, text.replace('":"', '": "')]) {
			let number = 0;
			for (let at = bytes.indexOf(spelling); at >= 0; at = bytes.indexOf(spelling, at + 1)) {
				while (number < this.count && this.#number(number, endColumn) < at) number++;
				found.add(number);
			}
		}
		return found;
	}

	#add(id: string, parentId: string | null | undefined, kind: string, { start, end, body }: Place, entry?: Entry): void {
		const number = this.count;
		let parent = -1;
		// Nearly always it is the line before: no need to number them all.
		if (typeof parentId === "string") parent = this.#ids[number - 1] === parentId ? number - 1 : this.find(parentId);
		this.#ids.push(id);
		this.#kinds.push(kind);
		if (entry) this.#entries.set(number, entry);
		const at = number * columns;
		if (at === this.#numbersOf.length) {
			const larger = new Int32Array(2 * at);
			larger.set(this.#numbersOf);
			this.#numbersOf = larger;
		}
		this.#numbersOf[at + parentColumn] = parent;
		this.#numbersOf[at + startColumn] = start;
		this.#numbersOf[at + endColumn] = end;
		this.#numbersOf[at + bodyColumn] = body;
	}

	/** A line that does not begin as usual. One that is not an entry is skipped; it stays in the file. */
	#parse(start: number, end: number): void {
		const entry = entryOf((this.#bytes as Buffer).toString("utf8", start, end));
		if (!entry || typeof entry.id !== "string" || typeof entry.type !== "string" || entry.type === ("session" as string)) return;
		this.#hasOddLines = true;
		this.#add(entry.id, entry.parentId, kindOf(entry), { start, end, body: -1 }, entry);
	}

	/** A line that begins well and is broken further on keeps its place in the tree, so that what is before it is not lost. */
	#readEntry(number: number): Entry {
		const text = (this.#bytes as Buffer).toString("utf8", this.#number(number, startColumn), this.#number(number, endColumn));
		const entry = entryOf(text);
		if (entry) return entry;
		this.#kinds[number] = "unreadable";
		return { type: "unreadable", id: this.id(number), parentId: this.#ids[this.parent(number)] ?? null, timestamp: "" } as unknown as Entry;
	}
}

interface Head {
	id: string;
	parentId: string | undefined;
	kind: string;
	body: number;
}

/** Reads the first bytes of lines. */
class Heads {
	// The order in which every member of the family writes, with the spaces that some programs put after colons and commas.
	#pattern =
		/\{"type": ?"([a-z_]+)", ?"id": ?"([!#-[\]-~]+)", ?"parentId": ?(?:null|"([!#-[\]-~]+)"), ?"timestamp": ?"[ !#-[\]-~]*"(?:, ?"message": ?(\{"role": ?"([A-Za-z]+)")|[,}])/y;
	/** One string per kind, not one per line. */
	#messages = new Map<string, string>();
	#others = new Map<string, string>();

	/** Nothing when the line begins in another way, or is cut. */
	find(bytes: Buffer, start: number, end: number): Head | undefined {
		const pattern = this.#pattern;
		// Few heads are longer than the usual.
		for (let length = usualHead; length <= longestHead; length *= 16) {
			pattern.lastIndex = 0;
			const found = pattern.exec(bytes.toString("latin1", start, Math.min(start + length, end)));
			if (found) return this.#headOf(found, bytes, start, end);
			if (end - start <= length) break;
		}
		return undefined;
	}

	#headOf(found: RegExpExecArray, bytes: Buffer, start: number, end: number): Head | undefined {
		const type = found[1] as string;
		const opening = found[4];
		if ((type === "message") !== (opening !== undefined) || !isClosed(bytes, end)) return undefined;
		const body = opening === undefined ? -1 : start + this.#pattern.lastIndex - opening.length;
		return { id: found[2] as string, parentId: found[3], kind: this.#kindOf(type, found[5]), body };
	}

	#kindOf(type: string, role: string | undefined): string {
		const kinds = role === undefined ? this.#others : this.#messages;
		const name = role ?? type;
		let kind = kinds.get(name);
		if (kind === undefined) {
			kind = role === undefined ? type : `${messagePrefix}${role}`;
			kinds.set(name, kind);
		}
		return kind;
	}
}

function isClosed(bytes: Buffer, end: number): boolean {
	return bytes[bytes[end - 1] === cr ? end - 2 : end - 1] === closeBrace;
}

/** Longer pieces of a string keep the whole of it in memory. */
function copied(id: string): string {
	return id.length < 13 ? id : Buffer.from(id, "latin1").toString("latin1");
}
