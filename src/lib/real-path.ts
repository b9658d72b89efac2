/** Resolves paths, also those that do not exist yet. */
import { realpathSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { follow } from "./links.ts";

export async function realTarget(path: string): Promise<string> {
	try {
		return await realpath(path);
	} catch {
		// A link to something that is missing leads there all the same: a tool that writes would create it.
		return asWritten(follow(path).place);
	}
}

/** Returns the path with the letters of what exists of it as the file system has them: some do not tell upper from lower case. */
async function asWritten(path: string): Promise<string> {
	for (let at = dirname(path); at !== dirname(at); at = dirname(at)) {
		const [found] = await Promise.allSettled([realpath(at)]);
		if (found.status === "fulfilled") return join(found.value, relative(at, path));
	}
	return path;
}

/** Of something that exists; else the path itself. */
export function realPathOf(path: string): string {
	try {
		return realpathSync(path);
	} catch {
		return path;
	}
}
