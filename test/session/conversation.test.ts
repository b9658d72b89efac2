/** What a conversation holds: a result for every call, and an answer that does not change while it is written. */
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

function made(): Conversation {
	let id = 0;
	const newId = () => String(++id);
	const transcripts = new FileSessionStore({ cwd: "/", directory: undefined, redact: (text) => text, now: () => 1, newId, newSessionId: newId });
	return new Conversation(transcripts.create(), () => 1);
}

test("messages that come while all of them are written out are not among them", () => {
	const conversation = made();
	const prompt = (text: string): AgentMessage => ({ role: "user", content: text, timestamp: 1 });
	conversation.add(prompt("x".repeat(600_000)));
	const parts = conversation.json.parts[Symbol.iterator]();
	const written = [parts.next().value as Uint8Array];
	conversation.add(prompt("later"));
	for (let next = parts.next(); !next.done; next = parts.next()) written.push(next.value);
	expect(JSON.parse(Buffer.concat(written).toString())).toHaveLength(1);
	expect(conversation.messages).toHaveLength(2);
});

test("the record of a command comes after the results of all calls, also of one that could not be stored", () => {
	const conversation = made();
	for (const message of [reply, result, record]) conversation.add(message);
	const said = (messages: readonly AgentMessage[]) =>
		messages.map((message) => `${message.role} ${"toolCallId" in message ? message.toolCallId : ""}`.trim());
	expect(said(conversation.messages)).toEqual(["assistant", "toolResult 1", "toolResult 2", "bashExecution"]);
	conversation.reproject();
	expect(said(conversation.messages)).toEqual(["assistant", "toolResult 1", "toolResult 2", "bashExecution"]);
});
