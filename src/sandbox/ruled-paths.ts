/** Paths that rules deny or ask about: commands inside cannot touch them either. Globs are looked up again for each command. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { ByDirectory } from "./listings.ts";

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

export class RuledPathScan {
	readonly #rules: readonly PathRule[];
	readonly #listings = new ByDirectory(read);

	constructor(rules: readonly PathRule[]) {
		this.#rules = rules;
	}

	/** Everything that rules are about: single paths anywhere, and what globs match below the roots. */
	find(roots: readonly string[]): RuledPaths {
		const found = { reading: new Set<string>(), writing: new Set<string>() };
		for (const { literal, denies } of this.#rules) if (literal !== undefined) found[denies].add(literal);
		const globs = this.#rules.filter(({ literal }) => literal === undefined);
		if (globs.length > 0) for (const root of roots) this.#walk(root, globs, found);
		return { hidden: [...found.reading], protected: [...found.writing] };
	}

	#walk(root: string, globs: readonly PathRule[], found: Record<PathRule["denies"], Set<string>>): void {
		const waiting = [root];
		for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
			const { directories, others } = this.#listings.get(directory) ?? { directories: [], others: [] };
			for (const path of [...directories, ...others]) {
				for (const { denies, covers } of globs) if (covers(path)) found[denies].add(path);
			}
			if (found.reading.size + found.writing.size > mostMatches)
				throw new Error(`Rules on paths match more than ${mostMatches} files, too many for the sandbox. Deny the folder instead of the files in it.`);
			// What cannot be read at all needs no further look.
			waiting.push(...directories.filter((path) => !found.reading.has(path)));
		}
	}
}

function read(directory: string): { directories: string[]; others: string[] } {
	try {
		const entries = readdirSync(directory, { withFileTypes: true });
		const of = (isDirectory: boolean) => entries.filter((entry) => entry.isDirectory() === isDirectory).map(({ name }) => join(directory, name));
		return { directories: of(true), others: of(false) };
	} catch {
		return { directories: [], others: [] };
	}
}
