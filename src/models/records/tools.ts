/** Tools that answer from a record instead of running. */
import type { Tool } from "../../agent/tool.ts";
import { factsOf } from "../../lib/tool-facts.ts";
import type { ModelRecord, RecordedTool } from "./format.ts";

export function replayedTools(
	{ lines }: ModelRecord,
	{ agent, source, isStrict }: { agent: string; source: string; isStrict: boolean },
): (tools: readonly Tool[]) => Tool[] {
	const results = new Map<string, RecordedTool>();
	for (const line of lines) if (line.type === "tool" && line.agent === agent) results.set(line.toolCallId, line);
	const replayed = (tool: Tool): Tool => ({
		...tool,
		// The record has arguments that the tool of that time accepted.
		async execute(call) {
			const recorded = results.get(call.toolCallId);
			if (!recorded || recorded.toolName !== tool.name) {
				if (!isStrict) return tool.execute(call);
				throw new Error(`The record ${source} has no result of this call of ${tool.name}. Record it again, or play it with --replay loose.`);
			}
			const { content, details, isError } = recorded.result;
			if (isError) throw new Error(content.map((block) => (block.type === "text" ? block.text : "")).join("\n"));
			return { content, details };
		},
	});
	const ofServers = [...new Set([...results.values()].map(({ toolName }) => toolName))].filter(isOfServer).map(toolOfServer);
	return (tools) => {
		const names = new Set(tools.map(({ name }) => name));
		const missing = ofServers.filter(({ name }) => !names.has(name));
		return [...tools, ...missing].map((tool) =>
			// The plan and the answer happen as ever. A host or an extension that declares `none` runs code of its own.
			tool.effect.kind === "none" && factsOf(tool.name)?.effect === "none" ? tool : replayed(tool),
		);
	};
}

const isOfServer = (name: string) => name.startsWith("mcp__") || name === "mcp_resource";

/** In the place of a tool whose MCP server is not started. */
function toolOfServer(name: string): Tool {
	return {
		name,
		label: name,
		effect: { kind: "run" },
		offered: "default",
		description: "A tool of an MCP server, which answers from a record.",
		parameters: { type: "object" },
		concurrency: "exclusive",
		async execute() {
			throw new Error(`The record has no result of this call of ${name}, and MCP servers are not started with --replay-tools.`);
		},
	};
}
