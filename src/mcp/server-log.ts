/** What a server writes to stderr: the last lines in memory, all of it in a private file whose middle is cut when it grows too large. */

import { randomBytes } from "node:crypto";
import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { ByteFilter } from "../lib/redact.ts";

const keptLines = 40;
const half = 512 * 1024;
/** Of a message. */
const shownLines = 5;
const shownCharacters = 500;

export interface LogPlace {
	/** Nothing is written where there is none. */
	directory: string | undefined;
	name: string;
	/** Removes credentials. */
	filter: ByteFilter;
}

export class ServerLog {
	#place: LogPlace;
	#descriptor: number | undefined;
	#path: string | undefined;
	#written = 0;
	/** The newest half of what no longer fits at the front. */
	#end: Buffer[] = [];
	#endSize = 0;
	#cut = 0;
	#last = "";
	#isClosed = false;

	constructor(place: LogPlace) {
		this.#place = place;
	}

	/** Set once something was written. */
	get path(): string | undefined {
		return this.#path;
	}

	push(chunk: Buffer): void {
		if (!this.#isClosed) this.#add(this.#place.filter.push(chunk));
	}

	/** A line of our own. */
	note(text: string): void {
		this.push(Buffer.from(`[bowline] ${text}\n`));
	}

	/** The last lines, for a message. Empty when it said nothing. */
	get lastWords(): string {
		const lines = this.#last.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("[bowline] "));
		return lines.slice(-shownLines).join("\n").slice(-shownCharacters).trim();
	}

	close(): void {
		if (this.#isClosed) return;
		this.#add(this.#place.filter.end());
		this.#isClosed = true;
		if (this.#descriptor === undefined) return;
		try {
			if (this.#cut > 0) writeSync(this.#descriptor, `\n[bowline] ${this.#cut} bytes are left out here\n`);
			for (const part of this.#end) writeSync(this.#descriptor, part);
			closeSync(this.#descriptor);
		} catch {
			// A full disk loses the log, never the server.
		}
		this.#end = [];
	}

	#add(bytes: Buffer): void {
		if (bytes.length === 0) return;
		this.#last = lastLines(this.#last + bytes.toString("utf8", Math.max(0, bytes.length - 64 * 1024)));
		if (this.#place.directory === undefined) return;
		const front = bytes.subarray(0, Math.max(0, half - this.#written));
		if (front.length > 0) this.#write(front);
		const rest = bytes.subarray(front.length);
		if (rest.length === 0) return;
		// A copy: the chunk's memory is used again.
		this.#end.push(Buffer.from(rest));
		this.#endSize += rest.length;
		while (this.#endSize - (this.#end[0]?.length ?? 0) >= half) {
			const size = (this.#end.shift() as Buffer).length;
			this.#endSize -= size;
			this.#cut += size;
		}
	}

	#write(bytes: Buffer): void {
		this.#written += bytes.length;
		try {
			this.#descriptor ??= this.#open();
			for (let done = 0; done < bytes.length; ) done += writeSync(this.#descriptor, bytes, done);
		} catch {
			this.#place = { ...this.#place, directory: undefined };
		}
	}

	#open(): number {
		const { directory, name } = this.#place as { directory: string; name: string };
		mkdirSync(directory, { recursive: true, mode: 0o700 });
		const path = join(directory, `mcp-${name.replace(/[^A-Za-z0-9_-]/g, "_")}-${randomBytes(6).toString("hex")}.log`);
		const descriptor = openSync(path, "wx", 0o600);
		this.#path = path;
		return descriptor;
	}
}

function lastLines(text: string): string {
	if (text.length < 16 * 1024) return text;
	const lines = text.split("\n");
	return lines
		.slice(-keptLines)
		.join("\n")
		.slice(-16 * 1024);
}
