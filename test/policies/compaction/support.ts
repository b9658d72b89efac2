/** Conversations in short: entries of a branch made from words. */
import type { AgentMessage, AssistantMessage } from "../../../src/protocol/messages.ts";
import type { Usage } from "../../../src/protocol/model.ts";
import type { Entry, EntryBody } from "../../../src/transcript/entries.ts";

export function usageOf(tokens: number): Usage {
	const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
	return { input: tokens, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: tokens, cost };
}

/** A text of so many tokens. */
export const words = (tokens: number) => "word".repeat(tokens);

export function user(text: string): AgentMessage {
	return { role: "user", content: [{ type: "text", text }], timestamp: 0 };
}

export function reply(text: string, more: Partial<AssistantMessage> = {}): AssistantMessage {
	const content = text === "" ? [] : [{ type: "text" as const, text }];
	const model = { api: "scripted", provider: "scripted", model: "x" };
	return { role: "assistant", content, ...model, usage: usageOf(0), stopReason: "stop", timestamp: 0, ...more };
}

export function calls(...all: [id: string, name: string, args: Record<string, unknown>][]): AssistantMessage {
	return reply("", { content: all.map(([id, name, args]) => ({ type: "toolCall", id, name, arguments: args })), stopReason: "toolUse" });
}

export function result(toolCallId: string, text: string, isError = false): AgentMessage {
	return { role: "toolResult", toolCallId, toolName: "read", content: [{ type: "text", text }], isError, timestamp: 0 };
}

export function bash(command: string, output: string): AgentMessage {
	return { role: "bashExecution", command, output, exitCode: 0, cancelled: false, truncated: false, timestamp: 0 };
}

/** A branch with ids `e0`, `e1`, … */
export function branch(...bodies: (AgentMessage | EntryBody)[]): Entry[] {
	return bodies.map((body, index) => entryOf(body, index));
}

export function entryOf(body: AgentMessage | EntryBody, index: number): Entry {
	const whole: EntryBody = "role" in body ? { type: "message", message: body } : body;
	return { ...whole, id: `e${index}`, parentId: index ? `e${index - 1}` : null, timestamp: "2026-01-01T00:00:00.000Z" };
}

export function compaction(firstKeptEntryId: string, summary = "before"): EntryBody {
	return { type: "compaction", summary, firstKeptEntryId, tokensBefore: 1 };
}

export const messagesOf = (entries: readonly Entry[]) => entries.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
