/** Makes copies of a frozen repository: worktrees of it, filled with what was in the live tree. */
import { existsSync, lstatSync, readdirSync, rmSync } from "node:fs";
import { cp, mkdir, rename, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Call, ProgramStarter } from "../../snapshots/git.ts";
import { onDisk } from "../../snapshots/paths.ts";
import { removeTree } from "../../snapshots/remove.ts";
import { alone } from "../../snapshots/repository-lock.ts";
import { copyIndex } from "../../snapshots/shadow.ts";
import type { Part } from "../../snapshots/take.ts";
import type { CopiedPart, CopyRecord } from "./capture.ts";
import { forgetWorktree, recordOf } from "./worktrees.ts";

/** The record of a copy that will be made. `file` is where the record goes; the copy's indexes get names that start with it. */
export function planCopy(parts: readonly Part[], given: { id: string; path: string; file: string }): CopyRecord {
	const copied = parts.map((part, number): CopiedPart => {
		const { at, shadow, tree, skipped, apart, repository } = part;
		return { at, shadow: shadow.directory, index: `${given.file}.${number}`, tree, commonDir: repository.commonDir, skipped, apart };
	});
	return { id: given.id, path: given.path, parts: copied };
}

/** Fills the copy's empty directory. Its record is written first, so that the copy is found after a kill. */
export async function makeCopy(parts: readonly Part[], record: CopyRecord, file: string, signal: AbortSignal): Promise<void> {
	await writeFile(file, JSON.stringify(record), { mode: 0o600 });
	for (const [number, part] of parts.entries()) await copyPart(part, record.parts[number] as CopiedPart, record.path, signal);
}

async function copyPart({ repository, shadow, index, staged, links }: Part, copied: CopiedPart, path: string, signal: AbortSignal): Promise<void> {
	const { git, head, commonDir, gitDir } = repository;
	const top = onDisk(path, copied.at).toString();
	await mkdir(top, { recursive: true });
	if (head === undefined) await git.run(["init", "-q", "--template=", top], { signal });
	else await alone(commonDir, () => git.run(["worktree", "add", "-f", "--detach", "--no-checkout", top, head]), signal);
	const record = head === undefined ? join(top, ".git") : recordOf(commonDir, top);
	if (record === undefined) throw new Error(`git made no worktree at ${top}.`);
	// The child sees as staged what the user has staged.
	if (staged && head !== undefined) await copyIndex(staged, join(record, "index"));
	const sparse = join(gitDir, "info/sparse-checkout");
	if (existsSync(sparse)) await cp(sparse, join(record, "info/sparse-checkout"));

	// A submodule without files is an empty directory.
	for (const link of links) await mkdir(onDisk(top, link), { recursive: true });

	const growing = `${copied.index}.growing`;
	await copyIndex(index, growing);
	let which: Call & { args: string[] } = { args: ["-a"] };
	if (copied.skipped.length > 0) {
		// Without a list, older versions also write what a sparse working tree leaves out.
		const list = (await shadow.list({ top, index: growing }, signal)).filter(({ isSkipped }) => !isSkipped);
		which = { args: ["-z", "--stdin"], input: list.map(({ path }) => `${path}\0`).join("") };
	}
	await shadow.git({ top, index: growing }).run(["checkout-index", "-f", "-u", "-q", ...which.args], { ...which, signal });
	await rename(growing, copied.index);
}

/** Removes a copy, and its records in the repositories. Does not fail when part of it is gone already. */
export async function removeCopy(shell: () => Promise<ProgramStarter>, record: CopyRecord, file: string): Promise<void> {
	await removeTree(shell, record.path);
	for (const { commonDir, at } of record.parts) {
		if (existsSync(commonDir)) await alone(commonDir, () => forgetWorktree(commonDir, onDisk(record.path, at).toString()));
	}
	// The record goes last, so that a process after a kill still finds it.
	const indexes = readdirSync(dirname(file)).filter((name) => name.startsWith(`${basename(file)}.`));
	for (const path of [...indexes.map((name) => join(dirname(file), name)), file]) rmSync(path, { force: true });
}

/** Makes an empty directory; nothing when the name is taken. */
export async function claimDirectory(path: string): Promise<string | undefined> {
	await mkdir(dirname(path), { recursive: true, mode: 0o700 });
	if (lstatSync(path, { throwIfNoEntry: false })) return undefined;
	try {
		await mkdir(path, { mode: 0o700 });
		return path;
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "EEXIST") return undefined;
		throw error;
	}
}
