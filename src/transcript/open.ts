/** Opens a session file: checks that it is one, takes the lock, migrates it to the current format. */
import { CommandError } from "../protocol/command-error.ts";
import type { Header } from "./entries.ts";
import { type FirstLine, headBytes, headerOf, headSize } from "./first-line.ts";
import { Lines } from "./lines.ts";
import { migrated, replaceFile } from "./migrate.ts";
import { fileStats, readSession, realPlace } from "./place.ts";
import { SessionFile } from "./session-file.ts";
import { Transcript, type TranscriptParts } from "./transcript.ts";

export const formatVersion = 3;

export interface OpenOptions extends TranscriptParts {
	/** `write`: this process continues with the file. `memory`: what is added is kept in memory only. `read`: any version, nothing is added. */
	mode: "write" | "memory" | "read";
}

/** Returns nothing when there is no file, or an empty one: then a session may start there. Throws a CommandError for what must not be opened. */
export function openTranscript(name: string, options: OpenOptions): Transcript | undefined {
	const path = realPlace(name);
	if (options.mode !== "write") return read(undefined);
	// No lock is put next to a file that is not ours.
	const head = headBytes(path);
	if (head.length < headSize || headerOf(head)) {
		if (head.length === 0) return read(undefined);
		checked(head);
	}
	const links = fileStats(path)?.nlink ?? 1;
	// A lock has the name of the file; under another name no process would see it.
	if (links > 1)
		throw new CommandError(
			"bad_session",
			`Session file has ${links} names (hard links) and cannot be continued: ${path}. Copy it, and open the copy.`,
		);
	const file = new SessionFile({ path, exists: true, isTorn: false, owner: options.owner, write: options.write });
	file.lock();
	try {
		const transcript = read(file);
		if (!transcript) file.close(file.isLockedTwice);
		return transcript;
	} catch (error) {
		file.close(file.isLockedTwice);
		throw error;
	}

	function read(file: SessionFile | undefined): Transcript | undefined {
		const content = readSession(path);
		if (!content || content.bytes.length === 0) return undefined;
		let { bytes } = content;
		let first = checked(bytes);
		if (file) {
			file.isTorn = bytes.at(-1) !== 0x0a;
			file.hasRead(content.stats);
		}
		if ((first.header.version ?? 1) < formatVersion) {
			const text = migrated(bytes, options.newId);
			if (file) {
				file.hasRead(replaceFile(path, text));
				file.isTorn = false;
			}
			bytes = Buffer.from(text);
			first = headerOf(bytes) as FirstLine;
		}
		const { header, end } = first;
		const lines = new Lines();
		lines.read(bytes, end);
		return new Transcript(
			{ ...options, sessionId: header.id, directory: undefined, parentSession: undefined },
			{ header: header as unknown as Header, lines, file },
		);
	}

	function checked(bytes: Buffer): FirstLine {
		const first = headerOf(bytes);
		if (!first) throw new CommandError("bad_session", `Not a session file: ${path}. It is left as it is.`);
		const version = first.header.version ?? 1;
		if (version > formatVersion && options.mode !== "read") {
			throw new CommandError(
				"bad_session",
				`Session file has format version ${version}, newer than ${formatVersion}, and cannot be continued: ${path}`,
			);
		}
		return first;
	}
}
