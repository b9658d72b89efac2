/** The built-in tools that work on files and run commands. */
import type { Tool } from "../agent/contracts.ts";
import { bashTool } from "./bash.ts";
import { editTool } from "./edit.ts";
import { findTool } from "./find.ts";
import { grepTool } from "./grep.ts";
import { lsTool } from "./ls.ts";
import { mutationQueue } from "./mutation-queue.ts";
import type { ToolOptions } from "./options.ts";
import { readTool } from "./read.ts";
import { ripgrepFinder } from "./ripgrep.ts";
import { writeTool } from "./write.ts";

export type { ToolOptions } from "./options.ts";
export { todoTool } from "./todo.ts";

/** Active when nothing else is asked for. */
export const defaultToolNames: readonly string[] = ["read", "bash", "edit", "write"];

export function builtInTools(options: ToolOptions): Tool[] {
	const queue = mutationQueue();
	const ripgrep = ripgrepFinder(options);
	return [
		readTool(options),
		bashTool(options.shell),
		editTool(options, queue),
		writeTool(options, queue),
		grepTool(options, ripgrep),
		findTool(options, ripgrep),
		lsTool(options),
	];
}
