/** Azure OpenAI with tokens of Entra ID, against a server that checks them and the assertions of applications. */
import { execFileSync } from "node:child_process";
import { createHash, verify, X509Certificate } from "node:crypto";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { StreamEvent } from "../../../src/agent/contracts.ts";
import type { ModelRegistry } from "../../../src/models/registry.ts";
import { azureDetails } from "../../../src/models/routes.ts";
import type { AssistantMessage } from "../../../src/protocol/messages.ts";
import type { Model } from "../../../src/protocol/model.ts";
import { type Answer, type Loopback, type Received, refuse, stream } from "../loopback.ts";
import { RegistryBench } from "../registry-bench.ts";
import { cassette, ending, open, request } from "../support.ts";

let bench: RegistryBench;
let home: string;
let server: Loopback;
let time: number;
let answers: Record<string, Answer>;
let valid: string;
beforeEach(async () => {
	bench = await RegistryBench.start();
	({ directory: home, server } = bench);
	time = Date.parse("2026-11-16T12:00:00Z");
	answers = {};
	valid = "entra-token-1";
	server.answer((response, received) => {
		const own = answers[received.url.split("?")[0] ?? ""];
		if (own) return own(response, received);
		if (received.headers.authorization !== `Bearer ${valid}`)
			return refuse(401, '{"error":{"code":"401","message":"Access denied"}}')(response, received);
		return stream(cassette("openai-responses-reasoning"))(response, received);
	});
});
afterEach(() => bench.close());

function make(env: Record<string, string> = {}): ModelRegistry {
	const own = {
		PATH: home,
		AZURE_OPENAI_ENDPOINT: `${server.url}/`,
		AZURE_AUTHORITY_HOST: server.url,
		AZURE_POD_IDENTITY_AUTHORITY_HOST: server.url,
		...env,
	};
	return bench.registry({ env: own, now: () => time });
}

async function ask(from: ModelRegistry, id = "gpt-5.5"): Promise<ReturnType<typeof ending>> {
	const model = (await from.find("azure", id)) as Model;
	const events: StreamEvent[] = [];
	await from.stream(request({ model }), { signal: new AbortController().signal, flow: open, onEvent: (event) => events.push(event) });
	return ending(events);
}

const errorOf = (last: ReturnType<typeof ending>) => (last as { error: AssistantMessage }).error.errorMessage;
const token: Answer = (response) => void response.end(JSON.stringify({ token_type: "Bearer", access_token: valid, expires_in: 3599 }));
const form = (received: Received | undefined) => Object.fromEntries(new URLSearchParams(received?.body));
const application = { AZURE_TENANT_ID: "my-tenant", AZURE_CLIENT_ID: "my-client" };
const scope = "https://cognitiveservices.azure.com/.default";
const tokenPath = "/my-tenant/oauth2/v2.0/token";
const metadataPath = "/metadata/identity/oauth2/token";

describe("Entra ID", () => {
	test("a client secret gets a token that lasts for an hour", async () => {
		answers[tokenPath] = token;
		const models = make({ ...application, AZURE_CLIENT_SECRET: "client-secret-1" });
		expect(await models.origin("azure")).toBe("AZURE_CLIENT_ID");
		expect((await ask(models)).type).toBe("done");
		expect(form(server.received[0])).toEqual({ grant_type: "client_credentials", scope, client_id: "my-client", client_secret: "client-secret-1" });
		expect(server.received[1]).toMatchObject({ url: "/openai/v1/responses", headers: { authorization: "Bearer entra-token-1" } });
		expect(server.received[1]?.headers).not.toHaveProperty("api-key");
		expect((await ask(models)).type).toBe("done");
		expect(server.received).toHaveLength(3);
		time += 56 * 60_000;
		valid = "entra-token-2";
		expect((await ask(models)).type).toBe("done");
		expect(server.received.slice(3).map(({ url }) => url)).toEqual([tokenPath, "/openai/v1/responses"]);
		expect(models.secrets()).toEqual(expect.arrayContaining(["client-secret-1", "entra-token-1", "entra-token-2"]));
	});

	test("a certificate signs an assertion", async () => {
		answers[tokenPath] = token;
		const [key, certificate, both] = ["key.pem", "cert.pem", "both.pem"].map((name) => join(home, name)) as [string, string, string];
		execFileSync(
			"openssl",
			["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=test"],
			{ stdio: "ignore" },
		);
		writeFileSync(both, readFileSync(key, "utf8") + readFileSync(certificate, "utf8"));
		expect((await ask(make({ ...application, AZURE_CLIENT_CERTIFICATE_PATH: both }))).type).toBe("done");
		const { client_assertion = "", client_assertion_type } = form(server.received[0]);
		expect(client_assertion_type).toBe("urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
		const [head = "", body = "", signature = ""] = client_assertion.split(".");
		const known = new X509Certificate(readFileSync(certificate));
		expect(verify("RSA-SHA256", Buffer.from(`${head}.${body}`), known.publicKey, Buffer.from(signature, "base64url"))).toBe(true);
		const read = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
		expect(read(head)).toEqual({ alg: "RS256", typ: "JWT", x5t: createHash("sha1").update(known.raw).digest("base64url") });
		expect(read(body)).toMatchObject({ aud: `${server.url}${tokenPath}`, iss: "my-client", sub: "my-client", exp: time / 1000 + 600 });
	});

	test("a workload identity shows the token of its file, read each time", async () => {
		answers[tokenPath] = token;
		const file = join(home, "federated");
		writeFileSync(file, "federated-token-1\n");
		const models = make({ ...application, AZURE_FEDERATED_TOKEN_FILE: file });
		expect((await ask(models)).type).toBe("done");
		writeFileSync(file, "federated-token-2\n");
		time += 3_600_000;
		expect((await ask(models)).type).toBe("done");
		const shown = server.received.filter(({ url }) => url === tokenPath).map((received) => form(received).client_assertion);
		expect(shown).toEqual(["federated-token-1", "federated-token-2"]);
	});

	test("a refusal is reported in one line, without the secret", async () => {
		answers[tokenPath] = refuse(
			401,
			JSON.stringify({ error: "invalid_client", error_description: "AADSTS7000215: Invalid client secret client-secret-1\r\nTrace ID: x" }),
		);
		expect(errorOf(await ask(make({ ...application, AZURE_CLIENT_SECRET: "client-secret-1" })))).toBe(
			"azure cannot be asked: Entra ID refused the application my-client: 401 invalid_client: AADSTS7000215: Invalid client secret [redacted].",
		);
	});

	test("the managed identity of a virtual machine", async () => {
		answers[metadataPath] = (response, { headers, url }) => {
			const query = Object.fromEntries(new URL(url, "http://x").searchParams);
			expect([headers.metadata, query]).toEqual([
				"true",
				{ "api-version": "2018-02-01", resource: "https://cognitiveservices.azure.com", client_id: "mine" },
			]);
			response.end(JSON.stringify({ access_token: valid, expires_in: "3599", expires_on: "1" }));
		};
		expect((await ask(make({ AZURE_CLIENT_ID: "mine" }))).type).toBe("done");
	});

	test("the managed identity of an app", async () => {
		answers["/msi"] = (response, { headers }) =>
			void response.end(
				JSON.stringify({ access_token: headers["x-identity-header"] === "identity-header-1" ? valid : "", expires_on: String(time / 1000 + 3600) }),
			);
		expect((await ask(make({ IDENTITY_ENDPOINT: `${server.url}/msi`, IDENTITY_HEADER: "identity-header-1" }))).type).toBe("done");
	});

	test("whoever is signed in to the command line, as the last resort", async () => {
		answers[metadataPath] = refuse(404, "");
		const said = JSON.stringify({ accessToken: valid, expiresOn: "2026-11-16 13:00:00", expires_on: time / 1000 + 3600, tokenType: "Bearer" });
		writeFileSync(
			join(home, "az"),
			`#!/bin/sh\n[ "$*" = "account get-access-token --output json --resource https://cognitiveservices.azure.com" ] && echo '${said}'\n`,
		);
		chmodSync(join(home, "az"), 0o755);
		const models = make({ PATH: `${home}${delimiter}/bin${delimiter}/usr/bin` });
		expect(await models.origin("azure")).toBe("Entra ID");
		expect((await ask(models)).type).toBe("done");
		expect((await ask(models)).type).toBe("done");
		expect(server.received.filter(({ url }) => url.startsWith("/metadata"))).toHaveLength(1);
	});

	test("nothing anywhere: what to do", async () => {
		answers[metadataPath] = refuse(404, "");
		expect(errorOf(await ask(make()))).toMatch(
			/^azure cannot be asked: no Entra ID credentials found\. Set AZURE_OPENAI_API_KEY, or AZURE_TENANT_ID, .* \(az: the command failed with 127\)\.$/,
		);
	});

	test("a key or a token of the user's own comes first", async () => {
		server.answer(stream(cassette("openai-responses-reasoning")));
		expect((await ask(make({ ...application, AZURE_CLIENT_SECRET: "client-secret-1", AZURE_OPENAI_API_KEY: "azure-key-1" }))).type).toBe("done");
		expect((await ask(make({ AZURE_OPENAI_AD_TOKEN: "own-token-1" }))).type).toBe("done");
		expect(server.received.map(({ headers }) => headers["api-key"] ?? headers.authorization)).toEqual(["azure-key-1", "Bearer own-token-1"]);
	});
});

test("deployments and versions are put where Azure wants them", () => {
	const details = (api: string, url: string, env: Record<string, string> = {}) =>
		azureDetails("gpt-5.5", api, url, { AZURE_OPENAI_DEPLOYMENT_NAME_MAP: "gpt-5.5=my dep, other=x", ...env });
	const [responses, chat] = ["openai-responses", "openai-completions"];
	const v1 = "https://r.openai.azure.com/openai/v1";
	expect(details(responses, v1)).toEqual({ modelId: "my dep", url: v1 });
	expect(details(responses, "https://r.openai.azure.com/").url).toBe(v1);
	expect(details(chat, "https://r.services.ai.azure.com/openai").url).toBe("https://r.services.ai.azure.com/openai/v1");
	expect(details(responses, v1, { AZURE_OPENAI_API_VERSION: "preview" }).url).toBe(`${v1}?api-version=preview`);
	expect(details(responses, v1, { AZURE_OPENAI_API_VERSION: "2025-04-01-preview" }).url).toBe(
		"https://r.openai.azure.com/openai?api-version=2025-04-01-preview",
	);
	expect(details(chat, v1, { AZURE_OPENAI_API_VERSION: "2024-10-21" }).url).toBe(
		"https://r.openai.azure.com/openai/deployments/my%20dep?api-version=2024-10-21",
	);
	expect(details(chat, "https://gateway.test/azure", { AZURE_OPENAI_API_VERSION: "2024-10-21" }).url).toBe(
		"https://gateway.test/azure?api-version=2024-10-21",
	);
	expect(details(chat, "https://gateway.test/azure?api-version=1", { AZURE_OPENAI_API_VERSION: "2" }).url).toBe(
		"https://gateway.test/azure?api-version=1",
	);
	expect(details(chat, "http://127.0.0.1:1", { AZURE_OPENAI_ENDPOINT: "http://127.0.0.1:1" }).url).toBe("http://127.0.0.1:1/openai/v1");
});
