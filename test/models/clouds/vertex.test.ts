/** Google Vertex against a server that checks tokens and the signatures of service accounts. */
import { createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ModelRequest, StreamEvent } from "../../../src/agent/contracts.ts";
import { addressOf, hostOf } from "../../../src/models/clouds/google.ts";
import type { ModelRegistry } from "../../../src/models/registry.ts";
import type { AssistantMessage } from "../../../src/protocol/messages.ts";
import type { Model } from "../../../src/protocol/model.ts";
import { type Answer, type Loopback, type Received, refuse, stream } from "../loopback.ts";
import { RegistryBench } from "../registry-bench.ts";
import { cassette, ending, open, request } from "../support.ts";

const { privateKey, publicKey } = generateKeyPairSync("rsa", {
	modulusLength: 2048,
	privateKeyEncoding: { type: "pkcs8", format: "pem" },
	publicKeyEncoding: { type: "spki", format: "pem" },
});
const gemini = "gemini-3.8-flash";
const claude = "claude-opus-4-6";

let bench: RegistryBench;
let home: string;
let server: Loopback;
let time: number;
/** The answer for each path; the models answer the rest. */
let answers: Record<string, Answer>;
let issued: number;
beforeEach(async () => {
	bench = await RegistryBench.start();
	({ directory: home, server } = bench);
	time = Date.parse("2026-11-16T12:00:00Z");
	answers = {};
	issued = 0;
	server.answer((response, received) => {
		const [path = ""] = received.url.split("?");
		const own = answers[path];
		if (own) return own(response, received);
		if (received.headers.authorization !== `Bearer google-token-${issued}`)
			return refuse(401, '{"error":{"code":401,"message":"bad token"}}')(response, received);
		return stream(cassette(path.endsWith(":streamRawPredict") ? "anthropic-thinking-tools" : "google-thoughts-tools"))(response, received);
	});
});
afterEach(() => bench.close());

function make(env: Record<string, string> = {}): ModelRegistry {
	const own = { HOME: home, GOOGLE_VERTEX_BASE_URL: server.url, GOOGLE_CLOUD_PROJECT: "my-project", GCE_METADATA_HOST: server.url, ...env };
	return bench.registry({ env: own, now: () => time });
}

async function ask(from: ModelRegistry, id: string, changes: Partial<ModelRequest> = {}): Promise<ReturnType<typeof ending>> {
	const model = (await from.find("google-vertex", id)) as Model;
	const events: StreamEvent[] = [];
	await from.stream(request({ model, ...changes }), { signal: new AbortController().signal, flow: open, onEvent: (event) => events.push(event) });
	return ending(events);
}

const errorOf = (last: ReturnType<typeof ending>) => (last as { error: AssistantMessage }).error.errorMessage;
const token: Answer = (response) => {
	issued += 1;
	response.end(JSON.stringify({ access_token: `google-token-${issued}`, expires_in: 3600, token_type: "Bearer" }));
};
const form = (received: Received | undefined) => Object.fromEntries(new URLSearchParams(received?.body));

function credentials(content: object, path = join(home, "credentials.json")): string {
	writeFileSync(path, JSON.stringify(content));
	return path;
}

const account = () => ({
	type: "service_account",
	project_id: "project-of-file",
	private_key_id: "key-1",
	private_key: privateKey,
	client_email: "bot@project.test",
	token_uri: `${server.url}/token`,
});

describe("a service account", () => {
	test("signs a token that Google can check, and gets one for its models", async () => {
		answers["/token"] = token;
		const models = make({ GOOGLE_APPLICATION_CREDENTIALS: credentials(account()), GOOGLE_CLOUD_PROJECT: "", GOOGLE_CLOUD_LOCATION: "europe-west4" });
		expect((await ask(models, gemini)).type).toBe("done");
		const { grant_type, assertion = "" } = form(server.received[0]);
		expect(grant_type).toBe("urn:ietf:params:oauth:grant-type:jwt-bearer");
		const [head = "", body = "", signature = ""] = assertion.split(".");
		expect(verify("RSA-SHA256", Buffer.from(`${head}.${body}`), createPublicKey(publicKey), Buffer.from(signature, "base64url"))).toBe(true);
		const read = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
		expect(read(head)).toEqual({ alg: "RS256", typ: "JWT", kid: "key-1" });
		const iat = time / 1000;
		expect(read(body)).toEqual({
			iss: "bot@project.test",
			scope: "https://www.googleapis.com/auth/cloud-platform",
			aud: `${server.url}/token`,
			iat,
			exp: iat + 3600,
		});
		expect(server.received[1]).toMatchObject({
			url: `/v1/projects/project-of-file/locations/europe-west4/publishers/google/models/${gemini}:streamGenerateContent?alt=sse`,
			headers: { authorization: "Bearer google-token-1" },
		});
	});

	test("asks for a token once in an hour, and again when one is refused", async () => {
		answers["/token"] = token;
		const models = make({ GOOGLE_APPLICATION_CREDENTIALS: credentials(account()) });
		const tokens = () => server.received.filter(({ url }) => url === "/token").length;
		expect((await ask(models, gemini)).type).toBe("done");
		expect((await ask(models, gemini)).type).toBe("done");
		expect(tokens()).toBe(1);
		time += 56 * 60_000;
		expect((await ask(models, gemini)).type).toBe("done");
		expect(tokens()).toBe(2);
		// Google revokes the token before it expires.
		time += 60_000;
		issued += 1;
		expect((await ask(models, gemini)).type).toBe("done");
		expect(tokens()).toBe(3);
		// The new one is refused too, and there is no further attempt.
		answers[`/v1/projects/my-project/locations/global/publishers/google/models/${gemini}:streamGenerateContent`] = refuse(
			401,
			'{"error":{"code":401,"message":"no"}}',
		);
		expect(await ask(models, gemini)).toMatchObject({ failure: { kind: "permanent", status: 401 } });
		expect(tokens()).toBe(3);
	});

	test("whose key cannot be read says which file, and nothing of the key", async () => {
		const path = credentials({ ...account(), private_key: "-----BEGIN PRIVATE KEY-----\nsecretsecret\n" });
		const said = errorOf(await ask(make({ GOOGLE_APPLICATION_CREDENTIALS: path }), gemini));
		expect(said).toBe(`google-vertex cannot be asked: ${path} does not hold a private key that can be read.`);
	});
});

describe("Claude", () => {
	test("is asked with its version in the body and the model in the address", async () => {
		answers["/token"] = token;
		const models = make({ GOOGLE_APPLICATION_CREDENTIALS: credentials(account()) });
		expect(await models.find("google-vertex", "claude-opus-4-5@20251101")).toMatchObject({
			api: "anthropic-vertex",
			contextWindow: 200000,
			reasoning: true,
		});
		expect(await models.find("google-vertex", "claude-opus-5-5@default")).toMatchObject({ api: "anthropic-vertex", cost: { input: 4 } });
		const last = await ask(models, claude);
		expect(last).toMatchObject({ type: "done", message: { api: "anthropic-vertex", model: claude } });
		const asked = server.received[1] as Received;
		expect(asked.url).toBe(`/v1/projects/my-project/locations/global/publishers/anthropic/models/${claude}:streamRawPredict`);
		expect(JSON.parse(asked.body)).toMatchObject({ anthropic_version: "vertex-2023-10-16", stream: true, thinking: { type: "adaptive" } });
		expect(JSON.parse(asked.body)).not.toHaveProperty("model");
		expect(asked.headers).not.toHaveProperty("anthropic-version");
		// Its thinking goes back with its signature.
		const { message } = last as { message: AssistantMessage };
		const result = message.content.flatMap((block) =>
			block.type === "toolCall"
				? [{ role: "toolResult" as const, toolCallId: block.id, toolName: block.name, content: [], isError: false, timestamp: 3 }]
				: [],
		);
		await ask(models, claude, { messages: [{ role: "user", content: "hi", timestamp: 1 }, message, ...result] });
		const [, reply] = JSON.parse(server.received[2]?.body ?? "").messages;
		expect(reply.content[0]).toMatchObject({ type: "thinking", signature: expect.any(String) });
	});

	test("with a budget says so in a header, but for the third generation", async () => {
		answers["/token"] = token;
		const models = make({ GOOGLE_APPLICATION_CREDENTIALS: credentials(account()) });
		await ask(models, "claude-sonnet-4-5@20250929");
		expect(server.received[1]?.headers["anthropic-beta"]).toBe("interleaved-thinking-2025-05-14,context-management-2025-06-27");
	});
});

describe("other credentials", () => {
	test("a user's refresh token, where gcloud leaves it, with the project that pays", async () => {
		answers["/token"] = token;
		mkdirSync(join(home, ".config", "gcloud"), { recursive: true });
		const user = {
			type: "authorized_user",
			client_id: "c",
			client_secret: "client-secret-1",
			refresh_token: "refresh-token-1",
			quota_project_id: "payer",
		};
		const path = credentials(user, join(home, ".config", "gcloud", "application_default_credentials.json"));
		const models = make({ CLOUDSDK_AUTH_TOKEN_HOST: `${server.url}/token` });
		expect(await models.origin("google-vertex")).toBe(path);
		expect((await ask(models, gemini)).type).toBe("done");
		expect(form(server.received[0])).toEqual({
			grant_type: "refresh_token",
			client_id: "c",
			client_secret: "client-secret-1",
			refresh_token: "refresh-token-1",
		});
		expect(server.received[1]?.headers["x-goog-user-project"]).toBe("payer");
		expect(models.secrets()).toEqual(expect.arrayContaining(["client-secret-1", "refresh-token-1", "google-token-1"]));
	});

	test("a refusal is reported with its reason, and without the secret", async () => {
		answers["/token"] = refuse(
			400,
			JSON.stringify({ error: "invalid_grant", error_description: "Token refresh-token-1 has been expired or revoked." }),
		);
		const path = credentials({
			type: "authorized_user",
			client_id: "c",
			client_secret: "client-secret-1",
			refresh_token: "refresh-token-1",
			token_uri: `${server.url}/token`,
		});
		const said = errorOf(await ask(make({ GOOGLE_APPLICATION_CREDENTIALS: path }), gemini));
		expect(said).toBe(
			`google-vertex cannot be asked: Google refused the credentials of ${path}: 400 invalid_grant: Token [redacted] has been expired or revoked.`,
		);
	});

	test("a token service that is busy or cannot be reached is asked again later", async () => {
		const path = credentials(account());
		answers["/token"] = refuse(503, "");
		expect(await ask(make({ GOOGLE_APPLICATION_CREDENTIALS: path }), gemini)).toMatchObject({ failure: { kind: "transient" } });
		credentials({ ...account(), token_uri: "http://127.0.0.1:1/token" });
		expect(await ask(make({ GOOGLE_APPLICATION_CREDENTIALS: path }), gemini)).toMatchObject({ failure: { kind: "transient" } });
	});

	test("workload identity federation, through a service account", async () => {
		answers["/sts"] = token;
		answers["/impersonate"] = (response, { headers, body }) => {
			expect([headers.authorization, JSON.parse(body)]).toEqual([
				"Bearer google-token-1",
				{ scope: ["https://www.googleapis.com/auth/cloud-platform"] },
			]);
			issued += 1;
			response.end(JSON.stringify({ accessToken: `google-token-${issued}`, expireTime: new Date(time + 3_600_000).toISOString() }));
		};
		answers["/subject"] = (response, { headers }) =>
			void response.end(JSON.stringify({ value: headers.authorization === "Bearer github-request" ? "subject-token-1" : "" }));
		const path = credentials({
			type: "external_account",
			audience: "//iam.test/pool",
			subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
			token_url: `${server.url}/sts`,
			service_account_impersonation_url: `${server.url}/impersonate`,
			credential_source: {
				url: `${server.url}/subject`,
				headers: { Authorization: "Bearer github-request" },
				format: { type: "json", subject_token_field_name: "value" },
			},
		});
		expect((await ask(make({ GOOGLE_APPLICATION_CREDENTIALS: path }), gemini)).type).toBe("done");
		expect(form(server.received[1])).toMatchObject({
			audience: "//iam.test/pool",
			subject_token: "subject-token-1",
			grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
		});
	});

	test("the metadata server of the machine, which also knows the project", async () => {
		answers["/computeMetadata/v1/instance/service-accounts/default/token"] = (response, received) =>
			received.headers["metadata-flavor"] === "Google" ? token(response, received) : refuse(403, "")(response, received);
		answers["/computeMetadata/v1/project/project-id"] = (response) => void response.end("project-of-machine");
		expect((await ask(make({ GOOGLE_CLOUD_PROJECT: "" }), gemini)).type).toBe("done");
		expect(server.received[2]?.url).toContain("/projects/project-of-machine/locations/global/");
	});

	test("none at all: what to do", async () => {
		answers["/computeMetadata/v1/instance/service-accounts/default/token"] = refuse(404, "");
		expect(errorOf(await ask(make(), gemini))).toMatch(
			/^google-vertex cannot be asked: no Google credentials found\. Run `gcloud auth application-default login`/,
		);
		expect(errorOf(await ask(make({ NO_GCE_CHECK: "true" }), gemini))).toMatch(/no Google credentials found/);
		expect(server.received).toHaveLength(1);
		const odd = credentials({ type: "gdch_service_account" });
		expect(errorOf(await ask(make({ GOOGLE_APPLICATION_CREDENTIALS: odd }), gemini))).toContain(
			'is of the type "gdch_service_account", which Bowline does not know',
		);
		const far = credentials({ ...account(), token_uri: "http://evil.test/token" });
		expect(errorOf(await ask(make({ GOOGLE_APPLICATION_CREDENTIALS: far }), gemini))).toContain("credentials are not sent to http://evil.test");
	});

	test("a key needs no project and no token", async () => {
		server.answer(stream(cassette("google-thoughts-tools")));
		const models = make({ GOOGLE_CLOUD_API_KEY: "google-key-1", GOOGLE_CLOUD_PROJECT: "" });
		expect((await ask(models, gemini)).type).toBe("done");
		expect(server.received).toHaveLength(1);
		expect(server.received[0]).toMatchObject({
			url: `/v1/publishers/google/models/${gemini}:streamGenerateContent?alt=sse`,
			headers: { "x-goog-api-key": "google-key-1" },
		});
	});
});

test("hosts of locations, and addresses that the user gives", () => {
	expect(hostOf("global")).toBe("https://aiplatform.googleapis.com");
	expect(hostOf("eu")).toBe("https://aiplatform.eu.rep.googleapis.com");
	expect(hostOf("us-east5")).toBe("https://us-east5-aiplatform.googleapis.com");
	const place = "/projects/p/locations/l";
	expect(addressOf("https://h", place, "google")).toBe("https://h/v1/projects/p/locations/l/publishers/google");
	expect(addressOf("https://h/v1beta1/", place, "anthropic")).toBe("https://h/v1beta1/projects/p/locations/l/publishers/anthropic");
	expect(addressOf("https://h/v1/projects/q/locations/m", place, "google")).toBe("https://h/v1/projects/q/locations/m/publishers/google");
	expect(addressOf("https://h/x/publishers/google", place, "anthropic")).toBe("https://h/x/publishers/anthropic");
});
