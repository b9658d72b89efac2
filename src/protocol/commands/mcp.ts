import Type from "typebox";
import { command, list, text } from "../define.ts";
import { McpServer, McpServers } from "../mcp.ts";

const example = {
	name: "files",
	source: "host" as const,
	transport: "stdio" as const,
	status: "ready" as const,
	protocolVersion: "2025-11-25",
	tools: ["mcp__files__read_file"],
	prompts: [],
};

export const mcpCommands = {
	set_mcp_servers: command({
		doc: "Replace the host's MCP servers of this session, by name or as a list with names; `{}` removes them. All or nothing: on failure the old set stays. Answered when the entries are checked, before the servers are connected.",
		lane: "serial",
		access: "seat",
		params: { servers: McpServers },
		result: Type.Object({ serverNames: list(text()) }),
		example: { send: { servers: { files: { command: "mcp-server-filesystem", args: ["."] } } }, data: { serverNames: ["files"] } },
	}),
	get_mcp_servers: command({
		doc: "The MCP servers of this session and what became of them.",
		lane: "serial",
		access: "read",
		params: {},
		result: Type.Object({ servers: list(McpServer) }),
		example: { send: {}, data: { servers: [example] } },
	}),
	restart_mcp_server: command({
		doc: "End an MCP server and start it again. Answered when it is ready or has failed.",
		lane: "background",
		access: "seat",
		params: { name: text() },
		result: Type.Object({ server: McpServer }),
		example: { send: { name: "files" }, data: { server: example } },
	}),
};
