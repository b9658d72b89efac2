import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ModelMessage } from "../../src/agent/contracts.ts";
import { type Call, endpoint } from "../../src/models/api.ts";
import { noUsage } from "../../src/models/builder.ts";
import { mergeCompat } from "../../src/models/compat.ts";
import { handoff } from "../../src/models/handoff.ts";
import { wire } from "../../src/models/json.ts";
import { loadApi, routes } from "../../src/models/routes.ts";
import type { PlainLevel } from "../../src/protocol/levels.ts";
import type { AssistantMessage } from "../../src/protocol/messages.ts";
import type { Model } from "../../src/protocol/model.ts";
import { call, model, models } from "./support.ts";
import { transcript } from "./transcript.ts";

async function built(asked: Model, messages: readonly ModelMessage[], changes: Partial<Call> = {}) {
	const module = await loadApi(asked.api);
	if (!module) throw new Error(asked.api);
	const target = { provider: asked.provider, api: asked.api, model: asked.id, acceptsImages: asked.input.includes("image"), callId: module.callId };
	const compat = mergeCompat(routes.get(asked.provider)?.compat, asked.compat);
	const { url, headers, body } = module.api.request(call(asked, handoff(messages, target), { compat, ...changes }));
	const text = wire(body);
	return { url, headers, text, body: JSON.parse(text) as Record<string, unknown> };
}

const golden = (name: string) => join(import.meta.dirname, "golden", `${name}.txt`);

/** One member per line, and one message per line of a list. */
function readable(value: Record<string, unknown>): string {
	const lines = Object.entries(value).flatMap(([name, member]) =>
		["messages", "input", "contents"].includes(name)
			? [`${name}:`, ...(member as unknown[]).map((message) => `  ${JSON.stringify(message)}`)]
			: [`${name}: ${JSON.stringify(member)}`],
	);
	return `${lines.join("\n")}\n`;
}

describe.each(Object.entries(models))("%s", (name, asked) => {
	test("a conversation of its own is replayed faithfully", async () => {
		const { url, headers, body } = await built(asked, transcript(asked));
		await expect(readable({ url, headers, ...body })).toMatchFileSnapshot(golden(`${name}-own`));
	});

	test.each(Object.entries(models).filter(([other]) => other !== name))("a conversation of %s is handed over", async (other, earlier) => {
		const { body } = await built(asked, transcript(earlier));
		await expect(readable(body)).toMatchFileSnapshot(golden(`${name}-after-${other}`));
	});

	test("a model that cannot see gets a note in place of each image", async () => {
		const { text } = await built({ ...asked, input: ["text"] }, transcript(asked));
		expect(text).not.toContain("iVBORw0KGgo=");
		expect(text).toContain("image left out");
	});

	test("no lone surrogate leaves, and a request is the same bytes each time", async () => {
		const messages = transcript(asked);
		const { text } = await built(asked, messages);
		expect(text).not.toMatch(/\\ud[89a-f]/i);
		expect((await built(asked, messages)).text).toBe(text);
		expect((await built(asked, structuredClone(messages))).text).toBe(text);
	});

	test("one more turn leaves the bytes before it as they were, but for the cache mark", async () => {
		const messages = transcript(asked);
		const before = (await built(asked, messages, { retention: "none" })).text;
		const after = (await built(asked, [...messages, { role: "user", content: "more", timestamp: 99 }], { retention: "none" })).text;
		const common = [...before].findIndex((character, index) => after[index] !== character);
		expect(common).toBeGreaterThan(before.length - 3);
	});
});

test.each(["anthropic-messages", "anthropic-vertex", "bedrock-converse"])(
	"%s: a request that nothing follows asks to keep nothing new",
	async (api) => {
		const asked = model({ id: "claude-sonnet-4-6", api, baseUrl: "https://host.example" });
		const messages = [...transcript(models.anthropic), { role: "user" as const, content: "and now a summary", timestamp: 99 }];
		const marks = /"cache_control":\{"type":"ephemeral"\}|\{"cachePoint":\{"type":"default"\}\}/g;
		const usual = await built(asked, messages);
		const last = await built(asked, messages, { isLast: true });
		const count = (text: string) => text.match(marks)?.length;
		expect([count(usual.text), count(last.text)]).toEqual([4, 3]);
		const bare = (text: string) => text.replace(marks, "").replaceAll(/,(?=[}\]])/g, "");
		expect(bare(last.text)).toBe(bare(usual.text));
		const said = JSON.stringify((last.body.messages as unknown[]).at(-1));
		expect(said).toContain("and now a summary");
		expect(said).not.toMatch(/cache_control|cachePoint/);
	},
);

test("a tool that shall be called, in the words of each API, where a model that thinks allows it", async () => {
	const ask = async (asked: Model, level: PlainLevel) => (await built(asked, [], { level, toolChoice: "read" })).body;
	expect((await ask(models.anthropic, "off")).tool_choice).toEqual({ type: "tool", name: "read" });
	expect((await ask(models.anthropic, "low")).tool_choice).toBeUndefined();
	expect((await ask(models.chat, "off")).tool_choice).toEqual({ type: "function", function: { name: "read" } });
	expect((await ask(models.chat, "low")).tool_choice).toBeUndefined();
	expect((await ask(models.responses, "low")).tool_choice).toEqual({ type: "function", name: "read" });
	expect((await ask(models.google, "low")).toolConfig).toEqual({ functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["read"] } });
	expect((await built(models.responses, [], {})).body.tool_choice).toBeUndefined();
});

describe("thinking", () => {
	const ask = async (asked: Model, level: PlainLevel, changes: Partial<Call> = {}) => (await built(asked, [], { level, ...changes })).body;
	const old = model({ id: "claude-sonnet-4-5", api: "anthropic-messages", provider: "anthropic", maxTokens: 64000 });

	test("Claude: effort for adaptive models, budgets for older ones, explicit off", async () => {
		const mapped = { ...models.anthropic, compat: { thinkingLevelMap: { xhigh: "xhigh", max: "max" } } };
		const efforts = await Promise.all((["minimal", "low", "medium", "high", "xhigh"] as const).map((level) => ask(mapped, level)));
		expect(efforts.map((body) => body.output_config)).toEqual(["low", "low", "medium", "high", "xhigh"].map((effort) => ({ effort })));
		expect(efforts[0]?.thinking).toEqual({ type: "adaptive", display: "summarized" });
		expect((await ask(mapped, "off")).thinking).toEqual({ type: "disabled" });
		expect(await ask(old, "high", { maxTokens: 32000 })).toMatchObject({ thinking: { type: "enabled", budget_tokens: 16384 }, max_tokens: 48384 });
		expect(await ask({ ...old, maxTokens: 8192 }, "high", { maxTokens: 8192 })).toMatchObject({
			thinking: { budget_tokens: 7168 },
			max_tokens: 8192,
		});
		expect((await ask({ ...old, maxTokens: 1500 }, "high", { maxTokens: 1500 })).thinking).toBeUndefined();
		expect((await built(old, [], { level: "low" })).headers).toHaveProperty(
			"anthropic-beta",
			"interleaved-thinking-2025-05-14,context-management-2025-06-27",
		);
		expect((await ask({ ...old, reasoning: false }, "high")).thinking).toBeUndefined();
		expect((await ask(old, "high", { mayThink: false })).thinking).toBeUndefined();
	});

	test.each([
		["claude-opus-4-6", true],
		["claude-sonnet-5", true],
		["anthropic/claude-opus-4.7", true],
		["claude-fable-5-1", true],
		["claude-opus-4-5-20251101", false],
		["claude-opus-4-20250514", false],
		["claude-3-7-sonnet-20250219", false],
		["MiniMax-M3", false],
	])("%s thinks adaptively: %s", async (id, isAdaptive) => {
		const body = await ask({ ...old, id }, "low");
		expect((body.thinking as { type: string }).type).toBe(isAdaptive ? "adaptive" : "enabled");
	});

	test("Responses: effort and summary, `none` when off", async () => {
		expect((await ask(models.responses, "high")).reasoning).toEqual({ effort: "high", summary: "auto" });
		expect((await ask(models.responses, "off")).reasoning).toEqual({ effort: "none" });
		expect((await ask({ ...models.responses, reasoning: false }, "off")).reasoning).toBeUndefined();
	});

	test("Chat: each host's own words", async () => {
		const on = (thinkingFormat: string, level: PlainLevel = "low") => ask({ ...models.chat, provider: "acme", compat: { thinkingFormat } }, level);
		expect((await on("openai")).reasoning_effort).toBe("low");
		expect((await on("openai", "off")).reasoning_effort).toBeUndefined();
		expect((await on("openrouter")).reasoning).toEqual({ effort: "low" });
		expect((await on("openrouter", "off")).reasoning).toEqual({ enabled: false });
		expect((await on("zai")).thinking).toEqual({ type: "enabled" });
		expect((await on("deepseek", "off")).thinking).toEqual({ type: "disabled" });
		expect((await on("qwen")).enable_thinking).toBe(true);
		expect((await on("qwen-chat-template", "off")).chat_template_kwargs).toEqual({ enable_thinking: false });
		expect((await on("together")).reasoning).toEqual({ enabled: true });
	});

	test("Gemini: words from the third on, budgets before", async () => {
		const config = async (id: string, level: PlainLevel) => {
			const body = await ask({ ...models.google, id }, level);
			return (body.generationConfig as { thinkingConfig?: unknown }).thinkingConfig;
		};
		expect(await config("gemini-3-flash-preview", "minimal")).toEqual({ includeThoughts: true, thinkingLevel: "MINIMAL" });
		expect(await config("gemini-3-pro-preview", "minimal")).toEqual({ includeThoughts: true, thinkingLevel: "LOW" });
		expect(await config("gemini-3-pro-preview", "medium")).toEqual({ includeThoughts: true, thinkingLevel: "HIGH" });
		expect(await config("gemini-2.5-pro", "high")).toEqual({ includeThoughts: true, thinkingBudget: 32768 });
		expect(await config("gemini-2.5-flash", "high")).toEqual({ includeThoughts: true, thinkingBudget: 24576 });
		expect(await config("gemini-2.5-flash-lite", "minimal")).toEqual({ includeThoughts: true, thinkingBudget: 512 });
		expect(await config("gemini-2.5-flash", "off")).toEqual({ thinkingBudget: 0 });
		expect(await config("gemini-exp", "low")).toEqual({ includeThoughts: true, thinkingBudget: -1 });
	});
});

describe("caching", () => {
	test("Anthropic marks the system prompt, the last tool and the message of the user that was the last one now and in the request before", async () => {
		const { text, body } = await built(models.anthropic, transcript(models.anthropic));
		expect(text.match(/cache_control/g)?.length).toBe(4);
		const messages = body.messages as { role: string; content: object[] }[];
		expect(messages.at(-1)?.content.at(-1)).toHaveProperty("cache_control", { type: "ephemeral" });
		expect((await built(models.anthropic, [], { retention: "none" })).text).not.toContain("cache_control");
		expect((await built(models.anthropic, [], { retention: "long" })).text).toContain('"ttl":"1h"');
		expect((await built(models.anthropic, [], { retention: "long", baseUrl: "https://gateway.test" })).text).not.toContain("ttl");
	});

	test("OpenAI gets the session as cache key; OpenRouter's Claude gets marks", async () => {
		expect((await built(models.responses, [])).body).toMatchObject({ prompt_cache_key: "s-1", store: false });
		expect((await built(models.responses, [], { retention: "long" })).body.prompt_cache_retention).toBe("24h");
		const claude = model({ provider: "openrouter", id: "anthropic/claude-sonnet-5.5" });
		const { body } = await built(claude, [{ role: "user", content: "hi", timestamp: 1 }]);
		expect(body.messages).toEqual([
			{ role: "system", content: [{ type: "text", text: "You help.", cache_control: { type: "ephemeral" } }] },
			{ role: "user", content: [{ type: "text", text: "hi", cache_control: { type: "ephemeral" } }] },
		]);
	});
});

describe("what hosts of the chat API want differently", () => {
	const results = transcript(models.chat).slice(0, 5);
	const ask = async (compat: Record<string, unknown>, messages = results, changes: Partial<Call> = {}) =>
		(await built({ ...models.chat, provider: "acme", compat }, messages, changes)).body as { messages: { role: string }[] } & Record<string, unknown>;

	test("names on results, a stub after them, thinking as text, content that is never null", async () => {
		const body = await ask({ requiresToolResultName: true, requiresAssistantAfterToolResult: true });
		expect(body.messages.map((message) => message.role)).toEqual(["system", "user", "assistant", "tool", "tool", "assistant", "user", "user"]);
		expect(body.messages[3]).toHaveProperty("name", "read");
		const own = { ...models.chat, provider: "acme" };
		const said = await ask({ requiresThinkingAsText: true }, transcript(own).slice(0, 2));
		expect(said.messages[2]).toMatchObject({ content: "Both.\nReading both." });
		expect(said.messages[2]).not.toHaveProperty("reasoning_content");
		const bare: ModelMessage[] = [
			{ ...(results[1] as Extract<ModelMessage, { role: "assistant" }>), content: [{ type: "toolCall", id: "a", name: "read", arguments: {} }] },
		];
		expect((await ask({}, bare)).messages[1]).toHaveProperty("content", null);
		expect((await ask({ requiresAssistantContent: true }, bare)).messages[1]).toHaveProperty("content", "");
	});

	test("fields for limits, usage and routing", async () => {
		expect(await ask({})).toMatchObject({ max_tokens: 32000, stream: true, stream_options: { include_usage: true } });
		const body = await ask({ maxTokensField: "max_completion_tokens", supportsUsageInStreaming: false, openRouterRouting: { only: ["x"] } });
		expect(body).toMatchObject({ max_completion_tokens: 32000, provider: { only: ["x"] } });
		expect(body).not.toHaveProperty("stream_options");
	});

	test("without tools there is no list of tools, also when the conversation has tool calls", async () => {
		expect(await ask({}, results, { tools: [] })).not.toHaveProperty("tools");
		expect(await ask({}, [], { tools: [] })).not.toHaveProperty("tools");
	});
});

test.each([
	["https://api.anthropic.com", "/v1/messages", "https://api.anthropic.com/v1/messages"],
	["https://api.anthropic.com/", "/v1/messages", "https://api.anthropic.com/v1/messages"],
	["https://x.test/v1", "/v1/messages", "https://x.test/v1/messages"],
	["https://x.test/v1/messages", "/v1/messages", "https://x.test/v1/messages"],
	["https://x.test/v1/", "/chat/completions", "https://x.test/v1/chat/completions"],
	["https://x.test/v1/chat/completions", "/chat/completions", "https://x.test/v1/chat/completions"],
	["https://x.test/v1?api-version=1", "/responses", "https://x.test/v1/responses?api-version=1"],
])("%s with %s is %s", (base, path, url) => {
	expect(endpoint(base, path)).toBe(url);
});

test.each([
	["https://x.test/v1beta", "https://x.test/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse"],
	["https://x.test/v1beta/models/", "https://x.test/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse"],
])("Google at %s is asked at %s", async (baseUrl, url) => {
	expect((await built(models.google, [], { baseUrl })).url).toBe(url);
});

describe("items of the Responses API", () => {
	const reply = (content: AssistantMessage["content"], timestamp = 7): AssistantMessage => ({
		role: "assistant",
		content,
		api: "openai-responses",
		provider: models.responses.provider,
		model: models.responses.id,
		usage: noUsage,
		stopReason: "toolUse",
		timestamp,
	});
	const called = { type: "toolCall" as const, id: "call_1|fc_1", name: "read", arguments: {} };
	const result = (toolCallId: string): ModelMessage => ({
		role: "toolResult",
		toolCallId,
		toolName: "read",
		content: [],
		isError: false,
		timestamp: 8,
	});
	const input = async (...messages: ModelMessage[]) => (await built(models.responses, messages)).body.input as Record<string, unknown>[];

	test("reasoning goes back with its call, whatever member comes first", async () => {
		const thinkingSignature = '{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"E"}';
		const items = await input(reply([{ type: "thinking", thinking: "t", thinkingSignature }, called]), result(called.id));
		expect(items.slice(1, 3)).toMatchObject([
			{ type: "reasoning", id: "rs_1" },
			{ type: "function_call", id: "fc_1" },
		]);
	});

	test.each(["{broken", "sig", '{"type":"other"}'])("without its reasoning (%s) a call and a text lose their item ids", async (thinkingSignature) => {
		const said = { type: "text" as const, text: "x", textSignature: '{"v":1,"id":"msg_real"}' };
		const items = await input(reply([{ type: "thinking", thinking: "t", thinkingSignature }, said, called]), result(called.id));
		expect(JSON.stringify(items)).not.toMatch(/fc_1|msg_real/);
		expect(items[2]).toMatchObject({ type: "function_call", call_id: "call_1" });
	});

	test("made ids differ, also in replies of the same moment", async () => {
		const said = reply([{ type: "text", text: "a" }], 1);
		const many = Array.from({ length: 12 }, (_, index) => ({ type: "text" as const, text: `${index}` }));
		const items = await input(said, reply([{ type: "text", text: "b" }], 1), reply(many, 1), reply(many, 11));
		const ids = items.slice(1).map((item) => item.id);
		expect(new Set(ids).size).toBe(26);
	});
});
