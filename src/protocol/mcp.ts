/** MCP servers as hosts name them and see them. */
import Type, { type Static } from "typebox";
import { jsonObject, list, optional, shape, text, words } from "./define.ts";

export const McpStatus = words("waiting", "starting", "ready", "failed", "disabled", "untrusted");
export type McpStatus = Static<typeof McpStatus>;

export const McpServer = shape("McpServer", "An MCP server of this session. Its variables, headers and arguments are never shown.", {
	name: text(),
	source: {
		...words("user", "project", "explicit", "host", "extension"),
		description: "Where it is named: the user's settings, the project, a flag, the host, an extension.",
	},
	transport: words("stdio", "http", "sse"),
	status: McpStatus,
	protocolVersion: optional(text({ description: "What it speaks, once it has answered." })),
	tools: list(text({ description: "As the model calls them." })),
	prompts: list(text({ description: "As slash commands." })),
	error: optional(text({ description: "Why it is not used." })),
	logFile: optional(text({ description: "What it wrote to stderr." })),
});
export type McpServer = Static<typeof McpServer>;

/** Entries by name, or a list of entries that have names. */
export const McpServers = Type.Union([jsonObject, list(jsonObject)]);
export type McpServers = Readonly<Record<string, unknown>> | readonly object[];
