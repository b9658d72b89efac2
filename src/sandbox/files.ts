/**
 * Files for the tools that run in this process, where no mount holds them. Open first, ask the kernel what it is, then decide: a check before
 * the opening could be about another file.
 */

import { randomBytes } from "node:crypto";
import { constants, fstatSync, type Stats } from "node:fs";
import { access, type FileHandle, lstat, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { notRegular, readFlags } from "../lib/unsuitable-file.ts";
import { locate } from "./locate.ts";
import { type Places, placesOf } from "./places.ts";
import { isUnmasked, maskedCopy, mayRead, mayWrite, type Verdict, type View } from "./view.ts";

const directoryFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const mostAttempts = 40;

/** Makes a new view for each operation. A view for reading may leave out what can be written. */
type ViewFor = (use: "reading" | "writing") => View | Promise<View>;

export class ConfinedFiles {
	readonly #viewFor: ViewFor;
	readonly #places: Places;
	readonly #onWrite: (path: string) => void;

	/** `onWrite` is told the real path of each write that is let through. */
	constructor(viewFor: ViewFor, platform: NodeJS.Platform = process.platform, onWrite: (path: string) => void = () => undefined) {
		this.#viewFor = viewFor;
		this.#onWrite = onWrite;
		this.#places = placesOf(platform);
	}

	#mayRead(view: View, path: string): Verdict {
		return this.#places.judge(mayRead, view, path);
	}

	#mayWrite(view: View, path: string): Verdict {
		return this.#places.judge(mayWrite, view, path);
	}

	/** Whether there is something that may be read. Where nothing may, there is nothing. */
	async exists(path: string): Promise<boolean> {
		const view = await this.#viewFor("reading");
		try {
			const located = locate(path, view);
			return located.missing.length === 0 && this.#mayRead(view, located.path).allowed;
		} catch {
			return false;
		}
	}

	/** Where a path that may be read really is. */
	async place(path: string): Promise<string> {
		const view = await this.#viewFor("reading");
		const located = locate(path, view);
		if (located.missing.length > 0) throw new Error(`No such file or directory: ${path}`);
		insist(this.#mayRead(view, located.path), path, "read");
		return located.path;
	}

	/** The real path that a write to this path would reach. */
	async target(path: string): Promise<string> {
		const located = locate(path, await this.#viewFor("reading"));
		return join(located.path, ...located.missing);
	}

	/** Opens a regular file for reading. The caller closes it. */
	async open(path: string): Promise<FileHandle> {
		const file = await this.#open(path, await this.#viewFor("reading"));
		if (fstatSync(file.fd).isFile()) return file;
		await file.close();
		throw notRegular();
	}

	async #open(path: string, view: View): Promise<FileHandle> {
		const located = locate(path, view);
		if (located.missing.length > 0) throw new Error(`No such file or directory: ${path}`);
		insist(this.#mayRead(view, located.path), path, "read");
		const copy = maskedCopy(view, located.path);
		if (copy) return open(copy.source, readFlags);
		const file = await open(located.path, readFlags);
		try {
			const place = await this.#places.realPlace(file, located.path);
			insist(this.#mayRead(view, place), path, "read");
			insist(this.#places.judge(isUnmasked, view, place), path, "read");
			return file;
		} catch (error) {
			await file.close();
			throw error;
		}
	}

	/** The entries of a directory; directories and links to them end in a slash. Entries that cannot be examined are omitted. */
	async list(path: string): Promise<string[]> {
		const view = await this.#viewFor("reading");
		const directory = await this.#open(path, view);
		try {
			if (!(await directory.stat()).isDirectory()) throw new Error(`${path} is not a directory.`);
			const self = this.#places.pathOf(directory);
			const place = await this.#places.realPlace(directory, path);
			const entries = await readdir(self, { withFileTypes: true });
			const marked = await Promise.allSettled(
				entries.map(async (entry) => {
					const target = entry.isSymbolicLink() ? this.#linked(join(place, entry.name), view) : join(self, entry.name);
					return target !== undefined && (await stat(target)).isDirectory() ? `${entry.name}/` : entry.name;
				}),
			);
			return marked.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
		} finally {
			await directory.close();
		}
	}

	/** What a link leads to. Nothing where that is hidden: then a list must not even say whether it exists. */
	#linked(link: string, view: View): string | undefined {
		const located = locate(link, view);
		if (!this.#mayRead(view, located.path).allowed) return undefined;
		if (located.missing.length > 0) throw new Error(`No such file or directory: ${link}`);
		return located.path;
	}

	/** Replaces a file in one step, or makes it with the folders that are missing. Resolves with what the model should know about it. */
	async write(path: string, content: Buffer): Promise<string | undefined> {
		const view = await this.#viewFor("writing");
		for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
			const { path: place, missing } = locate(path, view);
			const folders = missing.length > 0 ? missing.slice(0, -1) : [];
			const name = missing.at(-1) ?? place.slice(place.lastIndexOf("/") + 1);
			insist(this.#mayWrite(view, join(place, ...missing)), path, "written");
			this.#onWrite(join(place, ...missing));
			const start = missing.length > 0 ? place : place.slice(0, -name.length - 1) || "/";
			const directory = await this.#enter(start, folders, name, view, path);
			try {
				const outcome = await replace(this.#places.pathOf(directory), name, content, path);
				// A link has taken the name meanwhile: its target is another question.
				if (outcome !== "link") return outcome;
			} finally {
				await directory.close();
			}
		}
		throw new Error(`${path} changes all the time.`);
	}

	/** Opens the folder and makes the missing ones below it, each through the descriptor of the one above. */
	async #enter(start: string, folders: readonly string[], name: string, view: View, path: string): Promise<FileHandle> {
		let directory = await open(start, directoryFlags).catch((error: NodeJS.ErrnoException) => {
			if (error.code === "ENOTDIR" || error.code === "ELOOP") throw new Error(`${path} cannot be written: ${start} is not a directory.`);
			throw error;
		});
		try {
			let place = await this.#places.realPlace(directory, start);
			insist(this.#mayWrite(view, join(place, ...folders, name)), path, "written");
			for (const folder of folders) {
				const next = join(this.#places.pathOf(directory), folder);
				await mkdir(next).catch((error: NodeJS.ErrnoException) => {
					if (error.code !== "EEXIST") throw error;
				});
				const inner = await open(next, directoryFlags);
				await directory.close();
				directory = inner;
				place = await this.#places.realPlace(directory, next);
			}
			insist(this.#mayWrite(view, join(place, name)), path, "written");
			return directory;
		} catch (error) {
			await directory.close();
			throw error;
		}
	}
}

function insist(verdict: Verdict, path: string, how: "read" | "written"): void {
	if (!verdict.allowed) throw new Error(`${path} cannot be ${how}: ${verdict.because}.`);
}

async function replace(directory: string, name: string, content: Buffer, path: string): Promise<string | "link" | undefined> {
	const target = join(directory, name);
	const old = await lstat(target).catch((error: NodeJS.ErrnoException) => {
		if (error.code === "ENOENT") return undefined;
		throw error;
	});
	if (old?.isSymbolicLink()) return "link";
	if (old?.isDirectory()) throw new Error(`${path} is a directory. Name a file in it.`);
	if (old && !old.isFile()) throw new Error(`${path} is not a regular file and cannot be written.`);
	// A rename would replace a file that we may not write.
	if (old) await access(target, constants.W_OK);
	const temporary = join(directory, `.bowline-${randomBytes(6).toString("hex")}.tmp`);
	try {
		await fill(temporary, content, old);
		await rename(temporary, target);
	} catch (error) {
		await rm(temporary, { force: true });
		const code = (error as NodeJS.ErrnoException).code ?? "";
		if (!old || !["EACCES", "EPERM", "EROFS", "EBUSY", "EXDEV"].includes(code)) throw error;
		if (old.nlink > 1) throw new Error(`${path} has other names (hard links) and cannot be replaced here.`);
		await overwrite(target, content, old, path);
		return undefined;
	}
	return old && old.nlink > 1 ? "It had other names (hard links), which keep the old content." : undefined;
}

async function fill(temporary: string, content: Buffer, old: Stats | undefined): Promise<void> {
	const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
	const file = await open(temporary, flags, old ? 0o600 : 0o666);
	try {
		await file.writeFile(content);
		if (!old) return;
		if (old.uid !== process.getuid?.() || old.gid !== process.getgid?.()) await file.chown(old.uid, old.gid);
		await file.chmod(old.mode & 0o7777);
	} finally {
		await file.close();
	}
}

/** The file itself, where its folder lets no other take its place. It must be the one that was looked at. */
async function overwrite(target: string, content: Buffer, old: Stats, path: string): Promise<void> {
	const file = await open(target, constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
	try {
		const now = await file.stat();
		if (!now.isFile() || now.ino !== old.ino || now.dev !== old.dev || now.nlink > 1) throw new Error(`${path} was replaced meanwhile.`);
		await file.truncate(0);
		await file.writeFile(content);
	} finally {
		await file.close();
	}
}
