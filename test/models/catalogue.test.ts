import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { Catalogue } from "../../src/models/catalogue.ts";
import { catalogueText, readSection, type SourceModel } from "../../src/models/catalogue-format.ts";
import { localModels } from "../../src/models/local.ts";
import { baseUrlOf, fillUrl, loadApi, type Route, routes } from "../../src/models/routes.ts";
import { plainValue, resolveValue, variablesIn } from "../../src/models/values.ts";

test("the catalogue is whole: every model has an API we speak, a window and prices", async () => {
	const catalogue = new Catalogue();
	let count = 0;
	for (const [name, route] of routes) {
		const models = await catalogue.of(name, route);
		expect(new Set(models.map((model) => model.id)).size, name).toBe(models.length);
		for (const model of models) {
			count += 1;
			expect(await loadApi(model.api), model.id).toBeDefined();
			const numbers = [model.contextWindow, model.maxTokens, ...Object.values(model.cost)];
			if (!numbers.every((number) => number >= 0) || model.contextWindow < 1000 || model.provider !== name) expect.fail(`${name}/${model.id}`);
		}
	}
	expect(count).toBeGreaterThan(1000);
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
		cost: { input: 0.06, output: 1, cacheRead: 0, cacheWrite: 1.25 },
		thinkingLevelMap: { off: null, high: "HIGH" },
	};
	const plain: SourceModel = { ...model, id: "plain", name: "plain", reasoning: false, input: ["text"], thinkingLevelMap: undefined };
	const lines = catalogueText({ acme: [model, plain] })
		.split("\n")
		.slice(1);
	const { thinkingLevelMap, ...rest } = model;
	const { thinkingLevelMap: _, ...bare } = plain;
	expect(readSection("acme", lines)).toEqual([
		{ ...rest, provider: "acme", compat: { thinkingLevelMap } },
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
