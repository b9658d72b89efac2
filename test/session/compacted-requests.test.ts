/** What requests know about a conversation that is compacted. */
import { expect, test } from "vitest";
import type { ModelRequest } from "../../src/agent/contracts.ts";
import { toModelMessages } from "../../src/agent/convert.ts";
import { cacheBreak, type PrefixBreak } from "../../src/protocol/cache.ts";
import type { AgentMessage, AssistantMessage } from "../../src/protocol/messages.ts";
import { Conversation } from "../../src/session/conversation.ts";
import { Requests } from "../../src/session/requests.ts";
import { FileSessionStore } from "../../src/transcript/file-store.ts";
import { model, open } from "../models/support.ts";
import { assistant, user } from "../transcript/support.ts";

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
	return { conversation, requests, say, breaks, compact, wait };
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
