/** Replaces a file in one step: readers never see half of it, and a crash leaves the old one. */

import { randomBytes } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { access, mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { removeLeftOvers } from "../lib/left-overs.ts";
import { follow, mostLinks } from "../lib/links.ts";

/** Keeps mode and owner, follows links to their target. Writes in place where a new file could not take the old one's role. */
export async function atomicWrite(path: string, content: Buffer): Promise<void> {
	const target = followLinks(path);
	const old = await stat(target).catch((error: NodeJS.ErrnoException) => {
		if (error.code === "ENOENT") return undefined;
		throw error;
	});
	if (old?.isDirectory()) throw new Error(`${path} is a directory. Name a file in it.`);
	// A pipe without a reader would block this write and, after a few of them, every other file operation of the process.
	if (old && !old.isFile()) throw notRegular(path);
	// A rename would happily replace a file that we may not write.
	if (old) await access(target, constants.W_OK);
	else await mkdir(dirname(target), { recursive: true });
	const canReplace = old === undefined || (old.nlink === 1 && (old.uid === process.getuid?.() || process.getuid?.() === 0));
	if (!canReplace || !(await replace(target, content, old))) await overwrite(target, content, path);
}

const notRegular = (path: string) => new Error(`${path} is not a regular file and cannot be written.`);

/** Something else may have taken the file's place since we looked at it, so the open file is checked again and nothing blocks. */
async function overwrite(target: string, content: Buffer, path: string): Promise<void> {
	const flags = constants.O_WRONLY | constants.O_CREAT | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);
	const file = await open(target, flags, 0o666);
	try {
		if (!(await file.stat()).isFile()) throw notRegular(path);
		await file.truncate(0);
		await file.writeFile(content);
	} finally {
		await file.close();
	}
}

/** False when the directory, or a mount on the file itself, does not let us. */
async function replace(target: string, content: Buffer, old: Stats | undefined): Promise<boolean> {
	// Not made of the file's own name: that may be as long as a name can be.
	const temporary = join(dirname(target), `.bowline-${randomBytes(6).toString("hex")}.tmp`);
	try {
		await fill(temporary, content, old);
		await rename(temporary, target);
		void removeLeftOvers(dirname(target), (name) => /^\.bowline-[0-9a-f]{12}\.tmp$/.test(name), Date.now());
		return true;
	} catch (error) {
		await rm(temporary, { force: true });
		if (["EACCES", "EPERM", "EROFS", "EBUSY", "EXDEV"].includes((error as NodeJS.ErrnoException).code ?? "")) return false;
		throw error;
	}
}

async function fill(temporary: string, content: Buffer, old: Stats | undefined): Promise<void> {
	const file = await open(temporary, "wx", old ? 0o600 : 0o666);
	try {
		await file.writeFile(content);
		if (!old) return;
		if (old.uid !== process.getuid?.() || old.gid !== process.getgid?.()) await file.chown(old.uid, old.gid);
		await file.chmod(old.mode & 0o7777);
	} finally {
		await file.close();
	}
}

/** Follows links as the system and the permissions do, also to a target that does not exist yet. */
function followLinks(path: string): string {
	const { place, links } = follow(path);
	if (links.length >= mostLinks) throw new Error(`Too many symbolic links: ${path}`);
	return place;
}
