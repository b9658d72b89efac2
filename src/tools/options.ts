/** What the built-in tools get, and the few functions that they share. */
import type { Files } from "../agent/contracts.ts";
import type { Shell } from "../lib/shell/index.ts";
import type { ToolResult } from "../protocol/messages.ts";
import type { TodoToolOptions } from "./todo.ts";

export interface ToolOptions {
	/** The session's working directory. */
	cwd: string;
	shell: Shell;
	settings: { autoResizeImages: () => boolean };
	/** What child processes may see. */
	environment: () => Record<string, string | undefined>;
	/** Whether the current model can look at images. */
	acceptsImages: () => boolean;
	/** Asked for the text of files before the disk. */
	files?: Files;
	/** The todo list; without it the model has no tool for it. */
	todos?: TodoToolOptions;
}

export function textResult(text: string, details?: unknown): ToolResult {
	return { content: [{ type: "text", text }], ...(details === undefined ? {} : { details }) };
}

/** To be called before anything is done. */
export function refuseIfAborted(signal: AbortSignal): void {
	if (signal.aborted) throw new Error("Operation aborted");
}
