/** Which paths are protected. */
import { join, relative, sep } from "node:path";

/** Whether a path is a directory or below it. */
export function isBelow(directory: string, path: string): boolean {
	return path === directory || path.startsWith(directory.endsWith("/") ? directory : `${directory}/`);
}

/** Folders whose content programs run when a person opens the project; protected where they exist. */
const openedByPrograms = [".vscode", ".idea", ".husky", ".devcontainer", ".claude", ".codex", ".cursor", ".gemini", ".envrc"];
/** Protected even while they do not exist. */
const ownPlaces = [".bowline", ".mcp.json"];
/** In a git directory: what a person's next git would run, or would read its configuration from. */
const runByGit = ["config", "config.worktree", "hooks", "commondir", "gitdir"];

export interface ProtectedPlaces {
	/** Real paths of the directories that may be written to. */
	roots: readonly string[];
	exists: (path: string) => boolean;
	/** Files that the git configuration names, as real paths. */
	named?: readonly string[];
}

/** Whether a real path is one that must not be written without an approval of its own. Names are compared without regard to case. */
export function isProtected(path: string, { roots, exists, named = [] }: ProtectedPlaces): boolean {
	if (named.some((place) => isBelow(place, path))) return true;
	return roots.some((root) => {
		if (!isBelow(root, path) || path === root) return false;
		const parts = relative(root, path).toLowerCase().split(sep);
		const [first = ""] = parts;
		if (ownPlaces.includes(first)) return true;
		if (openedByPrograms.includes(first)) return exists(join(root, relative(root, path).split(sep)[0] as string));
		const git = parts.indexOf(".git");
		return git >= 0 && isRunByGit(parts.slice(git + 1));
	});
}

/** The protected paths that a patch touches, wherever in the tree they are. */
export function protectedPaths(patch: string): string[] {
	const named = [...patch.matchAll(/^(?:\+\+\+|---|rename (?:from|to)|copy to) "?(?:[ab]\/)?([^"\n\t]+)/gm)].map(([, path]) => path as string);
	const headed = [...patch.matchAll(/^diff --git "?a\/(.+?)"? "?b\//gm)].map(([, path]) => path as string);
	const names = [...ownPlaces, ...openedByPrograms, ".git"];
	const isTouched = (path: string) =>
		path
			.toLowerCase()
			.split("/")
			.some((part) => names.includes(part));
	return [...new Set([...named, ...headed])].filter(isTouched);
}

/** `inside`: the path below `.git`. A linked worktree or a submodule has a directory of its own in there. */
function isRunByGit(inside: readonly string[]): boolean {
	const [first] = inside;
	if (first === undefined) return true;
	if (first === "worktrees" || first === "modules") return inside.some((part) => runByGit.includes(part));
	return runByGit.includes(first);
}
