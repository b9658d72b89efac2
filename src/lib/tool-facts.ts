/** Facts about the built-in tools, for code that does not load them. `npm run generate` writes the table from the tools. */
import { toolFacts } from "./tool-facts.generated.ts";

/**
 * What a tool does outside the conversation.
 * - `read`: shows files or listings, and changes nothing.
 * - `write`: changes files.
 * - `run`: anything else, such as a program or a service.
 * - `ask`: asks a person.
 * - `none`: nothing.
 */
export const effectKinds = ["read", "write", "run", "ask", "none"] as const;
export type EffectKind = (typeof effectKinds)[number];

/** The part of a directory that a call touches: the directory itself, the names in it, or everything below it. */
export type ToolReach = "file" | "entries" | "below";

/**
 * How calls of a tool look to people: in an editor, the chat, the page and an export. The arguments that it speaks of have these names: `path`,
 * `offset` and `limit`, `command`, `pattern`, `content`, `edits`, `tasks`, `result`.
 */
export interface CallView {
	kind: "read" | "edit" | "search" | "execute" | "think" | "other";
	/** One sign: a reader of many calls sees it before the name. */
	glyph: string;
	/** The first word of titles. Default: the label. */
	verb?: string;
	/** A call is about a file, or about a place, which is the working directory unless it names another one. */
	path?: "file" | "place";
	/** It shows some lines of the file. */
	lines?: true;
	/** It runs a command, and what it returns is the command's output. */
	command?: true;
	/** It looks for a pattern, shown in quotes where spaces count. */
	pattern?: "quoted" | "plain";
	/** Its result is a list of `path:line: text`. */
	hits?: true;
	/** It writes this text. */
	content?: true;
	/** It replaces texts. */
	edits?: true;
	/** It sends subagents. */
	tasks?: true;
	/** It hands in a value. */
	answer?: true;
	/** The plan shows what it does, so editors show no call. */
	plan?: true;
}

export interface KnownTool {
	label: string;
	effect: EffectKind;
	/** Calls name paths, so rules about paths apply. */
	hasPaths?: true;
	reach?: ToolReach;
	/** Writes whole files without a look at them. */
	replaces?: true;
	/** Runs shell commands. */
	hasCommand?: true;
	offered: "default" | "on request";
	view?: CallView;
	/** `--tools` may name it. The others are there where the session needs them. */
	isSelectable?: true;
}

export type KnownTools = Readonly<Record<string, KnownTool>>;

/** By name, in the order in which the model sees them. */
export const builtInFacts: KnownTools = toolFacts;

/** Returns what a tool with this name is where it is built in. */
export function factsOf(name: string, table: KnownTools = builtInFacts): KnownTool | undefined {
	return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** Returns how calls of a tool look; undefined for one that is not built in. */
export function viewOf(name: string): CallView | undefined {
	return factsOf(name)?.view;
}

/** Returns the names of the tools that fit. */
export function toolsWhere(fits: (facts: KnownTool) => unknown, table: KnownTools = builtInFacts): string[] {
	return Object.entries(table).flatMap(([name, facts]) => (fits(facts) ? [name] : []));
}

/** Returns the words of rules about files: the word for all tools of the kind, which is also the name of the first one, and the others. */
export function fileToolsOf(kind: "read" | "write", table: KnownTools = builtInFacts): string[] {
	return [...new Set([kind, ...toolsWhere(({ effect, hasPaths }) => effect === kind && hasPaths, table)])];
}
