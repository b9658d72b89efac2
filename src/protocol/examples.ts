/** Values that the examples of several rows share. The page of the protocol shows them; programs do not load them. */
import type { BudgetSnapshot } from "./budget.ts";
import type { CompactionResult } from "./commands/compaction.ts";
import type { AssistantMessage, ToolResult, ToolResultMessage, UserMessage } from "./messages.ts";
import type { Model, Usage } from "./model.ts";
import type { TodoPhase } from "./todos.ts";

const timestamp = 1767225600000;

const usage: Usage = {
	input: 812,
	output: 9,
	cacheRead: 0,
	cacheWrite: 0,
	totalTokens: 821,
	cost: { input: 0.002436, output: 0.000135, cacheRead: 0, cacheWrite: 0, total: 0.002571 },
};

const source = { api: "anthropic-messages", provider: "anthropic", model: "claude-sonnet-4-5" };
const call = { toolCallId: "call_1", toolName: "read" };
const result: ToolResult = { content: [{ type: "text", text: "# Shop\n" }] };

const user: UserMessage = { role: "user", content: [{ type: "text", text: "What is this?" }], attachments: [], timestamp };
const assistant: AssistantMessage = {
	role: "assistant",
	content: [{ type: "text", text: "A small web shop." }],
	...source,
	usage,
	stopReason: "stop",
	timestamp,
};
const callingAssistant: AssistantMessage = {
	...assistant,
	content: [{ type: "toolCall", id: call.toolCallId, name: call.toolName, arguments: { path: "README.md" } }],
	stopReason: "toolUse",
};
const toolResult: ToolResultMessage = { role: "toolResult", ...call, ...result, isError: false, timestamp };

const model: Model = {
	id: "claude-sonnet-4-5",
	name: "Claude Sonnet 4.5",
	api: "anthropic-messages",
	provider: "anthropic",
	baseUrl: "https://api.anthropic.com",
	reasoning: true,
	input: ["text", "image"],
	contextWindow: 200000,
	maxTokens: 64000,
	cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
};

const todoPhases: TodoPhase[] = [{ id: "phase-1", name: "Repair", tasks: [{ id: "task-1", content: "Find the cause", status: "in_progress" }] }];

const compaction: CompactionResult = {
	summary: "The user asked for a faster search. The index is done; its tests are missing.",
	firstKeptEntryId: "5f0c1e2a",
	tokensBefore: 161000,
	details: { readFiles: ["src/search.ts"], modifiedFiles: ["src/index.ts"] },
};

const budget: BudgetSnapshot = {
	status: "warning",
	wallTimeMs: 61000,
	inputTokens: 41000,
	outputTokens: 2100,
	totalTokens: 43100,
	costUsd: 0.82,
	toolCalls: 17,
	subagents: 0,
	reason: "cost",
};

export const samples = {
	timestamp,
	usage,
	call,
	result,
	user,
	assistant,
	callingAssistant,
	toolResult,
	model,
	todoPhases,
	compaction,
	budget,
	cwd: "/home/ada/shop",
	sessionId: "0198c0de-7a11-7000-8000-000000000001",
	sessionFile: "/home/ada/.bowline/sessions/shop/2026-01-01T00-00-00-000Z_0198c0de.jsonl",
	dialogId: "0198c0de-7a11-7000-8000-0000000000d1",
	callId: "0198c0de-7a11-7000-8000-0000000000c1",
};
