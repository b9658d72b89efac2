/** Finds the repositories inside a directory, and what programs run on their own there, again for each command. */
import { isOpenedByPrograms } from "../lib/protected-names.ts";
import { entriesOf, inDirectory } from "./paths.ts";

const deepest = 4;
/** More directories than this are not looked at: a command must not wait for a tree of a million of them. */
const mostDirectories = 5000;

export interface Scan {
	/** Directories that have an entry `.git`. */
	repositories: string[];
	/** Directories that git takes for a repository by what is in them. */
	bare: string[];
	/** Files and folders that editors and agents run or read on their own. */
	opened: string[];
	/** There were no more directories than are looked at. */
	isWhole: boolean;
}

/** Looks at most four folders deep, outside node_modules. */
export function scan(roots: readonly string[]): Scan {
	const found: Scan = { repositories: [], bare: [], opened: [], isWhole: true };
	for (const root of roots) scanRoot(root, found);
	return found;
}

function scanRoot(root: string, found: Scan): void {
	let level = [root];
	let count = 0;
	for (let depth = 0; depth <= deepest && level.length > 0; depth += 1) {
		const next: string[] = [];
		for (const directory of level) {
			count += 1;
			if (count > mostDirectories) {
				found.isWhole = false;
				return;
			}
			const entries = entriesOf(directory);
			if (isBare(entries)) found.bare.push(directory);
			for (const entry of entries) {
				const { name } = entry;
				if (name === ".git") found.repositories.push(directory);
				else if (mayBeOne.test(name) && isOpenedByPrograms(name)) found.opened.push(inDirectory(directory, name));
				else if (entry.isDirectory() && name !== "node_modules") next.push(inDirectory(directory, name));
			}
		}
		level = next;
	}
}

/** Most names are none, and to fold a name takes longer than to read it. */
const mayBeOne = /^\.|[^\x20-\x7e]/;

/** As git tells one: with a common directory, objects and references are there. */
function isBare(entries: readonly { name: string }[]): boolean {
	const has = (wanted: string) => entries.some(({ name }) => name === wanted);
	return has("HEAD") && ((has("objects") && has("refs")) || has("commondir"));
}
