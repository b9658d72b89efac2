/** Rules of ignore files as git reads them, in linear time and with limits: the files are untrusted. */
import { matchesParts, type PathGlob, pathGlob } from "./glob.ts";

const maxBytes = 256 * 1024;
const maxRules = 2000;
const maxRuleLength = 1000;

interface Rule {
	glob: PathGlob;
	isNegated: boolean;
	onlyDirectories: boolean;
	/** `a/**` applies to the contents of the directory, not to the directory. */
	onlyInside: boolean;
}

export interface IgnoreRules {
	/** True: ignored. False: a rule with `!` includes it again. Nothing: no rule matches this path, which is relative and has slashes. */
	verdict(path: string, isDirectory: boolean): boolean | undefined;
	/** Whether the directory or one that contains it is ignored. */
	ignoresDirectory(path: string): boolean;
}

/** The rules of a file's text, or why they are not used. */
export function ignoreRules(text: string): IgnoreRules | { problem: string } {
	if (text.length > maxBytes) return { problem: `it is larger than ${maxBytes / 1024} KB` };
	const rules: Rule[] = [];
	for (const line of text.replace(/^\uFEFF/, "").split(/\r?\n/)) {
		if (line.length > maxRuleLength) return { problem: `it has a rule of more than ${maxRuleLength} characters` };
		const rule = parseRule(line);
		if (rule) rules.push(rule);
		if (rules.length > maxRules) return { problem: `it has more than ${maxRules} rules` };
	}
	const verdictOf = (parts: readonly string[], isDirectory: boolean): boolean | undefined => {
		// The last matching rule decides.
		for (let index = rules.length - 1; index >= 0; index -= 1) {
			const { glob, isNegated, onlyDirectories, onlyInside } = rules[index] as Rule;
			if (onlyDirectories && !isDirectory) continue;
			if (matchesParts(glob, parts) && !(onlyInside && isRootOf(glob, parts))) return !isNegated;
		}
		return undefined;
	};
	return {
		verdict: (path, isDirectory) => verdictOf(path.split("/"), isDirectory),
		ignoresDirectory(path) {
			const parts = path.split("/");
			return parts.some((_, index) => verdictOf(parts.slice(0, index + 1), true) === true);
		},
	};
}

/** Whether the path also matches without the `**` at the end of the rule. */
const isRootOf = ({ parts }: PathGlob, path: readonly string[]) => matchesParts({ parts: parts.slice(0, -1) }, path);

function parseRule(line: string): Rule | undefined {
	let text = withoutTrailingSpaces(line);
	if (text === "" || text.startsWith("#")) return undefined;
	const isNegated = text.startsWith("!");
	if (isNegated) text = text.slice(1);
	const onlyDirectories = text.endsWith("/");
	if (onlyDirectories) text = text.slice(0, -1);
	if (text === "" || text === "/") return undefined;
	// A slash ties the rule to the directory of its file; without one it applies to names at any depth.
	const isAnchored = text.includes("/");
	const glob = pathGlob(isAnchored ? text.replace(/^\//, "") : `**/${text}`);
	return { glob, isNegated, onlyDirectories, onlyInside: isAnchored && glob.parts.at(-1) === "**" && glob.parts.length > 1 };
}

/** Blanks at the end do not count unless a backslash is in front of them. */
function withoutTrailingSpaces(line: string): string {
	let end = line.length;
	while (end > 0 && line[end - 1] === " " && line[end - 2] !== "\\") end -= 1;
	return line.slice(0, end);
}
