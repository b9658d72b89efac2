/** Paths that rules deny or ask about: commands inside cannot touch them either. Globs are looked up again for each command. */
import { entriesOf, inDirectory } from "./paths.ts";

/** A rule on paths, made ready by the part that knows its language. */
export interface PathRule {
	/** The path, where the pattern names only one. */
	literal?: string;
	/** Whether it is about this path itself. */
	covers(path: string): boolean;
	denies: "reading" | "writing";
}

export interface RuledPaths {
	hidden: readonly string[];
	protected: readonly string[];
}

/** More than this is refused: each one is a mount. */
const mostMatches = 4096;

/** Returns everything that rules are about: single paths anywhere, and what globs match below the roots. */
export function ruledPaths(rules: readonly PathRule[], roots: readonly string[]): RuledPaths {
	const found = { reading: new Set<string>(), writing: new Set<string>() };
	for (const { literal, denies } of rules) if (literal !== undefined) found[denies].add(literal);
	const globs = rules.filter(({ literal }) => literal === undefined);
	if (globs.length > 0) for (const root of roots) walk(root, globs, found);
	return { hidden: [...found.reading], protected: [...found.writing] };
}

function walk(root: string, globs: readonly PathRule[], found: Record<PathRule["denies"], Set<string>>): void {
	const waiting = [root];
	for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
		for (const entry of entriesOf(directory)) {
			const path = inDirectory(directory, entry.name);
			for (const { denies, covers } of globs) if (covers(path)) found[denies].add(path);
			// What cannot be read at all needs no further look.
			if (entry.isDirectory() && !found.reading.has(path)) waiting.push(path);
		}
		if (found.reading.size + found.writing.size > mostMatches)
			throw new Error(`Rules on paths match more than ${mostMatches} files, too many for the sandbox. Deny the folder instead of the files in it.`);
	}
}
