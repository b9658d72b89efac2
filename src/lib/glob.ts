/**
 * Globs in time that is at most the length of the pattern times the length of the path. A regular expression made of a glob can take
 * exponential time, and both the glob and the path may come from an attacker.
 */

/** `*`, `?`, a character, or a class of characters. */
type Token =
	| { kind: "star" }
	| { kind: "any" }
	| { kind: "character"; code: number }
	| { kind: "class"; isNegated: boolean; ranges: [number, number][] };

/** One part of a path between slashes; `**` stands for any number of parts. */
type Part = "**" | readonly Token[];

export interface PathGlob {
	readonly parts: readonly Part[];
}

/** A glob for whole paths. Backslash escapes a character; `**` is special only as a part of its own. */
export function pathGlob(glob: string): PathGlob {
	const parts = glob.split("/").map((part): Part => (part === "**" ? part : tokens(part)));
	// Several in a row mean the same as one.
	return { parts: parts.filter((part, index) => part !== "**" || parts[index - 1] !== "**") };
}

/** Whether the parts of a path match. Backtracks at most to the last `**`, because an earlier one can never help. */
export function matchesParts({ parts }: PathGlob, path: readonly string[]): boolean {
	let part = 0;
	let at = 0;
	let star = -1;
	let resume = 0;
	while (at < path.length) {
		const wanted = parts[part];
		if (wanted === "**") {
			star = part;
			resume = at;
			part += 1;
		} else if (wanted !== undefined && matchesName(wanted, path[at] as string)) {
			part += 1;
			at += 1;
		} else if (star >= 0) {
			resume += 1;
			at = resume;
			part = star + 1;
		} else return false;
	}
	while (parts[part] === "**") part += 1;
	return part === parts.length;
}

/** The same for one name, backtracking to the last `*`. */
function matchesName(wanted: readonly Token[], name: string): boolean {
	let token = 0;
	let at = 0;
	let star = -1;
	let resume = 0;
	while (at < name.length) {
		const next = wanted[token];
		if (next?.kind === "star") {
			star = token;
			resume = at;
			token += 1;
			continue;
		}
		const code = name.codePointAt(at) as number;
		if (next !== undefined && fits(next, code)) {
			token += 1;
			at += code > 0xffff ? 2 : 1;
		} else if (star >= 0) {
			resume += 1;
			at = resume;
			token = star + 1;
		} else return false;
	}
	while (wanted[token]?.kind === "star") token += 1;
	return token === wanted.length;
}

function fits(token: Token, code: number): boolean {
	if (token.kind === "character") return token.code === code;
	if (token.kind !== "class") return token.kind === "any";
	return token.ranges.some(([from, to]) => code >= from && code <= to) !== token.isNegated;
}

function tokens(part: string): Token[] {
	const found: Token[] = [];
	for (let at = 0; at < part.length; ) {
		const character = part.charAt(at);
		if (character === "*") {
			if (found.at(-1)?.kind !== "star") found.push({ kind: "star" });
			at += 1;
			continue;
		}
		const set = character === "[" ? characterClass(part, at) : undefined;
		if (set) {
			found.push(set.token);
			at = set.end;
			continue;
		}
		if (character === "?") found.push({ kind: "any" });
		else {
			if (character === "\\" && at + 1 < part.length) at += 1;
			found.push({ kind: "character", code: part.codePointAt(at) as number });
		}
		at += (part.codePointAt(at) as number) > 0xffff ? 2 : 1;
	}
	return found;
}

const namedRanges: Record<string, [number, number][]> = {
	digit: [[0x30, 0x39]],
	lower: [[0x61, 0x7a]],
	upper: [[0x41, 0x5a]],
	alpha: [
		[0x41, 0x5a],
		[0x61, 0x7a],
	],
	alnum: [
		[0x30, 0x39],
		[0x41, 0x5a],
		[0x61, 0x7a],
	],
	space: [
		[0x09, 0x0d],
		[0x20, 0x20],
	],
	xdigit: [
		[0x30, 0x39],
		[0x41, 0x46],
		[0x61, 0x66],
	],
};

/** Not a class if the closing bracket is missing: then the opening one is an ordinary character. */
function characterClass(part: string, start: number): { token: Token; end: number } | undefined {
	const isNegated = part[start + 1] === "!" || part[start + 1] === "^";
	const first = start + (isNegated ? 2 : 1);
	const ranges: [number, number][] = [];
	for (let at = first; at < part.length; ) {
		if (part[at] === "]" && at > first) return { token: { kind: "class", isNegated, ranges }, end: at + 1 };
		const named = part.startsWith("[:", at) ? /^\[:([a-z]{1,8}):\]/.exec(part.slice(at, at + 12)) : null;
		if (named) {
			ranges.push(...(namedRanges[named[1] as string] ?? []));
			at += named[0].length;
			continue;
		}
		const from = member(part, at);
		const isRange = part[from.end] === "-" && part[from.end + 1] !== "]" && from.end + 1 < part.length;
		const to = isRange ? member(part, from.end + 1) : from;
		ranges.push([from.code, to.code]);
		at = to.end;
	}
	return undefined;
}

function member(part: string, start: number): { code: number; end: number } {
	const at = part[start] === "\\" && start + 1 < part.length ? start + 1 : start;
	const code = part.codePointAt(at) as number;
	return { code, end: at + (code > 0xffff ? 2 : 1) };
}

const maxAlternatives = 256;

/** `a.{ts,js}` as `a.ts` and `a.js`. Nothing for ranges such as `{1..9}` and for an unreasonable number of alternatives. */
export function expandBraces(glob: string): string[] | undefined {
	let done = [""];
	for (let at = 0; at < glob.length; ) {
		const character = glob.charAt(at);
		let choices = [character];
		let end = at + 1;
		if (character === "\\") {
			choices = [glob.slice(at, at + 2)];
			end = at + 2;
		} else if (character === "{") {
			const group = braceGroup(glob, at);
			if (group === "range") return undefined;
			if (group) {
				const inner = group.parts.map(expandBraces);
				if (inner.includes(undefined)) return undefined;
				choices = (inner as string[][]).flat();
				end = group.end;
			}
		}
		if (done.length * choices.length > maxAlternatives) return undefined;
		done = choices.length === 1 ? done.map((text) => text + choices[0]) : done.flatMap((text) => choices.map((choice) => text + choice));
		at = end;
	}
	return done;
}

/** Nothing if the brace has no end or contains no comma: then it is an ordinary character. */
function braceGroup(glob: string, start: number): { parts: string[]; end: number } | "range" | undefined {
	const parts: string[] = [];
	let depth = 0;
	let from = start + 1;
	for (let at = start; at < glob.length; at += 1) {
		const character = glob.charAt(at);
		if (character === "\\") at += 1;
		else if (character === "{") depth += 1;
		else if (character === "," && depth === 1) {
			parts.push(glob.slice(from, at));
			from = at + 1;
		} else if (character === "}") {
			depth -= 1;
			if (depth > 0) continue;
			parts.push(glob.slice(from, at));
			if (parts.length > 1) return { parts, end: at + 1 };
			return glob.slice(from, at).includes("..") ? "range" : undefined;
		}
	}
	return undefined;
}
