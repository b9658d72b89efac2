/** The files below a directory that a person may mean: nearest first, without what git ignores. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { readRegularSync } from "../lib/bounded-file-sync.ts";
import { type IgnoreRules, ignoreRules } from "../lib/ignore-rules.ts";

/** Enough for a large repository; a walk over a whole disk ends here. */
const mostFiles = 20_000;
const mostDirectories = 5000;
const never = new Set([".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv"]);
const longestRules = 256 * 1024;
/** A list that is older is made again. */
const freshMs = 10_000;

export class Files {
	#known: { cwd: string; at: number; files: Promise<string[]> } | undefined;

	list(cwd: string, now: number): Promise<string[]> {
		if (this.#known?.cwd !== cwd || now - this.#known.at > freshMs) this.#known = { cwd, at: now, files: walk(cwd) };
		return this.#known.files;
	}
}

interface Directory {
	/** Relative, with slashes; empty for the first. */
	path: string;
	/** The rules that apply here, each with the directory of its file. */
	rules: readonly { base: string; rules: IgnoreRules }[];
}

async function walk(cwd: string): Promise<string[]> {
	const files: string[] = [];
	const waiting: Directory[] = [{ path: "", rules: [] }];
	for (let next = 0; next < waiting.length && next < mostDirectories && files.length < mostFiles; next++) {
		const { path, rules } = waiting[next] as Directory;
		const entries = await readdir(join(cwd, path), { withFileTypes: true }).catch(() => []);
		const own = entries.some(({ name }) => name === ".gitignore") ? rulesIn(join(cwd, path)) : undefined;
		const all = own ? [...rules, { base: path, rules: own }] : rules;
		for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
			const inner = path ? `${path}/${entry.name}` : entry.name;
			const isDirectory = entry.isDirectory();
			if (never.has(entry.name) || isIgnored(inner, isDirectory, all)) continue;
			if (isDirectory) waiting.push({ path: inner, rules: all });
			else if (entry.isFile()) files.push(inner);
		}
	}
	return files.slice(0, mostFiles);
}

function rulesIn(directory: string): IgnoreRules | undefined {
	try {
		const rules = ignoreRules(readRegularSync(join(directory, ".gitignore"), longestRules).toString());
		return "problem" in rules ? undefined : rules;
	} catch {
		return undefined; // It cannot be read: then nothing is ignored.
	}
}

/** The rules of the nearest file decide. */
function isIgnored(path: string, isDirectory: boolean, all: Directory["rules"]): boolean {
	for (const { base, rules } of all.toReversed()) {
		const verdict = rules.verdict(base ? path.slice(base.length + 1) : path, isDirectory);
		if (verdict !== undefined) return verdict;
	}
	return false;
}

/** The best matches first: names that begin with the query, names and paths that contain it, then its letters in order. */
export function matchingFiles(files: readonly string[], query: string, most: number): string[] {
	const wanted = query.toLowerCase();
	if (wanted === "") return files.slice(0, most);
	const found = files.flatMap((path, index) => {
		const rank = rankOf(path.toLowerCase(), wanted);
		return rank === undefined ? [] : [{ path, rank, index }];
	});
	return found
		.sort((a, b) => a.rank - b.rank || a.path.length - b.path.length || a.index - b.index)
		.slice(0, most)
		.map(({ path }) => path);
}

function rankOf(path: string, wanted: string): number | undefined {
	const name = path.slice(path.lastIndexOf("/") + 1);
	if (name.startsWith(wanted) || path.startsWith(wanted)) return 0;
	if (name.includes(wanted)) return 1;
	if (path.includes(wanted)) return 2;
	let at = 0;
	for (const letter of wanted) {
		at = path.indexOf(letter, at) + 1;
		if (at === 0) return undefined;
	}
	return 3;
}
