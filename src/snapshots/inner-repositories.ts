/** Finds repositories inside a working tree that the outer one ignores. Others are in git's own list of what it does not know. */
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { onDisk, type RepositoryPath } from "./paths.ts";

/** Below this, and in hidden directories, they are downloads of some tool. */
const deepest = 3;

/** Looks into the directories of git's list of ignored things. */
export async function ignoredRepositories(top: string, ignored: readonly RepositoryPath[]): Promise<RepositoryPath[]> {
	const found: RepositoryPath[] = [];
	for (const path of ignored) {
		if (path.endsWith("/")) await search(top, path.slice(0, -1), found);
	}
	return found;
}

async function search(top: string, path: RepositoryPath, found: RepositoryPath[]): Promise<void> {
	const parts = path.split("/");
	if (parts.length > deepest || parts.some((part) => part.startsWith(".") || part === "node_modules")) return;
	if (existsSync(onDisk(top, `${path}/.git`))) {
		found.push(path);
		return;
	}
	if (parts.length === deepest) return;
	// A directory that cannot be read has nothing to copy.
	const names = await readdir(onDisk(top, path), { withFileTypes: true, encoding: "latin1" }).catch(() => []);
	for (const name of names) {
		if (name.isDirectory()) await search(top, `${path}/${name.name}`, found);
	}
}
