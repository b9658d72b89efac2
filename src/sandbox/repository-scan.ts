/** Finds the repositories inside a directory, again for each command. */
import { entriesOf, inDirectory } from "./paths.ts";

const deepest = 4;
/** More directories than this are not looked at: a command must not wait for a tree of a million of them. */
const mostDirectories = 5000;

/** Returns the directories at or below `root` that have an entry `.git`, at most four folders deep, outside node_modules. */
export function repositoriesIn(root: string): string[] {
	const found: string[] = [];
	let level = [root];
	let count = 0;
	for (let depth = 0; depth <= deepest && level.length > 0; depth += 1) {
		const next: string[] = [];
		for (const directory of level) {
			count += 1;
			if (count > mostDirectories) return found;
			for (const entry of entriesOf(directory)) {
				if (entry.name === ".git") found.push(directory);
				else if (entry.isDirectory() && entry.name !== "node_modules") next.push(inDirectory(directory, entry.name));
			}
		}
		level = next;
	}
	return found;
}
