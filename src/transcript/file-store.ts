/** Sessions as files: one directory for each working directory, one file for each session. */
import { existsSync, readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { CommandError } from "../protocol/command-error.ts";
import type { Origin } from "./entries.ts";
import { firstLine, isOtherDirectory } from "./first-line.ts";
import { Lock } from "./lock.ts";
import { openTranscript } from "./open.ts";
import { fileStats, identityOf, realPlace } from "./place.ts";
import type { Lease, SessionList, SessionReference, SessionStore } from "./store.ts";
import { Transcript, type TranscriptParts } from "./transcript.ts";

export interface FileStoreOptions extends TranscriptParts {
	/** Where new files go; nothing is written without one. */
	directory: string | undefined;
	/** Where else sessions of this working directory may be. Given when these directories belong to working directories; those of others are left out then. */
	others?: readonly string[];
	newSessionId: () => string;
}

export class FileSessionStore implements SessionStore {
	directory: string | undefined;
	beside: string | undefined;
	#options: FileStoreOptions;

	constructor(options: FileStoreOptions) {
		this.#options = options;
		this.directory = options.directory;
	}

	/** `path` when the file's name is given: there is no file of that name, or an empty one. */
	create(parentSession?: string, { path, origin }: { path?: string; origin?: Origin } = {}): Transcript {
		const directory = this.directory && (this.beside ?? this.directory);
		const isEmptyFile = path !== undefined && existsSync(path);
		return new Transcript({
			...this.#options,
			sessionId: this.#options.newSessionId(),
			directory,
			parentSession,
			origin,
			path: directory && path,
			isEmptyFile,
		});
	}

	open(session: SessionReference | string): Transcript {
		const file = this.#fileOf(session);
		const opened =
			openTranscript(file, { ...this.#options, mode: this.directory === undefined ? "memory" : "write" }) ?? this.create(undefined, { path: file });
		this.beside = typeof session === "string" || session.isByPath ? dirname(opened.file ?? file) : undefined;
		return opened;
	}

	read(session: SessionReference): Transcript | undefined {
		return openTranscript(this.#fileOf(session), { ...this.#options, mode: "memory" });
	}

	isOpenAs(transcript: Transcript, session: SessionReference | string): boolean {
		return transcript.file !== undefined && transcript.file === realPlace(this.#fileOf(session));
	}

	latest(directory = this.directory): SessionReference | undefined {
		for (const file of this.#newestFirst(directory)) {
			const found = this.#referenceTo(file, directory);
			if (found) return found;
		}
		return undefined;
	}

	named(word: string): SessionReference {
		const path = resolve(this.#options.cwd, word);
		if (/[/\\]|\.jsonl$/.test(word) || fileStats(path)) return { id: firstLine(path)?.header.id, file: path, isByPath: true };
		const { directory } = this;
		const here = this.#groupOf(directory).flatMap((each) => withId(each, word));
		// Sessions of other working directories are in directories next to ours.
		const found = here.length || !directory ? here : namesIn(dirname(directory)).flatMap((name) => withId(join(dirname(directory), name), word));
		const exact = found.filter(({ id }) => id === word);
		const [only, ...others] = exact.length ? exact : found;
		if (!only) throw new CommandError("no_session", `No session found: ${word}. See bowline sessions.`);
		if (others.length)
			throw new CommandError("bad_field", `Several sessions begin with ${word}: ${[only, ...others].map(({ file }) => file).join(", ")}`);
		return only;
	}

	withId(id: string): SessionReference | undefined {
		const found = this.#groupOf(this.directory).flatMap((each) => withId(each, id).filter((session) => session.id === id));
		const sessions = newest(found.map(({ file }) => file)).map((file) => this.#referenceTo(file, this.directory));
		return sessions.find((session) => session?.id === id);
	}

	async list(limit = Number.POSITIVE_INFINITY): Promise<SessionList> {
		const { directory } = this;
		const { summaryOf } = await import("./summary.ts");
		const list: SessionList = { sessions: [], omitted: 0 };
		for (const file of this.#newestFirst(directory)) {
			if (list.sessions.length >= limit) {
				list.omitted++;
				continue;
			}
			const summary = this.#referenceTo(file, directory) && summaryOf(file);
			if (summary) list.sessions.push(summary);
		}
		return list;
	}

	lease(session: SessionReference): Lease {
		const file = realPlace(this.#fileOf(session));
		const stats = fileStats(file);
		return Lock.take(file, this.#options.owner, stats && identityOf(stats));
	}

	async remove(session: SessionReference): Promise<string> {
		const { moveToTrash } = await import("./trash.ts");
		return moveToTrash(realPlace(this.#fileOf(session)), this.#options.now());
	}

	#fileOf(session: SessionReference | string): string {
		return resolve(this.#options.cwd, typeof session === "string" ? session : session.file);
	}

	/** The directories that hold the sessions of one: itself, or all those of this working directory. */
	#groupOf(directory: string | undefined): string[] {
		if (directory === undefined) return [];
		return this.#isOfCwd(directory) ? [this.#options.directory as string, ...(this.#options.others as string[])] : [directory];
	}

	#isOfCwd(directory: string | undefined): boolean {
		const { directory: own, others } = this.#options;
		return directory !== undefined && others !== undefined && (directory === own || others.includes(directory));
	}

	/** The one that was written to last comes first. */
	#newestFirst(directory: string | undefined): string[] {
		return newestFirst(this.#groupOf(directory));
	}

	/** Nothing for a file that is not a session, or is one of another working directory. */
	#referenceTo(file: string, directory: string | undefined): SessionReference | undefined {
		const header = firstLine(file)?.header;
		if (!header) return undefined;
		const isElsewhere = this.#isOfCwd(directory) && header.cwd !== undefined && isOtherDirectory(header.cwd, this.#options.cwd);
		return isElsewhere ? undefined : { id: header.id, file };
	}
}

/** The session files of directories, the one that was written to last first. */
function newestFirst(directories: readonly string[]): string[] {
	const paths = directories.flatMap((directory) => namesIn(directory).map((name) => join(directory, name)));
	return newest(paths.filter((path) => path.endsWith(".jsonl")));
}

function newest(paths: readonly string[]): string[] {
	return paths
		.flatMap((path) => {
			const stats = fileStats(path);
			return stats ? [{ path, time: stats.mtimeMs }] : [];
		})
		.sort((a, b) => b.time - a.time || (a.path < b.path ? 1 : -1))
		.map(({ path }) => path);
}

/** By the names of the files: reading all of them would take too long. */
function withId(directory: string, id: string): SessionReference[] {
	return namesIn(directory).flatMap((name) => {
		if (!name.endsWith(".jsonl")) return [];
		const own = name.slice(name.indexOf("_") + 1, -".jsonl".length);
		return own.startsWith(id) ? [{ id: own, file: join(directory, name) }] : [];
	});
}

function namesIn(directory: string): string[] {
	try {
		return readdirSync(directory);
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code === "ENOENT" || code === "ENOTDIR" || code === "ENAMETOOLONG") return [];
		throw new CommandError("io", `Sessions could not be listed: ${code} ${directory}`);
	}
}
