/** What extensions may import from "bowline" at run time: functions that return their argument, for the types. */
import type { Extension, ToolRegistration } from "./api.ts";

export function defineExtension(extension: Extension): Extension {
	return extension;
}

export function defineTool<Args = Record<string, unknown>>(tool: ToolRegistration<Args>): ToolRegistration<Args> {
	return tool;
}
