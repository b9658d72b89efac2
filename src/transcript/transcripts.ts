/** The transcripts of one process: makes new ones, opens old ones, copies branches. */
import { existsSync, readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { CommandError } from "../lib/command-error.ts";
import { firstLine } from "./first-line.ts";
import { openTranscript } from "./open.ts";
import { fileStats } from "./place.ts";
import { Transcript, type TranscriptParts } from "./transcript.ts";

export interface TranscriptsOptions extends TranscriptParts {
	/** Where new files go; nothing is written without one. */
	directory: string | undefined;
	newSessionId: () => string;
}

export class Transcripts {
	/** Where new files go; nothing is written without one. */
	directory: string | undefined;
	#options: TranscriptsOptions;

	constructor(options: TranscriptsOptions) {
		this.#options = options;
		this.directory = options.directory;
	}

	/** A new session. `path` when the file's name is given: there is none, or an empty one. */
	create(parentSession?: string, path?: string): Transcript {
		const { directory } = this;
		const isEmptyFile = path !== undefined && existsSync(path);
		return new Transcript({
			...this.#options,
			sessionId: this.#options.newSessionId(),
			directory,
			parentSession,
			path: directory && path,
			isEmptyFile,
		});
	}

	/** The session in this file, or a new one that will be stored there. */
	open(path: string): Transcript {
		const file = resolve(this.#options.cwd, path);
		return openTranscript(file, { ...this.#options, mode: this.directory === undefined ? "memory" : "write" }) ?? this.create(undefined, file);
	}

	/** The file that was written to last and is a session. */
	latest(directory = this.directory): string | undefined {
		return newestFirst(directory).find((path) => firstLine(path));
	}

	/** The file of a session by a path, or by the beginning of its id. Throws a CommandError when that is not exactly one. */
	named(word: string): string {
		const { cwd } = this.#options;
		if (/[/\\]|\.jsonl$/.test(word) || fileStats(resolve(cwd, word))) return resolve(cwd, word);
		const { directory } = this;
		const here = withId(directory, word);
		// Sessions of other working directories stand beside ours.
		const found = here.length || !directory ? here : namesIn(dirname(directory)).flatMap((name) => withId(join(dirname(directory), name), word));
		if (found.length === 1) return found[0] as string;
		if (found.length === 0) throw new CommandError(`No session found: ${word}. See bowline sessions.`);
		throw new CommandError(`Several sessions begin with ${word}: ${found.join(", ")}`);
	}
}

/** The session files of a directory, the one that was written to last first. */
export function newestFirst(directory: string | undefined): string[] {
	return namesIn(directory)
		.filter((name) => name.endsWith(".jsonl"))
		.map((name) => join(directory as string, name))
		.flatMap((path) => {
			const stats = fileStats(path);
			return stats ? [{ path, time: stats.mtimeMs }] : [];
		})
		.sort((a, b) => b.time - a.time || (a.path < b.path ? 1 : -1))
		.map(({ path }) => path);
}

function withId(directory: string | undefined, id: string): string[] {
	return namesIn(directory)
		.filter((name) => name.endsWith(".jsonl") && name.slice(name.indexOf("_") + 1).startsWith(id))
		.map((name) => join(directory as string, name));
}

function namesIn(directory: string | undefined): string[] {
	if (directory === undefined) return [];
	try {
		return readdirSync(directory);
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code === "ENOENT" || code === "ENOTDIR") return [];
		throw new CommandError(`Sessions could not be listed: ${code} ${directory}`);
	}
}
