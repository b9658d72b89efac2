/** `bowline models`: what a person can use, and what is missing. */
import { execFile } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { program } from "../wire/support/agent.ts";

const run = promisify(execFile);
const bare = { PATH: process.env.PATH ?? "", HOME: "/nonexistent" };

async function models(words: string[], env: Record<string, string> = {}): Promise<string> {
	return (await run(process.execPath, [program, "models", ...words], { env: { ...bare, ...env } })).stdout;
}

test("without a key it says what to do", async () => {
	const text = await models([]);
	expect(text).toContain("No model can be used yet.");
	expect(text).toContain("ANTHROPIC_API_KEY");
	expect(text).toContain("docs/providers.md");
});

test("with a key it lists that provider's models with prices, and never the key", async () => {
	const text = await models(["anthropic", "opus"], { ANTHROPIC_API_KEY: "canary-0123456789" });
	expect(text).toMatch(/^model +context +output +thinking +images +\$ per million in \/ out$/m);
	expect(text).toMatch(/^anthropic\/claude-opus-4-6 +.* \d+ \/ \d+$/m);
	expect(text).not.toContain("canary");
});

test("it shows the steps of a price", async () => {
	const text = await models(["claude-haiku-5-5"], { ANTHROPIC_API_KEY: "canary-0123456789" });
	expect(text).toMatch(/^anthropic\/claude-haiku-5-5 .* 0\.1 \/ 0\.5, above 100K 0\.5 \/ 2\.5$/m);
});

test("a key of a provider whose models are not listed is told how to name one", async () => {
	const said = "VENICE_API_KEY is set, and the models of venice are not listed: name one with --model venice/<id>.";
	expect(await models([], { VENICE_API_KEY: "canary-0123456789" })).toContain(said);
	const flags = ["-p", "--no-session", "hi"];
	for (const more of [[], ["--provider", "venice"]]) {
		const failed = await run(process.execPath, [program, ...more, ...flags], { env: { ...bare, VENICE_API_KEY: "canary-0123456789" } }).catch(
			(error) => error,
		);
		expect(failed.stderr).toContain(`No model selected. ${said}`);
	}
	expect(await models([], { VENICE_API_KEY: "canary-0123456789", MISTRAL_API_KEY: "canary-0123456789" })).toContain("mistral/mistral-large-4 ");
});

test("a search also finds what a key is missing for", async () => {
	const text = await models(["gemini-2.5-pro"]);
	expect(text).toContain("No usable model matches.");
	expect(text).toMatch(/Without a key \(\d+\)/);
	expect(text).toContain("google/gemini-2.5-pro");
});

test("a search that finds nothing names what was probably meant", async () => {
	expect(await models(["anthropc"])).toContain("No usable model matches. Did you mean anthropic?");
	expect(await models(["claude-sonet-4-5"])).toContain("No usable model matches. Did you mean claude-sonnet-4-5?");
});

test("a local server that answers is offered", async () => {
	const server = createServer((_, response) => response.end('{"data":[{"id":"llama-local:8b"}]}'));
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const { port } = server.address() as AddressInfo;
	const text = await models([], { OLLAMA_BASE_URL: `http://127.0.0.1:${port}/v1` });
	server.close();
	expect(text).toContain("ollama/llama-local:8b");
});
