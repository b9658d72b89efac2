/** The paths that a merge of isolated work changes, judged like writes of the session that merges. */
import { relative } from "node:path";
import { ruleInWords } from "../lib/rule-words.ts";
import { factsOf, fileToolsOf } from "../lib/tool-facts.ts";
import type { SourcedRule } from "../protocol/permissions.ts";
import type { RuleBook } from "./decide.ts";
import { isProtected } from "./path-patterns.ts";
import { catches, rulesAbout } from "./rules.ts";

/** A path that a merge changes, with the spellings under which rules may name it. */
export interface MergedPath {
	target: string;
	written: readonly string[];
}

export interface MergeVerdict {
	/** The tool by whose rules it is judged; a merge that only changes protected files is judged as the task tool. */
	tool: string;
	kind: "write" | "protected";
	/** Those that a rule or the protection is about. */
	paths: readonly MergedPath[];
	/** Why it is not merged, if nobody allows it. */
	refusal: string;
}

interface Judge {
	cwd: string;
	book: RuleBook;
	/** Files that the configuration of git names, as real paths. */
	named: readonly string[];
}

/** Returns undefined if the paths may be changed without a question. */
export function judgeMerge(paths: readonly MergedPath[], { cwd, book, named }: Judge): MergeVerdict | undefined {
	const closed = paths.filter(({ target }) => isProtectedAnywhere(target, cwd, named));
	for (const action of ["deny", "ask"] as const) {
		for (const tool of fileToolsOf("write")) {
			const found = paths.flatMap((path) => {
				const rule = ruleAbout(book[action], tool, path, cwd);
				return rule ? [{ path, rule }] : [];
			});
			const [first] = found;
			if (!first) continue;
			const caught = found.map(({ path }) => path);
			const refusal = refusalOf(action, first.rule, caught, cwd);
			if (action === "deny") return { tool, kind: "write", paths: caught, refusal };
			const all = [...caught, ...closed.filter((path) => !caught.includes(path))];
			return { tool, kind: closed.length > 0 ? "protected" : "write", paths: all, refusal };
		}
	}
	if (closed.length === 0) return undefined;
	const refusal = `it changes ${namesOf(closed, cwd)}, which programs run or read on their own, and that was not approved`;
	return { tool: "task", kind: "protected", paths: closed, refusal };
}

function ruleAbout(rules: RuleBook["deny"], tool: string, { target, written }: MergedPath, cwd: string): SourcedRule | undefined {
	const subject = { v: 1 as const, kind: "write" as const, tool, args: {}, cwd, targets: [target], sandbox: "off" as const };
	const call = { subject, writtenPaths: written, isBlind: factsOf(tool)?.replaces };
	return rulesAbout(rules, call).find((rule) => catches(rule, call))?.rule;
}

/** Names count below what the path shares with the session's directory: that one may itself be in a folder of such a name. */
function isProtectedAnywhere(path: string, cwd: string, named: readonly string[]): boolean {
	const parts = path.split("/");
	const own = cwd.split("/");
	const shared = parts.findIndex((part, index) => part !== own[index]);
	return isProtected(path, { roots: [parts.slice(0, Math.max(0, shared)).join("/") || "/"], named });
}

function refusalOf(action: "deny" | "ask", rule: SourcedRule, paths: readonly MergedPath[], cwd: string): string {
	const because = rule.because === undefined ? "" : ` (${rule.because.replace(/\.\s*$/, "")})`;
	const text = `the rule "${ruleInWords(rule)}"${because}`;
	return action === "deny"
		? `${text} denies changes of ${namesOf(paths, cwd)}`
		: `${text} asks about ${namesOf(paths, cwd)}, and that was not approved`;
}

const mostNames = 5;

function namesOf(paths: readonly MergedPath[], cwd: string): string {
	const names = paths.slice(0, mostNames).map(({ target }) => {
		const inside = relative(cwd, target);
		return inside.startsWith("..") ? target : inside;
	});
	return paths.length > names.length ? `${names.join(", ")} and ${paths.length - names.length} more` : names.join(", ");
}
