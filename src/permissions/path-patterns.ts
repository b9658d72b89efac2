/** Globs of rules, matched against real paths. */
import { isAbsolute, join, relative, sep } from "node:path";
import { matchesParts, pathGlob } from "../lib/glob.ts";

export interface PathPattern {
	/** Covers exactly this path. */
	covers(path: string): boolean;
	/** Is about this path or a directory above it. */
	catches(path: string): boolean;
}

export interface Places {
	/** The working directory, as a real path. */
	cwd: string;
	home: string | undefined;
}

export function pathPattern(pattern: string, { cwd, home }: Places): PathPattern {
	const text = pattern.replace(/^\.\//, "");
	if (!text.includes("/") && text === pattern) return namePattern(text);
	const isHome = pattern === "~" || pattern.startsWith("~/");
	if (isHome && home === undefined) return { covers: () => false, catches: () => false };
	const base = isHome ? (home as string) : isAbsolute(pattern) ? "/" : cwd;
	const glob = pathGlob((isHome ? pattern.slice(2) : isAbsolute(pattern) ? pattern.slice(1) : text).replace(/\/+$/, ""));
	const parts = (path: string) => {
		const inside = relative(base, path);
		return inside === "" || inside === ".." || inside.startsWith(`..${sep}`) ? undefined : inside.split(sep);
	};
	const mayFit = containing(text);
	return {
		covers(path) {
			const given = mayFit(path) ? parts(path) : undefined;
			return given !== undefined && matchesParts(glob, given);
		},
		catches(path) {
			const given = mayFit(path) ? parts(path) : undefined;
			return given?.some((_, index) => matchesParts(glob, given.slice(0, index + 1))) ?? false;
		},
	};
}

/** Whether no character of a pattern has a meaning of its own. */
export const isLiteralGlob = (pattern: string) => !/[\\*?[\]{}]/.test(pattern);

/** A pattern without a slash is a name at any depth. */
function namePattern(text: string): PathPattern {
	const glob = pathGlob(text);
	const mayFit = containing(text);
	const fits = (name: string) => matchesParts(glob, [name]);
	return {
		covers: (path) => mayFit(path) && fits(path.slice(path.lastIndexOf("/") + 1)),
		catches: (path) => mayFit(path) && path.split("/").some((name) => name !== "" && fits(name)),
	};
}

/** Whether a path contains the longest literal name of a pattern. Most paths do not, and this is quicker than to compare them part by part. */
function containing(pattern: string): (path: string) => boolean {
	if (/[\\[\]{}]/.test(pattern)) return () => true;
	const names = pattern.split(/[/*?~]+/);
	const longest = names.reduce((best, name) => (name.length > best.length ? name : best), "");
	return (path) => path.includes(longest);
}

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
