/** Hosts on the loopback that refuse what the real ones refuse, asked through the whole registry. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ModelMessage, ModelRequest } from "../../src/agent/contracts.ts";
import type { ModelRegistry } from "../../src/models/registry.ts";
import type { AssistantMessage } from "../../src/protocol/messages.ts";
import type { Model } from "../../src/protocol/model.ts";
import type { Answer, Loopback } from "./loopback.ts";
import { RegistryBench } from "./registry-bench.ts";
import { ending, models, open, request } from "./support.ts";
import { transcript } from "./transcript.ts";
import { spoken } from "./wire.ts";

let bench: RegistryBench;
let userDir: string;
let server: Loopback;
let registry: ModelRegistry | undefined;
beforeEach(async () => {
	bench = await RegistryBench.start();
	({ directory: userDir, server } = bench);
});
afterEach(async () => {
	registry = undefined;
	await bench.close();
});

interface Message {
	role: string;
	content: unknown;
	tool_calls?: { id: string }[];
	tool_call_id?: string;
	reasoning_content?: string;
	reasoning_details?: unknown[];
}
type Body = { messages: Message[]; input: Record<string, unknown>[] } & Record<string, unknown>;
/** The refusal of the host: a status and a message, or nothing. */
type Rule = (body: Body) => [status: number, message: string] | undefined;

/** Answers with the next stream, unless a rule is broken. */
function host(rules: Rule[], ...streams: string[]): Answer {
	return (response, { body }) => {
		const parsed = JSON.parse(body) as Body;
		const broken = rules.flatMap((rule) => [rule(parsed) ?? []].flat().slice(0, 2));
		if (broken.length > 0) {
			response.writeHead(broken[0] as number, { "content-type": "application/json" });
			response.end(JSON.stringify({ error: { message: broken[1], type: "invalid_request_error" } }));
			return;
		}
		response.writeHead(200, { "content-type": "text/event-stream" });
		response.end(streams.length > 1 ? streams.shift() : streams[0]);
	};
}

const said = spoken("chat", { text: ["Done."] });
const called = spoken("chat", { call: { id: "call_1", name: "read", arguments: ['{"path":"a"}'] } });

/** Asks through the registry, as a session does; fails with the provider's words. */
async function ask(provider: string, id: string, messages: readonly ModelMessage[], changes: Partial<ModelRequest> = {}): Promise<AssistantMessage> {
	const name = provider.toUpperCase().replaceAll("-", "_");
	const keys = { [`${name}_API_KEY`]: "k-12345678", KIMI_API_KEY: "k-12345678", AZURE_OPENAI_API_KEY: "k-12345678" };
	const env = { ...keys, [`${name}_BASE_URL`]: server.url, AZURE_OPENAI_BASE_URL: server.url };
	registry ??= bench.registry({ env });
	const model = (await registry.find(provider, id)) as Model;
	const events: Parameters<typeof ending>[0][number][] = [];
	const options = { signal: new AbortController().signal, flow: open, onEvent: (event: (typeof events)[number]) => events.push(event) };
	await registry.stream(request({ model, messages, ...changes }), options);
	const end = ending(events);
	if (end.type === "error") throw new Error(end.error.errorMessage);
	return end.message;
}

const lastBody = () => JSON.parse(server.received.at(-1)?.body ?? "{}") as Body;

/** The conversation after a reply with calls: each call has its result, and the user adds something. */
function continued(reply: AssistantMessage, ...more: ModelMessage[]): ModelMessage[] {
	const results = reply.content.flatMap((block): ModelMessage[] =>
		block.type === "toolCall"
			? [{ role: "toolResult", toolCallId: block.id, toolName: block.name, content: [{ type: "text", text: "ok" }], isError: false, timestamp: 2 }]
			: [],
	);
	return [{ role: "user", content: "go", timestamp: 1 }, reply, ...results, ...more];
}

const user = (content: string, timestamp = 9): ModelMessage => ({ role: "user", content, timestamp });

describe("Mistral", () => {
	const rules: Rule[] = [
		(body) => ("stream_options" in body ? [422, "body.stream_options: Extra inputs are not permitted"] : undefined),
		({ messages }) => {
			const ids = messages.flatMap((message) => [
				...(message.tool_calls ?? []).map((call) => call.id),
				...(message.tool_call_id ? [message.tool_call_id] : []),
			]);
			const bad = ids.find((id) => !/^[A-Za-z0-9]{9}$/.test(id));
			return bad === undefined ? undefined : [400, `Tool call id was ${bad} but must be a-z, A-Z, 0-9, with a length of 9.`];
		},
		({ messages }) => {
			const isWrong = messages.some((message, index) => message.role === "user" && messages[index - 1]?.role === "tool");
			return isWrong ? [400, "Unexpected role 'user' after role 'tool'"] : undefined;
		},
		({ messages }) => {
			const known = new Set(messages.flatMap((message) => (message.tool_calls ?? []).map((call) => call.id)));
			const results = messages.flatMap((message) => message.tool_call_id ?? []);
			return results.every((id) => known.has(id)) ? undefined : [400, "Unexpected tool call id in tool results"];
		},
	];

	test("the first prompt", async () => {
		server.answer(host(rules, said));
		expect((await ask("mistral", "mistral-large-latest", [user("hi")])).content).toEqual([{ type: "text", text: "Done." }]);
	});

	test.each(Object.entries(models))("a conversation of %s, with images in its results", async (_, earlier) => {
		server.answer(host(rules, said));
		expect((await ask("mistral", "mistral-medium-latest", transcript(earlier))).stopReason).toBe("stop");
	});

	test("the level goes as the word that the model knows", async () => {
		server.answer(host(rules, said));
		await ask("mistral", "mistral-medium-latest", [user("hi")], { thinkingLevel: "high" });
		expect(lastBody().reasoning_effort).toBe("high");
		await ask("mistral", "mistral-medium-latest", [user("hi")], { thinkingLevel: "off" });
		expect(lastBody().reasoning_effort).toBe("none");
		await ask("mistral", "codestral-latest", [user("hi")], { thinkingLevel: "high" });
		expect(lastBody()).not.toHaveProperty("reasoning_effort");
	});

	test("ids are the same each time, and nine good characters are kept", async () => {
		const own = spoken("chat", {
			calls: [
				{ id: "D681PevKs", name: "read", arguments: ["{}"] },
				{ id: "", name: "read", arguments: ["{}"] },
			],
		});
		server.answer(host(rules, own, said));
		const reply = await ask("mistral", "mistral-large-latest", [user("hi")]);
		await ask("mistral", "mistral-large-latest", continued(reply, user("and?")));
		const ids = () => lastBody().messages.flatMap((message) => message.tool_calls?.map((call) => call.id) ?? []);
		const first = ids();
		expect(first[0]).toBe("D681PevKs");
		await ask("mistral", "mistral-large-latest", structuredClone(continued(reply, user("and?"))));
		expect(ids()).toEqual(first);
	});
});

describe.each([
	["deepseek", "deepseek-v4-pro"],
	["moonshotai", "kimi-k2.6"],
	["moonshotai-cn", "kimi-k2.6"],
	["kimi-coding", "k3"],
])("%s with thinking", (provider, id) => {
	const needsReasoning: Rule = (body) => {
		if ((body.thinking as { type?: string } | undefined)?.type !== "enabled") return undefined;
		const at = body.messages.findIndex((message) => message.tool_calls && !message.reasoning_content);
		return at === -1 ? undefined : [400, `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${at}`];
	};

	test.each(Object.entries(models))("after a conversation of %s", async (_, earlier) => {
		server.answer(host([needsReasoning], said));
		expect((await ask(provider, id, transcript(earlier), { thinkingLevel: "high" })).stopReason).toBe("stop");
	});

	test("after a call of its own without reasoning, and with reasoning that goes back as it was", async () => {
		const thought = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { reasoning_content: "Hm." } }] })}\n\n${called}`;
		server.answer(host([needsReasoning], called, thought, said));
		const silent = await ask(provider, id, [user("hi")], { thinkingLevel: "high" });
		const loud = await ask(provider, id, continued(silent), { thinkingLevel: "high" });
		await ask(provider, id, [...continued(silent), ...continued(loud).slice(1)], { thinkingLevel: "high" });
		expect(lastBody().messages.flatMap((message) => (message.tool_calls ? [message.reasoning_content] : []))).toEqual([" ", "Hm."]);
	});
});

describe.each(["reasoning_content", "reasoning", "reasoning_text"])("a host that gives its reasoning as %s gets it back there", (field) => {
	const provider = { baseUrl: "SERVER", api: "openai-completions", apiKey: "k-12345678" };
	const thought = (more: object = {}) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { [field]: "Hm.", ...more } }] })}\n\n`;
	const again: Rule = ({ messages }) => {
		const bad = messages.find((message) => message.tool_calls && (message as unknown as Record<string, unknown>)[field] !== "Hm.");
		return bad && [400, `${field} is missing in an assistant message with tool calls`];
	};
	const sent = async (compat: object, reply: string) => {
		const own = { ...provider, baseUrl: `${server.url}/v1`, compat, models: [{ id: "m", reasoning: true }] };
		writeFileSync(join(userDir, "models.jsonc"), JSON.stringify({ providers: { workshop: own } }));
		server.answer(host([again], reply, said));
		const first = await ask("workshop", "m", [user("hi")], { thinkingLevel: "high" });
		const stored = JSON.parse(JSON.stringify(continued(first))) as ModelMessage[];
		expect((await ask("workshop", "m", stored, { thinkingLevel: "high" })).stopReason).toBe("stop");
		const message = lastBody().messages.find(({ role }) => role === "assistant") as Message;
		return Object.keys(message).filter((name) => name.startsWith("reasoning"));
	};

	test("in a loop of tools", async () => {
		expect(await sent({}, thought() + called)).toEqual([field]);
	});

	test("also where calls need reasoning", async () => {
		expect(await sent({ thinkingFormat: "deepseek", requiresReasoningContentOnAssistantMessages: true }, thought() + called)).toEqual([field]);
	});

	if (field !== "reasoning") {
		test("also next to details of the reasoning", async () => {
			const details = { reasoning_details: [{ type: "reasoning.text", text: "Hm.", index: 0 }] };
			expect(await sent({}, thought(details) + called)).toEqual([field, "reasoning_details"]);
		});
	}
});

test("Groq is asked for the usage, and read where it puts it", async () => {
	const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
	const end = { id: "g", choices: [{ index: 0, delta: {}, finish_reason: "stop" }], x_groq: { id: "req_1", usage } };
	const stream = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: "Hi" } }] })}\n\ndata: ${JSON.stringify(end)}\n\ndata: [DONE]\n\n`;
	server.answer(host([], stream));
	expect((await ask("groq", "openai/gpt-oss-120b", [user("hi")])).usage).toMatchObject({ input: 100, output: 10, totalTokens: 110 });
	expect(lastBody().stream_options).toEqual({ include_usage: true });
});

test("thinking that is off needs no reasoning", async () => {
	server.answer(host([], called, said));
	const reply = await ask("moonshotai", "kimi-k2.6", [user("hi")], { thinkingLevel: "off" });
	await ask("moonshotai", "kimi-k2.6", continued(reply), { thinkingLevel: "off" });
	expect(lastBody().messages.some((message) => "reasoning_content" in message)).toBe(false);
});

describe("OpenRouter gives all reasoning details back, whatever their order", () => {
	const chunk = (delta: object, finish: string | null = null) =>
		`data: ${JSON.stringify({ id: "g1", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
	const call = chunk({ tool_calls: [{ index: 0, id: "tool_0_read", type: "function", function: { name: "read", arguments: "{}" } }] });
	const end = `${chunk({}, "tool_calls")}data: [DONE]\n\n`;
	const sent = async (id: string, ...first: string[]) => {
		server.answer(host([], `${first.join("")}${end}`, said));
		const reply = await ask("openrouter", id, [user("hi")]);
		await ask("openrouter", id, JSON.parse(JSON.stringify(continued(reply))) as ModelMessage[]);
		const assistant = lastBody().messages.find((message) => message.role === "assistant") as Message;
		expect(assistant).not.toHaveProperty("reasoning");
		return assistant.reasoning_details;
	};
	const details = (...reasoning_details: object[]) => chunk({ reasoning_details });

	test("Gemini 3: the encrypted detail comes before its call", async () => {
		const encrypted = { type: "reasoning.encrypted", data: "CiQBdHM=", id: "tool_0_read", format: "google-gemini-v1", index: 0 };
		expect(await sent("google/gemini-3-pro-preview", details(encrypted), call)).toEqual([encrypted]);
	});

	test("Claude: pieces of text are joined, and the signature stays with them", async () => {
		const piece = (more: object) => ({ type: "reasoning.text", format: "anthropic-claude-v1", index: 0, ...more });
		const thought = (words: string) => chunk({ reasoning: words, reasoning_details: [piece({ text: words })] });
		const redacted = { type: "reasoning.encrypted", data: "EmwKAhgBEgy", format: "anthropic-claude-v1", index: 1 };
		const signed = details(piece({ signature: "ErUBCkYIBxgC" }), redacted);
		expect(await sent("anthropic/claude-opus-99", thought("Let me "), thought("look."), signed, call)).toEqual([
			piece({ text: "Let me look.", signature: "ErUBCkYIBxgC" }),
			redacted,
		]);
	});

	test("OpenAI and xAI: a summary and the encrypted item that follows the call", async () => {
		const summary = (words: string) => ({ type: "reasoning.summary", summary: words, format: "openai-responses-v1", index: 0 });
		const encrypted = { type: "reasoning.encrypted", data: "gAAAAAB", id: "rs_1", format: "openai-responses-v1", index: 0 };
		const thought = chunk({ reasoning: "Plan", reasoning_details: [summary("Pl")] });
		expect(await sent("openai/gpt-5.5", thought, details(summary("an")), call, details(encrypted))).toEqual([summary("Plan"), encrypted]);
	});
});

describe("OpenAI and Azure, with an id that the catalogue does not know", () => {
	const stored: Rule = ({ input }) => {
		const item = input.find(({ type, encrypted_content }) => type === "reasoning" && !encrypted_content);
		return item && [404, `Item with id '${item.id}' not found. Items are not persisted when \`store\` is set to false.`];
	};
	const paired: Rule = ({ input }) => {
		const item = input.find(({ id }, index) => typeof id === "string" && /^fc_/.test(id) && input[index - 1]?.type !== "reasoning");
		return item && [400, `Item '${item.id}' of type 'function_call' was provided without its required 'reasoning' item.`];
	};
	const event = (type: string, data: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
	const reply = [
		event("response.output_item.done", { output_index: 0, item: { type: "reasoning", id: "rs_1", summary: [] } }),
		event("response.output_item.done", {
			output_index: 1,
			item: { type: "function_call", id: "fc_1", call_id: "call_1", name: "read", arguments: "{}", status: "completed" },
		}),
		event("response.completed", { response: { id: "resp_1", status: "completed" } }),
	].join("");

	test.each([["openai"], ["azure"]])("%s: reasoning without its content stays out, and the call goes without its id", async (provider) => {
		server.answer(host([stored, paired], reply, spoken("responses", { text: ["Done."] })));
		const first = await ask(provider, "my-deployment-99", [user("hi")]);
		expect((await ask(provider, "my-deployment-99", continued(first))).content).toMatchObject([{ text: "Done." }]);
		expect(lastBody().input.map(({ type, role }) => type ?? role)).toEqual(["system", "user", "function_call", "function_call_output"]);
	});
});

describe.each([
	["openai-responses", "responses"],
	["openai-completions", "chat"],
] as const)("a host of one's own that speaks %s", (api, kind) => {
	const done = spoken(kind, { text: ["Done."] });
	beforeEach(() => {
		// Of hosts that speak the older API few know the member.
		const compat = kind === "chat" ? { compat: { supportsPromptCacheKey: true } } : {};
		const own = { baseUrl: server.url, apiKey: "k-12345678", api, models: [{ id: "anvil", ...compat }] };
		writeFileSync(join(userDir, "models.jsonc"), JSON.stringify({ providers: { workshop: own } }));
	});

	test("is told the conversation, so that its cache finds it", async () => {
		server.answer(host([], done));
		await ask("workshop", "anvil", [user("hi")]);
		expect(lastBody()).toHaveProperty("prompt_cache_key", "s-1");
	});

	test("and refuses to be told so is asked without, now and later", async () => {
		const rule: Rule = (body) => ("prompt_cache_key" in body ? [422, "prompt_cache_key: Extra inputs are not permitted"] : undefined);
		server.answer(host([rule], done));
		expect((await ask("workshop", "anvil", [user("hi")])).content).toMatchObject([{ text: "Done." }]);
		await ask("workshop", "anvil", [user("hi")]);
		expect(server.received).toHaveLength(3);
	});
});

test("a conversation with tool calls and no tools has no list of tools", async () => {
	const notEmpty: Rule = (body) => (Array.isArray(body.tools) && body.tools.length === 0 ? [400, "[] is too short - 'tools'"] : undefined);
	for (const provider of ["groq", "openrouter", "deepseek"]) {
		registry = undefined;
		server.answer(host([notEmpty], said));
		expect((await ask(provider, "some-model", transcript(models.chat), { tools: [] })).stopReason).toBe("stop");
	}
});

describe.each([
	["groq", "openai/gpt-oss-120b"],
	["cerebras", "gpt-oss-120b"],
])("%s counts the output that is asked for against its rate limit", (provider, id) => {
	const asked = async (changes: Partial<ModelRequest> = {}) => {
		server.answer(host([], said));
		await ask(provider, id, [user("hi")], changes);
		return lastBody().max_completion_tokens;
	};

	test("so a request asks for a sensible amount", async () => {
		expect(await asked()).toBe(16384);
		expect(await asked({ maxTokens: 500 })).toBe(500);
	});

	test("unless the user sets one", async () => {
		const modelOverrides = { [id]: { maxTokens: 30_000 } };
		writeFileSync(join(userDir, "models.jsonc"), JSON.stringify({ providers: { [provider]: { modelOverrides } } }));
		expect(await asked()).toBe(30_000);
	});

	test("by the flag of a provider as well", async () => {
		writeFileSync(join(userDir, "models.jsonc"), JSON.stringify({ providers: { [provider]: { compat: { defaultMaxTokens: 20_000 } } } }));
		expect(await asked()).toBe(20_000);
	});
});

test("DeepSeek at its strongest is asked for its strongest effort", async () => {
	server.answer(host([], said));
	await ask("deepseek", "deepseek-v4-pro", [user("hi")], { thinkingLevel: "xhigh" });
	expect(lastBody()).toMatchObject({ thinking: { type: "enabled" }, reasoning_effort: "max" });
	await ask("deepseek", "deepseek-v4-pro", [user("hi")], { thinkingLevel: "high" });
	expect(lastBody()).toMatchObject({ reasoning_effort: "high" });
});

test("DeepSeek at Azure gets a system prompt, and none of what only OpenAI's models take", async () => {
	const rule: Rule = ({ messages }) => (messages.some(({ role }) => role === "developer") ? [400, "unknown role `developer`"] : undefined);
	server.answer(host([rule], said));
	await ask("azure", "deepseek-v4-pro", [user("hi")]);
	const body = lastBody();
	expect(body.messages[0]?.role).toBe("system");
	expect(body).not.toHaveProperty("prompt_cache_key");
	expect(body).toHaveProperty("max_tokens");
});

test("parameters without a type or properties are sent as an object", async () => {
	const bare = { name: "now", description: "Tells the time.", parameters: {} };
	const needsObject: Rule = (body) => {
		const [tool] = (body.tools ?? []) as { function: { parameters: Record<string, unknown> } }[];
		return tool?.function.parameters.type === "object" && tool.function.parameters.properties ? undefined : [400, "object schema missing properties"];
	};
	server.answer(host([needsObject], said));
	expect((await ask("groq", "openai/gpt-oss-120b", [user("hi")], { tools: [bare] })).stopReason).toBe("stop");
});
