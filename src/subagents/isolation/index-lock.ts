/**
 * Git's own lock of the index, taken for a merge so that the user's git cannot write in between. A process that is killed leaves it; the next
 * one recognizes it, because the same file has a second name in the staging directory.
 */
import { constants, copyFileSync, existsSync, linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const lockOf = (index: string) => `${index}.lock`;
const ownName = (staging: string) => join(staging, "index-lock");
/** Marks a lock that is a copy, on file systems without links. It may be incomplete. */
const copiedName = (staging: string) => join(staging, "index-lock-copied");

/** Takes the lock, with this file as its content. Throws when another process has it. */
export function lockIndex(index: string, content: string, staging: string): void {
	const own = ownName(staging);
	mkdirSync(staging, { recursive: true, mode: 0o700 });
	rmSync(own, { force: true });
	copyFileSync(content, own);
	try {
		place(own, lockOf(index), copiedName(staging));
	} catch (error) {
		forget(staging);
		if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
		throw new Error(`Another git process is at work in the repository. If there is none, remove ${lockOf(index)}.`);
	}
}

/** Releases the lock, if it is still there. */
export function unlockIndex(index: string, staging: string): void {
	rmSync(lockOf(index), { force: true });
	forget(staging);
}

/** The path of the lock that this process holds: renamed to the index, it is the new index. */
export const heldLock = lockOf;

/** Whether the lock was left by a process that had this staging directory. */
export function isOwnLock(index: string, staging: string): boolean {
	const found = statSync(lockOf(index), { throwIfNoEntry: false });
	const own = statSync(ownName(staging), { throwIfNoEntry: false });
	if (!found || !own) return false;
	if (own.ino === found.ino && own.dev === found.dev) return true;
	if (!existsSync(copiedName(staging))) return false;
	const bytes = readFileSync(lockOf(index));
	return readFileSync(ownName(staging)).subarray(0, bytes.length).equals(bytes);
}

function forget(staging: string): void {
	for (const path of [copiedName(staging), ownName(staging)]) rmSync(path, { force: true });
}

/** A link: the lock exists with its whole content, or not at all. */
function place(file: string, at: string, copied: string): void {
	try {
		linkSync(file, at);
	} catch (error) {
		if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
		writeFileSync(copied, "");
		copyFileSync(file, at, constants.COPYFILE_EXCL);
	}
}
