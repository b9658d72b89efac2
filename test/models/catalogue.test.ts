import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { Catalogue } from "../../src/models/catalogue.ts";
import { catalogueText, readSection, type SourceModel } from "../../src/models/catalogue-format.ts";
import { localModels } from "../../src/models/local.ts";
import { ModelRegistry } from "../../src/models/registry.ts";
import { baseUrlOf, fillUrl, loadApi, type Route, routes } from "../../src/models/routes.ts";
import { initialModel } from "../../src/models/select.ts";
import { plainValue, resolveValue, variablesIn } from "../../src/models/values.ts";
import { defaultSetting } from "./support.ts";

test("the catalogue is whole: every model has an API we speak, a window and prices", async () => {
	const catalogue = new Catalogue();
	let count = 0;
	for (const name of routes.keys()) {
		const models = await catalogue.of(name);
		expect(new Set(models.map((model) => model.id)).size, name).toBe(models.length);
		for (const model of models) {
			count += 1;
			expect(await loadApi(model.api), model.id).toBeDefined();
			const { tiers = [], unknown: _, ...prices } = model.cost;
			const numbers = [model.contextWindow, model.maxTokens, ...[prices, ...tiers].flatMap((step) => Object.values(step))];
			if (!numbers.every((number) => number >= 0) || model.contextWindow < 1000 || model.provider !== name) expect.fail(`${name}/${model.id}`);
		}
	}
	expect(count).toBeGreaterThan(1500);
});

/** Their models change too often to be listed; the user names one. */
const namedByTheUser = ["venice", "nanogpt", "synthetic", "qianfan", "zenmux"];

test("every provider with a route has models, but servers of one's own and those whose models the user names", async () => {
	const catalogue = new Catalogue();
	const without = [];
	for (const [name, { isLocal }] of routes) if (!isLocal && (await catalogue.of(name)).length === 0) without.push(name);
	expect(without.sort()).toEqual(namedByTheUser.sort());
});

test("every variable of a key gives models without naming one", async () => {
	for (const [name, { keys, isLocal, baseUrl, cloud }] of routes) {
		if (isLocal || cloud || namedByTheUser.includes(name)) continue;
		const places = Object.fromEntries([...baseUrl.matchAll(/\{(\w+)\}/g)].map(([, variable = ""]) => [variable, "x"]));
		for (const key of keys) {
			const registry = new ModelRegistry({ env: { ...places, [key]: "k-12345678" }, userDir: "/nowhere", setting: defaultSetting, now: Date.now });
			const available = await registry.available();
			expect(
				available.map(({ provider }) => provider),
				key,
			).toContain(name);
			expect(initialModel({ settings: { provider: name } }, available)?.model.provider, key).toBe(name);
			await registry.close();
		}
	}
});

test("Mistral, Bedrock, Vertex and Azure are listed whole, with the levels of the models' vendors", async () => {
	const catalogue = new Catalogue();
	const find = async (provider: string, id: string) => (await catalogue.of(provider)).find((model) => model.id === id);
	expect(await catalogue.of("mistral")).toHaveLength(34);
	expect(await catalogue.of("amazon-bedrock")).toHaveLength(202);
	expect(await find("amazon-bedrock", "us.amazon.nova-pro-v1:0")).toMatchObject({
		maxTokens: 10000,
		cost: { input: 0.8, output: 3.2, cacheRead: 0.2, cacheWrite: 0.8 },
	});
	for (const id of ["anthropic.claude-fable-5-2", "us.anthropic.claude-fable-5-2", "global.anthropic.claude-opus-5-5"])
		expect(await find("amazon-bedrock", id), id).toMatchObject({ api: "bedrock-converse", compat: { thinkingLevelMap: { off: null, max: "max" } } });
	expect(await find("amazon-bedrock", "us.openai.gpt-5.6-sol")).toMatchObject({ compat: { thinkingLevelMap: { off: "none", max: "max" } } });
	expect(await find("google-vertex", "claude-fable-5-2")).toMatchObject({ api: "anthropic-vertex" });
	expect(await find("google-vertex", "claude-haiku-4-5@20251001")).toMatchObject({ contextWindow: 200000 });
	expect(await find("google-vertex", "claude-haiku-4-5")).toBeUndefined();
	expect(await find("azure", "gpt-5.1")).toMatchObject({ compat: { thinkingLevelMap: { off: "none", minimal: null } } });
	expect(await find("together", "moonshotai/Kimi-K3.1-Pro")).toBeDefined();
});

test("a model survives its line", () => {
	const model: SourceModel = {
		id: "a/b:free",
		name: "A B (new)",
		api: "openai-completions",
		baseUrl: "https://x.test/{ACCOUNT}/v1",
		reasoning: true,
		input: ["text", "image"],
		contextWindow: 1000,
		maxTokens: 100,
		cost: {
			...{ input: 0.06, output: 1, cacheRead: 0, cacheWrite: 1.25 },
			tiers: [
				{ inputTokensAbove: 32000, input: 0.5, output: 2, cacheRead: 0.05, cacheWrite: 0 },
				{ inputTokensAbove: 200000, input: 1, output: 4, cacheRead: 0.1, cacheWrite: 0 },
			],
		},
		thinkingLevelMap: { off: null, high: "HIGH" },
		promptCache: { short: 300, long: 3600 },
	};
	const cost = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 };
	const plain: SourceModel = { ...model, id: "plain", name: "plain", reasoning: false, input: ["text"], cost };
	delete plain.thinkingLevelMap;
	const bare: SourceModel = { ...plain, id: "bare", name: "bare" };
	delete bare.promptCache;
	const lines = catalogueText({ acme: [model, plain, bare] })
		.split("\n")
		.slice(1);
	const { thinkingLevelMap, ...rest } = model;
	expect(readSection("acme", lines)).toEqual([
		{ ...rest, provider: "acme", compat: { thinkingLevelMap } },
		{ ...plain, provider: "acme" },
		{ ...bare, provider: "acme" },
	]);
});

test("addresses: filled from the environment, replaced by a variable, the rest of a model's own kept", () => {
	expect(fillUrl("https://x/{A}/{B}", { A: "1 2", B: "b" })).toEqual({ url: "https://x/1%202/b" });
	expect(fillUrl("https://x/{A}/{B}", { A: "1" })).toEqual({ missing: ["B"] });
	const route: Route = { api: "openai-completions", baseUrl: "https://x/v1", keys: [], baseUrlVariable: "X_BASE_URL" };
	expect(baseUrlOf(route, "https://x/v1/special", { X_BASE_URL: "http://y/" })).toEqual({ url: "http://y/special" });
	expect(baseUrlOf(route, "https://other", { X_BASE_URL: "http://y/" })).toEqual({ url: "http://y" });
	expect(baseUrlOf(route, "https://other", {})).toEqual({ url: "https://other" });
	expect(baseUrlOf(route, "", {})).toEqual({ url: "https://x/v1" });
});

test.each([
	["literal", "literal"],
	["$KEY", "k"],
	[`Bearer $\{KEY}-x`, "Bearer k-x"],
	["$$KEY", "$KEY"],
	["$!x", "!x"],
	["KEY", "k"],
	["UNSET_NAME", "UNSET_NAME"],
	["$UNSET", undefined],
	["", undefined],
])("the value %s is %s", async (value, meant) => {
	expect(plainValue(value, { KEY: "k" })).toBe(meant);
	expect(await resolveValue(value, { KEY: "k" })).toBe(meant);
});

test("the variables of a value", () => {
	expect(variablesIn(`$\{A}-$B-$$C`, {})).toEqual(["A", "B"]);
	expect(variablesIn("KEY", { KEY: "k" })).toEqual(["KEY"]);
	expect(variablesIn("KEY", {})).toEqual([]);
	expect(variablesIn("!echo $A", {})).toEqual([]);
});

test("finds a local server that answers, and ignores one that does not", async () => {
	const server = createServer((request, response) => response.end(request.url === "/v1/models" ? '{"data":[{"id":"qwen3"},{"id":"gemma"}]}' : "no"));
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const nowhere = "http://127.0.0.1:1/v1";
	const env = {
		OLLAMA_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
		LM_STUDIO_BASE_URL: nowhere,
		LLAMA_CPP_BASE_URL: nowhere,
		VLLM_BASE_URL: nowhere,
		LITELLM_BASE_URL: nowhere,
	};
	expect((await localModels(env)).map((model) => `${model.provider}/${model.id}`)).toEqual(["ollama/qwen3", "ollama/gemma"]);
	server.close();
});
