/** The lines of a session file: what each is can be told from its first bytes, the rest is parsed when somebody asks. */
import { type Entry, kindOf } from "./entries.ts";
import { entryOf } from "./parse.ts";

export interface Line {
	id: string;
	/** Number of the parent's line, -1 for a root. Always smaller than the own, so that no file can make a circle. */
	parent: number;
	kind: string;
	/** Where it stands in the bytes that were read; -1 when it was added later. */
	start: number;
	end: number;
	entry: Entry | undefined;
}

const lf = 0x0a;
/** Small enough to be garbage soon, large enough that the number of pieces does not matter. */
const pieceSize = 512 * 1024;

export class Lines {
	readonly all: Line[] = [];
	#bytes: Buffer | undefined;
	/** How many lines are still only in the bytes. */
	#unread = 0;
	#numbers = new Map<string, number>();
	#numbered = 0;
	#found = new Map<string, Set<number>>();

	/** Takes what was read, from the first byte behind the header on. Lines that are no entries are left out. */
	read(bytes: Buffer, from: number): void {
		this.#bytes = bytes;
		// The order in which every member of the family writes; other lines are parsed at once.
		const head =
			/\{"type":"([a-z_]+)","id":"([!#-[\]-~]+)","parentId":(?:null|"([!#-[\]-~]+)"),"timestamp":"[^"\\]*"(?:,"message":\{"role":"([A-Za-z]+)"|[,}])/y;
		// One string per kind, not one per line.
		const kinds = new Map<string, string>();
		const kind = (spelling: string) => {
			const known = kinds.get(spelling);
			if (known === undefined) kinds.set(spelling, spelling);
			return known ?? spelling;
		};
		for (let at = from; at < bytes.length; ) {
			const end = pieceEnd(bytes, at);
			const text = bytes.toString("latin1", at, end);
			for (let start = 0; start < text.length; ) {
				const next = text.indexOf("\n", start);
				const stop = next < 0 ? text.length : next;
				head.lastIndex = start;
				const found = next < 0 ? null : head.exec(text);
				const [, type, id, parentId, role] = found ?? [];
				if (type && id && (type === "message") === (role !== undefined) && isClosed(text, stop)) {
					this.#unread++;
					this.#add(copied(id), parentId, kind(role === undefined ? type : `message:${role}`), at + start, at + stop, undefined);
				} else if (stop > start) this.#parse(at + start, at + stop);
				start = stop + 1;
			}
			at = end;
		}
	}

	add(entry: Entry): void {
		this.#add(entry.id, entry.parentId, kindOf(entry), -1, -1, entry);
	}

	/** Takes the last line out again. */
	removeLast(): void {
		const line = this.all.pop();
		if (!line || this.#numbered <= this.all.length) return;
		// An earlier line with the same id counts again; that happens in no file that we wrote, so it may take its time.
		this.#numbers.clear();
		this.#numbered = 0;
	}

	/** The number of the last line with this id, -1 when there is none. */
	find(id: string): number {
		for (; this.#numbered < this.all.length; this.#numbered++) this.#numbers.set((this.all[this.#numbered] as Line).id, this.#numbered);
		return this.#numbers.get(id) ?? -1;
	}

	entry(number: number): Entry {
		const line = this.all[number] as Line;
		if (line.entry) return line.entry;
		line.entry = this.#readEntry(line);
		this.#unread--;
		// The bytes are kept no longer than somebody may want them.
		if (this.#unread === 0) this.#bytes = undefined;
		return line.entry;
	}

	/** A line as it stands in the file, when that is at hand. */
	textOf(number: number): string | undefined {
		const { start, end } = this.all[number] as Line;
		return start < 0 ? undefined : this.#bytes?.toString("utf8", start, end).trimEnd();
	}

	/** False only when the line surely does not hold this text. */
	mayHold(number: number, text: string): boolean {
		const line = this.all[number] as Line;
		if (line.entry || !this.#bytes) return true;
		let found = this.#found.get(text);
		if (!found) {
			found = this.#search(this.#bytes, text);
			this.#found.set(text, found);
		}
		return found.has(number);
	}

	/** The lines that hold a text: one pass over the bytes is many times cheaper than one per line. */
	#search(bytes: Buffer, text: string): Set<number> {
		const found = new Set<number>();
		let number = 0;
		for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) {
			while (number < this.all.length && (this.all[number] as Line).end < at) number++;
			found.add(number);
		}
		return found;
	}

	#add(id: string, parentId: string | null | undefined, kind: string, start: number, end: number, entry: Entry | undefined): void {
		const last = this.all.length - 1;
		let parent = -1;
		// Nearly always it is the line before: no need to number them all.
		if (typeof parentId === "string") parent = this.all[last]?.id === parentId ? last : this.find(parentId);
		this.all.push({ id, parent, kind, start, end, entry });
	}

	/** A line that does not begin as usual. What is no entry is skipped; it stays in the file. */
	#parse(start: number, end: number): void {
		const entry = entryOf((this.#bytes as Buffer).toString("utf8", start, end));
		if (!entry || typeof entry.id !== "string" || typeof entry.type !== "string" || entry.type === ("session" as string)) return;
		this.#add(entry.id, entry.parentId, kindOf(entry), start, end, entry);
	}

	/** A line that begins well and is broken further on keeps its place in the tree, so that what is before it is not lost. */
	#readEntry(line: Line): Entry {
		const entry = entryOf((this.#bytes as Buffer).toString("utf8", line.start, line.end));
		if (entry) return entry;
		line.kind = "unreadable";
		return { type: line.kind, id: line.id, parentId: this.all[line.parent]?.id ?? null, timestamp: "" } as unknown as Entry;
	}
}

function pieceEnd(bytes: Buffer, at: number): number {
	if (at + pieceSize >= bytes.length) return bytes.length;
	const last = bytes.lastIndexOf(lf, at + pieceSize);
	const end = last >= at ? last : bytes.indexOf(lf, at + pieceSize);
	return end < 0 ? bytes.length : end + 1;
}

function isClosed(text: string, end: number): boolean {
	const last = text[end - 1] === "\r" ? end - 2 : end - 1;
	return text[last] === "}";
}

/** Longer pieces of a string keep the whole of it in memory. */
function copied(id: string): string {
	return id.length < 13 ? id : Buffer.from(id, "latin1").toString("latin1");
}
