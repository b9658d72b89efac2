/** Reads from the head of a rule file when the rule applies. */

import { TimeLimit } from "../../lib/in-time.ts";
import { fileToolsOf } from "../../lib/tool-facts.ts";
import { anyOf, type PathTest } from "./globs.ts";
import { type Pattern, patternLimitMs, patternOf } from "./pattern.ts";

/** The part of a rule that hosts and the model see. */
export interface Rule {
	name: string;
	path: string;
	/** The text that the model gets. */
	content: string;
}

/** A rule file as it was read, with its head unchecked. */
export interface RuleSource extends Rule {
	attributes: Record<string, unknown>;
}

export const interruptModes = ["always", "prose-only", "tool-only", "never"] as const;
export type InterruptMode = (typeof interruptModes)[number];

export type SourceKind = "text" | "thinking" | "tool";

/** A place where a condition is looked for. */
export interface Reach {
	kind: SourceKind;
	/** Only calls of this tool. */
	tool?: string;
	/** Only calls that name a file which matches all of these. */
	paths: readonly PathTest[];
}

export interface Trigger {
	/** Undefined means: as soon as the place is reached. */
	pattern: Pattern | undefined;
	reaches: readonly Reach[];
}

export interface StreamRule {
	rule: Rule;
	triggers: readonly Trigger[];
	interruptMode: InterruptMode | undefined;
}

const defaultReaches: readonly Reach[] = [
	{ kind: "text", paths: [] },
	{ kind: "tool", paths: [] },
];

/** The rules that watch a reply; other rule files are omitted. */
export function readRules(files: readonly RuleSource[], warn: (text: string) => void): StreamRule[] {
	const limit = new TimeLimit(patternLimitMs);
	return files.flatMap((file) => {
		const warnOfRule = (text: string) => warn(`Rule ${file.path}: ${text}`);
		try {
			return readRule(file, warnOfRule, (globs) => anyOf(globs, limit, warnOfRule));
		} catch (error) {
			// For example, globs that are too long to be parsed as globs.
			warn(`Rule ${file.path} is not used: ${(error as Error).message}`);
			return [];
		}
	});
}

type TestOf = (globs: readonly string[]) => PathTest;

function readRule({ name, path, content, attributes }: RuleSource, warn: (text: string) => void, testOf: TestOf): StreamRule[] {
	const conditions = texts(attributes.condition ?? attributes.ttsr_trigger ?? attributes.ttsrTrigger);
	if (conditions.length === 0) return [];
	const globs = texts(attributes.globs).flatMap((text) => splitList(text));
	const scopes = texts(attributes.scope).flatMap((text) => splitList(text));
	const limit = globs.length === 0 ? [] : [testOf(globs)];
	const given = scopes.length === 0 ? defaultReaches : scopes.flatMap((token) => reachOf(token, warn, testOf));
	// A reply's text is not about a file, so a rule with globs applies to calls only.
	const reaches = limited(given, limit);
	const triggers = conditions.flatMap((condition): Trigger[] => {
		if (looksLikeGlob(condition)) {
			const written = fileToolsOf("write").map((tool): Reach => ({ kind: "tool", tool, paths: [testOf([condition])] }));
			return [{ pattern: undefined, reaches: limited(written, limit) }];
		}
		const pattern = patternOf(condition);
		if ("problem" in pattern) warn(`the condition ${JSON.stringify(condition)} is not used: ${pattern.problem}`);
		return "problem" in pattern || reaches.length === 0 ? [] : [{ pattern, reaches }];
	});
	if (reaches.length === 0) warn("its scope reaches nothing.");
	if (triggers.length === 0) return [];
	return [{ rule: { name, path, content }, triggers, interruptMode: modeOf(attributes.interruptMode, warn) }];
}

function limited(reaches: readonly Reach[], limit: readonly PathTest[]): Reach[] {
	return reaches.filter(({ kind }) => limit.length === 0 || kind === "tool").map((reach) => ({ ...reach, paths: [...reach.paths, ...limit] }));
}

function modeOf(value: unknown, warn: (text: string) => void): InterruptMode | undefined {
	const mode = interruptModes.find((each) => each === value);
	if (value !== undefined && !mode) warn(`interruptMode must be ${interruptModes.join(", ")}; the value is ignored.`);
	return mode;
}

/** `text`, `thinking`, `tool`, `tool:name`, `tool:name(glob)`, `name(glob)`, `name`. */
function reachOf(token: string, warn: (text: string) => void, testOf: TestOf): Reach[] {
	if (token === "text" || token === "thinking") return [{ kind: token, paths: [] }];
	const found = /^(?:(?:tool|toolcall)(?::([\w.-]+))?|([\w.-]+))(?:\((.+)\))?$/.exec(token);
	if (!found) {
		warn(`the scope ${JSON.stringify(token)} is not understood.`);
		return [];
	}
	const [, named, bare, glob] = found;
	const tool = named ?? bare;
	return [{ kind: "tool", ...(tool ? { tool } : {}), paths: glob ? [testOf(splitList(glob))] : [] }];
}

/** `*.rs` and `src/**\/*.ts` are globs, not meant as regular expressions. */
function looksLikeGlob(condition: string): boolean {
	return !/[\\^$|+()]/.test(condition) && /(^|\/|\{|,)\*\*?(\/|\.[\w{[])/.test(condition);
}

const closing: Record<string, string> = { "(": ")", "{": "}", "[": "]" };

/** Splits at commas that are not inside brackets. An unclosed bracket is an ordinary character. */
function splitList(text: string): string[] {
	const parts: string[] = [];
	const endless = new Set<string>();
	let start = 0;
	for (let at = 0; at < text.length; at++) {
		const character = text.charAt(at);
		const close = closing[character];
		if (character === ",") {
			parts.push(text.slice(start, at));
			start = at + 1;
		} else if (close !== undefined && !endless.has(close)) {
			const end = text.indexOf(close, at + 1);
			if (end < 0) endless.add(close);
			else at = end;
		}
	}
	parts.push(text.slice(start));
	return parts.map((part) => part.trim()).filter(Boolean);
}

function texts(value: unknown): string[] {
	const list = Array.isArray(value) ? value : [value];
	return list.flatMap((item) => (typeof item === "string" && item.trim() !== "" ? [item.trim()] : typeof item === "number" ? [String(item)] : []));
}
