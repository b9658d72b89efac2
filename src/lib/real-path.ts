/** Where a path really leads, also when it does not exist yet. */
import { realpathSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { follow } from "./links.ts";

export async function realTarget(path: string): Promise<string> {
	try {
		return await realpath(path);
	} catch {
		// A link to something that is missing leads there all the same: a tool that writes would create it.
		return follow(path).place;
	}
}

/** Of something that exists; else the path itself. */
export function realPathOf(path: string): string {
	try {
		return realpathSync(path);
	} catch {
		return path;
	}
}
