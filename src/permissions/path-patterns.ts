/** Which paths are protected. */
import { relative, sep } from "node:path";
import { foldedName, isOpenedByPrograms } from "../lib/protected-names.ts";

/** Whether a path is a directory or below it. */
export function isBelow(directory: string, path: string): boolean {
	return path === directory || path.startsWith(directory.endsWith("/") ? directory : `${directory}/`);
}

/** In a git directory: what a person's next git would run, or would read its configuration from. */
const runByGit = ["config", "config.worktree", "hooks", "commondir", "gitdir"];

export interface ProtectedPlaces {
	/** Real paths of the directories that may be written to. */
	roots: readonly string[];
	/** Files that the git configuration names, as real paths. */
	named?: readonly string[];
}

/**
 * Whether a real path is one that must not be written without an approval of its own: at any depth, and also while it does not exist, since
 * a program that finds it later runs it all the same.
 */
export function isProtected(path: string, { roots, named = [] }: ProtectedPlaces): boolean {
	if (named.some((place) => isBelow(place, path))) return true;
	return roots.some((root) => {
		if (!isBelow(root, path) || path === root) return false;
		const parts = relative(root, path).split(sep);
		return parts.some(isOpenedByPrograms) || parts.some((part, at) => isGit(part) && isRunByGit(parts.slice(at + 1).map(foldedName)));
	});
}

const isGit = (name: string) => foldedName(name) === ".git";

/** `inside`: the path below `.git`. A linked worktree or a submodule has a directory of its own in there. */
function isRunByGit(inside: readonly string[]): boolean {
	const [first] = inside;
	if (first === undefined) return true;
	if (first === "worktrees" || first === "modules") return inside.some((part) => runByGit.includes(part));
	return runByGit.includes(first);
}
