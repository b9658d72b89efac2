/** A long request costs the prices of its step, wherever money is counted: in reports, in ceilings, in estimates before a request. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { estimatedUsage } from "../../src/policies/estimated-usage.ts";
import type { Model } from "../../src/protocol/model.ts";
import { assistant, user } from "../transcript/support.ts";
import { Agent } from "../wire/support/agent.ts";
import { Loopback, stream } from "./loopback.ts";
import { model } from "./support.ts";
import { spoken } from "./wire.ts";

/** Above 100,000 tokens of input it costs five times as much. */
const stepped = "claude-haiku-5-5";
const usdPerToken = { input: 0.5e-6, output: 2.5e-6 };
const longTokens = 150_000;
const charactersPerToken = 4;

let server: Loopback;
let agent: Agent;

beforeEach(async () => {
	server = await Loopback.start();
	server.answer(stream(Buffer.from(spoken("anthropic", { text: ["ok"], inputTokens: longTokens }))));
});
afterEach(async () => {
	await agent.dispose();
	await server.stop();
});

function start(...flags: string[]): void {
	const plain = ["--no-session", "--thinking", "off", "--set", "compaction.enabled=false"];
	agent = new Agent({
		flags: ["--provider", "anthropic", "--model", stepped, ...plain, ...flags],
		env: { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: "key-0123456789" },
	});
}

test("the cost of a reply and of the session is that of the step", async () => {
	start();
	agent.send({ id: "1", type: "prompt", message: "go" });
	const { messages } = await agent.event("agent_end");
	const total = longTokens * usdPerToken.input + 7 * usdPerToken.output;
	expect((messages as { usage?: { cost: { total: number } } }[]).at(-1)?.usage?.cost.total).toBeCloseTo(total, 9);
	agent.send({ id: "2", type: "get_session_stats" });
	expect((await agent.response("2")).data).toMatchObject({ cost: expect.closeTo(total, 9) });
});

test("a ceiling in dollars that is between the price of the step and the one below it stops the session", async () => {
	start("--set", "task.budget.maxCostUsd=0.05");
	agent.send({ id: "1", type: "prompt", message: "go" });
	expect(await agent.event("budget_exceeded")).toMatchObject({ snapshot: { reason: "cost", costUsd: expect.closeTo(0.075, 3) } });
	await agent.event("agent_settled");
	agent.send({ id: "2", type: "prompt", message: "more" });
	await agent.until((frame) => frame.id === "2" && frame.success === false);
	expect(server.received).toHaveLength(1);
});

test("the host is asked for the money of the step before the request is sent", async () => {
	start("--gate", "host", "--seq");
	agent.send({ id: "1", type: "prompt", message: "x".repeat(longTokens * charactersPerToken) });
	const { id, estimate } = await agent.event("gate_request");
	const { inputTokens, maxOutputTokens, usd } = estimate as Record<string, number>;
	expect(inputTokens).toBeGreaterThan(longTokens);
	expect(usd).toBeCloseTo((inputTokens as number) * usdPerToken.input + (maxOutputTokens as number) * usdPerToken.output, 5);
	agent.send({ type: "gate_response", id, allow: true });
	await agent.event("agent_settled");
});

test("hosts see the steps of a model, and how long its prompts are cached", async () => {
	start();
	agent.send({ id: "1", type: "get_available_models" });
	const { models } = (await agent.response("1")).data as { models: Model[] };
	const found = models.find(({ id }) => id === stepped);
	expect(found?.cost).toEqual({
		...{ input: 0.1, output: 0.5, cacheRead: 0.01, cacheWrite: 0.125 },
		tiers: [{ inputTokensAbove: 100_000, input: 0.5, output: 2.5, cacheRead: 0.05, cacheWrite: 0.625 }],
	});
	expect(found?.promptCache).toEqual({ short: 300, long: 3600 });
});

test("a reply that its provider did not count is estimated at the step", () => {
	const tiers = [{ inputTokensAbove: 100_000, input: 5, output: 50, cacheRead: 0, cacheWrite: 0 }];
	const counted = model({ cost: { input: 1, output: 10, cacheRead: 0, cacheWrite: 0, tiers } });
	const answer = assistant("ok");
	const costOf = (tokens: number) => {
		const usage = estimatedUsage(answer, [user("x".repeat(tokens * charactersPerToken)), answer], counted);
		return { price: (usage.cost.input / usage.input) * 1e6, output: (usage.cost.output / usage.output) * 1e6 };
	};
	expect(costOf(50_000)).toEqual({ price: expect.closeTo(1), output: expect.closeTo(10) });
	expect(costOf(longTokens)).toEqual({ price: expect.closeTo(5), output: expect.closeTo(50) });
});
