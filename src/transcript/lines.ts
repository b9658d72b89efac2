/** The lines of a session file. The first bytes of most lines tell what they are; the rest is parsed when a caller asks for it. */
import { isUtf8 } from "node:buffer";
import { type Entry, kindOf, messageKind } from "./entries.ts";
import { type EntryHead, entryHeadOf, entryOf, isPlainMessage } from "./parse.ts";

/** A line that was read or added. */
interface Line {
	readonly id: string;
	/** As `kindOf`. */
	kind: string;
	/** Number of the parent's line, -1 for a root. Always smaller than its own, so that no file can make a circle. */
	parent: number;
	/** Where the line is in the bytes that were read; both are -1 if it was added later. */
	readonly start: number;
	readonly end: number;
	/** Where its message is, if the line could be told without parsing it. */
	readonly body: Head["body"];
	/** undefined until the line is parsed. */
	entry: Entry | undefined;
}

const lf = 0x0a;
const cr = 0x0d;
const closeBrace = 0x7d;
/** As in `kindOf`. */
const messagePrefix = "message:";
/** So many bytes at an end of a line tell what it is. */
const headBytes = 256;
/** So many added lines are looked at one by one. */
const fewLines = 16;

export class Lines {
	#lines: Line[] = [];
	/** The number of the last line with an id. */
	#numbers = new Map<string, number>();
	#bytes: Buffer | undefined;
	/** How many lines are still only in the bytes. */
	#unread = 0;
	#isUtf8: boolean | undefined;
	#found = new Map<string, Set<number>>();
	#hasEdits = false;

	get count(): number {
		return this.#lines.length;
	}

	id(number: number): string {
		return this.#line(number).id;
	}

	/** As `kindOf`. */
	kind(number: number): string {
		return this.#line(number).kind;
	}

	/** Whether there is a `context_edit`. */
	get hasEdits(): boolean {
		return this.#hasEdits;
	}

	get hasMessages(): boolean {
		return this.#lines.some(({ kind }) => kind.startsWith(messagePrefix));
	}

	/** The last line of a kind, -1 when there is none. */
	lastOf(kind: string): number {
		return this.#lines.findLastIndex((line) => line.kind === kind);
	}

	/** Number of the parent's line, -1 for a root. */
	parent(number: number): number {
		return this.#line(number).parent;
	}

	isRead(number: number): boolean {
		return this.#line(number).entry !== undefined;
	}

	/** Bytes of the line in the file, 0 when it was added later. */
	size(number: number): number {
		const { start, end } = this.#line(number);
		return end - start;
	}

	#line(number: number): Line {
		return this.#lines[number] as Line;
	}

	/**
	 * Takes what was read, from the first byte after the header on. Lines that are not entries are skipped. A line that does not begin as usual
	 * is parsed and its entry not kept: the garbage collector needs more time for 50,000 entries than parsing some of them again takes.
	 */
	read(bytes: Buffer, from: number): void {
		this.#bytes = bytes;
		const heads = new Heads();
		for (let start = from, stop = 0; start < bytes.length; start = stop + 1) {
			const next = bytes.indexOf(lf, start);
			stop = next < 0 ? bytes.length : next;
			if (stop === start) continue;
			// The first bytes of a line that was not finished prove nothing.
			const head: Head | undefined = (next < 0 ? undefined : heads.find(bytes, start, stop)) ?? entryHeadOf(bytes.toString("utf8", start, stop));
			// What is not an entry stays in the file.
			if (!head) continue;
			const { id, parentId, kind, body } = head;
			// Only earlier lines are known yet. A parent that is not among them makes a root.
			const parent = parentId === undefined ? -1 : this.find(parentId);
			this.#push({ id, kind, parent, start, end: stop, body, entry: undefined });
			this.#unread++;
		}
	}

	/** Adds an entry after the line `parent`. Its id must be new. */
	add(entry: Entry, parent: number): void {
		this.#push({ id: entry.id, kind: kindOf(entry), parent, start: -1, end: -1, body: undefined, entry });
	}

	/** Removes the entry that was added last. */
	removeLast(): void {
		const line = this.#lines.pop();
		if (line) this.#numbers.delete(line.id);
	}

	/** The number of the last line with this id, -1 when there is none. */
	find(id: string): number {
		return this.#numbers.get(id) ?? -1;
	}

	entry(number: number): Entry {
		const line = this.#line(number);
		if (line.entry) return line.entry;
		line.entry = this.#readEntry(line);
		this.#unread--;
		// Once everything has been parsed the bytes are garbage.
		if (this.#unread === 0) this.#bytes = undefined;
		return line.entry;
	}

	/** Returns an entry without keeping what had to be parsed for it. */
	peek(number: number): Entry {
		const line = this.#line(number);
		return line.entry ?? this.#readEntry(line);
	}

	/**
	 * Returns the message of a line as JSON, straight from the file's bytes. They are parsed as a check, and nothing of that is kept.
	 * undefined if `entry` must be used instead: the line was parsed before, was not written as most are, or its message needs repair.
	 */
	messageBytes(number: number): Uint8Array | undefined {
		const { body, entry } = this.#line(number);
		const bytes = this.#bytes;
		if (!bytes || !body || entry) return undefined;
		this.#isUtf8 ??= isUtf8(bytes);
		return this.#isUtf8 && isPlainMessage(bytes.toString("utf8", body.start, body.end)) ? bytes.subarray(body.start, body.end) : undefined;
	}

	/** A line as it is in the file, if its bytes are still in memory. */
	textOf(number: number): string | undefined {
		const { start, end } = this.#line(number);
		return start < 0 ? undefined : this.#bytes?.toString("utf8", start, end).trimEnd();
	}

	/** Returns false only if the line surely does not contain this text. */
	mayHold(number: number, text: string): boolean {
		if (!this.#bytes || this.isRead(number)) return true;
		return this.#holding(this.#bytes, text).has(number);
	}

	/** Returns false only if surely no line contains this text. */
	mayHoldAnywhere(text: string): boolean {
		if (!this.#bytes || this.#holding(this.#bytes, text).size > 0) return true;
		// Those that were added follow those that were read. A file that was just opened gets one or two.
		let added = 0;
		for (let number = this.count - 1; number >= 0 && this.#line(number).start < 0; number--) {
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
		let number = 0;
		for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) {
			while (number < this.count && this.#line(number).end < at) number++;
			found.add(number);
		}
		return found;
	}

	#push(line: Line): void {
		this.#numbers.set(line.id, this.#lines.length);
		this.#lines.push(line);
		if (line.kind === "context_edit") this.#hasEdits = true;
	}

	/** A line that begins well and is broken further on keeps its place in the tree, so that what is before it is not lost. */
	#readEntry(line: Line): Entry {
		const entry = entryOf((this.#bytes as Buffer).toString("utf8", line.start, line.end));
		if (entry) return entry;
		line.kind = "unreadable";
		return { type: "unreadable", id: line.id, parentId: this.#lines[line.parent]?.id ?? null, timestamp: "" } as unknown as Entry;
	}
}

interface Head extends EntryHead {
	/** Where the message is, in a line that has one and could be told without parsing it. */
	body?: { start: number; end: number };
}

/** A text without escapes. */
const plain = '"([ !#-[\\]-~]*)"';
/** The order in which every member of the family writes, with the spaces that some programs put after colons and commas. Ends where a message begins. */
const usualHead = new RegExp(
	`\\{"type": ?"([a-z_]+)", ?"id": ?${plain}, ?"parentId": ?(?:null|${plain}), ?"timestamp": ?${plain}(?:, ?"message": ?(?=\\{"role": ?"([A-Za-z]+)")|[,}])`,
	"y",
);
const plainMember = `"([A-Za-z]+)": ?(?:null|${plain})`;
/** Texts and null, then the message; and what may follow its closing brace. */
const anyHead = new RegExp(`\\{((?:${plainMember}, ?)*)"message": ?(?=\\{"role": ?"([A-Za-z]+)")`, "y");
const anyTail = new RegExp(`\\}((?:, ?${plainMember})*)\\}$`);
const members = new RegExp(plainMember, "g");

/** Tells what a line is from its first bytes and, where a message is not its last member, from its last ones. */
class Heads {
	/** One string per role, not one per line. */
	#kinds = new Map<string, string>();

	/** Returns undefined if the line must be parsed: it is written in another way, or is cut. */
	find(bytes: Buffer, start: number, end: number): Head | undefined {
		const last = bytes[end - 1] === cr ? end - 1 : end;
		if (bytes[last - 1] !== closeBrace) return undefined;
		const text = bytes.toString("latin1", start, Math.min(start + headBytes, last));
		usualHead.lastIndex = 0;
		const found = usualHead.exec(text);
		if (!found) return this.#findMessage(bytes, text, start, last);
		const type = found[1] as string;
		const id = found[2] as string;
		const parentId = found[3];
		const role = found[5];
		if (type !== "message") return role === undefined ? { id, parentId, kind: type } : undefined;
		if (role === undefined) return undefined;
		return { id, parentId, kind: this.#kindOf(role), body: { start: start + usualHead.lastIndex, end: last - 1 } };
	}

	/** Finds a message among members in another order. The caller checks its JSON before it is used. */
	#findMessage(bytes: Buffer, text: string, start: number, end: number): Head | undefined {
		anyHead.lastIndex = 0;
		const head = anyHead.exec(text);
		const tail = head && anyTail.exec(bytes.toString("latin1", Math.max(start, end - headBytes), end));
		if (!head || !tail) return undefined;
		const role = head.at(-1) as string;
		const others = `${head[1]}${tail[1]}`;
		const found = new Map([...others.matchAll(members)].map(([, name, value]) => [name, value]));
		const id = found.get("id");
		if (found.get("type") !== "message" || id === undefined || !found.has("parentId") || found.has("message")) return undefined;
		const body = { start: start + anyHead.lastIndex, end: end - tail[0].length + 1 };
		return { id, parentId: found.get("parentId"), kind: this.#kindOf(role), body };
	}

	#kindOf(role: string): string {
		const kind = this.#kinds.get(role) ?? messageKind(role);
		this.#kinds.set(role, kind);
		return kind;
	}
}
