/** Opens a session file: checks that it is one, brings it to the present format, takes the lock. */
import { readFileSync } from "node:fs";
import { CommandError } from "../lib/command-error.ts";
import type { Header } from "./entries.ts";
import { Lines } from "./lines.ts";
import { migrated, replaceFile } from "./migrate.ts";
import { SessionFile } from "./session-file.ts";
import { Transcript, type TranscriptParts } from "./transcript.ts";

export const formatVersion = 3;

export interface OpenOptions extends TranscriptParts {
	/** `write`: this process goes on with the file. `memory`: what is added is kept in memory only. `read`: any version, nothing is added. */
	mode: "write" | "memory" | "read";
}

/** Gives nothing when there is no file, or an empty one: then a session may start there. Throws a CommandError for what must not be opened. */
export function openTranscript(path: string, options: OpenOptions): Transcript | undefined {
	const bytes = readBytes(path);
	if (!bytes || bytes.length === 0) return undefined;
	const first = headerOf(bytes);
	if (!first) throw new CommandError(`Not a session file: ${path}. It is left as it is.`);
	const version = first.header.version ?? 1;
	if (version > formatVersion && options.mode !== "read") {
		throw new CommandError(`Session file has format version ${version}, newer than ${formatVersion}, and cannot be continued: ${path}`);
	}
	let file = options.mode === "write" ? new SessionFile({ path, exists: true, isTorn: bytes.at(-1) !== 0x0a, write: options.write }) : undefined;
	file?.lock();
	try {
		return opened(bytes, first);
	} catch (error) {
		file?.close();
		throw error;
	}

	function opened(source: Buffer, { header, end }: FirstLine): Transcript {
		if (version < formatVersion) {
			const text = migrated(source, options.newId);
			if (file) {
				replaceFile(path, text);
				file.close(true);
				file = new SessionFile({ path, exists: true, isTorn: false, write: options.write });
				file.lock();
			}
			const rewritten = Buffer.from(text);
			return transcript(rewritten, headerOf(rewritten) as FirstLine);
		}
		return transcript(source, { header, end });
	}

	function transcript(source: Buffer, { header, end }: FirstLine): Transcript {
		const lines = new Lines();
		lines.read(source, end);
		const { id } = header;
		return new Transcript(
			{ ...options, sessionId: id, directory: undefined, parentSession: undefined },
			{ header: header as unknown as Header, lines, file },
		);
	}
}

export interface FirstLine {
	header: { id: string; version?: number; cwd?: string; timestamp?: string; parentSession?: string };
	/** Where the second line begins. */
	end: number;
}

/** The header of a session file, if these are the first bytes of one. */
export function headerOf(bytes: Buffer): FirstLine | undefined {
	let start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
	while (bytes[start] === 0x0a || bytes[start] === 0x0d) start++;
	const newline = bytes.indexOf(0x0a, start);
	const stop = newline < 0 ? bytes.length : newline;
	try {
		const header = JSON.parse(bytes.toString("utf8", start, stop));
		if (header?.type !== "session" || typeof header.id !== "string") return undefined;
		return { header, end: Math.min(stop + 1, bytes.length) };
	} catch {
		return undefined;
	}
}

function readBytes(path: string): Buffer | undefined {
	try {
		return readFileSync(path);
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code === "ENOENT") return undefined;
		throw new CommandError(`Session file could not be read: ${code ?? (error as Error).message} ${path}`);
	}
}
