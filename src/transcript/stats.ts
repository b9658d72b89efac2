/** Numbers about a session: what is in the context, what the whole file cost. */
import type { AgentMessage, AssistantMessage } from "../protocol/messages.ts";
import type { Usage } from "../protocol/model.ts";
import type { Branch, Entry, EntryOf } from "./entries.ts";

export interface Counts {
	userMessages: number;
	assistantMessages: number;
	toolCalls: number;
	toolResults: number;
	totalMessages: number;
}

export function countMessages(messages: readonly AgentMessage[]): Counts {
	const counts: Counts = { userMessages: 0, assistantMessages: 0, toolCalls: 0, toolResults: 0, totalMessages: messages.length };
	for (const message of messages) {
		if (message.role === "user") counts.userMessages++;
		else if (message.role === "toolResult") counts.toolResults++;
		else if (message.role === "assistant") {
			counts.assistantMessages++;
			for (const block of message.content) if (block.type === "toolCall") counts.toolCalls++;
		}
	}
	return counts;
}

export interface Totals {
	tokens: { input: number; output: number; cacheRead: number; cacheWrite: number; total: number };
	cost: number;
}

/** Tokens and cost of every reply, summary and subagent, whether or not it is still in the context. */
export function totalsOf(entries: readonly Entry[]): Totals {
	const tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
	let cost = 0;
	for (const usage of entries.flatMap((entry) => [...usagesOf(entry), ...subagentUsages(entry)])) {
		for (const name of ["input", "output", "cacheRead", "cacheWrite"] as const) {
			tokens[name] += amount(usage[name]);
			tokens.total += amount(usage[name]);
		}
		cost += amount(usage.cost?.total);
	}
	return { tokens, cost };
}

export type UsageCounts = Partial<Usage>;

/** User-defined providers and other programs may have noted down odd counts. */
export const amount = (given: unknown) => (typeof given === "number" && given > 0 && Number.isFinite(given) ? given : 0);

/** Returns what the session itself used for an entry. */
export function usagesOf(entry: Entry): UsageCounts[] {
	if (entry.type === "message") {
		const { message } = entry;
		return message?.role === "assistant" && message.usage ? [message.usage] : [];
	}
	// Summaries, and what other members of the family note down about calls outside of the conversation.
	const { usage } = entry as { usage?: Usage };
	return usage ? [usage] : [];
}

/** Returns what subagents used, by the result of their call. */
export function subagentUsages(entry: Entry): UsageCounts[] {
	if (entry.type !== "message" || entry.message?.role !== "toolResult") return [];
	const { toolName, details } = entry.message;
	if (toolName !== "task" || typeof details !== "object" || details === null) return [];
	const { usage, results } = details as { usage?: Usage; results?: { usage?: Usage }[] };
	if (usage) return [usage];
	return Array.isArray(results) ? results.flatMap((result) => result?.usage ?? []) : [];
}

/** Tokens of the context as the provider counted them, and an estimate of what came after; null until the first reply after a summary. */
export function contextTokens(messages: readonly AgentMessage[], branch: Branch): number | null {
	const last = messages.findLastIndex((message) => message.role === "assistant" && isMeasured(message));
	if (messages[0]?.role === "compactionSummary" && !isAfter("compaction", messages[last], branch)) return null;
	if (last < 0 || (branch.lastOf("context_edit") >= 0 && !isAfter("context_edit", messages[last], branch)))
		return messages.reduce((sum, message) => sum + estimate(message), 0);
	const counted = sizeOf((messages[last] as AssistantMessage).usage);
	return messages.slice(last + 1).reduce((sum, message) => sum + estimate(message), counted);
}

/** Replies that a compaction kept still report the size of the context before it; so do replies before an edit of the context. */
function isAfter(kind: "compaction" | "context_edit", message: AgentMessage | undefined, branch: Branch): boolean {
	for (let place = branch.length - 1; place >= 0 && branch.kind(place) !== kind; place--) {
		if (branch.kind(place) === "message:assistant" && (branch.entry(place) as EntryOf<"message">).message === message) return true;
	}
	return false;
}

const sizeOf = ({ totalTokens, input, output, cacheRead, cacheWrite }: Usage) => totalTokens || input + output + cacheRead + cacheWrite;

function isMeasured({ usage, stopReason }: AssistantMessage): boolean {
	return stopReason !== "error" && stopReason !== "aborted" && usage !== undefined && sizeOf(usage) > 0;
}

const charactersPerToken = 4;
/** What providers charge for a picture of common size. */
const charactersPerImage = 4800;

function estimate(message: AgentMessage): number {
	return Math.ceil(charactersIn(message) / charactersPerToken);
}

function charactersIn(message: AgentMessage): number {
	if (message.role === "bashExecution") return message.excludeFromContext ? 0 : message.command.length + message.output.length;
	if (message.role === "compactionSummary" || message.role === "branchSummary") return message.summary.length;
	if (!("content" in message)) return 0;
	if (typeof message.content === "string") return message.content.length;
	let sum = 0;
	for (const block of message.content) {
		if (block.type === "text") sum += block.text.length;
		else if (block.type === "thinking") sum += block.thinking.length;
		else if (block.type === "toolCall") sum += block.name.length + JSON.stringify(block.arguments).length;
		else if (block.type === "image") sum += charactersPerImage;
	}
	return sum;
}
