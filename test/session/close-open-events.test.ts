/** A run that a bug ends anywhere: every event that opened something still has its end. */
import { expect, test } from "vitest";
import type { AgentEvent } from "../../src/protocol/events.ts";
import type { AssistantMessage, ToolResultMessage, UserMessage } from "../../src/protocol/messages.ts";
import { closeOpenEvents } from "../../src/session/close-open-events.ts";
import { keptLog } from "./kernel.ts";

const user: UserMessage = { role: "user", content: [{ type: "text", text: "hi" }], attachments: [], timestamp: 1 };
const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost };
const shell: AssistantMessage = { role: "assistant", content: [], api: "a", provider: "p", model: "m", usage, stopReason: "stop", timestamp: 1 };
const call = (id: string) => ({ type: "toolCall" as const, id, name: "work", arguments: {} });
const reply: AssistantMessage = { ...shell, content: [call("1"), call("2")], stopReason: "toolUse" };
const result = (toolCallId: string): ToolResultMessage => ({
	role: "toolResult",
	toolCallId,
	toolName: "work",
	content: [],
	details: {},
	isError: false,
	timestamp: 1,
});
const work = (toolCallId: string) => ({ toolCallId, toolName: "work" });

const run: AgentEvent[] = [
	{ type: "agent_start" },
	{ type: "turn_start", turnIndex: 0 },
	{ type: "message_start", message: user },
	{ type: "message_end", message: user },
	{ type: "message_start", message: shell },
	{ type: "message_update", message: reply, assistantMessageEvent: { type: "text_start", contentIndex: 0 } },
	{ type: "message_end", message: reply },
	{ type: "tool_execution_start", ...work("1"), args: {} },
	{ type: "tool_execution_start", ...work("2"), args: {} },
	{ type: "tool_execution_end", ...work("2"), result: { content: [] }, isError: false },
	{ type: "tool_execution_end", ...work("1"), result: { content: [] }, isError: false },
	{ type: "message_start", message: result("1") },
	{ type: "message_end", message: result("1") },
	{ type: "message_start", message: result("2") },
	{ type: "message_end", message: result("2") },
	{ type: "turn_end", message: reply, toolResults: [result("1"), result("2")], turnIndex: 0 },
	{ type: "turn_start", turnIndex: 1 },
	{ type: "message_start", message: shell },
	{ type: "message_end", message: shell },
	{ type: "turn_end", message: shell, toolResults: [], turnIndex: 1 },
];

/** Messages of the user and of tools begin and end in one breath; nothing breaks off between. */
const moments = run.flatMap((event, index) => (event.type === "message_start" && event.message.role !== "assistant" ? [] : [index + 1]));

test.each(moments)("after %i events", async (count) => {
	const events: AgentEvent[] = [];
	const log = keptLog();
	const outcome = await closeOpenEvents(
		async (emit) => {
			run.slice(0, count).forEach(emit);
			throw new Error("a bug");
		},
		{ emit: (event) => void events.push(event), log, now: () => 1 },
	);
	expect(log.lines).toEqual(["the agent loop failed unexpectedly"]);
	expect(outcome.failure).toEqual({ kind: "permanent" });
	const open: string[] = [];
	const owed = new Set<string>();
	for (const event of events) {
		const [, what, edge] = /^(agent|turn|message|tool_execution)_(start|end)$/.exec(event.type) ?? [];
		const name = `${what} ${"toolCallId" in event ? event.toolCallId : "message" in event && what === "message" ? event.message?.role : ""}`;
		if (edge === "start") open.push(name);
		else if (edge === "end") expect(open.splice(open.lastIndexOf(name), 1)).toEqual([name]);
		if (event.type === "tool_execution_start") owed.add(event.toolCallId);
		if (event.type === "message_end" && event.message.role === "toolResult") expect(owed.delete(event.message.toolCallId)).toBe(true);
		if (event.type === "turn_end") expect([...owed]).toEqual([]);
	}
	expect(open).toEqual([]);
	expect(events.at(-1)).toMatchObject({ type: "agent_end", messages: outcome.messages, willRetry: false });
});
