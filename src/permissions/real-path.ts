/** Where a path really leads, also when it does not exist yet. */
import { realpathSync } from "node:fs";
import { readlink, realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";

const mostLinks = 40;

export async function realTarget(path: string, links = 0): Promise<string> {
	try {
		return await realpath(path);
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (links >= mostLinks || (code !== "ENOENT" && code !== "ENOTDIR")) return path;
	}
	// A link to something that is missing leads there all the same: a tool that writes would create it.
	const target = await readlink(path).catch(() => undefined);
	if (target !== undefined) return realTarget(resolve(dirname(path), target), links + 1);
	const parent = dirname(path);
	return parent === path ? path : join(await realTarget(parent, links), basename(path));
}

/** Of something that exists; else the path itself. */
export function realPathOf(path: string): string {
	try {
		return realpathSync(path);
	} catch {
		return path;
	}
}
