/** Tools of servers as tools of the session. */
import type { Tool } from "../agent/contracts.ts";
import { ToolFailure } from "../lib/tool-failure.ts";
import type { ToolResult } from "../protocol/messages.ts";
import { parameterValues } from "./http-headers.ts";
import { type Json, RpcError } from "./peer.ts";
import { type ResultInput, resourceResult, textResult, toolResult } from "./results.ts";
import type { Server } from "./server.ts";
import type { ServerTool } from "./tool-list.ts";

export type ToolParts = Pick<ResultInput, "tempDir" | "redact">;

/** Updates of one call in a second. */
const mostUpdates = 4;
const headerMismatch = -32020;

export function serverTool(name: string, tool: ServerTool, server: Server, parts: ToolParts): Tool {
	// What a stranger says about its tools counts where the user says so.
	const isTrusted = server.config.trustAnnotations && server.config.source !== "project";
	return {
		name,
		label: tool.label,
		effect: { kind: "run", ...(isTrusted && tool.isReadOnly && { inPlan: true }) },
		offered: "default",
		...(tool.isReadOnly && { view: { kind: "read", glyph: "≡" } }),
		description: tool.description,
		parameters: tool.inputSchema,
		concurrency: tool.isReadOnly ? "shared" : "exclusive",
		checksArguments: true,
		async execute({ toolCallId, args, signal, onUpdate }) {
			const what = `tool ${tool.name}`;
			if (signal.aborted) throw new Error(`MCP ${what} of ${JSON.stringify(server.name)} was aborted`);
			const params = { name: tool.name, arguments: args };
			const input = { ...parts, server: server.name, tool: tool.name };
			const options = { toolCallId, signal, onProgress: throttled((text) => onUpdate(progress(text))) };
			const ask = (current: ServerTool) =>
				server.request("tools/call", params, what, { ...options, headers: parameterValues(current.headers, args) });
			const result = await ask(tool).catch(async (error: Error) => {
				const { cause } = error;
				if (!(cause instanceof RpcError) || cause.code !== headerMismatch) throw error;
				// The server marks other arguments than it did: its list says which.
				await server.listAgain();
				return ask(server.tools.find((each) => each.name === tool.name) ?? tool);
			});
			const shown = toolResult(result, input);
			if (result.isError === true) throw new ToolFailure(shown);
			return shown;
		},
	};
}

const progress = (text: string): ToolResult => ({ content: [{ type: "text", text }], details: {} });

/** Progress in words, a few times a second at most. */
function throttled(show: (text: string) => void): (params: Json) => void {
	let last = Number.NEGATIVE_INFINITY;
	return ({ message, progress: done, total }) => {
		const now = performance.now();
		if (now - last < 1000 / mostUpdates) return;
		last = now;
		const text = typeof message === "string" ? message : "";
		show(`${text} (${done}${total === undefined ? "" : `/${total}`})`.trim());
	};
}

export const resourceToolName = "mcp_resource";
const mostListed = 100;

/** Lists and reads the resources of servers that have any. */
export function resourceTool(servers: () => readonly Server[], parts: ToolParts): Tool {
	return {
		name: resourceToolName,
		label: "MCP resource",
		effect: { kind: "run" },
		offered: "default",
		description: "Read a resource of an MCP server by its uri. Without uri: list the resources of the server.",
		parameters: {
			type: "object",
			properties: {
				server: { type: "string", description: "The name of the MCP server." },
				uri: { type: "string", description: "The resource to read." },
			},
			required: ["server"],
		},
		concurrency: "shared",
		async execute({ args, signal }) {
			const { server: name, uri } = args as { server: string; uri?: string };
			const server = servers().find((each) => each.name === name);
			if (!server) {
				const known = servers().map((each) => JSON.stringify(each.name));
				throw new Error(`No MCP server ${JSON.stringify(name)} has resources. There are: ${known.join(", ")}.`);
			}
			const input = { ...parts, server: name, tool: resourceToolName };
			if (uri !== undefined) {
				const { contents } = await server.request("resources/read", { uri }, "resource", { signal });
				return resourceResult(contents, input);
			}
			const { resources } = await server.request("resources/list", {}, "resource list", { signal });
			const rows = (Array.isArray(resources) ? resources : []).slice(0, mostListed).map(row);
			return textResult(rows.length > 0 ? rows.join("\n") : "(no resources)", input);
		},
	};
}

function row(resource: Json): string {
	const { uri, name, title, description, mimeType } = resource;
	const about = [title ?? name, mimeType, description].filter((each) => typeof each === "string" && each !== "");
	return `${uri}${about.length > 0 ? `: ${about.join(", ")}` : ""}`;
}
