/** What the built-in tools are, for code that does not load them: a table that `npm run generate` writes from the tools. */
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

/** What a call touches of a directory that it names: the directory as if it were a file, the names in it, or everything below it. */
export type ToolReach = "file" | "entries" | "below";

export interface ToolFacts {
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
	/** `--tools` may name it. The others are there where the session needs them. */
	isSelectable?: true;
}

export type ToolFactsTable = Readonly<Record<string, ToolFacts>>;

/** By name, in the order in which the model sees them. */
export const builtInFacts: ToolFactsTable = toolFacts;

/** Returns what a tool with this name is where it is built in. */
export function factsOf(name: string, table: ToolFactsTable = builtInFacts): ToolFacts | undefined {
	return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** Returns the names of the tools that fit. */
export function toolsWhere(fits: (facts: ToolFacts) => unknown, table: ToolFactsTable = builtInFacts): string[] {
	return Object.entries(table).flatMap(([name, facts]) => (fits(facts) ? [name] : []));
}

/** Returns the words of rules about files: the word for all tools of the kind, which is also the name of the first one, and the others. */
export function fileToolsOf(kind: "read" | "write", table: ToolFactsTable = builtInFacts): string[] {
	return [...new Set([kind, ...toolsWhere(({ effect, hasPaths }) => effect === kind && hasPaths, table)])];
}
