/** What was said, in memory and, from the first message on, in an append-only file. */
import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Entry, EntryBody, Header } from "./entries.ts";

export interface TranscriptOptions {
	cwd: string;
	sessionId: string;
	/** Directory for the file; nothing is written without one. */
	directory: string | undefined;
	parentSession: string | undefined;
	now: () => number;
	/** Takes credentials out of what is written. */
	redact: (text: string) => string;
	/** Eight hex characters. */
	newId: () => string;
}

export class Transcript {
	readonly sessionId: string;
	readonly file: string | undefined;
	readonly entries: Entry[] = [];
	#options: TranscriptOptions;
	#header: Header;
	#ids = new Set<string>();
	#descriptor: number | undefined;
	#written = 0;

	constructor(options: TranscriptOptions) {
		const { cwd, sessionId, directory, parentSession, now } = options;
		const timestamp = new Date(now()).toISOString();
		this.#options = options;
		this.sessionId = sessionId;
		this.#header = { type: "session", version: 3, id: sessionId, timestamp, cwd, ...(parentSession ? { parentSession } : {}) };
		if (directory) this.file = join(directory, `${timestamp.replace(/[:.]/g, "-")}_${sessionId}.jsonl`);
	}

	/** Adds an entry behind the last one. It is on disk when this returns, once there is a message at all. */
	append(body: EntryBody): Entry {
		const entry: Entry = {
			...body,
			id: this.#freshId(),
			parentId: this.entries.at(-1)?.id ?? null,
			timestamp: new Date(this.#options.now()).toISOString(),
		};
		this.entries.push(entry);
		if (this.file && (this.#descriptor !== undefined || body.type === "message")) this.#write(this.file);
		return entry;
	}

	close(): void {
		if (this.#descriptor === undefined) return;
		closeSync(this.#descriptor);
		this.#descriptor = undefined;
	}

	#write(file: string): void {
		const lines: (Header | Entry)[] = this.entries.slice(this.#written);
		if (this.#descriptor === undefined) {
			mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
			this.#descriptor = openSync(file, "ax", 0o600);
			lines.unshift(this.#header);
		}
		writeSync(this.#descriptor, this.#options.redact(lines.map((line) => `${JSON.stringify(line)}\n`).join("")));
		this.#written = this.entries.length;
	}

	#freshId(): string {
		let id = this.#options.newId();
		while (this.#ids.has(id)) id = this.#options.newId();
		this.#ids.add(id);
		return id;
	}
}

/** `<sessions>/--<working directory with its separators as dashes>--` */
export function sessionDirectory(userDirectory: string, cwd: string): string {
	return join(userDirectory, "sessions", `--${cwd.replace(/^[/\\]/, "").replace(/[/\\:]/g, "-")}--`);
}
