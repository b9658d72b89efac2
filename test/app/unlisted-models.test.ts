/** Models that no list has, and providers that are named twice, through the whole program. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Loopback, stream } from "../models/loopback.ts";
import { spoken } from "../models/wire.ts";
import { Agent } from "../wire/support/agent.ts";

let server: Loopback;
let agent: Agent | undefined;
beforeEach(async () => {
	server = await Loopback.start();
	server.answer(stream(Buffer.from(spoken("anthropic", { text: ["Done."] }))));
});
afterEach(async () => {
	await agent?.dispose();
	agent = undefined;
	await server.stop();
});

function start(flags: string[], files: Record<string, string> = {}): Agent {
	const env = { ANTHROPIC_API_KEY: "k-12345678", ANTHROPIC_BASE_URL: server.url };
	agent = new Agent({ flags: ["--no-session", ...flags], env: { ...env, ...(files["models.jsonc"] ? { BOWLINE_DIR: "." } : {}) }, files });
	return agent;
}

async function model(of: Agent): Promise<Record<string, unknown>> {
	of.send({ id: "state", type: "get_state" });
	const { data } = (await of.response("state")) as unknown as { data: { model: Record<string, unknown> } };
	return data.model;
}

async function ask(of: Agent): Promise<{ success?: boolean; error?: string }> {
	of.send({ id: "ask", type: "prompt", message: "hi" });
	const frame = await of.until(({ type, id, success }) => type === "agent_settled" || (type === "response" && id === "ask" && success === false));
	return frame as { success?: boolean; error?: string };
}

const lastBody = () => JSON.parse(server.received.at(-1)?.body ?? "{}") as Record<string, unknown>;

describe("a provider that is named twice", () => {
	test.each([
		[["--provider", "anthropic", "--model", "anthropic/claude-opus-4-7"], "claude-opus-4-7"],
		[["--provider", "anthropic", "--model", "anthropic/claude-opus-99"], "claude-opus-99"],
		[["--set", "defaultProvider=anthropic", "--set", "defaultModel=anthropic/claude-opus-4-7"], "claude-opus-4-7"],
		[["--models", "anthropic/anthropic/claude-opus-4-7"], "claude-opus-4-7"],
		[["--provider", "scripted", "--model", "scripted/echo"], "echo"],
	])("%j", async (flags, id) => {
		expect(await model(start(flags))).toMatchObject({ id });
	});

	test("in set_model", async () => {
		const own = start(["--model", "anthropic/claude-opus-4-7"]);
		own.send({ id: "1", type: "set_model", provider: "anthropic", modelId: "anthropic/claude-sonnet-5" });
		expect(await own.response("1")).toMatchObject({ success: true, data: { id: "claude-sonnet-5" } });
		await ask(own);
		expect(lastBody().model).toBe("claude-sonnet-5");
	});
});

describe("a model that is not listed", () => {
	const flags = ["--model", "anthropic/claude-opus-99"];
	const ceiling = ["--set", "task.budget.maxCostUsd=1"];
	const price = JSON.stringify({ providers: { anthropic: { modelOverrides: { "claude-opus-99": { cost: { input: 1, output: 2 } } } } } });
	const warning = /anthropic\/claude-opus-99 is not listed, so its price is not known: .*Give it a "cost" in .*models\.jsonc/g;

	test("thinks as its nearest relative does, and one warning says that budgets in dollars cannot see it", async () => {
		const own = start([...flags, "--thinking", "high"]);
		expect(await model(own)).toMatchObject({ reasoning: true, contextWindow: 1_000_000, maxTokens: 128_000, cost: { unknown: true } });
		await ask(own);
		expect(lastBody()).toMatchObject({ model: "claude-opus-99", output_config: { effort: "high" } });
		own.send({ id: "again", type: "prompt", message: "again" });
		await own.until(({ type }) => type === "agent_settled");
		expect(own.stderr.match(warning)).toHaveLength(1);
	});

	test("is refused under a ceiling in dollars, by a prompt and by set_model, and nothing is sent", async () => {
		const own = start([...flags, ...ceiling]);
		const refusal =
			/The price of anthropic\/claude-opus-99 is not known, so task\.budget\.maxCostUsd cannot be kept\. Give it a "cost" in .*models\.jsonc/;
		expect(await ask(own)).toMatchObject({ success: false, error: expect.stringMatching(refusal) });
		own.send({ id: "1", type: "set_model", provider: "anthropic", modelId: "claude-opus-99" });
		expect(await own.response("1")).toMatchObject({ success: false, error: expect.stringMatching(refusal) });
		expect(server.received).toEqual([]);
		own.send({ id: "2", type: "set_model", provider: "anthropic", modelId: "claude-opus-4-7" });
		expect(await own.response("2")).toMatchObject({ success: true });
		expect((await ask(own)).success).not.toBe(false);
	});

	test("that the settings name is refused as well, and no other model is asked in its place", async () => {
		const own = start(["--set", "defaultProvider=anthropic", "--set", "defaultModel=claude-opus-99", ...ceiling]);
		expect(await ask(own)).toMatchObject({ success: false, error: expect.stringContaining("The price of anthropic/claude-opus-99 is not known") });
		expect(server.received).toEqual([]);
	});

	test("that a subagent would ask is refused with the reason", async () => {
		const call = {
			name: "task",
			arguments: [JSON.stringify({ agent: "explore", context: "c", tasks: [{ id: "T", description: "d", assignment: "a" }] })],
		};
		server.answer(stream(Buffer.from(spoken("anthropic", { call }))), stream(Buffer.from(spoken("anthropic", { text: ["Done."] }))));
		const override = ["--set", "task.agentModelOverrides.explore=anthropic/anthropic/claude-opus-99"];
		const own = start(["--model", "anthropic/claude-opus-4-7", ...override, ...ceiling]);
		await ask(own);
		expect(lastBody().messages).toMatchObject([
			{},
			{},
			{ content: [{ content: expect.stringContaining("The price of anthropic/claude-opus-99 is not known") }] },
		]);
		expect(server.received).toHaveLength(2);
	});

	test("runs under the ceiling once models.jsonc gives its price, without a warning", async () => {
		const own = start([...flags, ...ceiling], { "models.jsonc": price });
		expect((await ask(own)).success).not.toBe(false);
		own.send({ id: "1", type: "get_session_stats" });
		const { data } = (await own.response("1")) as unknown as { data: { cost: number } };
		expect(data.cost).toBeCloseTo((5 * 1 + 7 * 2) / 1e6, 12);
		expect(own.stderr).toBe("");
	});
});
