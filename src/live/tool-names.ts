/** Which built-in tools there are, by name. */
import type { Options } from "./arguments.ts";

export const todoToolName = "todo_write";

/** Every built-in tool there is; `--tools` may name these. */
export const builtInNames = ["read", "bash", "edit", "write", "grep", "find", "ls", todoToolName, "task"];

/** The names given with `--tools`. */
export function toolNames({ tools }: Options): string[] | undefined {
	return tools
		?.split(",")
		.map((name) => name.trim())
		.filter((name) => name !== "");
}

export function warnOfUnknownTools(options: Options, warn: (text: string) => void): void {
	const unknown = toolNames(options)?.filter((name) => !builtInNames.includes(name)) ?? [];
	if (unknown.length) warn(`--tools: there is no tool ${unknown.join(", ")}. There are ${builtInNames.join(", ")}.`);
}

/** What an agent that wants these tools may have where only some of ours are allowed. Nothing when it wants the usual ones and all are. */
export function allowedTools(wanted: readonly string[] | undefined, allowed: readonly string[] | undefined): readonly string[] | undefined {
	if (!wanted || !allowed) return wanted ?? allowed;
	return wanted.filter((name) => allowed.includes(name) || !builtInNames.includes(name));
}
