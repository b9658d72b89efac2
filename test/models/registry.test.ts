import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { StreamEvent } from "../../src/agent/contracts.ts";
import type { ModelRegistry, RegistryOptions } from "../../src/models/registry.ts";
import { apis, routes } from "../../src/models/routes.ts";
import { scopeModels } from "../../src/models/select.ts";
import type { Model } from "../../src/protocol/model.ts";
import type { SettingName } from "../../src/protocol/settings.ts";
import { type Loopback, refuse, stream } from "./loopback.ts";
import { RegistryBench } from "./registry-bench.ts";
import { cassette, defaultSetting, ending, open, request } from "./support.ts";

let bench: RegistryBench;
let userDir: string;
let server: Loopback;
beforeEach(async () => {
	bench = await RegistryBench.start();
	({ directory: userDir, server } = bench);
});
afterEach(() => bench.close());

function make(env: Record<string, string> = {}, options: Partial<RegistryOptions> = {}): ModelRegistry {
	return bench.registry({ env, ...options });
}

function write(content: unknown): void {
	writeFileSync(join(userDir, "models.jsonc"), typeof content === "string" ? content : JSON.stringify(content));
}

async function ask(from: ModelRegistry, model: Model): Promise<StreamEvent[]> {
	const events: StreamEvent[] = [];
	await from.stream(request({ model }), { signal: new AbortController().signal, flow: open, onEvent: (event) => events.push(event) });
	return events;
}

async function found(from: ModelRegistry, provider: string, id: string): Promise<Model> {
	const model = await from.find(provider, id);
	if (!model) throw new Error(`no ${provider}/${id}`);
	return model;
}

describe("what can be asked", () => {
	test("nothing without a key; a provider's models with one", async () => {
		expect(await make().available()).toEqual([]);
		const models = await make({ ANTHROPIC_API_KEY: "k-12345" }).available();
		expect(new Set(models.map((model) => model.provider))).toEqual(new Set(["anthropic"]));
		expect(models.find((model) => model.id === "claude-opus-4-7")).toEqual({
			id: "claude-opus-4-7",
			name: "Claude Opus 4.7",
			api: "anthropic-messages",
			provider: "anthropic",
			baseUrl: "https://api.anthropic.com",
			reasoning: true,
			input: ["text", "image"],
			contextWindow: 1000000,
			maxTokens: 128000,
			cost: { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 },
			promptCache: { short: 300, long: 3600 },
			compat: { thinkingLevelMap: { xhigh: "xhigh", max: "max" } },
		});
	});

	test("an unlisted id of a known provider works, without a relative with stated defaults; an unknown provider does not", async () => {
		const models = make({ OPENAI_API_KEY: "k-12345" });
		expect(await models.find("openai", "my-deployment")).toMatchObject({
			id: "my-deployment",
			api: "openai-responses",
			contextWindow: 128000,
			maxTokens: 16384,
			reasoning: false,
		});
		expect(await models.find("nobody", "x")).toBeUndefined();
		expect(await models.resolve("openai/gpt-99:low")).toMatchObject({ model: { id: "gpt-99" }, level: "low" });
	});

	test("each reason has a code, so that callers compare no sentences", async () => {
		const models = make({ CLOUDFLARE_API_KEY: "k-12345678" });
		const code = async (provider: string, id: string) => {
			const prepared = await models.prepare({ ...(await found(models, "openai", "x")), provider, id });
			return "code" in prepared ? prepared.code : undefined;
		};
		expect(await code("anthropic", "claude-opus-4-6")).toBe("no_key");
		expect(await code("cloudflare-workers-ai", "x")).toBe("no_address");
		expect(await code("nobody", "x")).toBe("unknown_provider");
		expect(await code("ollama", "x")).toBeUndefined();
		expect(await models.resolve("anthropic/claude-opus-4-6")).toMatchObject({ model: { id: "claude-opus-4-6" } });
		expect(await models.resolve("claude-opus-4-6")).toMatchObject({ code: "no_key", problem: expect.stringMatching(/^No API key found for /) });
		expect(await models.resolve("there-is-no-such-model")).toMatchObject({ code: "unknown_model" });
	});

	test("a wire API of models.jsonc is one of the table, by its name or another one", async () => {
		const provider = (api: string) => ({ baseUrl: server.url, api, apiKey: "k-12345678", models: [{ id: "m" }] });
		write({ providers: { a: provider("openai-chat"), b: provider("google"), c: provider("telepathy") } });
		const problems: string[] = [];
		const models = make({}, { warn: (problem) => problems.push(problem) });
		expect((await models.available()).map(({ provider: name, api }) => [name, api])).toEqual([
			["a", "openai-completions"],
			["b", "google-generative-ai"],
		]);
		expect(problems).toEqual([expect.stringContaining(`must be one of ${Object.keys(apis).join(", ")}`)]);
	});

	test("an unlisted id is on the list once the user has named it", async () => {
		const models = make({ OPENAI_API_KEY: "k-12345" });
		const ids = async () => (await models.available()).map(({ id }) => id);
		expect(await models.findListed("openai", "gpt-5.5")).toMatchObject({ id: "gpt-5.5" });
		expect(await models.findListed("openai", "gpt-99")).toBeUndefined();
		expect(await ids()).not.toContain("gpt-99");
		await models.resolve("openai/gpt-99:low");
		expect(await models.findListed("openai", "gpt-99")).toMatchObject({ id: "gpt-99", cost: { unknown: true } });
		expect(await ids()).toContain("gpt-99");
	});

	test.each([
		["anthropic", "claude-opus-4-9", "claude-opus-4-8"],
		["anthropic", "claude-opus-9", "claude-opus-5-5"],
		["anthropic", "claude-haiku-9-20270101", "claude-haiku-5-5"],
		["openai", "gpt-99", "gpt-5.5"],
		["openai", "gpt-6.2-terra", "gpt-6.1-terra"],
		["google", "gemini-9-flash", "gemini-3.8-flash"],
		["openrouter", "anthropic/claude-sonnet-9", "anthropic/claude-sonnet-5.5"],
		["mistral", "mistral-large-5", "mistral-large-4"],
	])("%s/%s has the limits and the thinking of %s, and a price that is not known", async (provider, id, relative) => {
		const models = make({});
		const { reasoning, input, contextWindow, maxTokens, compat } = await found(models, provider, relative);
		const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, unknown: true };
		const unlisted = await found(models, provider, id);
		expect(unlisted).toMatchObject({ id, reasoning, input, contextWindow, maxTokens, cost });
		expect(unlisted.compat).toEqual(compat);
	});

	test.each([
		["openrouter", "acme/gpt-99", "another vendor's ids"],
		["groq", "some-model", "another family"],
		["amazon-bedrock", "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123", "an address without a name"],
	])("%s/%s has no relative: %s", async (provider, id) => {
		expect(await found(make({}), provider, id)).toMatchObject({ reasoning: false, contextWindow: 128000, cost: { unknown: true } });
	});

	test("the price is known where it is: on the list, at the vendor, in the file, in a plan, on one's own machine", async () => {
		const price = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 };
		const free = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
		write({
			providers: {
				openai: { modelOverrides: { "gpt-99": { cost: price } }, models: [{ id: "mine", cost: free }, { id: "bare" }] },
				workshop: { baseUrl: server.url, api: "openai-completions", apiKey: "k-12345678", models: [{ id: "m" }] },
			},
		});
		const models = make({});
		const cost = async (provider: string, id: string) => (await found(models, provider, id)).cost;
		expect(await cost("openai", "gpt-99")).toEqual(price);
		expect(await cost("openai", "mine")).toEqual(free);
		expect(await cost("openai", "bare")).toEqual({ ...free, unknown: true });
		expect(await cost("workshop", "m")).toEqual(free);
		expect(await cost("ollama", "qwen3")).toEqual(free);
		expect(await cost("qwen-token-plan", "qwen99")).toEqual(free);
		expect((await cost("amazon-bedrock", "sa.anthropic.claude-opus-5")).unknown).toBeUndefined();
		expect(await cost("venice", "anything")).toEqual({ ...free, unknown: true });
	});

	test("a ceiling in dollars refuses a model whose price is not known, wherever it is named", async () => {
		const setting = ((name: SettingName) => (name === "task.budget.maxCostUsd" ? 5 : defaultSetting(name))) as typeof defaultSetting;
		const models = make({ OPENAI_API_KEY: "k-12345678" }, { setting });
		const unlisted = await found(models, "openai", "gpt-99");
		const refusal = { code: "price_unknown", problem: expect.stringMatching(/^The price of openai\/gpt-99 is not known.*"cost" in .*models\.jsonc/) };
		expect(await models.refusal(unlisted)).toEqual(refusal);
		expect(await models.prepare(unlisted)).toEqual(refusal);
		const events: StreamEvent[] = [];
		const options = { signal: new AbortController().signal, flow: open, onEvent: (event: StreamEvent) => events.push(event) };
		await models.stream(request({ model: unlisted }), options);
		expect(ending(events)).toMatchObject({ type: "error", error: { errorMessage: refusal.problem }, failure: { kind: "permanent" } });
		expect(server.received).toEqual([]);
		expect(await models.refusal(await found(models, "openai", "gpt-5.5"))).toBeUndefined();
		expect(await make({ OPENAI_API_KEY: "k-12345678" }).refusal(unlisted)).toBeUndefined();
	});

	test.each([
		["anthropic", "anthropic/claude-opus-4-7", "claude-opus-4-7"],
		["anthropic", "anthropic/claude-opus-99", "claude-opus-99"],
		["google", "gemini/gemini-3.8-flash", "gemini-3.8-flash"],
		["gemini", "google/gemini-3.8-flash", "gemini-3.8-flash"],
		["openrouter", "openrouter/auto", "openrouter/auto"],
		["openrouter", "openrouter/anthropic/claude-opus-5.5", "anthropic/claude-opus-5.5"],
		["openrouter", "openrouter/new-stealth", "openrouter/new-stealth"],
		["nvidia", "nvidia/nemotron-99", "nvidia/nemotron-99"],
		["openrouter", "anthropic/claude-opus-99", "anthropic/claude-opus-99"],
		["ollama", "ollama/qwen3", "qwen3"],
		["workshop", "workshop/m", "m"],
		["workshop", "workshop/unlisted", "unlisted"],
	])("--provider %s --model %s is the model %s, in every place that takes one", async (provider, id, meant) => {
		write({ providers: { workshop: { baseUrl: server.url, api: "openai-completions", apiKey: "k-12345678", models: [{ id: "m" }] } } });
		const keys = ["ANTHROPIC", "GEMINI", "OPENROUTER", "NVIDIA"].map((name) => [`${name}_API_KEY`, "k-12345678"]);
		const models = make(Object.fromEntries(keys));
		expect(await models.resolve(`${provider}/${id}`)).toMatchObject({ model: { id: meant } });
		expect(await models.resolve(`${provider}/${id}:high`)).toMatchObject({ model: { id: meant }, level: "high" });
		expect(await models.find(provider, id)).toMatchObject({ id: meant });
		expect(await models.findListed(provider, id)).toMatchObject({ id: meant });
		expect(scopeModels([`${provider}/${id}`], await models.available()).map(({ model }) => model.id)).toEqual([meant]);
	});

	test("the remedy is named", async () => {
		const models = make();
		const claude = await found(models, "anthropic", "claude-opus-4-7");
		expect(await models.problem(claude)).toMatch(
			/^No API key found for anthropic\. Set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN, pass --api-key, or give it an apiKey in /,
		);
		expect(await models.prepare(claude)).toEqual({ problem: await models.problem(claude), code: "no_key" });
		expect(await models.resolve("opus")).toMatchObject({ problem: expect.stringMatching(/^No API key found for /) });
		expect(await models.resolve("zzz")).toMatchObject({ problem: expect.stringMatching(/^Model not found: zzz/) });
		const end = ending(await ask(models, claude));
		expect(end).toMatchObject({
			type: "error",
			failure: { kind: "permanent" },
			error: { errorMessage: expect.stringMatching(/^No API key found for anthropic\./) },
		});
	});

	test("--api-key serves its provider, before the environment", async () => {
		server.answer(stream(cassette("anthropic-thinking-tools")));
		const models = make({ ANTHROPIC_API_KEY: "from-env", ANTHROPIC_BASE_URL: server.url }, { apiKey: { provider: "anthropic", key: "from-flag" } });
		expect(ending(await ask(models, await found(models, "anthropic", "claude-opus-4-7"))).type).toBe("done");
		expect(server.received[0]?.headers["x-api-key"]).toBe("from-flag");
	});

	test("parts of an address come from the environment", async () => {
		const key = { CLOUDFLARE_API_KEY: "k-12345" };
		const models = make(key);
		const id = (await make({ ...key, CLOUDFLARE_ACCOUNT_ID: "acc" }).available())[0]?.id as string;
		expect(await models.available()).toEqual([]);
		expect(await models.problem(await found(models, "cloudflare-workers-ai", id))).toBe(
			"No address for cloudflare-workers-ai: set CLOUDFLARE_ACCOUNT_ID.",
		);
		const filled = await found(make({ ...key, CLOUDFLARE_ACCOUNT_ID: "acc" }), "cloudflare-workers-ai", id);
		expect(filled.baseUrl).toBe("https://api.cloudflare.com/client/v4/accounts/acc/ai/v1");
	});

	test("local servers need no key", async () => {
		server.answer(stream(cassette("openai-chat-parallel")));
		const models = make({ OLLAMA_BASE_URL: `${server.url}/v1` });
		const model = await found(models, "ollama", "qwen3");
		expect(await models.problem(model)).toBeUndefined();
		expect(ending(await ask(models, model)).type).toBe("done");
		expect(server.received[0]).toMatchObject({ url: "/v1/chat/completions" });
		expect(server.received[0]?.headers).not.toHaveProperty("authorization");
	});
});

test.each([
	[
		"anthropic",
		"claude-opus-4-7",
		{ ANTHROPIC_AUTH_TOKEN: "k-1234" },
		"ANTHROPIC_BASE_URL",
		"",
		"/v1/messages",
		{ authorization: "Bearer k-1234" },
		"anthropic-thinking-tools",
	],
	[
		"anthropic",
		"claude-opus-4-7",
		{ ANTHROPIC_API_KEY: "k-1234" },
		"ANTHROPIC_BASE_URL",
		"",
		"/v1/messages",
		{ "x-api-key": "k-1234" },
		"anthropic-thinking-tools",
	],
	[
		"openai",
		"gpt-5.5",
		{ OPENAI_API_KEY: "k-1234" },
		"OPENAI_BASE_URL",
		"/v1",
		"/v1/responses",
		{ authorization: "Bearer k-1234" },
		"openai-responses-reasoning",
	],
	[
		"gemini",
		"gemini-3.8-flash",
		{ GEMINI_API_KEY: "k-1234" },
		"GEMINI_BASE_URL",
		"/v1beta",
		"/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse",
		{ "x-goog-api-key": "k-1234" },
		"google-thoughts-tools",
	],
	[
		"moonshot",
		"kimi-k3",
		{ MOONSHOT_API_KEY: "k-1234" },
		"MOONSHOTAI_BASE_URL",
		"/v1/",
		"/v1/chat/completions",
		{ authorization: "Bearer k-1234" },
		"openai-chat-parallel",
	],
	[
		"azure",
		"my-model",
		{ AZURE_OPENAI_API_KEY: "k-1234", AZURE_OPENAI_API_VERSION: "preview", AZURE_OPENAI_DEPLOYMENT_NAME_MAP: "my-model=dep1" },
		"AZURE_OPENAI_BASE_URL",
		"/openai/v1",
		"/openai/v1/responses?api-version=preview",
		{ "api-key": "k-1234" },
		"openai-responses-reasoning",
	],
	[
		"vertex",
		"gemini-3.8-flash",
		{ GOOGLE_CLOUD_API_KEY: "k-1234" },
		"GOOGLE_VERTEX_BASE_URL",
		"/v1/publishers/google",
		"/v1/publishers/google/models/gemini-3.8-flash:streamGenerateContent?alt=sse",
		{ "x-goog-api-key": "k-1234" },
		"google-thoughts-tools",
	],
])("%s/%s is asked at its address with its key", async (provider, id, env, variable, path, url, headers, tape) => {
	server.answer(stream(cassette(tape)));
	const models = make({ ...(env as Record<string, string>), [variable]: server.url + path });
	expect(ending(await ask(models, await found(models, provider, id)))).toMatchObject({ type: "done", reason: "toolUse" });
	expect(server.received[0]).toMatchObject({ url, headers: { ...headers, "content-type": "application/json" } });
	if (provider === "azure") expect(JSON.parse(server.received[0]?.body ?? "")).toHaveProperty("model", "dep1");
});

const prices = (input: number, output: number) => ({ input, output, cacheRead: 0, cacheWrite: 0 });

describe("models.jsonc", () => {
	test("a provider of the user's own, with comments, variables and headers that stay inside", async () => {
		server.answer(stream(cassette("openai-chat-parallel")));
		write(`{
			// mine
			"providers": {
				"acme": {
					"baseUrl": "${server.url.replace("http://", "http://user:hush-hush@")}/v1", "api": "openai-completions", "apiKey": "$ACME_KEY",
					"headers": { "X-Team": "team-\${TEAM}", "X-Plain": "p" },
					"models": [{ "id": "m1", "name": "M One", "contextWindow": 9000, "input": ["text", "image"], "cost": { "input": 1, "output": 2 }, "headers": { "X-One": "$$1" } }, { "id": "m2" },],
				},
			},
		}`);
		const models = make({ ACME_KEY: "acme-secret", TEAM: "blue" });
		const [m1, m2] = await models.available();
		expect(m1).toEqual({
			id: "m1",
			name: "M One",
			provider: "acme",
			api: "openai-completions",
			baseUrl: `${server.url}/v1`,
			reasoning: false,
			input: ["text", "image"],
			contextWindow: 9000,
			maxTokens: 16384,
			cost: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 },
		});
		expect(m2).toMatchObject({ id: "m2", name: "m2", contextWindow: 128000 });
		expect(ending(await ask(models, m1 as Model)).type).toBe("done");
		const expected = { "x-team": "team-blue", "x-plain": "p", "x-one": "$1" };
		expect(server.received[0]).toMatchObject({ headers: expected });
		expect(models.secretNames()).toEqual(expect.arrayContaining(["ACME_KEY", "TEAM", "OPENAI_API_KEY"]));
		expect(models.secrets()).toEqual(expect.arrayContaining(["acme-secret", "team-blue"]));
	});

	test("the names in the file are known before it is read", () => {
		write(`{ "providers": { "acme": { "apiKey": "MY_ACME_KEY", "headers": { "a": "$\{OTHER_ONE}" } } } }`);
		expect(make({ MY_ACME_KEY: "x" }).secretNames()).toEqual(expect.arrayContaining(["MY_ACME_KEY", "OTHER_ONE"]));
	});

	test("a command gives a key at each call; no message shows what it prints when it fails", async () => {
		const counter = join(userDir, "count");
		write({
			providers: {
				acme: {
					baseUrl: server.url,
					api: "anthropic-messages",
					apiKey: `!echo x >> ${counter}; echo key-long-$(wc -l < ${counter} | tr -d ' ')`,
					authHeader: true,
					models: [{ id: "m" }],
				},
				bad: { baseUrl: server.url, api: "anthropic-messages", apiKey: "!echo hidden-thing; exit 3", models: [{ id: "m" }] },
			},
		});
		server.answer(stream(cassette("anthropic-thinking-tools")));
		const models = make({ PATH: process.env.PATH ?? "" });
		const model = await found(models, "acme", "m");
		await ask(models, model);
		await ask(models, model);
		expect(server.received.map((received) => received.headers.authorization)).toEqual(["Bearer key-long-1", "Bearer key-long-2"]);
		expect(models.secrets()).toEqual(expect.arrayContaining(["key-long-1", "key-long-2"]));
		const end = ending(await ask(models, await found(models, "bad", "m")));
		expect(end.type === "error" && end.error.errorMessage).toMatch(/^No API key found for bad\..*the command failed with 3/);
		expect(JSON.stringify(end)).not.toContain("hidden-thing");
	});

	test("a key that a variable got while the process runs is a secret from the next request on", async () => {
		server.answer(stream(cassette("anthropic-thinking-tools")));
		const env: Record<string, string> = { ANTHROPIC_API_KEY: "first-key-1", ANTHROPIC_BASE_URL: server.url };
		const models = make(env);
		expect(models.secrets()).toContain("first-key-1");
		env.ANTHROPIC_API_KEY = "second-key-2";
		await ask(models, await found(models, "anthropic", "claude-opus-4-6"));
		expect(models.secrets()).toContain("second-key-2");
	});

	test("names in headers of models and passwords in addresses are secrets", async () => {
		write({
			providers: {
				openai: { modelOverrides: { "gpt-5.5": { headers: { a: "$ONE_NAME", b: "OTHER_NAME" }, baseUrl: "http://me:over%40password@x/v1" } } },
				acme: {
					baseUrl: "http://me:pass%20word@x/v1",
					api: "openai-responses",
					apiKey: "literal-key",
					models: [{ id: "m", headers: { c: "THIRD_NAME" } }],
				},
			},
		});
		const env = { OTHER_NAME: "other-value", THIRD_NAME: "third-value", GROQ_BASE_URL: "https://u:groq-password@x" };
		const names = ["ONE_NAME", "OTHER_NAME", "THIRD_NAME"];
		const models = make(env);
		expect(models.secretNames()).toEqual(expect.arrayContaining(names));
		await models.available();
		expect(models.secretNames()).toEqual(expect.arrayContaining(names));
		expect(models.secrets()).toEqual(
			expect.arrayContaining(["other-value", "third-value", "pass%20word", "pass word", "over@password", "groq-password"]),
		);
	});

	test("a short value is a word, not a secret", async () => {
		server.answer(refuse(404, 'model "test" is not served'));
		write({ providers: { acme: { baseUrl: server.url, api: "openai-completions", apiKey: "test", models: [{ id: "m" }] } } });
		const models = make();
		expect(ending(await ask(models, await found(models, "acme", "m")))).toMatchObject({
			error: { errorMessage: '404 model "test" is not served' },
		});
		expect(models.secrets()).toEqual([]);
	});

	test("a provider that lacks something is reported, and its models are not searched elsewhere", async () => {
		write({
			providers: {
				x: { baseUrl: "http://127.0.0.1:1", models: [{ id: "a" }] },
				n: { apiKey: "kkkkkkkk", models: [{ id: "gpt-5.5" }] },
				whole: { apiKey: "kkkkkkkk", models: [{ id: "a", baseUrl: "http://x", api: "openai-responses" }] },
				Loud: { apiKey: "kkkkkkkk", baseUrl: "http://x", api: "openai-responses" },
				groq: { models: [] },
				broken: 7,
			},
		});
		const warnings: string[] = [];
		const models = make({ OPENAI_API_KEY: "k-12345678", OPENROUTER_API_KEY: "k-12345678" }, { warn: (problem) => warnings.push(problem) });
		await models.available();
		expect(warnings.map((problem) => problem.replace(/^.*models\.jsonc: /, ""))).toEqual([
			"providers.x lacks api and apiKey",
			"providers.n lacks baseUrl and api",
			"providers.broken must be an object",
		]);
		const problem = { problem: expect.stringMatching(/^Model not found: n\/gpt-5\.5\. .*providers\.n lacks baseUrl and api\.$/) };
		expect(await models.resolve("n/gpt-5.5")).toMatchObject(problem);
		// It is part of the ids of others.
		expect(await models.resolve("n/g")).toMatchObject({ problem: expect.stringContaining("providers.n lacks") });
		expect(await models.resolve("broken/m")).toMatchObject({ problem: expect.stringContaining("must be an object") });
		expect(await models.resolve("whole/a:high")).toMatchObject({ model: { provider: "whole", id: "a" }, level: "high" });
		expect(await models.resolve("loud/new")).toMatchObject({ model: { provider: "Loud", id: "new" } });
	});

	test("a built-in provider is redirected, extended and patched", async () => {
		write({
			providers: {
				anthropic: {
					baseUrl: `${server.url}/proxy`,
					modelOverrides: { "claude-opus-4-7": { contextWindow: 5000, compat: { thinkingMode: "budget" } } },
					models: [{ id: "claude-mine", reasoning: true }],
				},
			},
		});
		const models = make({ ANTHROPIC_API_KEY: "k-1234" });
		expect(await models.find("anthropic", "claude-opus-4-7")).toMatchObject({
			baseUrl: `${server.url}/proxy`,
			contextWindow: 5000,
			maxTokens: 128000,
			compat: { thinkingMode: "budget", thinkingLevelMap: { xhigh: "xhigh", max: "max" } },
		});
		expect(await models.find("anthropic", "claude-mine")).toMatchObject({ api: "anthropic-messages", reasoning: true });
		expect((await models.available()).length).toBeGreaterThan(10);
	});

	test("a price has steps, and one that does not say where it begins is named", async () => {
		const step = { inputTokensAbove: 1000, input: 5, output: 10 };
		const cost = { input: 1, output: 2, tiers: [step, { input: 9 }] };
		write({ providers: { acme: { baseUrl: server.url, api: "openai-completions", apiKey: "k-12345678", models: [{ id: "m", cost }] } } });
		const warnings: string[] = [];
		const [found] = await make({}, { warn: (problem) => warnings.push(problem) }).available();
		expect(found?.cost).toEqual({ ...prices(1, 2), tiers: [{ inputTokensAbove: 1000, ...prices(5, 10) }] });
		expect(warnings).toEqual([
			expect.stringMatching(/providers\.acme\.models\[0\]\.cost\.tiers must be a list of objects with inputTokensAbove and prices$/),
		]);
	});

	test("a name that does not exist gets the one that was meant", async () => {
		write({ providers: { acme: { baseUrl: server.url, api: "openai-completions", apiKey: "k-12345678", models: [{ id: "big-model" }] } } });
		const models = make({ ANTHROPIC_API_KEY: "k-1234" });
		const problem = async (pattern: string) => ((await models.resolve(pattern)) as { problem?: string }).problem;
		expect(await problem("claude-sonet-4-5")).toMatch(/^Model not found: claude-sonet-4-5\. Did you mean claude-sonnet-4-5\? See /);
		expect(await problem("anthropc/claude-sonnet-4-5")).toMatch(/\. There is no provider anthropc\. Did you mean anthropic\? See /);
		expect(await problem("amce/big-model")).toMatch(/There is no provider amce\. Did you mean acme\?/);
		expect(await problem("zzz")).toBe("Model not found: zzz. See `bowline models` for what can be used.");
	});

	test("a member that has no meaning is named, and the rest is used", async () => {
		write({
			provider: {},
			providers: { acme: { baseURL: "x", baseUrl: server.url, api: "openai-completions", apiKey: "k-12345678", models: [{ id: "m", window: 5 }] } },
		});
		const warnings: string[] = [];
		const models = make({}, { warn: (problem) => warnings.push(problem) });
		expect((await models.available()).map(({ id }) => id)).toEqual(["m"]);
		expect(warnings.map((problem) => problem.replace(/^.*models\.jsonc: /, ""))).toEqual([
			"the file has no member provider. Did you mean providers?",
			"providers.acme has no member baseURL. Did you mean baseUrl?",
			"providers.acme.models[0] has no member window",
		]);
	});

	test("a missing key names the variable that was looked for, and nothing about other providers", async () => {
		write({
			providers: {
				acme: { baseUrl: server.url, api: "openai-completions", apiKey: "$ACME_KEY", models: [{ id: "m" }] },
				other: { baseUrl: server.url },
			},
		});
		const models = make();
		const text = await models.problem(await found(models, "acme", "m"));
		expect(text).toMatch(/^No API key found for acme\. Set ACME_KEY, which its apiKey in .*models\.jsonc names, or pass --api-key\.$/);
	});

	test("a pipe in the place of the file does not hold anything up", async () => {
		execFileSync("mkfifo", [join(userDir, "models.jsonc")]);
		const warnings: string[] = [];
		const models = make({ ANTHROPIC_API_KEY: "k-12345" }, { warn: (problem) => warnings.push(problem) });
		expect(models.secretNames()).toContain("ANTHROPIC_API_KEY");
		expect((await models.available()).length).toBeGreaterThan(0);
		expect(warnings).toEqual([expect.stringMatching(/models\.jsonc: it is not a regular file$/)]);
	});

	test("a broken file is reported in words", async () => {
		write('{\n\t"providers" {}\n}');
		const warnings: string[] = [];
		await make({}, { warn: (problem) => warnings.push(problem) }).available();
		expect(warnings).toEqual([expect.stringMatching(/models\.jsonc:2: colon expected$/)]);
	});

	test("a broken file takes nothing away and is reported once", async () => {
		write('{ "providers": { "acme": ');
		const warnings: string[] = [];
		const models = make({ ANTHROPIC_API_KEY: "k-1234" }, { warn: (problem) => warnings.push(problem) });
		expect((await models.available()).length).toBeGreaterThan(10);
		await models.available();
		expect(warnings).toEqual([expect.stringMatching(/models\.jsonc:1: /)]);
		expect(await models.problem(await found(models, "openai", "gpt-5.5"))).toMatch(/^No API key found for openai\..*models\.jsonc:1: /);
	});

	test("a broken entry leaves the others", async () => {
		write({
			providers: {
				one: { api: "telepathy" },
				two: { baseUrl: "http://x", api: "openai-responses", apiKey: "literal-key", models: [{ name: "no id" }, { id: "ok" }] },
				three: 7,
			},
		});
		const warnings: string[] = [];
		const models = make({}, { warn: (problem) => warnings.push(problem) });
		expect((await models.available()).map((model) => `${model.provider}/${model.id}`)).toEqual(["two/ok"]);
		expect(warnings.map((problem) => problem.replace(/^.*models\.jsonc: /, ""))).toEqual([
			"providers.one.api must be one of anthropic-messages, openai-completions, openai-responses, google-generative-ai, bedrock-converse, anthropic-vertex",
			"providers.two.models[0] needs an id",
			"providers.three must be an object",
		]);
		expect(models.secrets()).toContain("literal-key");
	});
});

test("no credential shows up in an error, not even when the provider repeats it", async () => {
	server.answer(refuse(401, '{"error":"the key sk-very-secret is wrong"}'));
	const models = make({ OPENAI_API_KEY: "sk-very-secret", OPENAI_BASE_URL: server.url });
	const events = await ask(models, await found(models, "openai", "gpt-5.5"));
	expect(JSON.stringify(events)).not.toContain("sk-very-secret");
	expect(ending(events)).toMatchObject({
		error: { errorMessage: "401 the key [redacted] is wrong" },
		failure: { kind: "permanent", status: 401 },
	});
});

test("every row has a key variable and an address of a known form", () => {
	for (const [name, route] of routes) {
		expect(route.keys.length, name).toBeGreaterThan(0);
		expect(URL.canParse(route.baseUrl.replace(/\{\w+\}/g, "x")), name).toBe(true);
	}
});
