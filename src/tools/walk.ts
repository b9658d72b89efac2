/** Goes through a directory tree as ripgrep does, for machines that do not have it. */
import { readdir } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { readRegular, UnsuitableFile } from "../lib/bounded-file.ts";
import { type IgnoreRules, ignoreRules } from "../lib/ignore-rules.ts";

/** In order of weight: a verdict of an earlier kind beats all later ones. */
const ignoreFiles = [".rgignore", ".ignore", ".gitignore", join(".git", "info", "exclude")] as const;

const maxRulesBytes = 256 * 1024;
const maxDepth = 256;
const maxNotes = 10;

/** The ignore files of one directory. */
interface Level {
	directory: string;
	rules: Partial<Record<(typeof ignoreFiles)[number], IgnoreRules>>;
	/** Git's rules of the directories above end here. */
	isRepository: boolean;
}

/**
 * Paths of files below `root`, relative to it, in order of names. Hidden files too; nothing ignored, no links, not git's own files. What
 * is skipped because of a limit is added to `notes`. `isClosed`: whether a rule closes a path below `root`.
 */
export async function* walk(root: string, notes: string[], isClosed: (path: string) => boolean): AsyncGenerator<string> {
	const above: Level[] = [];
	const note = (text: string, about: string) => {
		if (isClosed(toSlashes(relative(root, about)))) return;
		if (notes.length < maxNotes) notes.push(text);
	};
	for (let directory = dirname(root); ; directory = dirname(directory)) {
		const level = await readLevel(directory, note);
		// A directory that was asked for by name is not ignored, and neither is its content.
		if (!Object.values(level.rules).some((rules) => rules?.ignoresDirectory(toSlashes(relative(directory, root))))) above.unshift(level);
		if (directory === dirname(directory)) break;
	}
	yield* descend(root, above, 0);

	async function* descend(directory: string, levels: Level[], depth: number): AsyncGenerator<string> {
		if (depth > maxDepth) return note(`${relative(root, directory)} was not searched: it is more than ${maxDepth} directories down`, directory);
		const [listing] = await Promise.allSettled([readdir(directory, { withFileTypes: true })]);
		// The other directories are searched all the same.
		if (listing.status === "rejected") return;
		const here = [...levels, await readLevel(directory, note)];
		for (const entry of listing.value.sort((a, b) => (a.name < b.name ? -1 : 1))) {
			const path = join(directory, entry.name);
			if (entry.name === ".git" || isIgnored(here, path, entry.isDirectory())) continue;
			if (entry.isDirectory()) yield* descend(path, here, depth + 1);
			else if (entry.isFile() && !isClosed(toSlashes(relative(root, path)))) yield toSlashes(relative(root, path));
		}
	}
}

function isIgnored(levels: readonly Level[], path: string, isDirectory: boolean): boolean {
	for (const kind of ignoreFiles) {
		for (let index = levels.length - 1; index >= 0; index -= 1) {
			const { rules, directory, isRepository } = levels[index] as Level;
			const verdict = rules[kind]?.verdict(toSlashes(relative(directory, path)), isDirectory);
			if (verdict !== undefined) return verdict;
			if (isRepository && kind.startsWith(".git")) break;
		}
	}
	return false;
}

async function readLevel(directory: string, note: (text: string, about: string) => void): Promise<Level> {
	const level: Level = { directory, rules: {}, isRepository: false };
	const [listing] = await Promise.allSettled([readdir(directory)]);
	const names = new Set(listing.status === "fulfilled" ? listing.value : []);
	level.isRepository = names.has(".git");
	for (const kind of ignoreFiles) {
		if (!names.has(kind.split(/[\\/]/, 1)[0] as string)) continue;
		const path = join(directory, kind);
		const [content] = await Promise.allSettled([readRegular(path, maxRulesBytes)]);
		if (content.status === "rejected") {
			// A file that is missing or cannot be read has no rules.
			if (content.reason instanceof UnsuitableFile) note(`${path} was not used: ${content.reason.message}`, path);
			continue;
		}
		const rules = ignoreRules(content.value.toString());
		if ("problem" in rules) note(`${path} was not used: ${rules.problem}`, path);
		else level.rules[kind] = rules;
	}
	return level;
}

const toSlashes = (path: string) => (sep === "/" ? path : path.replaceAll(sep, "/"));
