/** How many tokens a conversation takes: the count of the last good reply, plus an estimate of the rest. Pure. */
import type { Setup } from "../../agent/contracts.ts";
import type { AgentMessage, AssistantMessage } from "../../protocol/messages.ts";
import type { Usage } from "../../protocol/model.ts";
import type { Branch, Entry } from "../../transcript/entries.ts";

const charactersPerToken = 4;
/** Providers charge about 1200 tokens for a picture of common size. */
const charactersPerImage = 4800;

export const tokensIn = (characters: number) => Math.ceil(characters / charactersPerToken);

export function estimateMessage(message: AgentMessage): number {
	return tokensIn(charactersOf(message));
}

export function estimateMessages(messages: readonly AgentMessage[]): number {
	return messages.reduce((sum, message) => sum + estimateMessage(message), 0);
}

/** The parts of a request other than messages. */
export function estimateSetup({ systemPrompt, tools }: Pick<Setup, "systemPrompt" | "tools">): number {
	const described = tools.reduce((sum, { name, description, parameters }) => sum + name.length + description.length + jsonLength(parameters), 0);
	return tokensIn(systemPrompt.length + described);
}

/** Tokens of an entry that is in the context, 0 for the others. */
export function estimateEntry(entry: Entry): number {
	switch (entry.type) {
		case "message":
			return estimateMessage(entry.message);
		case "custom_message":
			return tokensIn(charactersIn(entry.content));
		case "branch_summary":
			return tokensIn(entry.summary.length);
		default:
			return 0;
	}
}

/** Everything that the provider counted for a reply. */
export function usedTokens(usage: Usage): number {
	return usage.totalTokens || usage.input + usage.output + usage.cacheRead + usage.cacheWrite;
}

export interface Filling {
	/** The live context. */
	messages: readonly AgentMessage[];
	/** The entries that it is built from. */
	branch: Branch;
	setup: Pick<Setup, "systemPrompt" | "tools">;
}

/**
 * Tokens of the context. A reply older than the newest compaction does not count: its count includes what has since been compacted.
 * A failed reply has no count and must not hide the count of the last good one.
 */
export function contextTokens({ messages, branch, setup }: Filling): number {
	return countedTokens(messages, branch) ?? estimateSetup(setup) + estimateMessages(messages);
}

/** Returns the same if a reply was counted; undefined if everything would be an estimate. */
export function countedTokens(messages: readonly AgentMessage[], branch: Branch): number | undefined {
	const counted = newestCounted(messages, branch);
	return counted && usedTokens(counted.reply.usage) + estimateMessages(messages.slice(counted.index + 1));
}

function newestCounted(messages: readonly AgentMessage[], branch: Branch): { reply: AssistantMessage; index: number } | undefined {
	for (let place = branch.length - 1; place >= 0; place--) {
		const kind = branch.kind(place);
		// Earlier replies were counted with what has been compacted or removed since.
		if (kind === "compaction" || kind === "context_edit") return undefined;
		if (kind !== "message:assistant") continue;
		const entry = branch.entry(place);
		if (entry.type !== "message" || !isCounted(entry.message)) continue;
		const index = messages.lastIndexOf(entry.message);
		if (index >= 0) return { reply: entry.message, index };
	}
	return undefined;
}

function isCounted(message: AgentMessage): message is AssistantMessage {
	return (
		message.role === "assistant" &&
		message.stopReason !== "error" &&
		message.stopReason !== "aborted" &&
		message.usage !== undefined &&
		usedTokens(message.usage) > 0
	);
}

function charactersOf(message: AgentMessage): number {
	switch (message.role) {
		case "user":
		case "developer":
		case "custom":
		case "toolResult":
			return charactersIn(message.content);
		case "assistant":
			return (message.content ?? []).reduce((sum, block) => sum + charactersOfBlock(block), 0);
		case "bashExecution":
			return message.excludeFromContext ? 0 : message.command.length + message.output.length;
		case "compactionSummary":
		case "branchSummary":
			return message.summary.length;
		case "fileMention":
			return message.files.reduce((sum, file) => sum + file.path.length + file.content.length, 0);
		default:
			return 0;
	}
}

function charactersOfBlock(block: AssistantMessage["content"][number]): number {
	switch (block.type) {
		case "text":
			return block.text.length;
		case "thinking":
			return block.thinking.length;
		case "toolCall":
			return block.name.length + jsonLength(block.arguments);
		case "redactedThinking":
			return block.data.length;
		default:
			// Files of other programs hold blocks of other kinds; requests leave them out.
			return 0;
	}
}

/** `unknown[]`, because session files of other programs are read too. */
function charactersIn(content: string | readonly unknown[] | undefined): number {
	if (typeof content === "string") return content.length;
	return (content ?? []).reduce<number>((sum, block) => {
		const { type, text } = (block ?? {}) as { type?: unknown; text?: unknown };
		if (type === "image") return sum + charactersPerImage;
		return sum + (typeof text === "string" ? text.length : 0);
	}, 0);
}

function jsonLength(value: unknown): number {
	return JSON.stringify(value)?.length ?? 0;
}
