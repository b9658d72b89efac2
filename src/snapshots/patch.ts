/** Patch files. */
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { Shadow } from "./shadow.ts";

/** Writes what happened between two trees as a patch that `git apply` reads. The file is complete or does not exist. */
export async function writePatch(shadow: Shadow, before: string, after: string, path: string): Promise<void> {
	const partial = `${path}.partial`;
	await mkdir(dirname(path), { recursive: true });
	// Created here first, so that only the user can read it.
	await (await open(partial, "w", 0o600)).close();
	try {
		await shadow
			.git()
			.run(["diff-tree", "-r", "-p", "--binary", "--full-index", "-M", "--no-ext-diff", "--no-textconv", `--output=${partial}`, before, after]);
		await rename(partial, path);
	} finally {
		await rm(partial, { force: true });
	}
}
