/** Which built-in tools there are, by name. Loads none of them. */
import { didYouMean } from "../lib/nearest.ts";
import type { Options } from "../protocol/flags.ts";
import { taskToolName } from "../subagents/dependencies.ts";
import { toolNames as ownTools } from "../tools/names.generated.ts";

/** Every built-in tool; `--tools` may name these. */
export const builtInNames: readonly string[] = [...ownTools, taskToolName];

/** Offered to the model unless `--tools` says otherwise. */
export const defaultToolNames: readonly string[] = ["read", "bash", "edit", "write", "todo_write", taskToolName];

/** The names given with `--tools`. */
export function toolNames({ tools }: Options): string[] | undefined {
	return tools === undefined ? undefined : namesIn(tools);
}

/** The names given with `--exclude-tools`: tools that the model never gets, no matter what provides them. */
export function excludedTools({ "exclude-tools": excluded }: Options): readonly string[] {
	return namesIn(excluded ?? "");
}

function namesIn(list: string): string[] {
	return list
		.split(",")
		.map((name) => name.trim())
		.filter((name) => name !== "");
}

/** What is wrong with `--tools` and `--exclude-tools`. `others` are tools that are not built in, which may be named too. */
export function unknownTools(options: Options, others: readonly string[] = []): string | undefined {
	const problems = [unknownAmong("--tools", toolNames(options) ?? [], others), unknownAmong("--exclude-tools", excludedTools(options), others)];
	return problems.filter((problem) => problem !== undefined).join(" ") || undefined;
}

function unknownAmong(flag: string, names: readonly string[], others: readonly string[]): string | undefined {
	const known = [...builtInNames, ...others];
	const unknown = names.filter((name) => !known.includes(name) && !name.startsWith("mcp__"));
	const [first] = unknown;
	if (first === undefined) return undefined;
	return `${flag}: there is no tool ${unknown.join(", ")}.${unknown.length === 1 ? didYouMean(first, known) : ""} There are ${builtInNames.join(", ")}.`;
}

/** The tools that an agent may have which asks for some, where only some of ours are allowed. Nothing when it has the usual ones. */
export function allowedTools(wanted: readonly string[] | undefined, allowed: readonly string[] | undefined): readonly string[] | undefined {
	if (!wanted || !allowed) return wanted ?? allowed;
	return wanted.filter((name) => allowed.includes(name) || !builtInNames.includes(name));
}
