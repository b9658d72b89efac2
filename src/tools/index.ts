/** The built-in tools: one line each. `npm run generate` writes their names down for callers that must not load them. */
import type { Tool } from "../agent/tool.ts";
import { bashTool } from "./bash.ts";
import { editTool } from "./edit.ts";
import { findTool } from "./find.ts";
import { grepTool } from "./grep.ts";
import { lsTool } from "./ls.ts";
import { type MutationQueue, mutationQueue } from "./mutation-queue.ts";
import type { ToolOptions } from "./options.ts";
import { readTool } from "./read.ts";
import { type RipgrepFinder, ripgrepFinder } from "./ripgrep.ts";
import { todoTool } from "./todo.ts";
import { writeTool } from "./write.ts";

export type { ToolOptions } from "./options.ts";

interface Bench {
	options: ToolOptions;
	/** One change of a file at a time. */
	queue: MutationQueue;
	ripgrep: RipgrepFinder;
}

/** By name, in the order in which the model sees them. A tool that a session does without is undefined. */
export const toolMakers = {
	read: ({ options }) => readTool(options),
	bash: ({ options }) => bashTool(options.shell, options.sandbox, options.outside),
	edit: ({ options, queue }) => editTool(options, queue),
	write: ({ options, queue }) => writeTool(options, queue),
	grep: ({ options, ripgrep }) => grepTool(options, ripgrep),
	find: ({ options, ripgrep }) => findTool(options, ripgrep),
	ls: ({ options }) => lsTool(options),
	todo_write: ({ options }) => options.todos && todoTool(options.todos),
} satisfies Record<string, (bench: Bench) => Tool | undefined>;

export function builtInTools(options: ToolOptions): Tool[] {
	const bench: Bench = { options, queue: mutationQueue(), ripgrep: ripgrepFinder(options, options.isTrustedProgram) };
	return Object.values(toolMakers).flatMap((make) => make(bench) ?? []);
}
