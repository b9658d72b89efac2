/** How long a reply may get. Pure. */
import type { ModelMessage, ToolDefinition } from "../agent/contracts.ts";
import type { Image, Text } from "../protocol/content.ts";
import type { Model } from "../protocol/model.ts";

const charactersPerToken = 4;
const tokensPerImage = 1200;
/** Room for what the estimate misses. */
const margin = 4096;

function tokensOf(content: string | readonly (Text | Image)[]): number {
	if (typeof content === "string") return content.length / charactersPerToken;
	return (content ?? []).reduce((sum, block) => sum + (block.type === "text" ? block.text.length / charactersPerToken : tokensPerImage), 0);
}

function tokensOfMessage(message: ModelMessage): number {
	if (message.role !== "assistant") return tokensOf(message.content);
	return (message.content ?? []).reduce((sum, block) => {
		if (block.type === "text") return sum + block.text.length / charactersPerToken;
		if (block.type === "thinking") return sum + block.thinking.length / charactersPerToken;
		return block.type === "toolCall" ? sum + JSON.stringify(block.arguments).length / charactersPerToken : sum;
	}, 0);
}

/**
 * The newest time in front of each message. A compaction puts its summary in front of the replies that it keeps: the tokens that these
 * counted include messages that are gone now.
 */
export function newestBefore(messages: readonly ModelMessage[]): Float64Array {
	const times = new Float64Array(messages.length);
	let newest = Number.NEGATIVE_INFINITY;
	for (let index = 0; index < messages.length; index += 1) {
		times[index] = newest;
		newest = Math.max(newest, (messages[index] as ModelMessage).timestamp);
	}
	return times;
}

/** Tokens of a request: what the last good reply to this conversation counted, and an estimate of what came after it. */
export function estimateInput(systemPrompt: string, tools: readonly ToolDefinition[], messages: readonly ModelMessage[]): number {
	const newest = newestBefore(messages);
	let tokens = 0;
	for (let index = messages.length - 1; index >= 0; index -= 1) {
		const message = messages[index] as ModelMessage;
		const isGood = message.role === "assistant" && message.stopReason !== "error" && message.stopReason !== "aborted";
		const isOutdated = (newest[index] as number) > message.timestamp;
		if (isGood && !isOutdated && message.usage?.totalTokens > 0) return Math.ceil(tokens + message.usage.totalTokens);
		tokens += tokensOfMessage(message);
	}
	const toolTokens = tools.reduce((sum, tool) => sum + (tool.description.length + 400) / charactersPerToken, 0);
	return Math.ceil(tokens + systemPrompt.length / charactersPerToken + toolTokens);
}

/** The output limit of a request: the model's own, lowered to what the window leaves, at least 1. */
export function outputLimit(model: Model, inputTokens: number): number {
	return Math.max(1, Math.min(model.maxTokens, model.contextWindow - inputTokens - margin));
}
