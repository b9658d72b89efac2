/** What a repository records about its worktrees. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { removeEmpty } from "../../snapshots/remove.ts";

/** Forgets the worktree at a path and no other: `git worktree prune` would also forget worktrees on a disk that is not plugged in. */
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
