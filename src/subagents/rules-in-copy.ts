/** Rules about paths of a project, also for a copy of it: an isolated subagent finds there what they are about. */
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { matchesParts, pathGlob } from "../lib/glob.ts";
import { isWithin } from "../lib/links.ts";
import type { SourcedRule } from "../protocol/permissions.ts";

export interface CopiedProject {
	/** Where the session works, as it is spelled in the session, and as a real path. */
	cwds: readonly string[];
	home: string | undefined;
	/** The top of the repository, in the same spellings. */
	tops: readonly string[];
	/** The top of the copy. */
	copy: string;
}

/**
 * Returns the rules for a subagent that works in the copy. A rule about a path of the project is there twice: for the project, which the subagent may
 * still reach, and for the copy. A relative allow rule holds for the copy alone, where the subagent works.
 */
export function rulesInCopy(rules: readonly SourcedRule[], project: CopiedProject): SourcedRule[] {
	return rules.flatMap((rule) => {
		const { path, action } = rule;
		// A pattern without a slash is a name at any depth, wherever that is.
		if (path === undefined || !path.includes("/")) return [rule];
		const isRelative = !path.startsWith("/") && !path.startsWith("~/");
		if (isRelative && action === "allow") return [rule];
		const absolute = absolutePatterns(path, project);
		const copied = absolute.flatMap((pattern) => project.tops.flatMap((top) => patternsBelow(pattern, top, project.copy, action !== "allow")));
		return [...new Set([...(isRelative ? absolute : [path]), ...copied])].map((each) => ({ ...rule, path: each }));
	});
}

/** Returns paths, and where those of the project are in the copy. One that the copy lacks is left out: the sandbox would make it, and a merge would add it. */
export function pathsInCopy(paths: readonly string[], { tops, copy }: Pick<CopiedProject, "tops" | "copy">): string[] {
	const copied = paths.flatMap((path) => tops.filter((top) => isWithin(path, top)).map((top) => join(copy, relative(top, path))));
	return [...new Set([...paths, ...copied.filter((path) => existsSync(path))])];
}

function absolutePatterns(path: string, { cwds, home }: CopiedProject): string[] {
	if (path.startsWith("/")) return [path];
	if (path.startsWith("~/")) return home === undefined ? [] : [`${literal(home)}/${path.slice(2)}`];
	return cwds.map((cwd) => `${literal(cwd)}/${path.replace(/^\.\//, "")}`);
}

/** What a pattern says about paths below a directory, said about another directory. `isAbove`: a pattern of a directory also says it of all in it. */
function patternsBelow(pattern: string, from: string, to: string, isAbove: boolean): string[] {
	const parts = pattern.replace(/\/+$/, "").split("/").slice(1);
	return remainders(parts, from.split("/").slice(1), isAbove).map((rest) => [literal(to), ...rest].join("/"));
}

function remainders(parts: readonly string[], directories: readonly string[], isAbove: boolean): string[][] {
	const [next, ...deeper] = directories;
	if (next === undefined) return [[...parts]];
	const [part, ...others] = parts;
	if (part === undefined) return isAbove ? [[]] : [];
	if (part === "**") return [...remainders(others, directories, isAbove), ...remainders(parts, deeper, isAbove)];
	return matchesParts(pathGlob(part), [next]) ? remainders(others, deeper, isAbove) : [];
}

/** A path as a pattern that stands for it alone. */
const literal = (path: string) => path.replace(/[\\*?[\]{}]/g, "\\$&");
