/** Rules and grants, made ready once, and what they say about a call. The strictest match wins: deny, then ask, then allow. */
import { join, relative } from "node:path";
import { type PathPattern, type Places, pathPattern, realSpellings } from "../lib/path-pattern.ts";
import { isPackageFile, runsLaterByName } from "../lib/runs-later.ts";
import { fitsStars, starsPattern } from "../lib/stars.ts";
import { fileToolsOf } from "../lib/tool-facts.ts";
import type { PermissionRule, PermissionSubject, SourcedRule } from "../protocol/permissions.ts";
import { type CommandPattern, commandPattern, type Script } from "./command-patterns.ts";
import { hostPattern } from "./hosts.ts";

/** What rules look at. */
export interface JudgedCall {
	subject: PermissionSubject;
	/** The paths as they were written, absolute: a rule that restricts may name a link. */
	writtenPaths: readonly string[];
	/** A search of everything below its target. */
	isTree?: boolean;
	/** The same by a tool that does not leave out what rules close. */
	isUnfiltered?: boolean;
	/** A write that tells nothing about the file as it was. */
	isBlind?: boolean;
	/** A write of a `package.json` that changes nothing of it that runs. */
	keepsScripts?: boolean;
	/** Of a command. */
	script?: Script;
	/** Whether a command word leads to a program outside the directories that may be written to. */
	isForeign?: (program: string) => boolean;
}

export interface CompiledRule<Rule extends PermissionRule = SourcedRule> {
	rule: Rule;
	/** Looks at the kind and the name of the tool alone. */
	isAbout(call: Pick<PermissionSubject, "kind" | "tool"> & Pick<JudgedCall, "isBlind">): boolean;
	command: CommandPattern | undefined;
	path: PathPattern | undefined;
	/** The patterns that it compares paths with. */
	patterns: readonly string[];
	host: ((target: string) => boolean) | undefined;
	/** A rule about files that run later. */
	runsLater: boolean;
}

export function compileRule<Rule extends PermissionRule>(rule: Rule, places: Places, warn: (reason: string) => void): CompiledRule<Rule> {
	const { action, tool, command, path, host, runsLater } = rule;
	const onTightened = action === "allow" ? warn : undefined;
	const patterns = path === undefined ? [] : action === "allow" ? [path] : realSpellings(path, places);
	return {
		rule,
		isAbout: runsLater ? isWrite : host === undefined ? toolPattern(tool ?? "", action !== "allow") : ({ kind }) => kind === "network",
		command: [path, host, runsLater].every((other) => other === undefined) ? commandPattern(command, onTightened) : undefined,
		path: path === undefined ? undefined : anyOf(patterns.map((pattern) => pathPattern(pattern, places))),
		patterns,
		host: host === undefined ? undefined : hostPattern(host),
		runsLater: runsLater === true,
	};
}

const isWrite: CompiledRule["isAbout"] = ({ kind }) => kind === "write" || kind === "protected";

function anyOf(patterns: readonly PathPattern[]): PathPattern {
	const [only] = patterns;
	if (patterns.length === 1 && only) return only;
	return { covers: (path) => patterns.some(({ covers }) => covers(path)), catches: (path) => patterns.some(({ catches }) => catches(path)) };
}

function toolPattern(pattern: string, isRestricting: boolean): CompiledRule["isAbout"] {
	const fits = starsPattern(pattern);
	// A change tells something about the file, such as whether a text is in it, so it needs to be allowed to read.
	const closesChanges = isRestricting && fits("read");
	return ({ tool, kind, isBlind }) => {
		if (kind === "network") return false;
		const isChange = kind === "write" || kind === "protected";
		if (pattern === "read" && kind === "read") return true;
		if (pattern === "write" && isChange) return true;
		if (pattern === "bash" && (kind === "command" || kind === "escalation")) return true;
		return fits(tool) || (closesChanges && isChange && !isBlind);
	};
}

type Rules<Rule extends PermissionRule> = readonly CompiledRule<Rule>[];

/** Returns the rules about a tool. */
export function rulesAbout<Rule extends PermissionRule>(rules: Rules<Rule>, { subject: { kind, tool }, isBlind }: JudgedCall): Rules<Rule> {
	return rules.filter((rule) => rule.isAbout({ kind, tool, isBlind }));
}

/** What a rule about these tools keeps from a path. */
export function ruledAccess(tool: string): ("reading" | "writing")[] {
	const isAbout = (names: readonly string[]) => names.some((name) => fitsStars(tool, name));
	return [...(isAbout(fileToolsOf("read")) ? (["reading"] as const) : []), ...(isAbout(fileToolsOf("write")) ? (["writing"] as const) : [])];
}

/** Whether a deny or ask rule that is about the tool is about the call. */
export function catches({ host, path, command, runsLater }: CompiledRule<PermissionRule>, call: JudgedCall): boolean {
	const { subject, writtenPaths, script } = call;
	if (runsLater) return [...subject.targets, ...writtenPaths].some((target) => mayRunLater(target, call));
	if (host) return subject.targets.some(host);
	if (path) return subject.targets.some((target) => path.catches(target)) || writtenPaths.some((target) => path.catches(target));
	return script && command ? command.catches(script) : true;
}

/** What is above the project says nothing about its files. */
const mayRunLater = (path: string, { subject, keepsScripts }: JudgedCall) =>
	runsLaterByName(relative(subject.cwd, path)) !== undefined && !(keepsScripts && isPackageFile(path));

/** Whether allow rules cover the whole call, together where a script has several commands. Gives one of the rules that do. */
export function coveredBy<Rule extends PermissionRule>(rules: readonly CompiledRule<Rule>[], call: JudgedCall): CompiledRule<Rule> | undefined {
	const { subject, script, isForeign = () => false } = call;
	const about = rulesAbout(rules, call);
	if (about.length === 0) return undefined;
	if (script) {
		const { commands } = script;
		// An opaque script is never covered.
		if (!commands) return undefined;
		const whole = about.find(({ command }) => command?.coversScript(commands));
		const found = whole ?? together(commands, (rule, { words }) => rule.command?.covers(words) ?? false);
		// Last, because it asks the disk.
		return found && commands.every(({ words }) => (words[0] as string).includes("/") || isForeign(words[0] as string)) ? found : undefined;
	}
	if (subject.targets.length === 0) return about.find(({ path, host, command }) => !path && !host && !command?.text);
	const coversAll = ({ path, rule }: CompiledRule<Rule>, target: string) =>
		!path || (path.covers(target) && (!call.isTree || rule.tool === subject.tool || coversBelow(path, target)));
	return together(subject.targets, (rule, target) => coversAll(rule, target) && (rule.host?.(target) ?? true));

	function together<Item>(items: readonly Item[], isCovered: (rule: CompiledRule<Rule>, item: Item) => boolean): CompiledRule<Rule> | undefined {
		let found: CompiledRule<Rule> | undefined;
		for (const item of items) {
			found = about.find((rule) => isCovered(rule, item));
			if (!found) return undefined;
		}
		return found;
	}
}

/** No file has such a name, so a pattern that covers it covers any name. */
const anyName = "\u0001";

/** Returns whether a pattern also covers everything below a directory. */
function coversBelow({ covers }: PathPattern, directory: string): boolean {
	return [1, 2, 3, 9].every((depth) => covers(join(directory, ...Array<string>(depth).fill(anyName))));
}
