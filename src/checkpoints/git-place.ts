/** Finds the git directory of a working tree without running git: a command may have written whatever it is about to lead to. */
import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync, type Stats } from "node:fs";
import { join, resolve } from "node:path";
import { toText } from "../snapshots/paths.ts";

export interface GitPlace {
	top: string;
	/** Where this working tree keeps its HEAD and its index. */
	gitDir: string;
	/** Where its branches and commits are. */
	commonDir: string;
	/** The text of `.git` where that is a file. */
	pointer?: string;
}

/** Returns undefined if there is no repository, and the reason if one cannot be trusted and is left alone. */
export function gitPlaceAt(top: string, isWithin: (path: string) => boolean): GitPlace | { problem: string } | undefined {
	const entry = join(top, ".git");
	const stats = lstatSync(entry, { throwIfNoEntry: false });
	if (!stats) return undefined;
	if (stats.isSymbolicLink()) return { problem: `${entry} is a link` };
	const pointer = stats.isFile() && stats.size < 65_536 ? readFileSync(entry, "latin1") : undefined;
	const target = pointer === undefined ? entry : targetOf(top, pointer);
	const gitDir = target === undefined ? undefined : realPathOf(target);
	if (gitDir === undefined) return undefined;
	const common = textOf(join(gitDir, "commondir"))?.trimEnd();
	const commonDir = common === undefined ? gitDir : realPathOf(resolve(gitDir, toText(common)));
	if (commonDir === undefined || !isGitDirectory(gitDir, commonDir)) return undefined;
	if (![gitDir, commonDir].every(isWithin) && !pointsBack(gitDir, top))
		return { problem: `${entry} leads to ${gitDir}, which says nothing of ${top}` };
	return { top, gitDir, commonDir, ...(pointer === undefined ? {} : { pointer }) };
}

const isGitDirectory = (gitDir: string, commonDir: string) =>
	existsSync(join(gitDir, "HEAD")) && ["objects", "refs"].every((name) => existsSync(join(commonDir, name)));

/** Whether a git directory elsewhere belongs to the working tree: anybody can write a file that leads to it. */
function pointsBack(gitDir: string, top: string): boolean {
	const worktree = textOf(join(gitDir, "gitdir"))?.trimEnd();
	if (worktree !== undefined) return realPathOf(resolve(gitDir, toText(worktree))) === join(top, ".git");
	const submodule = /^\s*worktree\s*=\s*"?(.*?)"?\s*$/im.exec(textOf(join(gitDir, "config")) ?? "")?.[1];
	return submodule !== undefined && realPathOf(resolve(gitDir, toText(submodule))) === top;
}

/** Returns the first link among the files that git writes through. */
export function linkIn({ gitDir, commonDir }: GitPlace): string | undefined {
	return firstLink(gitDir) ?? (commonDir === gitDir ? undefined : firstLink(commonDir));
}

function firstLink(directory: string): string | undefined {
	for (const name of ["HEAD", "index", "packed-refs", "config", "shallow", "info", "objects", "objects/info", "objects/pack"]) {
		if (lstatSync(join(directory, name), { throwIfNoEntry: false })?.isSymbolicLink()) return join(directory, name);
	}
	for (const { path, stats } of [...filesBelow(directory, "refs"), ...filesBelow(directory, "logs")]) if (stats.isSymbolicLink()) return path;
	return undefined;
}

export interface Found {
	path: string;
	stats: Stats;
}

/** Everything but folders. */
export function filesBelow(directory: string, name: string): Found[] {
	const found: Found[] = [];
	const search = (path: string) => {
		const stats = lstatSync(path, { throwIfNoEntry: false });
		if (!stats?.isDirectory()) return void (stats && found.push({ path, stats }));
		for (const each of readdirSync(path).sort()) search(join(path, each));
	};
	search(join(directory, name));
	return found;
}

function realPathOf(path: string): string | undefined {
	try {
		return realpathSync(path);
	} catch {
		return undefined;
	}
}

/** Returns one character per byte, and undefined where there is no such file. */
export function textOf(path: string): string | undefined {
	return lstatSync(path, { throwIfNoEntry: false })?.isFile() ? readFileSync(path, "latin1") : undefined;
}

/** Returns where the text of a `.git` file leads. */
export function targetOf(top: string, pointer: string): string | undefined {
	const target = /^gitdir: (.*?)\n*$/s.exec(pointer)?.[1];
	return target === undefined ? undefined : resolve(top, toText(target));
}
