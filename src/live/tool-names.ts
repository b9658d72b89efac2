/** Which built-in tools there are, by name. Loads none of them. */
import { didYouMean } from "../lib/nearest.ts";
import { toolsWhere } from "../lib/tool-facts.ts";
import { UsageError } from "../lib/usage-error.ts";
import type { Options } from "../protocol/flags.ts";

/** Every built-in tool; `--tools` may name these. */
export const builtInNames: readonly string[] = toolsWhere(({ isSelectable }) => isSelectable);

/** The names given with `--tools`. Undefined where the default set holds, with or without changes. */
export function toolNames({ tools }: Options): string[] | undefined {
	const names = namesIn(tools ?? "");
	return tools === undefined || changesIn(names) ? undefined : names;
}

/** The names that `--tools +a` adds to the default set. */
export function addedTools({ tools }: Pick<Options, "tools">): readonly string[] {
	return changesIn(namesIn(tools ?? ""))?.added ?? [];
}

/** The names given with `--exclude-tools` and `--tools -a`: tools that the model never gets, no matter what provides them. */
export function excludedTools({ tools, "exclude-tools": excluded }: Options): readonly string[] {
	return [...namesIn(excluded ?? ""), ...(changesIn(namesIn(tools ?? ""))?.removed ?? [])];
}

/** A list of only `+` and `-` changes the default set. Throws UsageError for one that does both. */
function changesIn(names: readonly string[]): { added: string[]; removed: string[] } | undefined {
	const changes = names.filter((name) => /^[+-]/.test(name));
	if (changes.length === 0) return undefined;
	if (changes.length < names.length) throw new UsageError("--tools: names with + or - cannot be mixed with others.");
	const signed = (sign: string) => changes.flatMap((name) => (name.startsWith(sign) ? [name.slice(1).trim()] : []));
	return { added: signed("+"), removed: signed("-") };
}

function namesIn(list: string): string[] {
	return list
		.split(",")
		.map((name) => name.trim())
		.filter((name) => name !== "");
}

/** What is wrong with `--tools` and `--exclude-tools`. `others` are tools that are not built in, which may be named too. */
export function unknownTools(options: Options, others: readonly string[] = []): string | undefined {
	const { tools, "exclude-tools": excluded } = options;
	const named = toolNames(options) ?? [...addedTools(options), ...excludedTools({ tools })];
	const problems = [unknownAmong("--tools", named, others), unknownAmong("--exclude-tools", excludedTools({ "exclude-tools": excluded }), others)];
	return problems.filter((problem) => problem !== undefined).join(" ") || undefined;
}

function unknownAmong(flag: string, names: readonly string[], others: readonly string[]): string | undefined {
	const known = [...builtInNames, ...others];
	const unknown = names.filter((name) => !known.includes(name) && !name.startsWith("mcp__"));
	if (unknown.length === 0) return undefined;
	const guesses = unknown.map((name) => didYouMean(name, known, (meant) => (unknown.length === 1 ? meant : `${meant} for ${name}`)));
	return `${flag}: there is no tool ${unknown.join(", ")}.${guesses.join("")} There are ${builtInNames.join(", ")}.`;
}

/** The tools that an agent may have which asks for some, where only some of ours are allowed. Nothing when it has the usual ones. */
export function allowedTools(wanted: readonly string[] | undefined, allowed: readonly string[] | undefined): readonly string[] | undefined {
	if (!wanted || !allowed) return wanted ?? allowed;
	return wanted.filter((name) => allowed.includes(name) || !builtInNames.includes(name));
}
