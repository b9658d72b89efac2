/** What the built-in tools get, and the few functions that they share. */
import type { Files } from "../agent/contracts.ts";
import type { ClosedPaths } from "../lib/path-pattern.ts";
import type { Shell } from "../lib/shell/index.ts";
import type { ToolResult } from "../protocol/messages.ts";
import type { SandboxUse } from "../protocol/sandbox.ts";
import type { ConfinedFiles } from "./paths.ts";
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
	/** Set when tools may not touch every file. */
	confined?: ConfinedFiles;
	/** For searches: inside the sandbox, where nothing may be written; default `shell`. */
	searchShell?: Shell;
	/** Whether a program at this path cannot have been made by a command. */
	isTrustedProgram?: (path: string) => boolean;
	/** Set when the shell runs its commands inside a sandbox. */
	sandbox?: SandboxFacts;
	/** Set when a person may be asked to let a command run outside the sandbox. */
	outside?: OutsideShell;
	/** Returns the paths that rules close to a search or a listing of a directory; undefined where no rule says anything. */
	closedTo?: (tool: string, shows: "names" | "contents", searched: string) => ClosedPaths | undefined;
	/** The todo list; without it the model has no tool for it. */
	todos?: TodoToolOptions;
}

/** What results say about the walls that a command ran in. */
export interface SandboxFacts {
	/** For programs: a member of the details. */
	facts(denied: readonly string[]): SandboxUse;
	/** For the model, when a command failed: one line if the walls may be the reason. */
	note(output: string): string | undefined;
}

/** Commands outside the sandbox. Each one was approved before the tool is called. */
export interface OutsideShell {
	isPossible(): boolean;
	shell(): Promise<Shell>;
}

export function textResult(text: string, details?: unknown): ToolResult {
	return { content: [{ type: "text", text }], ...(details === undefined ? {} : { details }) };
}

/** To be called before anything is done. */
export function refuseIfAborted(signal: AbortSignal): void {
	if (signal.aborted) throw new Error("Operation aborted");
}
