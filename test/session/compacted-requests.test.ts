/** What requests know about a conversation that is compacted, or that its provider has forgotten. */
import { expect, test } from "vitest";
import type { ModelRequest } from "../../src/agent/contracts.ts";
import { toModelMessages } from "../../src/agent/convert.ts";
import { cacheBreak, type PrefixBreak, supersededResults } from "../../src/protocol/cache.ts";
import type { AgentMessage, AssistantMessage } from "../../src/protocol/messages.ts";
import { Conversation } from "../../src/session/conversation.ts";
import { Requests } from "../../src/session/requests.ts";
import { FileSessionStore } from "../../src/transcript/file-store.ts";
import { model, open } from "../models/support.ts";
import { assistant, result, user } from "../transcript/support.ts";

const claude = model({ id: "claude-opus-4-7", api: "anthropic-messages", provider: "anthropic" });
const cached = {
	input: 10,
	output: 5,
	cacheRead: 0,
	cacheWrite: 4000,
	totalTokens: 4015,
	cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

function world(asked = claude) {
	let id = 0;
	let clock = Date.parse("2026-11-19T10:00:00Z");
	const newId = () => String(++id);
	const now = () => clock;
	const store = new FileSessionStore({ cwd: "/", directory: undefined, redact: (text) => text, now, newId, newSessionId: newId });
	const conversation = new Conversation(store.create(), now);
	const requests = new Requests(conversation, now, "short");
	const run = (name: string, args: Record<string, unknown>, text: string) => {
		const toolCallId = `call ${++id}`;
		const timestamp = clock;
		const made = { provider: asked.provider, model: asked.id, api: asked.api, timestamp, stopReason: "toolUse" as const };
		conversation.add(assistant("", { ...made, content: [{ type: "toolCall", id: toolCallId, name, arguments: args }] }));
		conversation.add(result(toolCallId, { toolName: name, content: [{ type: "text", text }], timestamp }));
	};
	/** One turn, as the loop makes it. */
	const say = async (text: string, more: Partial<ModelRequest> = {}, usage = cached) => {
		conversation.add({ ...user(text), timestamp: clock } as AgentMessage);
		const message: AssistantMessage = assistant(`to ${text}`, { usage, timestamp: clock, provider: asked.provider, model: asked.id, api: asked.api });
		let sent: ModelRequest | undefined;
		const stream = requests.watching(async (request, { onEvent }) => {
			sent = request;
			onEvent({ type: "done", reason: "stop", message });
		});
		const { cacheKey } = conversation.transcript;
		const request = {
			model: asked,
			thinkingLevel: "high" as const,
			systemPrompt: "s",
			messages: toModelMessages(conversation.messages),
			tools: [],
			sessionId: cacheKey,
		};
		await stream({ ...request, ...more }, { signal: new AbortController().signal, flow: open, onEvent: () => undefined });
		conversation.add(message);
		return sent as ModelRequest;
	};
	const breaks = () =>
		conversation.transcript.entries.flatMap((entry) =>
			entry.type === "custom" && entry.customType === cacheBreak ? [entry.data as PrefixBreak] : [],
		);
	const compact = (firstKeptEntryId: string) => {
		conversation.append({ type: "compaction", summary: "gist", firstKeptEntryId, tokensBefore: 4000 });
		conversation.reproject();
	};
	const wait = (milliseconds: number) => {
		clock += milliseconds;
	};
	return { store, conversation, requests, run, say, breaks, compact, wait };
}

test("a break of the cache by a compaction says so, and counts only what is written again", async () => {
	const { conversation, say, breaks, compact } = world();
	await say("one");
	await say("a longer text in the second turn");
	compact(conversation.transcript.entries[2]?.id ?? "");
	await say("three");
	expect(breaks()).toEqual([
		{ segment: "messages", cause: "the conversation was compacted", lostTokens: expect.any(Number), costUsd: expect.any(Number) },
	]);
	expect(breaks()[0]?.lostTokens).toBeGreaterThan(0);
	expect(breaks()[0]?.lostTokens).toBeLessThan(4000);
	await say("four");
	expect(breaks()).toHaveLength(1);
});

test("a conversation goes on from its last request, thinking and turn included, while the provider has it", async () => {
	const { conversation, requests, say, wait } = world();
	expect(requests.continued(claude)).toBeUndefined();
	const turn = { thinks: true };
	const sent = await say("one", { turn });
	const next = requests.continued(claude) as ModelRequest;
	expect(next).toEqual({ ...sent, messages: toModelMessages(conversation.messages) });
	expect(next.turn).toBe(turn);
	expect(next.messages.slice(0, sent.messages.length)).toEqual(sent.messages);
	expect(next.messages.length).toBe(sent.messages.length + 1);
	expect(requests.continued({ ...claude, id: "claude-sonnet-4-6" })).toBeUndefined();
	wait(5 * 60 * 1000);
	expect(requests.continued(claude)).toBeUndefined();
});

test("it does not where nothing says what the provider keeps, or the last request had to call a tool", async () => {
	const other = { ...claude, api: "openai-responses" };
	const openAi = world(other);
	await openAi.say("one");
	expect(openAi.requests.continued(other)).toBeUndefined();
	const uncached = world();
	await uncached.say("one", {}, { ...cached, cacheWrite: 0 });
	expect(uncached.requests.continued(claude)).toBeUndefined();
	const forced = world();
	await forced.say("one", { toolChoice: "todo_write" });
	expect(forced.requests.continued(claude)).toBeUndefined();
});

const minute = 60_000;
const content = (n: number) => `version ${n} ${"of the file ".repeat(50)}`;
const resultsIn = ({ messages }: { messages: readonly AgentMessage[] }) =>
	messages.flatMap((message) => (message.role === "toolResult" ? message.content.map((block) => (block.type === "text" ? block.text : "")) : []));
const leftOut = "[Left out: the file was read again or written later.]";

test("results that were superseded become a line when the provider has forgotten the conversation, not before, and stay so", async () => {
	const { conversation, requests, run, say, breaks, wait } = world();
	await say("one");
	run("read", { path: "a" }, content(1));
	run("read", { path: "a" }, content(2));
	expect(resultsIn(await say("two"))).toEqual([content(1), content(2)]);
	wait(4 * minute);
	expect(resultsIn(await say("three"))).toEqual([content(1), content(2)]);
	wait(5 * minute);
	expect(resultsIn(await say("four"))).toEqual([leftOut, content(2)]);
	run("read", { path: "a" }, content(3));
	const later = await say("five");
	expect(resultsIn(later)).toEqual([leftOut, content(2), content(3)]);
	expect(requests.continued(claude)?.messages.slice(0, later.messages.length)).toEqual(later.messages);
	expect(breaks()).toEqual([]);
	wait(6 * minute);
	expect(resultsIn(await say("six"))).toEqual([leftOut, leftOut, content(3)]);
	// The session itself keeps all of it.
	expect(resultsIn(conversation)).toEqual([content(1), content(2), content(3)]);
});

test("the file says which, so another process and a fork send the same", async () => {
	const { conversation, run, say, wait } = world();
	run("read", { path: "a" }, content(1));
	run("read", { path: "a" }, content(2));
	wait(6 * minute);
	const sent = await say("one");
	const entries = conversation.transcript.entries.filter((entry) => entry.type === "custom");
	expect(entries).toEqual([expect.objectContaining({ customType: supersededResults, data: { entries: [conversation.transcript.entries[1]?.id] } })]);
	const again = world();
	again.conversation.transcript.copy(conversation.transcript, conversation.transcript.leafId);
	again.conversation.reproject();
	again.wait(7 * minute);
	const next = await again.say("two");
	expect(next.messages.slice(0, sent.messages.length)).toEqual(sent.messages);
	expect(again.conversation.transcript.entries.filter((entry) => entry.type === "custom")).toHaveLength(1);
});

test("they do not in the middle of a turn, nor where nothing says what the provider keeps", async () => {
	const inTurn = world();
	inTurn.run("read", { path: "a" }, content(1));
	inTurn.run("read", { path: "a" }, content(2));
	inTurn.wait(6 * minute);
	const messages = toModelMessages(inTurn.conversation.messages);
	expect(resultsIn(await inTurn.say("x", { messages }))).toEqual([content(1), content(2)]);
	const openAi = world({ ...claude, api: "openai-responses" });
	openAi.run("read", { path: "a" }, content(1));
	openAi.run("read", { path: "a" }, content(2));
	openAi.wait(6 * minute);
	expect(resultsIn(await openAi.say("x"))).toEqual([content(1), content(2)]);
	expect(openAi.conversation.transcript.entries.some(({ type }) => type === "custom")).toBe(false);
});

test("a model that binds its thinking does not get thinking from before they became lines", async () => {
	const { run, say, wait, conversation } = world();
	expect((await say("one")).prefixSince).toBeUndefined();
	run("read", { path: "a" }, content(1));
	run("read", { path: "a" }, content(2));
	wait(6 * minute);
	const { prefixSince } = await say("two");
	expect(prefixSince).toBe(Date.parse(conversation.transcript.entries.find(({ type }) => type === "custom")?.timestamp ?? ""));
});

test("a server whose resources came with its tools is named as the cause", async () => {
	const { say, breaks } = world();
	const tool = (name: string) => ({ name, description: name, parameters: {} });
	await say("one", { tools: [tool("read")] });
	await say("two", { tools: ["read", "mcp__issues__list", "mcp__issues__close", "mcp_resource"].map(tool) });
	await say("three", { tools: ["read", "mcp_resource"].map(tool) });
	expect(breaks().map(({ cause }) => cause)).toEqual(Array(2).fill('MCP server "issues" changed its tools'));
});

test("a break is noted once, however often the request fails that brought it", async () => {
	const { conversation, requests, say, breaks } = world();
	const { messages, sessionId } = await say("one");
	const failing = requests.watching(async (_, { onEvent }) => {
		const error = assistant("", { stopReason: "error", errorMessage: "529 overloaded" });
		onEvent({ type: "error", reason: "error", error, failure: { kind: "transient" } });
	});
	const options = { signal: new AbortController().signal, flow: open, onEvent: () => undefined };
	const request = { model: claude, thinkingLevel: "high" as const, tools: [], messages, sessionId };
	for (let attempt = 0; attempt < 3; attempt++) await failing({ ...request, systemPrompt: "other" }, options);
	expect(breaks()).toHaveLength(1);
	await failing({ ...request, systemPrompt: "another" }, options);
	expect(breaks()).toHaveLength(2);
	await say("two", { systemPrompt: "another" });
	await say("three", { systemPrompt: "other" });
	expect(breaks().map(({ cause }) => /"(.*)"/.exec(cause)?.[1])).toEqual(["other", "another", "other"]);
	expect(conversation.transcript.entries.filter(({ type }) => type === "custom")).toHaveLength(3);
});
