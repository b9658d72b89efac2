/** Sessions on disk: found by id, and listed with what is at the beginning and at the end of their files. */
import { closeSync, openSync, readdirSync, readSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import type { ListSessionsResponse, SessionInfo } from "@agentclientprotocol/sdk";
import { headBytes, headerOf } from "../transcript/first-line.ts";
import { storedPrompt } from "./content.ts";
import { invalid } from "./errors.ts";
import { titleOf } from "./title.ts";

export interface StoredSession {
	id: string;
	file: string;
	cwd: string;
}

interface SessionFile {
	file: string;
	time: number;
}

const pageSize = 50;
const tailSize = 64 * 1024;

export class StoredSessions {
	/** Directories with session files. */
	#directories: () => string[];

	/** `root` has a directory for each working directory; a directory that the user names holds the sessions of several. */
	constructor(place: { root: string } | { directory: string } | undefined) {
		this.#directories = () => {
			if (!place) return [];
			return "directory" in place ? [place.directory] : namesIn(place.root).map((name) => join(place.root, name));
		};
	}

	/** The session with exactly this id. */
	find(id: string): StoredSession | undefined {
		// Ids become parts of file names.
		if (!/^[\w.-]+$/.test(id)) return undefined;
		for (const directory of this.#directories()) {
			for (const name of namesIn(directory)) {
				if (!name.endsWith(`_${id}.jsonl`)) continue;
				const file = join(directory, name);
				const header = headerOf(headBytes(file))?.header;
				if (header?.id === id) return { id, file, cwd: header.cwd ?? "" };
			}
		}
		return undefined;
	}

	/** The ones that were written to last come first. */
	list({ cwd, cursor }: { cwd?: unknown; cursor?: unknown }): ListSessionsResponse {
		if (cwd !== undefined && cwd !== null && typeof cwd !== "string") throw invalid("cwd must be a string");
		const wanted = typeof cwd === "string" ? realPath(cwd) : undefined;
		const after = cursor === undefined || cursor === null ? undefined : readCursor(cursor);
		const files = this.#files().filter((each) => !after || isAfter(each, after));
		const sessions: SessionInfo[] = [];
		let last: SessionFile | undefined;
		/** Real paths are looked up once. */
		const known = new Map<string, string>();
		for (const each of files) {
			if (sessions.length === pageSize) return { sessions, ...(last && { nextCursor: writeCursor(last) }) };
			const found = describe(each, (path) => {
				if (wanted === undefined) return true;
				const real = known.get(path) ?? realPath(path);
				known.set(path, real);
				return real === wanted;
			});
			if (!found) continue;
			sessions.push(found);
			last = each;
		}
		return { sessions };
	}

	#files(): SessionFile[] {
		const files = this.#directories().flatMap((directory) =>
			namesIn(directory).flatMap((name): SessionFile[] => {
				if (!name.endsWith(".jsonl")) return [];
				const file = join(directory, name);
				const stats = statSync(file, { throwIfNoEntry: false });
				return stats?.isFile() && stats.size > 0 ? [{ file, time: stats.mtimeMs }] : [];
			}),
		);
		return files.sort((a, b) => (isAfter(b, a) ? -1 : 1));
	}
}

/** Newest first; files of the same time by name. */
function isAfter(a: SessionFile, b: SessionFile): boolean {
	return a.time < b.time || (a.time === b.time && a.file > b.file);
}

function writeCursor({ file, time }: SessionFile): string {
	return Buffer.from(JSON.stringify([time, file])).toString("base64url");
}

function readCursor(cursor: unknown): SessionFile {
	try {
		const [time, file] = JSON.parse(Buffer.from(String(cursor), "base64url").toString());
		if (typeof time === "number" && typeof file === "string") return { time, file };
	} catch {
		// The same as a cursor with something else in it.
	}
	throw invalid(`Unknown cursor: ${String(cursor)}`);
}

/** Nothing for a file that is not a session, or has no message, or belongs elsewhere. */
function describe({ file, time }: SessionFile, isWanted: (cwd: string) => boolean): SessionInfo | undefined {
	const head = headBytes(file);
	const first = headerOf(head);
	const { id, cwd } = first?.header ?? {};
	if (!first || id === undefined || !cwd || !isWanted(cwd)) return undefined;
	const lines = wholeLines(head.toString("utf8", first.end), false);
	const tail = tailLines(file, lines);
	if (!lines.concat(tail).some((line) => line.includes('"type":"message"'))) return undefined;
	const title = nameIn(tail) ?? nameIn(lines) ?? firstPromptIn(lines, tail);
	return { sessionId: id, cwd, updatedAt: lastTimeIn(tail) ?? new Date(time).toISOString(), ...(title && { title }) };
}

/** The last line of a piece may be cut; so may the first one of the end of a file. */
function wholeLines(text: string, isEnd: boolean): string[] {
	const lines = text.split("\n");
	if (isEnd) lines.shift();
	return lines.filter((line) => line.trim() !== "");
}

function tailLines(file: string, all: string[]): string[] {
	const { size } = statSync(file);
	if (size <= tailSize) return all;
	const descriptor = openSync(file, "r");
	try {
		const bytes = Buffer.allocUnsafe(tailSize);
		const count = readSync(descriptor, bytes, 0, tailSize, size - tailSize);
		return wholeLines(bytes.toString("utf8", 0, count), true);
	} finally {
		closeSync(descriptor);
	}
}

function nameIn(lines: readonly string[]): string | undefined {
	const line = lines.findLast((each) => each.includes('"type":"session_info"'));
	const name = (parsed(line) as { name?: unknown } | undefined)?.name;
	return typeof name === "string" && name.trim() !== "" ? name.trim() : undefined;
}

/** `tail`: where people may have removed prompts from the context, or changed them. */
function firstPromptIn(lines: readonly string[], tail: readonly string[]): string | undefined {
	const edits = new Map<string, unknown>();
	for (const line of tail) {
		if (!line.includes('"context_edit"')) continue;
		const { type, targetId, replacement } = (parsed(line) ?? {}) as { type?: unknown; targetId?: string; replacement?: unknown };
		if (type === "context_edit" && targetId !== undefined) edits.set(targetId, replacement);
	}
	for (const line of lines) {
		if (!line.includes('"role":"user"')) continue;
		const { id, message } = (parsed(line) ?? {}) as { id?: string; message?: { content?: unknown } };
		const content = id !== undefined && edits.has(id) ? edits.get(id) : message?.content;
		if (typeof content !== "string" && !Array.isArray(content)) continue;
		const [block] = storedPrompt(content);
		return block?.type === "text" ? titleOf(block.text) : undefined;
	}
	return undefined;
}

function lastTimeIn(lines: readonly string[]): string | undefined {
	for (let index = lines.length - 1; index >= 0; index--) {
		const { timestamp } = (parsed(lines[index]) ?? {}) as { timestamp?: unknown };
		if (typeof timestamp === "string" && !Number.isNaN(Date.parse(timestamp))) return timestamp;
	}
	return undefined;
}

/** A line that is cut is no JSON. */
function parsed(line: string | undefined): unknown {
	try {
		return line === undefined ? undefined : JSON.parse(line);
	} catch {
		return undefined;
	}
}

export function realPath(path: string): string {
	try {
		return realpathSync(path);
	} catch {
		return path;
	}
}

function namesIn(directory: string): string[] {
	try {
		return readdirSync(directory);
	} catch {
		return [];
	}
}
