/** Puts a state of files back into a working tree: all of them or none, never through a link, and never over a file that has changed since. */
import { createHash } from "node:crypto";
import { createReadStream, type Stats } from "node:fs";
import { chmod, copyFile, lstat, mkdir, readdir, readlink, rename, rm, rmdir, symlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { above, onDisk, type RepositoryPath, toText } from "./paths.ts";
import { type Change, type Entry, putEntries, type Shadow } from "./shadow.ts";

export interface ChangeInput {
	shadow: Shadow;
	top: string;
	/** For files on their way; best on the same disk as the tree. Removed afterwards. */
	staging: string;
	/** A directory that stays, also when it is empty. */
	keep: RepositoryPath;
	/** Moves a directory in the way aside if it has files that no state knows. Without it such a change fails. */
	movesAside?: boolean;
}

/** Changes that can be made now. */
export interface PreparedChanges {
	/** Makes them; after a failure everything is as before. */
	apply(): Promise<void>;
	discard(): Promise<void>;
}

/** What will be gone before anything is written: by name, and by file where `a` and `A` are the same. */
interface Leaving {
	paths: Set<RepositoryPath>;
	files: Set<string>;
}

/** Checks each path and extracts the new files. Returns the paths that are not as expected. */
export async function prepareChanges(input: ChangeInput, changes: readonly Change[]): Promise<PreparedChanges | { conflicts: RepositoryPath[] }> {
	const conflicts: RepositoryPath[] = [];
	const leaving: Leaving = { paths: new Set(), files: new Set() };
	for (const { path, to } of changes) {
		if (to) continue;
		leaving.paths.add(path);
		const stats = await lookAt(onDisk(input.top, path));
		if (stats) leaving.files.add(fileId(stats));
	}
	for (const change of changes) {
		if (!(await isAsSeen(input.top, change, leaving))) conflicts.push(change.path);
	}
	if (conflicts.length > 0) return { conflicts };
	const after = join(input.staging, "after");
	const discard = () => rm(input.staging, { recursive: true, force: true });
	try {
		await extract(input, changes, after);
	} catch (error) {
		await discard();
		throw error;
	}
	return {
		async apply() {
			try {
				await move(input, changes, after);
			} catch (error) {
				await undoChanges(input, changes);
				throw error;
			}
		},
		discard,
	};
}

/** Undoes the changes that were made, by this process or by one that was killed midway. Files in neither the old nor the planned state stay. */
export async function undoChanges(input: ChangeInput, changes: readonly Change[]): Promise<void> {
	const back = (await appliedChanges(input, changes)).map(
		({ path, from, to }): Change => ({ path, ...(to ? { from: to } : {}), ...(from ? { to: from } : {}) }),
	);
	const before = join(input.staging, "before");
	// A process that was killed while it did the same may have left these.
	for (const path of [before, join(input.staging, "index.lock")]) await rm(path, { recursive: true, force: true });
	for (const { path } of changes) await rm(partialOf(onDisk(input.top, path), input), { force: true });
	await extract(input, back, before);
	await move(input, back, before);
}

/** Those of the changes whose result is on the disk. */
export async function appliedChanges({ top }: Pick<ChangeInput, "top">, changes: readonly Change[]): Promise<Change[]> {
	const applied: Change[] = [];
	for (const change of changes)
		if ((await linkAbove(top, change.path)) === undefined && (await holds(top, change.path, change.to))) applied.push(change);
	return applied;
}

/** Returns the first link among the folders above a path: what is behind it is not in the tree. */
async function linkAbove(top: string, path: RepositoryPath): Promise<RepositoryPath | undefined> {
	for (const parent of above(path)) if ((await lookAt(onDisk(top, parent)))?.isSymbolicLink()) return parent;
	return undefined;
}

/** Throws when a program in the background has put a link in place of a folder since the changes were checked. */
async function insistOnFolders(top: string, path: RepositoryPath): Promise<void> {
	const link = await linkAbove(top, path);
	if (link !== undefined)
		throw new Error(`${toText(link)} became a link meanwhile, so ${toText(path)} was not changed. Remove the link and try again.`);
}

/** Writes the new contents into a directory, each at its path. */
async function extract({ shadow, staging }: ChangeInput, changes: readonly Change[], directory: string): Promise<void> {
	const written = changes.filter(({ to }) => to);
	await mkdir(directory, { recursive: true, mode: 0o700 });
	if (written.length === 0) return;
	const index = join(staging, "index");
	const git = shadow.git({ top: directory, index });
	await git.run(["read-tree", "--empty"]);
	await putEntries(
		git,
		written.map(({ path, to }) => ({ path, ...(to ? { to } : {}) })),
	);
	await git.run(["checkout-index", "-a", "-q"]);
}

async function move(input: ChangeInput, changes: readonly Change[], directory: string): Promise<void> {
	const { top, keep } = input;
	const kept = new Set(["", keep, ...above(keep)]);
	for (const change of changes.filter(({ to }) => !to)) {
		await insistOnFolders(top, change.path);
		await rm(onDisk(top, change.path), { force: true });
		for (const parent of above(change.path)) {
			if (kept.has(parent) || !(await removeIfEmpty(onDisk(top, parent)))) break;
		}
	}
	for (const change of changes) {
		if (!change.to) continue;
		await insistOnFolders(top, change.path);
		const target = onDisk(top, change.path);
		const parent = [...above(change.path)][0];
		if (parent !== undefined) await mkdir(onDisk(top, parent), { recursive: true });
		const source = onDisk(directory, change.path);
		const stats = await lookAt(target);
		if (stats?.isDirectory()) await makeRoom(target, input.movesAside === true);
		if (stats?.isFile() && isFile(change.to)) await chmod(source, permissions(stats, change.to));
		await insistOnFolders(top, change.path);
		await moveFile(source, target, partialOf(target, input));
	}
}

/** Like any editor: the file keeps who may read and write it. */
function permissions({ mode }: Stats, to: Entry): number {
	const bits = mode & 0o777;
	return to.mode === "100755" ? bits | ((bits & 0o444) >> 2) : bits & ~0o111;
}

/** Where a file from another disk is completed before it takes its place. The name is known to a process that cleans up after a killed one. */
const partialOf = (target: Buffer, { staging }: ChangeInput) => Buffer.concat([target, Buffer.from(`.${basename(staging)}`)]);

async function moveFile(source: Buffer, target: Buffer, partial: Buffer): Promise<void> {
	try {
		await rename(source, target);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw error;
		await rm(partial, { force: true });
		try {
			if ((await lstat(source)).isSymbolicLink()) await symlink(await readlink(source, "buffer"), partial);
			else await copyFile(source, partial);
			await rename(partial, target);
		} finally {
			await rm(partial, { force: true });
		}
	}
}

/** Whether the disk still has what the change starts from, and no link leads away from the tree. */
async function isAsSeen(top: string, { path, from }: Change, leaving: Leaving): Promise<boolean> {
	for (const parent of above(path)) {
		const stats = await lookAt(onDisk(top, parent));
		if (stats && !stats.isDirectory() && !leaving.paths.has(parent)) return false;
	}
	const place = onDisk(top, path);
	const stats = await lookAt(place);
	// A directory that is in the way may be empty by then; if not, a later step detects it.
	if (!from) return !stats || !hasContent(stats) || leaving.files.has(fileId(stats));
	if (!stats || (from.mode === "120000" ? !stats.isSymbolicLink() : !stats.isFile())) return false;
	return (await oidOf(place, stats, from.oid.length)) === from.oid;
}

/** Whether the disk has exactly this; nothing at all, when nothing is given. */
async function holds(top: string, path: RepositoryPath, entry: Entry | undefined): Promise<boolean> {
	const place = onDisk(top, path);
	const stats = await lookAt(place);
	if (!entry || !stats) return !entry && !stats;
	if (entry.mode === "120000" ? !stats.isSymbolicLink() : !stats.isFile()) return false;
	if (stats.isFile() && (entry.mode === "100755") !== ((stats.mode & 0o100) !== 0)) return false;
	return (await oidOf(place, stats, entry.oid.length)) === entry.oid;
}

/** The name that git gives to the content. */
async function oidOf(place: Buffer, stats: Stats, length: number): Promise<string> {
	const hash = createHash(length === 40 ? "sha1" : "sha256");
	if (stats.isSymbolicLink()) {
		const target = await readlink(place, "buffer");
		return hash.update(`blob ${target.length}\0`).update(target).digest("hex");
	}
	hash.update(`blob ${stats.size}\0`);
	await pipeline(createReadStream(place), hash);
	return hash.digest("hex");
}

async function lookAt(place: Buffer): Promise<Stats | undefined> {
	try {
		return await lstat(place);
	} catch (error) {
		if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
		throw error;
	}
}

async function removeIfEmpty(place: Buffer): Promise<boolean> {
	try {
		await rmdir(place);
		return true;
	} catch {
		return false;
	}
}

/** Directories, pipes and sockets have none of their own. */
const hasContent = (stats: Stats) => stats.isFile() || stats.isSymbolicLink();

/** Folders without files are nothing to git, however deep. */
async function makeRoom(place: Buffer, movesAside: boolean): Promise<void> {
	if (await removeEmptyFolders(place)) return;
	if (!movesAside) throw new Error(`${place.toString()} has files that git does not know`);
	for (let number = 1; ; number += 1) {
		const aside = Buffer.concat([place, Buffer.from(`.before-rewind${number === 1 ? "" : `-${number}`}`)]);
		if (!(await lookAt(aside))) return rename(place, aside);
	}
}

async function removeEmptyFolders(place: Buffer): Promise<boolean> {
	const found = await readdir(place, { withFileTypes: true, encoding: "buffer" });
	for (const each of found) {
		if (!each.isDirectory() || !(await removeEmptyFolders(Buffer.concat([place, Buffer.from("/"), each.name])))) return false;
	}
	return removeIfEmpty(place);
}

const fileId = ({ dev, ino }: Stats) => `${dev}:${ino}`;

const isFile = ({ mode }: Entry) => mode.startsWith("100");
