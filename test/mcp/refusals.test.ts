/** Tools that a provider does not take are left out for its models, and the session goes on. */
import { describe, expect, test } from "vitest";
import type { Outcome, Tool } from "../../src/agent/contracts.ts";
import { Refusals } from "../../src/mcp/refusals.ts";
import { Agent } from "../wire/support/agent.ts";
import { json, loopback } from "./loopback.ts";
import { small } from "./support.ts";

const tool = (name: string, properties: object = {}): Tool => ({
	name,
	label: name,
	effect: { kind: "run" },
	offered: "default",
	description: name,
	parameters: { type: "object", properties },
	concurrency: "shared",
	execute: async () => ({ content: [], details: {} }),
});
const claude = { api: "anthropic-messages", provider: "anthropic", id: "claude" };
const gpt = { api: "openai-responses", provider: "openai", id: "gpt" };
const gemini = { api: "google-generative-ai", provider: "google", id: "gemini" };
const failure = (errorMessage: string, status = 400) =>
	({ messages: [], last: { stopReason: "error", errorMessage }, failure: { kind: "permanent", status } }) as unknown as Outcome;
const names = (tools: readonly Tool[]) => tools.map(({ name }) => name);

describe("a refused request that names a tool", () => {
	const tools = [tool("read"), tool("mcp__a__one"), tool("mcp__a__two"), tool("mcp__a__two_more")];
	test.each([
		["Invalid schema for function 'mcp__a__two': In context=()", gpt, "mcp__a__two"],
		["tools.2.custom.input_schema: JSON schema is invalid", claude, "mcp__a__two"],
		["GenerateContentRequest.tools[0].function_declarations[1].parameters: should be non-empty", gemini, "mcp__a__one"],
		["Invalid 'tools[3].function.parameters'", gpt, "mcp__a__two_more"],
	])("%s", async (words, model, out) => {
		const warnings: string[] = [];
		const refusals = new Refusals((text) => void warnings.push(text));
		refusals.fit(tools, model);
		expect(refusals.policy.foresee?.(failure(words))).toBe(true);
		expect(await (await refusals.policy.settle?.(failure(words), new AbortController().signal))?.due).toBe(true);
		expect(names(refusals.fit(tools, model))).toEqual(names(tools).filter((name) => name !== out));
		expect(warnings).toEqual([
			expect.stringContaining(`The tool ${out} is left out for ${model.provider}/${model.id}: ${model.provider} refuses it:`),
		]);
		// Another model has it still.
		expect(refusals.fit(tools, { ...model, id: "other" })).toHaveLength(4);
	});

	test.each([
		["messages.1: text is empty", 400],
		["tools.0.custom.input_schema: ours is wrong", 400],
		["tools.2: overloaded", 529],
	])("not %s (%i)", (words, status) => {
		const refusals = new Refusals(() => undefined);
		refusals.fit(tools, claude);
		expect(refusals.policy.foresee?.(failure(words, status))).toBe(false);
	});
});

test("Anthropic takes no odd names of arguments, and OpenAI no more than 128 tools", () => {
	const warnings: string[] = [];
	const refusals = new Refusals((text) => void warnings.push(text));
	const odd = [tool("mcp__a__odd", { "filter[name]": {} }), tool("mcp__a__fine", { "a.b-c_d": {} })];
	expect(names(refusals.fit(odd, claude))).toEqual(["mcp__a__fine"]);
	expect(names(refusals.fit(odd, gpt))).toEqual(["mcp__a__odd", "mcp__a__fine"]);
	const many = [...Array.from({ length: 130 }, (_, index) => tool(`mcp__a__t${index}`)), tool("read")];
	const fitting = names(refusals.fit(many, gpt));
	expect([fitting.length, fitting.at(-1), fitting.includes("mcp__a__t127"), fitting.includes("mcp__a__t126")]).toEqual([128, "read", false, true]);
	expect(refusals.fit(many, gemini)).toHaveLength(131);
	expect(warnings.filter((text) => text.includes("at most 128"))).toHaveLength(3);
});

test("in a session, a provider that refuses one tool is asked again without it", async () => {
	const bodies: { tools: { name: string }[] }[] = [];
	await using provider = await loopback(({ body }, response) => {
		const request = body as unknown as { tools: { name: string }[] };
		bodies.push(request);
		const at = request.tools.findIndex(({ name }) => name === "mcp__s__echo");
		if (at >= 0)
			return json(response, { type: "error", error: { type: "invalid_request_error", message: `tools.${at}.custom.input_schema: bad` } }, 400);
		response.writeHead(200, { "content-type": "text/event-stream" });
		const usage = { input_tokens: 1, output_tokens: 1 };
		const events: object[] = [
			{ type: "message_start", message: { id: "m", type: "message", role: "assistant", content: [], model: "m", stop_reason: null, usage } },
			{ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
			{ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "fine" } },
			{ type: "content_block_stop", index: 0 },
			{ type: "message_delta", delta: { stop_reason: "end_turn" }, usage },
			{ type: "message_stop" },
		];
		for (const event of events) response.write(`event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`);
		response.end();
	});
	const models = {
		providers: { local: { baseUrl: new URL("/", provider.url).href, api: "anthropic-messages", apiKey: "key-for-a-test", models: [{ id: "m" }] } },
	};
	const agent = new Agent({
		flags: ["--provider", "local", "--model", "m"],
		files: { "user/models.jsonc": JSON.stringify(models) },
		env: { BOWLINE_SETTINGS: JSON.stringify({ mcpServers: { s: small() } }), BOWLINE_DIR: "user" },
	});
	try {
		agent.send({ id: "p", type: "prompt", message: "go" });
		await agent.event("agent_settled");
		const texts = agent.frames.filter(({ type }) => type === "agent_end").at(-1) as unknown as {
			messages: { role: string; content: { text?: string }[] }[];
		};
		expect(texts.messages.at(-1)?.content[0]?.text).toBe("fine");
		expect(bodies.map(({ tools }) => tools.some(({ name }) => name === "mcp__s__echo"))).toEqual([true, false]);
		expect(agent.stderr).toContain("The tool mcp__s__echo is left out for local/m");
	} finally {
		await agent.dispose();
	}
});
