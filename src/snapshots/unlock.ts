/** Gives access again to files and folders that were locked with `chmod`. */
import { chmodSync } from "node:fs";
import { lookAt } from "./look.ts";
import { above, onDisk, type RepositoryPath } from "./paths.ts";

export interface Known {
	path: RepositoryPath;
	/** As git writes it. */
	mode: string;
}

/**
 * Folders that their owner cannot read, write or enter, and files that their owner cannot read, get the mode of new ones. They were not locked
 * when they became known.
 */
export function unlock(top: string, known: Iterable<Known>): void {
	const mask = process.umask();
	const folders = new Set<RepositoryPath>();
	const enter = (path: RepositoryPath) => {
		if (folders.has(path)) return;
		folders.add(path);
		const stats = lookAt(onDisk(top, path));
		if (stats?.isDirectory() && (stats.mode & 0o700) !== 0o700) chmodSync(onDisk(top, path), 0o777 & ~mask);
	};
	for (const { path, mode } of known) {
		for (const folder of [...above(path)].reverse()) enter(folder);
		const stats = lookAt(onDisk(top, path));
		if (stats?.isFile() && (stats.mode & 0o400) === 0) chmodSync(onDisk(top, path), (mode === "100755" ? 0o777 : 0o666) & ~mask);
	}
}
