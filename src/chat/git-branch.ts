/** The branch of the repository around a directory, read from its files: no program runs, and nothing waits. */
import { statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { readRegularSync } from "../lib/bounded-file-sync.ts";

const longestFile = 4096;

/** The name of the branch, else the beginning of the commit; nothing outside of a repository. */
export function gitBranch(cwd: string): string | undefined {
	for (let directory = cwd; ; directory = dirname(directory)) {
		const found = statSync(join(directory, ".git"), { throwIfNoEntry: false });
		if (found) return headOf(directory, found.isDirectory());
		if (dirname(directory) === directory) return undefined;
	}
}

function headOf(directory: string, isPlain: boolean): string | undefined {
	try {
		const read = (path: string) => readRegularSync(path, longestFile).toString().trim();
		// In worktrees and submodules `.git` is a file that names the directory.
		const place = isPlain ? ".git" : read(join(directory, ".git")).replace(/^gitdir:\s*/, "");
		const head = read(join(resolve(directory, place), "HEAD"));
		return head.startsWith("ref: ") ? head.slice(5).replace(/^refs\/heads\//, "") : head.slice(0, 7);
	} catch {
		return undefined; // Not a repository after all.
	}
}
