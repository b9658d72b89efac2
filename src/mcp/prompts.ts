/** Prompts of servers as slash commands. */
import { CommandError } from "../protocol/command-error.ts";
import type { UserContent } from "../protocol/content.ts";
import { isObject } from "./config.ts";
import { toolName } from "./names.ts";
import { Blocks } from "./results.ts";
import type { Server, ServerPrompt } from "./server.ts";

const timeoutMs = 30_000;

/** A row of `get_commands`. */
export interface PromptCommand {
	name: string;
	description?: string;
	source: "prompt";
	sourceInfo: { path: string; source: string; scope: "user" | "project" | "temporary"; origin: "top-level" };
}

export function promptCommands(servers: readonly Server[]): PromptCommand[] {
	return servers.flatMap((server) =>
		server.status === "ready"
			? server.prompts.map((prompt): PromptCommand => {
					const { source } = server.config;
					const from = `mcp:${server.name}`;
					const scope = source === "user" || source === "project" ? source : "temporary";
					return {
						name: toolName(server.name, prompt.name),
						...(prompt.description ? { description: prompt.description } : {}),
						source: "prompt",
						sourceInfo: { path: from, source: from, scope, origin: "top-level" },
					};
				})
			: [],
	);
}

/** The content of a prompt that a text invokes; nothing when it names none. Throws CommandError when the prompt cannot be had. */
export async function expandPrompt(text: string, servers: readonly Server[], signal: AbortSignal | undefined): Promise<UserContent | undefined> {
	const [, name, rest = ""] = /^\/(\S+)\s*([\s\S]*)$/.exec(text) ?? [];
	for (const server of servers) {
		const prompt = server.prompts.find((each) => toolName(server.name, each.name) === name);
		if (!prompt) continue;
		const args = argumentsOf(prompt, rest, `/${name}`);
		try {
			const { messages } = await server.request("prompts/get", { name: prompt.name, arguments: args }, `prompt ${prompt.name}`, {
				signal,
				timeoutMs,
			});
			return contentOf(messages);
		} catch (error) {
			throw new CommandError("failed", (error as Error).message);
		}
	}
	return undefined;
}

/** Words fill the arguments in order; the last one takes the rest. */
function argumentsOf(prompt: ServerPrompt, text: string, command: string): Record<string, string> {
	const words = wordsOf(text.trim(), prompt.arguments.length);
	const missing = prompt.arguments.find(({ isRequired }, index) => isRequired && words[index] === undefined);
	if (missing) throw new CommandError("bad_field", `${command} needs ${missing.name}`);
	return Object.fromEntries(prompt.arguments.flatMap(({ name }, index) => (words[index] === undefined ? [] : [[name, words[index]]])));
}

/** At most this many words. Quotes group; what is left goes to the last word as it is. */
function wordsOf(text: string, most: number): string[] {
	const words: string[] = [];
	let rest = text;
	while (rest !== "" && words.length < most) {
		const [whole = "", double, single, bare] = /^(?:"([^"]*)"|'([^']*)'|(\S+))\s*/.exec(rest) ?? [rest];
		const isLast = words.length === most - 1 && whole.length < rest.length;
		words.push(isLast ? rest : (double ?? single ?? bare ?? rest));
		rest = isLast ? "" : rest.slice(whole.length);
	}
	return words;
}

function contentOf(messages: unknown): UserContent {
	const blocks = new Blocks();
	for (const message of Array.isArray(messages) ? messages.filter(isObject) : []) {
		for (const content of [message.content].flat()) {
			if (!isObject(content)) continue;
			if (message.role === "assistant" && content.type === "text")
				blocks.text(`The prompt has the assistant say:\n> ${String(content.text).replaceAll("\n", "\n> ")}`);
			else blocks.add(content);
		}
	}
	return blocks.isEmpty ? [{ type: "text", text: "" }] : blocks.content();
}
