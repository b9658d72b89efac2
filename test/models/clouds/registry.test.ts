/** Clouds among the other providers: what is listed, what is known of a model, and where their secrets go. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ModelRegistry } from "../../../src/models/registry.ts";
import { matchModel } from "../../../src/models/select.ts";
import { Loopback } from "../loopback.ts";
import { defaultSetting } from "../support.ts";

let home: string;
let server: Loopback;
let registry: ModelRegistry | undefined;
beforeEach(async () => {
	home = mkdtempSync(join(tmpdir(), "bowline-clouds-"));
	server = await Loopback.start();
});
afterEach(async () => {
	await registry?.close();
	await server.stop();
	rmSync(home, { recursive: true });
});

/** Every endpoint that could be asked is on the loopback, which counts. */
function make(env: Record<string, string> = {}): ModelRegistry {
	const { url } = server;
	const endpoints = { AWS_ENDPOINT_URL: url, AWS_EC2_METADATA_SERVICE_ENDPOINT: url, GCE_METADATA_HOST: url, AZURE_POD_IDENTITY_AUTHORITY_HOST: url };
	registry = new ModelRegistry({ env: { HOME: home, ...endpoints, ...env }, userDir: home, setting: defaultSetting, now: Date.now });
	return registry;
}

const providersOf = async (models: ModelRegistry) => [...new Set((await models.available()).map((model) => model.provider))];

describe("what is listed", () => {
	test.each([
		["amazon-bedrock", { AWS_BEARER_TOKEN_BEDROCK: "k-12345678" }, "AWS_BEARER_TOKEN_BEDROCK"],
		["amazon-bedrock", { AWS_ACCESS_KEY_ID: "A", AWS_SECRET_ACCESS_KEY: "s-12345678" }, "AWS_ACCESS_KEY_ID"],
		["amazon-bedrock", { AWS_PROFILE: "work" }, "AWS_PROFILE"],
		["amazon-bedrock", { AWS_WEB_IDENTITY_TOKEN_FILE: "/x", AWS_ROLE_ARN: "r" }, "AWS_WEB_IDENTITY_TOKEN_FILE"],
		["amazon-bedrock", { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: "/x" }, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"],
		["google-vertex", { GOOGLE_APPLICATION_CREDENTIALS: "/x" }, "GOOGLE_APPLICATION_CREDENTIALS"],
		["google-vertex", { GOOGLE_CLOUD_API_KEY: "k-12345678" }, "GOOGLE_CLOUD_API_KEY"],
		["azure", { AZURE_OPENAI_RESOURCE_NAME: "r", AZURE_TENANT_ID: "t", AZURE_CLIENT_ID: "c" }, "AZURE_CLIENT_ID"],
		["azure", { AZURE_OPENAI_ENDPOINT: "https://r.openai.azure.com" }, "Entra ID"],
	])("%s with %j, without a word to anybody", async (provider, env, origin) => {
		const models = make(env);
		expect(await providersOf(models)).toEqual([provider]);
		expect(await models.origin(provider)).toBe(origin);
		expect(server.received).toEqual([]);
	});

	test("files of other tools list nothing, but are mentioned and serve a model that is named", async () => {
		mkdirSync(join(home, ".aws"));
		writeFileSync(join(home, ".aws", "credentials"), "[default]\n");
		const models = make();
		expect(await providersOf(models)).toEqual([]);
		expect([...models.hints()]).toEqual([["amazon-bedrock", join(home, ".aws", "credentials")]]);
		expect(await models.resolve("bedrock/us.anthropic.claude-opus-4-7")).toMatchObject({ model: { provider: "amazon-bedrock" } });
		expect([...make({ AWS_PROFILE: "default" }).hints()]).toEqual([]);
	});

	test("Vertex offers Gemini and Claude, Azure what OpenAI has", async () => {
		const apis = async (models: ModelRegistry) => [...new Set((await models.available()).map((model) => model.api))].sort();
		expect(await apis(make({ GOOGLE_APPLICATION_CREDENTIALS: "/x" }))).toEqual(["anthropic-vertex", "google-generative-ai"]);
		const azure = await make({ AZURE_OPENAI_API_KEY: "k-12345678", AZURE_OPENAI_RESOURCE_NAME: "r" }).available();
		expect(azure.find(({ id }) => id === "gpt-5.5")).toMatchObject({
			provider: "azure",
			baseUrl: "https://r.openai.azure.com/openai/v1",
			reasoning: true,
		});
	});
});

describe("what is known of a model", () => {
	test.each([
		["global.anthropic.claude-opus-4-8", 5],
		["us.anthropic.claude-opus-4-8", 5.5],
		["jp.anthropic.claude-sonnet-4-5-20250929-v1:0", 3.3],
		["eu.anthropic.claude-opus-5-5", 4.4],
		["anthropic.claude-haiku-4-5-20251001-v1:0", 1],
		["arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.anthropic.claude-opus-4-6-v1", 5.5],
		["eu.amazon.nova-pro-v1:0", 0.92],
		["sa.amazon.nova-pro-v1:0", 0.8],
	])("%s costs %d for a million tokens, wherever it is listed", async (id, input) => {
		expect(await make().find("amazon-bedrock", id)).toMatchObject({ id, api: "bedrock-converse", input: ["text", "image"], cost: { input } });
	});

	test("an id that says nothing gets the usual defaults", async () => {
		const id = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123";
		expect(await make().find("amazon-bedrock", id)).toMatchObject({ id, contextWindow: 128000, reasoning: false });
	});

	test("a part of a name means the newest for all of the world", async () => {
		const models = await make({ AWS_PROFILE: "work" }).available();
		expect(matchModel("opus", models)?.model.id).toBe("global.anthropic.claude-opus-5-5");
		expect(matchModel("bedrock/haiku", models)?.model.id).toBe("global.anthropic.claude-haiku-5-5");
		expect(matchModel("us.anthropic.claude-opus-4-7:high", models)).toMatchObject({ model: { id: "us.anthropic.claude-opus-4-7" }, level: "high" });
	});
});

describe("secrets", () => {
	const env = {
		AWS_ACCESS_KEY_ID: "AKIDEXAMPLE",
		AWS_SECRET_ACCESS_KEY: "aws-secret-1",
		AWS_SESSION_TOKEN: "aws-session-1",
		AZURE_CLIENT_SECRET: "azure-secret-1",
	};

	test("of an account are always kept out of texts", () => {
		expect(make(env).secrets()).toEqual(expect.arrayContaining(["aws-secret-1", "aws-session-1", "azure-secret-1"]));
		expect(make(env).secrets()).not.toContain("AKIDEXAMPLE");
	});

	test("of an account are kept from commands once a model of it is used; a provider's own key always", async () => {
		const models = make({ ...env, AWS_BEARER_TOKEN_BEDROCK: "bedrock-key-1" });
		expect(models.secretNames()).toContain("AWS_BEARER_TOKEN_BEDROCK");
		expect(models.secretNames()).not.toContain("AWS_SECRET_ACCESS_KEY");
		const found = await models.resolve("amazon-bedrock/us.anthropic.claude-opus-4-7");
		if ("problem" in found) throw new Error(found.problem);
		expect(models.secretNames()).toEqual(expect.arrayContaining(["AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"]));
		expect(models.secretNames()).not.toContain("AZURE_CLIENT_SECRET");
	});

	test("so they are when a session changes to such a model", async () => {
		const models = make(env);
		const model = await models.find("amazon-bedrock", "us.anthropic.claude-opus-4-7");
		expect(models.secretNames()).not.toContain("AWS_SECRET_ACCESS_KEY");
		expect(await models.prepare(model as NonNullable<typeof model>)).toHaveProperty("model");
		expect(models.secretNames()).toContain("AWS_SECRET_ACCESS_KEY");
		expect(server.received).toEqual([]);
	});
});
