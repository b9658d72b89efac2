/** Tokens and cost of a reply that its provider did not count, estimated from the length of the text. Pure. */
import type { AgentMessage, AssistantMessage } from "../protocol/messages.ts";
import type { Model, Usage } from "../protocol/model.ts";
import { pricesOf } from "../protocol/prices.ts";
import { estimateMessage, estimateMessages } from "./compaction/estimate.ts";

/** Prices are per million tokens. */
const million = 1_000_000;

/** `context`: the conversation with the reply in it. System prompt and tools are not counted. */
export function estimatedUsage(reply: AssistantMessage, context: readonly AgentMessage[], model: Model | undefined): Usage {
	const before = context.slice(0, Math.max(0, context.lastIndexOf(reply)));
	const input = estimateMessages(before);
	const output = estimateMessage(reply);
	const price = model ? pricesOf(model, { input }) : { input: 0, output: 0 };
	const cost = { input: (input * price.input) / million, output: (output * price.output) / million, cacheRead: 0, cacheWrite: 0 };
	return { input, output, cacheRead: 0, cacheWrite: 0, totalTokens: input + output, cost: { ...cost, total: cost.input + cost.output } };
}
