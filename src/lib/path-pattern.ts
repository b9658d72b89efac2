/** Globs of rules, compared with real paths. */
import { realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, sep } from "node:path";
import { matchesParts, pathGlob } from "./glob.ts";

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
	/** The file system takes `.ENV` for `.env`. Rules that restrict compare as it does. */
	ignoresCase?: boolean;
}

/** Paths that rules close to a tool, as data: a search in a thread or a process of its own compares with them, too. */
export interface ClosedPaths {
	/** Of rules. */
	patterns: readonly string[];
	/** Closed without a rule; nothing says so. */
	own: readonly string[];
	places: Places;
}

export function pathPattern(pattern: string, places: Places): PathPattern {
	const exact = compile(pattern, places);
	return { covers: exact.covers, catches: places.ignoresCase ? withoutCase(pattern, places) : exact.catches };
}

function withoutCase(pattern: string, { cwd, home }: Places): PathPattern["catches"] {
	const { catches } = compile(withoutCapitals(pattern), { cwd: withoutCapitals(cwd), home: home === undefined ? undefined : withoutCapitals(home) });
	return (path) => catches(withoutCapitals(path));
}

/** Accents that are composed differently are the same name to such a file system, too. */
const withoutCapitals = (text: string) => text.normalize("NFC").toLowerCase();

function compile(pattern: string, { cwd, home }: Places): PathPattern {
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

/** Returns whether a pattern has no special characters. */
export const isLiteralGlob = (pattern: string) => !/[\\*?[\]{}]/.test(pattern);

/** Escapes the special characters of a path. */
export const literalGlob = (path: string) => path.replace(/[\\*?[\]{}]/g, "\\$&");

/**
 * Returns the pattern, and where it begins with directories that are links or are written with `..` or doubled slashes, the same with
 * their real path: paths of calls are real ones. For rules that restrict.
 */
export function realSpellings(pattern: string, { cwd, home }: Places): string[] {
	if (!pattern.includes("/") && pattern !== "~") return [pattern];
	const isHome = pattern === "~" || pattern.startsWith("~/");
	if (isHome && home === undefined) return [pattern];
	const written = isHome ? pattern.slice(2) : pattern;
	const parts = written.split("/").filter((part) => part !== "" && part !== ".");
	const star = parts.findIndex((part) => !isLiteralGlob(part));
	const literal = star < 0 ? parts : parts.slice(0, star);
	const prefix = join(isHome ? (home as string) : isAbsolute(pattern) ? "/" : cwd, ...literal);
	const real = realWhereItExists(prefix);
	const isPlain = !/(^|\/)\.\.?(\/|$)|\/\//.test(written.replace(/^\.\//, ""));
	if (real === prefix && isPlain) return [pattern];
	return [pattern, [real === "/" ? "" : literalGlob(real), ...parts.slice(literal.length)].join("/") || "/"];
}

function realWhereItExists(path: string): string {
	try {
		return realpathSync(path);
	} catch {
		const parent = dirname(path);
		return parent === path ? path : join(realWhereItExists(parent), basename(path));
	}
}

/** Returns whether a path is closed. */
export function closedTest({ patterns, own, places }: ClosedPaths): (path: string) => boolean {
	const compiled = [...patterns, ...own].map((pattern) => pathPattern(pattern, places));
	return (path) => compiled.some(({ catches }) => catches(path));
}

/** A pattern without a slash is a name at any depth. */
function namePattern(text: string): PathPattern {
	const glob = pathGlob(text);
	const mayFit = containing(text);
	const fits = (name: string) => matchesParts(glob, [name]);
	return {
		covers: (path) => mayFit(path) && fits(path.slice(path.lastIndexOf(sep) + 1)),
		catches: (path) => mayFit(path) && path.split(sep).some((name) => name !== "" && fits(name)),
	};
}

/** Returns whether a path contains the longest literal name of a pattern. Most paths do not, so this saves comparing them part by part. */
function containing(pattern: string): (path: string) => boolean {
	if (/[\\[\]{}]/.test(pattern)) return () => true;
	const names = pattern.split(/[/*?~]+/);
	const longest = names.reduce((best, name) => (name.length > best.length ? name : best), "");
	return (path) => path.includes(longest);
}
