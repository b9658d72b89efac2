/** Goes through a directory tree as ripgrep does, for machines that have none. */
import { readdir, readFile, stat } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import type { Ignore } from "ignore";

/** In order of weight: a verdict of an earlier kind beats all later ones. */
const ignoreFiles = [".rgignore", ".ignore", ".gitignore", join(".git", "info", "exclude")] as const;

const maxRulesBytes = 1024 * 1024;

/** The ignore files of one directory. */
interface Level {
	directory: string;
	rules: Partial<Record<(typeof ignoreFiles)[number], Ignore>>;
	/** Git's rules of the directories above end here. */
	isRepository: boolean;
}

/** Paths of files below `root`, relative to it, in order of names. Hidden files too; nothing ignored, no links, not git's own files. */
export async function* walk(root: string, signal: AbortSignal): AsyncGenerator<string> {
	const { default: ignore } = await import("ignore");
	const above: Level[] = [];
	for (let directory = dirname(root); ; directory = dirname(directory)) {
		const level = await readLevel(directory, ignore);
		// A directory that was asked for by name is not ignored, and then its content is not either.
		if (!Object.values(level.rules).some((rules) => rules?.ignores(`${toSlashes(relative(directory, root))}/`))) above.unshift(level);
		if (directory === dirname(directory)) break;
	}
	yield* descend(root, above);

	async function* descend(directory: string, levels: Level[]): AsyncGenerator<string> {
		if (signal.aborted) throw new Error("Operation aborted");
		const [listing] = await Promise.allSettled([readdir(directory, { withFileTypes: true })]);
		// A directory we may not enter is no reason to withhold the rest.
		if (listing.status === "rejected") return;
		const here = [...levels, await readLevel(directory, ignore)];
		for (const entry of listing.value.sort((a, b) => (a.name < b.name ? -1 : 1))) {
			const path = join(directory, entry.name);
			if (entry.name === ".git" || isIgnored(here, path, entry.isDirectory())) continue;
			if (entry.isDirectory()) yield* descend(path, here);
			else if (entry.isFile()) yield toSlashes(relative(root, path));
		}
	}
}

function isIgnored(levels: readonly Level[], path: string, isDirectory: boolean): boolean {
	for (const kind of ignoreFiles) {
		for (const level of levels.toReversed()) {
			const verdict = level.rules[kind]?.test(toSlashes(relative(level.directory, path)) + (isDirectory ? "/" : ""));
			if (verdict?.ignored) return true;
			if (verdict?.unignored) return false;
			if (level.isRepository && kind.startsWith(".git")) break;
		}
	}
	return false;
}

async function readLevel(directory: string, ignore: () => Ignore): Promise<Level> {
	const level: Level = { directory, rules: {}, isRepository: false };
	const [listing] = await Promise.allSettled([readdir(directory)]);
	const names = new Set(listing.status === "fulfilled" ? listing.value : []);
	level.isRepository = names.has(".git");
	for (const kind of ignoreFiles) {
		if (!names.has(kind.split(/[\\/]/, 1)[0] as string)) continue;
		const [content] = await Promise.allSettled([rulesIn(join(directory, kind))]);
		if (content.status === "fulfilled") level.rules[kind] = ignore().add(content.value);
	}
	return level;
}

/** A pipe or a device may never end, and no list of rules is that long. */
async function rulesIn(path: string): Promise<string> {
	const facts = await stat(path);
	return facts.isFile() && facts.size <= maxRulesBytes ? readFile(path, "utf8") : "";
}

const toSlashes = (path: string) => (sep === "/" ? path : path.replaceAll(sep, "/"));
