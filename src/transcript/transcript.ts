/** The entries of a session, in memory and, from the first message on, in an append-only file. Memory and file always agree. */
import { join } from "node:path";
import { toLine } from "../lib/jsonl.ts";
import { cleanJson } from "../lib/redact-json.ts";
import { EditedBranch, type Edits, editsOf } from "./context-edits.ts";
import type { Branch, Entry, EntryBody, EntryOf, Header, Origin, TranscriptView } from "./entries.ts";
import { Lines } from "./lines.ts";
import { realPlace } from "./place.ts";
import { SessionFile, type Write } from "./session-file.ts";

/** What every transcript of a process is made with. */
export interface TranscriptParts {
	cwd: string;
	now: () => number;
	/** Takes credentials out of what is written. */
	redact: (text: string) => string;
	/** Eight hex characters. */
	newId: () => string;
	/** Which session of this process, where it has several. */
	owner?: string;
	/** How bytes get to the file. */
	write?: Write;
	/** Called with every entry that is added, in order, after it is stored. */
	onEntry?: (entry: Entry) => void;
}

export interface TranscriptOptions extends TranscriptParts {
	sessionId: string;
	/** Directory for the file; nothing is written without one. */
	directory: string | undefined;
	/** Directories that are cleaned up together with it. */
	others?: readonly string[];
	/** The file itself, when its name is given. */
	path?: string;
	/** There is a file already, with nothing in it. */
	isEmptyFile?: boolean;
	parentSession: string | undefined;
	/** Given for a fork. */
	origin?: Origin;
}

/** A file that was read. */
export interface OpenedFile {
	header: Header;
	lines: Lines;
	file: SessionFile | undefined;
}

export class Transcript implements TranscriptView {
	readonly header: Header;
	#parts: TranscriptParts;
	#file: SessionFile | undefined;
	#lines: Lines;
	/** Number of the current line, -1 before the first. */
	#leaf: number;
	/** How many lines are in the file. The others wait for the next append. */
	#written: number;
	/** How many lines have been reported. */
	#reported: number;
	#hasHeader: boolean;
	/** Numbers of the lines from the root to the current one; made when asked for. */
	#path: number[] | undefined;
	/** What was edited on the path; made when asked for. */
	#edits: Edits | undefined;
	/** Number of the line with the name, -1 when there is none; looked for when asked. */
	#named: number | undefined;

	constructor(options: TranscriptOptions, opened?: OpenedFile) {
		const { cwd, sessionId, directory, others, parentSession, origin, now, owner, write } = options;
		this.#parts = options;
		this.#lines = opened?.lines ?? new Lines();
		this.#leaf = this.#lines.count - 1;
		this.#written = this.#reported = this.#lines.count;
		this.#hasHeader = opened !== undefined;
		if (opened) {
			this.header = opened.header;
			this.#file = opened.file;
			return;
		}
		const begun = new Date(now());
		const timestamp = begun.toISOString();
		this.header = {
			type: "session",
			version: 3,
			id: sessionId,
			timestamp,
			cwd,
			...(origin ?? { utcOffset: -begun.getTimezoneOffset() }),
			...(parentSession ? { parentSession } : {}),
		};
		const path = options.path ?? (directory && join(directory, `${timestamp.replace(/[:.]/g, "-")}_${sessionId}.jsonl`));
		const isEmpty = options.isEmptyFile ?? false;
		if (path) this.#file = new SessionFile({ path: realPlace(path), exists: isEmpty, isEmpty, isTorn: false, owner, write, others });
	}

	get sessionId(): string {
		return this.header.id;
	}

	/** What caches of providers know the conversation by. */
	get cacheKey(): string {
		const { cacheKey, id } = this.header;
		return typeof cacheKey === "string" && cacheKey !== "" ? cacheKey : id;
	}

	/** Minutes by which the clock of the user was ahead of UTC when the session began. Other programs do not write it down, nor always the time. */
	get utcOffset(): number {
		const { utcOffset, timestamp } = this.header;
		if (Number.isFinite(utcOffset)) return utcOffset as number;
		return 0 - new Date(Date.parse(timestamp) || 0).getTimezoneOffset();
	}

	get file(): string | undefined {
		return this.#file?.path;
	}

	/** Whether there is anything on disk. */
	get isStored(): boolean {
		return this.#hasHeader && (this.#file?.exists ?? false);
	}

	get leafId(): string | null {
		return this.#leaf < 0 ? null : this.#lines.id(this.#leaf);
	}

	get entries(): readonly Entry[] {
		return Array.from({ length: this.#lines.count }, (_, number) => this.#lines.entry(number));
	}

	path(): readonly Entry[] {
		return this.#numbers().map((number) => this.#lines.entry(number));
	}

	/** The path as it was edited. Entries are read when they are asked for. */
	get branch(): Branch {
		const branch = new LinesBranch(this.#lines, this.#numbers());
		if (!this.#lines.hasEdits) return branch;
		this.#edits ??= editsOf(branch);
		return new EditedBranch(branch, this.#edits);
	}

	/** All entries in the order in which they were written, whatever branch they belong to. */
	get everything(): Branch {
		return new LinesBranch(this.#lines);
	}

	/** The name that was given last. */
	get name(): string | undefined {
		this.#named ??= this.#lines.lastOf("session_info");
		return this.#named < 0 ? undefined : (this.#lines.entry(this.#named) as EntryOf<"session_info">).name?.trim() || undefined;
	}

	/** The last entry with this id. */
	find(id: string): Entry | undefined {
		const number = this.#lines.find(id);
		return number < 0 ? undefined : this.#lines.entry(number);
	}

	/** Adds an entry after the current one. Once there is a message, it is on disk when this returns. Throws a CommandError when it could not be stored. */
	append(body: EntryBody): Entry {
		const leaf = this.#leaf;
		const entry = this.prepare(body);
		try {
			this.#flush(body.type === "message");
		} catch (error) {
			this.#lines.removeLast();
			this.#named = undefined;
			this.#moveTo(leaf);
			throw error;
		}
		const { onEntry } = this.#parts;
		if (onEntry) while (this.#reported < this.#lines.count) onEntry(this.#lines.entry(this.#reported++));
		return entry;
	}

	/** Adds an entry that is written together with the next one: opening a file alone must not change it. */
	prepare(body: EntryBody): Entry {
		const { type, ...rest } = body;
		const entry = { type, id: this.#freshId(), parentId: this.leafId, timestamp: new Date(this.#parts.now()).toISOString(), ...rest } as Entry;
		// The parent is found by its number, not by its id: a file may contain an id twice.
		this.#lines.add(entry, this.#leaf);
		this.#leaf = this.#lines.count - 1;
		this.#path?.push(this.#leaf);
		if (type === "context_edit") this.#edits = undefined;
		if (type === "session_info") this.#named = this.#leaf;
		return entry;
	}

	/** Makes an earlier entry the current one; null: none. False when there is no such entry. */
	moveTo(id: string | null): boolean {
		const number = id === null ? -1 : this.#lines.find(id);
		if (id !== null && number < 0) return false;
		this.#moveTo(number);
		return true;
	}

	/** Takes over the entries of another transcript from its root to an entry (null: none); they keep their ids. For a new transcript only. */
	copy(from: Transcript, id: string | null): void {
		const lines = from.#numbersTo(id === null ? -1 : from.#lines.find(id)).map((number) => from.#text(number));
		this.#lines.read(Buffer.from(lines.join("")), 0);
		this.#reported = this.#lines.count;
		this.#named = undefined;
		this.#moveTo(this.#lines.count - 1);
	}

	/** Writes what waits, if there is a message among it. `always`: the session is stored in any case. */
	store(always = false): void {
		this.#flush(always || this.#lines.hasMessages);
	}

	/** `keepLock`: another transcript continues with the file. */
	close(keepLock = false): void {
		this.#file?.close(keepLock);
	}

	#flush(mayCreate: boolean): void {
		const file = this.#file;
		if (!file) return;
		const state = file.check();
		if (state !== "same") {
			file.startOver(state === "emptied");
			this.#written = 0;
			this.#hasHeader = false;
		}
		if (!this.isStored && !mayCreate) return;
		const { count } = this.#lines;
		let text = this.#hasHeader ? "" : `${cleanJson(toLine(this.header), this.#parts.redact)}\n`;
		for (let number = this.#written; number < count; number++) text += this.#text(number);
		file.append(text);
		this.#hasHeader = true;
		this.#written = count;
	}

	/** A line as it is, or will be, in the file. */
	#text(number: number): string {
		return `${this.#lines.textOf(number) ?? this.#serialized(this.#lines.entry(number))}\n`;
	}

	/** A key in a tool's name, in a call's id or in the name of a member is taken out as well. */
	#serialized(entry: Entry): string {
		const { redact } = this.#parts;
		const line = toLine(entry);
		return redact(line) === line ? line : cleanJson(line, redact);
	}

	#moveTo(number: number): void {
		this.#leaf = number;
		this.#path = undefined;
		this.#edits = undefined;
	}

	#numbers(): number[] {
		this.#path ??= this.#numbersTo(this.#leaf);
		return this.#path;
	}

	#numbersTo(leaf: number): number[] {
		const numbers: number[] = [];
		for (let number = leaf; number >= 0; number = this.#lines.parent(number)) numbers.push(number);
		return numbers.reverse();
	}

	#freshId(): string {
		for (let attempt = 0; attempt < 100; attempt++) {
			const id = this.#parts.newId();
			if (this.#lines.find(id) < 0) return id;
		}
		return globalThis.crypto.randomUUID();
	}
}

/** Some lines of a file, or all of them. A class, because callers ask it about every line of a long session: V8 knows all its functions. */
class LinesBranch implements Branch {
	readonly length: number;
	#lines: Lines;
	#numbers: readonly number[] | undefined;

	constructor(lines: Lines, numbers?: readonly number[]) {
		this.#lines = lines;
		this.#numbers = numbers;
		this.length = numbers?.length ?? lines.count;
	}

	id(index: number): string {
		return this.#lines.id(this.#number(index));
	}

	kind(index: number): string {
		return this.#lines.kind(this.#number(index));
	}

	lastOf(kind: string): number {
		const last = this.#lines.lastOf(kind);
		// Most sessions have none of what is looked for.
		return last < 0 || !this.#numbers ? last : this.#numbers.findLastIndex((number) => this.#lines.kind(number) === kind);
	}

	entry(index: number): Entry {
		return this.#lines.entry(this.#number(index));
	}

	peek(index: number): Entry {
		return this.#lines.peek(this.#number(index));
	}

	mayHold(index: number, json: string): boolean {
		return this.#lines.mayHold(this.#number(index), json);
	}

	mayHoldAnywhere(json: string): boolean {
		return this.#lines.mayHoldAnywhere(json);
	}

	messageBytes(index: number): Uint8Array | undefined {
		return this.#lines.messageBytes(this.#number(index));
	}

	isRead(index: number): boolean {
		return this.#lines.isRead(this.#number(index));
	}

	size(index: number): number {
		return this.#lines.size(this.#number(index));
	}

	#number(index: number): number {
		return this.#numbers ? (this.#numbers[index] as number) : index;
	}
}
