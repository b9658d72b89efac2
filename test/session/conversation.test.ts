/** A call whose result could not be stored gets one before any other message. */
import { expect, test } from "vitest";
import type { AgentMessage } from "../../src/protocol/messages.ts";
import { Conversation } from "../../src/session/conversation.ts";
import { FileSessionStore } from "../../src/transcript/file-store.ts";

const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost };
const call = (id: string) => ({ type: "toolCall" as const, id, name: "work", arguments: {} });
const reply: AgentMessage = {
	role: "assistant",
	content: [call("1"), call("2")],
	api: "a",
	provider: "p",
	model: "m",
	usage,
	stopReason: "toolUse",
	timestamp: 1,
};
const result: AgentMessage = { role: "toolResult", toolCallId: "1", toolName: "work", content: [], details: {}, isError: false, timestamp: 1 };
const record: AgentMessage = {
	role: "bashExecution",
	command: "ls",
	output: "",
	exitCode: 0,
	cancelled: false,
	truncated: false,
	timestamp: 1,
};

test("the record of a command comes after it", () => {
	let id = 0;
	const newId = () => String(++id);
	const transcripts = new FileSessionStore({ cwd: "/", directory: undefined, redact: (text) => text, now: () => 1, newId, newSessionId: newId });
	const conversation = new Conversation(transcripts.create(), () => 1);
	for (const message of [reply, result, record]) conversation.add(message);
	const said = (messages: readonly AgentMessage[]) =>
		messages.map((message) => `${message.role} ${"toolCallId" in message ? message.toolCallId : ""}`.trim());
	expect(said(conversation.messages)).toEqual(["assistant", "toolResult 1", "toolResult 2", "bashExecution"]);
	conversation.reproject();
	expect(said(conversation.messages)).toEqual(["assistant", "toolResult 1", "toolResult 2", "bashExecution"]);
});
