/** Conversations with a provider that is strict about thinking: whatever happens to a session, its next prompt is answered. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Agent } from "../wire/support/agent.ts";
import { ask, type Block, type Host, StrictClaude } from "./strict-claude.ts";

const binding = "claude-opus-5-5";
const clock = join(import.meta.dirname, "clock.cjs");
const day = 24 * 60 * 60 * 1000;
const ls: Block = { call: "bash", arguments: { command: "echo one" } };
/** A command that the test ends. */
const waits = { blocks: [{ call: "bash", arguments: { command: "until [ -e go ]; do sleep 0.02; done" } }] };
const mcpServer = join(import.meta.dirname, "../mcp/servers/small.mjs");

let server: StrictClaude;
afterEach(() => server.stop());

const start = (options: Partial<Parameters<StrictClaude["agent"]>[0]> = {}) => server.agent({ model: binding, level: "high", ...options });

/** Sends a prompt and expects that its run ends well. */
async function prompt(agent: Agent, message: string, more: object = {}): Promise<void> {
	await ask(agent, { type: "prompt", message, ...more });
	await agent.event("agent_settled");
	const { messages } = (await ask(agent, { type: "get_messages" })) as { messages: { role: string; stopReason?: string }[] };
	const reply = messages.findLast(({ role }) => role === "assistant");
	expect(reply).toMatchObject({ stopReason: expect.stringMatching(/stop|toolUse/) });
}

/** A conversation with thinking in three turns, the second with tool calls of which only the first follows a thought. */
async function talk(agent: Agent): Promise<void> {
	server.reply(
		{ blocks: [{ say: "Hello." }] },
		{ blocks: [ls] },
		{ blocks: [ls], thinks: false },
		{ blocks: [ls], thinks: false },
		{ blocks: [{ say: "Looked." }], thinks: false },
		{ blocks: [{ say: "Fine." }] },
	);
	await prompt(agent, "first");
	await prompt(agent, "second");
	await prompt(agent, "third");
}

/** The texts of all thinking in a request. */
const thoughts = (asked = server.asked.at(-1)) =>
	(asked?.messages ?? []).flatMap(({ content }) => content.flatMap((block) => (block.type === "thinking" ? [block.thinking] : [])));

describe.each<Host>(["anthropic", "vertex", "bedrock"])("a model that binds its thinking, on %s", (host) => {
	beforeEach(async () => {
		server = await StrictClaude.start(host);
	});
	afterEach(() => {
		expect(server.refusals).toEqual([]);
		expect(server.dropped).toBe(0);
	});

	test("keeps its thoughts from turn to turn", async () => {
		const agent = start();
		await talk(agent);
		await prompt(agent, "fourth");
		expect(thoughts()).toEqual(["Thought 1.", "Thought 2.", "Thought 3."]);
		expect(server.asked.every(({ thinking }) => thinking.type === "adaptive")).toBe(true);
	});

	test("goes on after a compaction", async () => {
		const agent = start({ flags: ["--set", "compaction.keepRecentTokens=10"] });
		await talk(agent);
		await ask(agent, { type: "compact" });
		await prompt(agent, "fourth");
		await prompt(agent, "fifth");
		expect(thoughts()).toHaveLength(1);
	});

	test("goes on the next day, with all its thoughts and the same system prompt", async () => {
		const agent = start({ env: { NODE_OPTIONS: `--require ${clock}`, TEST_CLOCK: "clock" } });
		await talk(agent);
		writeFileSync(join(agent.cwd, "clock"), String(day));
		await prompt(agent, "fourth");
		expect(thoughts()).toHaveLength(3);
		expect(new Set(server.asked.map(({ system }) => JSON.stringify(system))).size).toBe(1);
		const dates = JSON.stringify(server.asked.at(-1)?.messages).match(/Date: \d{4}-\d\d-\d\d/g);
		expect(new Set(dates).size).toBe(2);
	});

	test("goes on when an MCP server comes late, which joins with a prompt", async () => {
		const entry = { command: process.execPath, args: [mcpServer, "slowUntil=ready"] };
		const agent = start({ flags: ["--set", "mcp.waitMs=1"] });
		await ask(agent, { type: "set_mcp_servers", servers: { small: entry } });
		await talk(agent);
		const names = () => server.asked.map(({ tools }) => JSON.stringify(tools).includes("mcp__small__echo"));
		server.reply(waits, { blocks: [ls], thinks: false }, { blocks: [{ say: "Ok." }] });
		agent.send({ id: "long", type: "prompt", message: "fourth" });
		await agent.until((frame) => frame.type === "tool_execution_start" && JSON.stringify(frame).includes("until"));
		writeFileSync(join(agent.cwd, "ready"), "");
		await agent.until((frame) => frame.type === "mcp_server_update" && frame.status === "ready");
		writeFileSync(join(agent.cwd, "go"), "");
		await agent.event("agent_settled");
		expect(names()).not.toContain(true);
		await prompt(agent, "fifth");
		expect(names().at(-1)).toBe(true);
		await prompt(agent, "sixth");
		expect(thoughts()).toHaveLength(1);
	});

	test("goes on after prompts that ask for a value", async () => {
		const agent = start();
		await talk(agent);
		const outputSchema = { type: "object", properties: { count: { type: "number" } }, required: ["count"] };
		const submit: Block = { call: "submit_result", arguments: { result: { data: { count: 3 } } } };
		server.reply({ blocks: [submit] });
		await prompt(agent, "how many?", { outputSchema });
		await prompt(agent, "fourth");
		const before = server.asked.length;
		server.reply({ blocks: [submit] });
		await prompt(agent, "and now?", { outputSchema });
		await prompt(agent, "fifth");
		expect(new Set(server.asked.slice(before - 1).map(({ tools, system }) => JSON.stringify([tools, system]))).size).toBe(1);
	});

	test("goes on in a fork", async () => {
		const agent = start();
		await talk(agent);
		const { messages } = (await ask(agent, { type: "get_fork_messages" })) as { messages: { entryId: string; text: string }[] };
		await ask(agent, { type: "fork", entryId: messages.find(({ text }) => text === "third")?.entryId });
		await prompt(agent, "another third");
		expect(thoughts()).toEqual(["Thought 1.", "Thought 2."]);
	});

	test("goes on after another model had a turn", async () => {
		const agent = start();
		await talk(agent);
		const [provider, ...rest] = server.model("claude-opus-4-6").split("/");
		await ask(agent, { type: "set_model", provider, modelId: host === "bedrock" ? "global.anthropic.claude-opus-4-6-v1" : rest.join("/") });
		await prompt(agent, "fourth");
		const [own, ...id] = server.model(binding).split("/");
		await ask(agent, { type: "set_model", provider: own, modelId: id.join("/") });
		await prompt(agent, "fifth");
		expect(server.asked.at(-1)?.model).toContain("opus-5-5");
	});

	test("goes on after kill -9 in the middle of a turn, with the request that it would have made", async () => {
		const agent = start();
		await talk(agent);
		server.reply({ blocks: [ls] }, { ...waits, thinks: false });
		agent.send({ id: "kill", type: "prompt", message: "fourth" });
		await agent.until((frame) => frame.type === "tool_execution_start" && JSON.stringify(frame).includes("until"));
		const last = server.asked.at(-1);
		agent.kill("SIGKILL");
		await agent.exited();
		const again = start({ cwd: agent.cwd, flags: ["--continue"], model: binding });
		await prompt(again, "fifth");
		const next = server.asked.at(-1);
		expect(next?.prefix.slice(0, last?.prefix.length)).toEqual(last?.prefix);
		expect(next?.thinking).toEqual(last?.thinking);
	});

	test("goes on at another level, which counts from the next prompt", async () => {
		const agent = start();
		await talk(agent);
		server.reply(waits, { blocks: [ls], thinks: false });
		agent.send({ id: "long", type: "prompt", message: "fourth" });
		await agent.until((frame) => frame.type === "tool_execution_start" && JSON.stringify(frame).includes("until"));
		expect(await ask(agent, { type: "set_thinking_level", level: "low" })).toEqual({ cache: "messages" });
		agent.send({ id: "steer", type: "steer", message: "and then" });
		await agent.response("steer");
		writeFileSync(join(agent.cwd, "go"), "");
		await agent.event("agent_settled");
		const before = server.asked.length;
		await prompt(agent, "fifth");
		expect(server.asked.length).toBe(before + 1);
		expect(thoughts()).not.toEqual([]);
	});
});

describe("a model with a budget for its thinking", () => {
	const old = "claude-sonnet-4-5";
	beforeEach(async () => {
		server = await StrictClaude.start("anthropic");
	});

	test("thinks in every request of a turn, steering included", async () => {
		const agent = start({ model: old });
		await talk(agent);
		server.reply({ ...waits, thinks: false }, { blocks: [ls], thinks: false }, { blocks: [{ say: "Ok." }], thinks: false });
		agent.send({ id: "long", type: "prompt", message: "fourth" });
		await agent.until((frame) => frame.type === "tool_execution_start" && JSON.stringify(frame).includes("until"));
		agent.send({ id: "steer", type: "steer", message: "and then" });
		await agent.response("steer");
		writeFileSync(join(agent.cwd, "go"), "");
		await agent.event("agent_settled");
		expect(server.asked.map(({ thinking }) => thinking.type)).toEqual(server.asked.map(() => "enabled"));
		expect(new Set(server.asked.map(({ thinking }) => JSON.stringify(thinking))).size).toBe(1);
		expect(server.refusals).toEqual([]);
	});

	test("goes on after kill -9 in a turn whose first reply had no thought", async () => {
		const agent = start({ model: old });
		await talk(agent);
		server.reply({ blocks: [ls], thinks: false }, { ...waits, thinks: false });
		agent.send({ id: "kill", type: "prompt", message: "fourth" });
		await agent.until((frame) => frame.type === "tool_execution_start" && JSON.stringify(frame).includes("until"));
		const last = server.asked.at(-1);
		agent.kill("SIGKILL");
		await agent.exited();
		writeFileSync(join(agent.cwd, "go"), "");
		const again = start({ cwd: agent.cwd, flags: ["--continue", "--seq"], model: old });
		await ask(again, { type: "resume_run" });
		await again.event("agent_settled");
		expect(server.asked.at(-1)?.prefix.slice(0, last?.prefix.length)).toEqual(last?.prefix);
		expect(server.asked.at(-1)?.thinking).toEqual(last?.thinking);
		expect(server.refusals).toEqual([]);
	});

	test("keeps the thoughts of earlier turns, which the provider would take out", async () => {
		const agent = start({ model: old });
		await talk(agent);
		expect(server.bodies.at(-1)).toMatchObject({ context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] } });
	});
});

describe("a refusal about thinking is repaired once", () => {
	beforeEach(async () => {
		server = await StrictClaude.start("anthropic");
	});

	test.each([
		["a signature", /"signature"/, "messages.1.content.0: Invalid `signature` in `thinking` block", () => thoughts().length === 1],
		["a binding", /"signature"/, "messages.1.content.0: `thinking` block is bound to a different conversation", () => thoughts().length === 1],
		[
			"bindings as such",
			/block_binding/,
			"thinking.block_binding: Extra inputs are not permitted",
			() => !JSON.stringify(server.bodies.at(-1)).includes("block_binding"),
		],
		[
			"an unknown beta",
			/block_binding/,
			"Unexpected value(s) `thinking-binding-controls-2026-08-01` for the `anthropic-beta` header",
			() => !server.asked.at(-1)?.betas.join().includes("binding"),
		],
	])("%s", async (_, pattern, text, isLeftOut) => {
		const agent = start();
		await talk(agent);
		server.refuseNext = { pattern, text };
		await prompt(agent, "fourth");
		expect(server.refusals).toEqual([text]);
		await prompt(agent, "fifth");
		expect(server.refusals).toHaveLength(1);
		expect(isLeftOut()).toBe(true);
	});

	test("the management of the context", async () => {
		const agent = start({ model: "claude-sonnet-4-5" });
		server.refuseNext = { pattern: /context_management/, text: "context_management: Extra inputs are not permitted" };
		await talk(agent);
		expect(server.refusals).toHaveLength(1);
		expect(server.bodies.at(-1)).not.toHaveProperty("context_management");
	});

	test("thinking as such: the rest of the turn does not think, the next turn does", async () => {
		const agent = start({ model: "claude-sonnet-4-5" });
		const text = "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`";
		server.reply({ blocks: [ls], thinks: false }, { blocks: [ls] }, { blocks: [ls] }, { blocks: [{ say: "Ok." }] });
		server.refuseNext = { pattern: /"tool_result"/, text };
		await prompt(agent, "first");
		expect(server.refusals[0]).toBe(text);
		expect(server.asked.map(({ thinking }) => thinking.type)).toEqual(["enabled", undefined, undefined, undefined]);
		await prompt(agent, "second");
		expect(server.asked.at(-1)?.thinking.type).toBe("enabled");
	});

	test("any other refusal is the user's to see", async () => {
		const agent = start();
		server.refuseNext = { pattern: /./, text: "max_tokens: 9 is too many" };
		await ask(agent, { type: "prompt", message: "first" });
		const end = await agent.event("agent_end");
		expect(JSON.stringify(end)).toContain("max_tokens: 9 is too many");
		expect(server.refusals).toHaveLength(1);
	});
});
