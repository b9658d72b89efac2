/** Slash commands that a front may offer. A template or a command of an extension with the same name is used instead. */
import { isCommandError } from "../protocol/command-error.ts";
import type { CommandResult } from "../protocol/commands/index.ts";
import type { McpServer } from "../protocol/mcp.ts";
import type { Dispatch } from "./dispatch.ts";

type Perform = Dispatch["perform"];

interface OwnCommand {
	description: string;
	hint?: string;
	/** Gives what the person reads. */
	run: (perform: Perform, rest: string) => Promise<string>;
}

const own: Record<string, OwnCommand> = {
	compact: {
		description: "Replace the older part of the conversation with a summary",
		hint: "what the summary should keep",
		async run(perform, rest) {
			const { tokensBefore } = await perform("compact", rest === "" ? {} : { customInstructions: rest });
			return `The conversation was compacted. It had ${tokensBefore} tokens.`;
		},
	},
	name: {
		description: "Name this session",
		hint: "the name",
		async run(perform, rest) {
			if (rest === "") return "Say how the session is called: /name <text>";
			await perform("set_session_name", { name: rest });
			return `The session is called ${(await perform("get_state", {})).sessionName ?? rest}.`;
		},
	},
	stats: {
		description: "Messages, tokens and cost of this session",
		run: async (perform) => statsText(await perform("get_session_stats", {})),
	},
	mcp: {
		description: "MCP servers of this session, or start one of them again",
		hint: "restart <server>",
		async run(perform, rest) {
			const [word, ...name] = rest.split(/\s+/);
			if (word === "restart") return serverText((await perform("restart_mcp_server", { name: name.join(" ") })).server);
			if (rest !== "") return "Say /mcp, or /mcp restart <server>";
			const { servers } = await perform("get_mcp_servers", {});
			return servers.length ? servers.map(serverText).join("\n") : "This session has no MCP servers.";
		},
	},
	export: {
		description: "Write this session to an HTML page",
		hint: "the file",
		async run(perform, rest) {
			const { path } = await perform("export_html", rest === "" ? {} : { outputPath: rest });
			return `The session was written to ${path}`;
		},
	},
};

export const ownCommands: readonly { name: string; description: string; input?: { hint: string } }[] = Object.entries(own).map(
	([name, { description, hint }]) => ({
		name,
		description,
		...(hint && { input: { hint } }),
	}),
);

/** The name and the rest of a text that names one of ours. */
export function ownCommandIn(message: string): { name: string; rest: string } | undefined {
	const [, name, rest = ""] = /^\/([\w-]+)(?:\s+([\s\S]*))?$/.exec(message.trim()) ?? [];
	return name !== undefined && Object.hasOwn(own, name) ? { name, rest: rest.trim() } : undefined;
}

/** What the person reads, also when it is refused. */
export async function runOwnCommand(perform: Perform, { name, rest }: { name: string; rest: string }): Promise<string> {
	try {
		return await (own[name] as OwnCommand).run(perform, rest);
	} catch (error) {
		if (isCommandError(error)) return error.message;
		throw error;
	}
}

function statsText({ sessionId, sessionFile, totalMessages, toolCalls, tokens, cost, contextUsage }: CommandResult<"get_session_stats">): string {
	const { tokens: used, contextWindow } = contextUsage ?? {};
	const context = typeof used === "number" && contextWindow ? `${used} of ${contextWindow} tokens` : "unknown";
	return [
		`Session: ${sessionId}`,
		...(sessionFile ? [`File: ${sessionFile}`] : []),
		`Messages: ${totalMessages}, tool calls: ${toolCalls}`,
		`Tokens: ${tokens.input} in, ${tokens.output} out, ${tokens.cacheRead} from the cache`,
		`Cost: $${cost.toFixed(4)}`,
		`Context: ${context}`,
	].join("\n");
}

function serverText({ name, status, tools, error }: McpServer): string {
	const count = tools.length === 1 ? "1 tool" : `${tools.length} tools`;
	return `- ${name}: ${status}${status === "ready" ? `, ${count}` : ""}${error ? ` (${error})` : ""}`;
}
