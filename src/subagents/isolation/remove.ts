/** Takes directories and worktrees away, whatever was left in them. */
import { existsSync, lstatSync, readdirSync, readFileSync, rmdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { ProgramStarter } from "./git.ts";

/** Like `rm -rf`, also where a directory was made unwritable. */
export async function removeTree(shell: () => Promise<ProgramStarter>, path: string): Promise<void> {
	if (!lstatSync(path, { throwIfNoEntry: false })) return;
	// The system's own is several times faster than Node's. Whatever it could not do is tried again below.
	await runQuietly(shell, "rm", ["-rf", "--", path]);
	if (!existsSync(path)) return;
	await runQuietly(shell, "chmod", ["-R", "u+rwX", "--", path]);
	await rm(path, { recursive: true, force: true, maxRetries: 3 });
}

async function runQuietly(shell: () => Promise<ProgramStarter>, file: string, args: string[]): Promise<void> {
	try {
		const { child } = await (await shell()).start(file, args, "/");
		child.stdout?.resume();
		child.stderr?.resume();
		await new Promise((resolve) => child.once("close", resolve));
	} catch {
		// At the end of a session nothing can be started any more, and not every system has these programs.
	}
}

/** Forgets the worktree at a path, and no other: what `git worktree prune` would take as well may be on a disk that is not plugged in. */
export async function forgetWorktree(commonDir: string, path: string): Promise<void> {
	const all = join(commonDir, "worktrees");
	for (const name of namesIn(all)) {
		if (worktreeOf(join(all, name)) === path) await rm(join(all, name), { recursive: true, force: true });
	}
	if (existsSync(all) && namesIn(all).length === 0) removeEmpty(all);
}

/** Where the repository keeps what it knows about the worktree at a path. */
export function recordOf(commonDir: string, path: string): string | undefined {
	const all = join(commonDir, "worktrees");
	const name = namesIn(all).find((each) => worktreeOf(join(all, each)) === path);
	return name === undefined ? undefined : join(all, name);
}

export function removeEmpty(directory: string): void {
	try {
		rmdirSync(directory);
	} catch (error) {
		if (!["ENOTEMPTY", "EEXIST", "ENOENT"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
	}
}

function worktreeOf(record: string): string | undefined {
	try {
		return readFileSync(join(record, "gitdir"), "utf8")
			.trimEnd()
			.replace(/\/\.git$/, "");
	} catch {
		return undefined;
	}
}

function namesIn(directory: string): string[] {
	return existsSync(directory) ? readdirSync(directory) : [];
}
