/**
 * What git ignores is in no state: it may be huge. The names of it are kept, and the contents of small files such as `.env`, so that those which
 * are removed come back, and others are at least named.
 */
import { createHash, randomBytes } from "node:crypto";
import {
	chmodSync,
	type Dirent,
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	type Stats,
	utimesSync,
	writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { isEnvFile } from "../lib/env-files.ts";
import { lookAt } from "../snapshots/look.ts";
import { above, onDisk, type RepositoryPath } from "../snapshots/paths.ts";
import { isStraight } from "./commit-steps.ts";

/** What was ignored at a moment. */
interface IgnoredRecord {
	/** Folders with something in them. */
	folders: RepositoryPath[];
	files: Record<RepositoryPath, IgnoredFile>;
}

interface IgnoredFile {
	isEmpty: boolean;
	mode: number;
	/** The name of its content; none when it is too large to be kept. */
	content?: string;
}

/** A file that comes back. */
export interface ReturningFile {
	path: RepositoryPath;
	content: string;
	mode: number;
	/** What the file has instead, where it is there. */
	over?: string;
}

/** More names than this are not kept. */
const mostNames = 1000;
/** A folder with more files and folders than this is one name. */
const smallFolder = 50;
const fileBytes = 1024 * 1024;
const allBytes = 4 * 1024 * 1024;

export class IgnoredFiles {
	readonly directory: string;
	readonly #top: string;
	/** What is known of contents, as long as nothing about the file changes. */
	readonly #known = new Map<RepositoryPath, { print: string; content: string }>();

	constructor(directory: string, top: string) {
		this.directory = directory;
		this.#top = top;
	}

	/** Keeps what is ignored, from git's list of it: folders as a whole, with a slash at the end. Returns the name of the record. */
	take(listed: readonly RepositoryPath[]): string {
		const record: IgnoredRecord = { folders: [], files: {} };
		let bytes = 0;
		for (const path of listed.flatMap((each) => this.#filesOf(each) ?? each).slice(0, mostNames)) {
			if (path.endsWith("/")) {
				if (this.#isFull(path.slice(0, -1))) record.folders.push(path.slice(0, -1));
				continue;
			}
			const stats = lookAt(onDisk(this.#top, path));
			if (!stats?.isFile()) continue;
			const file: IgnoredFile = { isEmpty: stats.size === 0, mode: stats.mode & 0o777 };
			const isSmall = stats.size <= fileBytes && bytes + stats.size <= allBytes;
			const content = isSmall ? this.#contentOf(path, stats) : undefined;
			if (content !== undefined) bytes += stats.size;
			record.files[path] = content === undefined ? file : { ...file, content };
		}
		const text = JSON.stringify(record);
		const id = createHash("sha256").update(text).digest("hex").slice(0, 32);
		this.#put(join(this.directory, "records", id), text);
		return id;
	}

	/** The same without asking git: only what was ignored before, as far as it is still there. */
	takeAgain(id: string): string {
		const { folders, files } = this.#read(id);
		return this.take([...folders.map((path) => `${path}/`), ...Object.keys(files)]);
	}

	/** Returns the files that are new in the second record, or have another content. Of large files and folders nothing is known. */
	changed(before: string, after: string): RepositoryPath[] {
		const { files } = this.#read(before);
		const isKnown = this.covers(before);
		return Object.entries(this.#read(after).files).flatMap(([path, { content }]) => {
			const old = files[path];
			return (old ? old.content === content : isKnown(path)) ? [] : [path];
		});
	}

	/** What is gone, empty or, with a project's variables, another one now, without what only others removed. */
	missing(id: string, others: readonly (readonly [string | undefined, string | undefined])[]): { back: ReturningFile[]; lost: RepositoryPath[] } {
		const record = this.#read(id);
		const byOthers = new Set(
			others.flatMap(([before, after]) => {
				if (before === undefined || after === undefined) return [];
				const [one, two] = [this.#read(before), this.#read(after)];
				const there = namesOf(two);
				return [...namesOf(one)].filter((path) => !there.has(path) || one.files[path]?.content !== two.files[path]?.content);
			}),
		);
		const back: ReturningFile[] = [];
		const lost = record.folders.filter((path) => !byOthers.has(path) && !this.#isFull(path));
		for (const [path, { isEmpty, mode, content }] of Object.entries(record.files)) {
			const stats = lookAt(onDisk(this.#top, path));
			const isEmptied = stats?.isFile() === true && stats.size === 0 && !isEmpty;
			const over = stats?.isFile() && (isEmptied || isEnvFile(basename(path))) ? this.#contentOf(path, stats) : undefined;
			if (byOthers.has(path) || (stats && (over === undefined || over === content))) continue;
			// Of a folder that is gone as a whole, its name says enough.
			if (content === undefined || !existsSync(this.#fileOf(content))) lost.push(path);
			else back.push({ path, content, mode, ...(over === undefined ? {} : { over }) });
		}
		return { back, lost: lost.sort() };
	}

	/** Whether a path was ignored: that it is not any more does not make it new. */
	covers(id: string): (path: RepositoryPath) => boolean {
		const names = namesOf(this.#read(id));
		return (path) => names.has(path) || [...above(path)].some((folder) => names.has(folder));
	}

	/** Writes the files that are still missing. Folders on the way are made. */
	putBack(files: readonly ReturningFile[]): void {
		for (const file of files) {
			const { path, content, mode, over } = file;
			const place = onDisk(this.#top, path);
			const stats = lookAt(place);
			const folder = join(this.#top, dirname(path));
			if (stats ? !stats.isFile() || nameOf(readFileSync(place)) !== over : !isStraight(folder)) continue;
			mkdirSync(dirname(place.toString()), { recursive: true });
			const partial = Buffer.concat([place, Buffer.from(`.${randomBytes(6).toString("hex")}`)]);
			writeFileSync(partial, readFileSync(this.#fileOf(content)), { flag: "wx", mode });
			chmodSync(partial, mode);
			renameSync(partial, place);
		}
	}

	/** Undoes it unless the file has changed since. */
	undo(files: readonly ReturningFile[]): void {
		for (const { path, content, over } of files) {
			const place = onDisk(this.#top, path);
			const stats = lookAt(place);
			if (!stats?.isFile() || nameOf(readFileSync(place)) !== content) continue;
			if (over !== undefined) writeFileSync(place, readFileSync(this.#fileOf(over)));
			else rmSync(place);
		}
	}

	/** For as long as the last state that has it. */
	touch(id: string): void {
		const now = new Date();
		const contents = Object.values(this.#read(id).files).flatMap(({ content }) => (content === undefined ? [] : [this.#fileOf(content)]));
		for (const file of [join(this.directory, "records", id), ...contents]) if (existsSync(file)) utimesSync(file, now, now);
	}

	/** The files of a small folder, which git names as a whole; undefined for files and other folders. */
	#filesOf(folder: RepositoryPath): RepositoryPath[] | undefined {
		if (!folder.endsWith("/")) return undefined;
		const found: RepositoryPath[] = [];
		const places = [folder];
		for (const place of places) {
			let names: Dirent[];
			try {
				names = readdirSync(onDisk(this.#top, place), { withFileTypes: true, encoding: "latin1" });
			} catch {
				return undefined; // It is closed, or has just gone.
			}
			for (const each of names) {
				if (each.isDirectory()) places.push(`${place}${each.name}/`);
				else found.push(`${place}${each.name}`);
				if ((!each.isFile() && !each.isDirectory()) || places.length + found.length > smallFolder) return undefined;
			}
		}
		return found;
	}

	#isFull(path: RepositoryPath): boolean {
		try {
			return readdirSync(onDisk(this.#top, path)).length > 0;
		} catch {
			return false; // It is gone, no folder, or closed.
		}
	}

	/** Returns undefined for a file that cannot be read. */
	#contentOf(path: RepositoryPath, { ino, size, mtimeMs, ctimeMs }: Stats): string | undefined {
		const print = [ino, size, mtimeMs, ctimeMs].join();
		const known = this.#known.get(path);
		if (known?.print === print && existsSync(this.#fileOf(known.content))) return known.content;
		let bytes: Buffer;
		try {
			bytes = readFileSync(onDisk(this.#top, path));
		} catch {
			return undefined; // It is closed or has just gone; then it is only named.
		}
		const content = nameOf(bytes);
		this.#put(this.#fileOf(content), bytes);
		this.#known.set(path, { print, content });
		return content;
	}

	#put(file: string, content: string | Buffer): void {
		if (existsSync(file)) return;
		mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
		const partial = `${file}.${randomBytes(6).toString("hex")}`;
		writeFileSync(partial, content, { mode: 0o600 });
		renameSync(partial, file);
	}

	#fileOf(content: string): string {
		return join(this.directory, "contents", /^[0-9a-f]+$/.test(content) ? content : "none");
	}

	/** Returns an empty record for one that has been collected. */
	#read(id: string): IgnoredRecord {
		const file = join(this.directory, "records", id);
		if (!/^[0-9a-f]+$/.test(id) || !existsSync(file)) return { folders: [], files: {} };
		return JSON.parse(readFileSync(file, "utf8")) as IgnoredRecord;
	}
}

const namesOf = ({ folders, files }: IgnoredRecord) => new Set([...folders, ...Object.keys(files)]);

const nameOf = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
