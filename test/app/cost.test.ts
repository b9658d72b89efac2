/** `bowline cost`, and what `get_session_stats` says about the provider's cache: through the whole program, with a provider that has one. */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { SessionCost } from "../../src/app/commands/cost.ts";
import type { SessionStats } from "../../src/protocol/commands/session.ts";
import { cachingProvider } from "../models/caching.ts";
import { Loopback } from "../models/loopback.ts";
import { assistant, fileOf, folder, header, result, said, user } from "../transcript/support.ts";
import { Agent, program } from "../wire/support/agent.ts";

const instructions = "Names of variables are whole words. ".repeat(300);

describe("a session with a provider that keeps what requests mark", () => {
	let server: Loopback;
	let home: string;
	const agents: Agent[] = [];
	beforeEach(async () => {
		server = await Loopback.start();
		home = folder();
	});
	afterEach(async () => {
		for (const agent of agents.splice(0)) await agent.dispose();
		await server.stop();
	});

	const env = () => ({ ANTHROPIC_API_KEY: "k-12345678", ANTHROPIC_BASE_URL: server.url, BOWLINE_DIR: home });
	function start(...flags: string[]): Agent {
		const agent = new Agent({
			cwd: home,
			flags: ["--provider", "anthropic", "--model", "claude-opus-4-6", ...flags],
			files: { "AGENTS.md": instructions },
			env: env(),
		});
		agents.push(agent);
		return agent;
	}
	async function ask(agent: Agent, message: string, more: object = {}): Promise<void> {
		agent.send({ id: message, type: "prompt", message, ...more });
		await agent.event("agent_settled");
	}
	async function statsOf(agent: Agent): Promise<SessionStats> {
		agent.send({ id: "stats", type: "get_session_stats" });
		return (await agent.response("stats")).data as unknown as SessionStats;
	}
	async function end(agent: Agent): Promise<void> {
		agent.endInput();
		await agent.exited();
	}
	const cost = (...args: string[]) =>
		spawnSync(process.execPath, [program, "cost", ...args], { cwd: home, env: { ...process.env, ...env() }, encoding: "utf8" });

	test("prediction and report agree while nothing changes, breaks say why, and a restart changes nothing", async () => {
		const provider = cachingProvider(() => ({ text: ["Done."] }));
		server.answer(provider.answer);
		const first = start("--session-id", "paid");
		await ask(first, "one");
		await ask(first, "two");
		const { cache } = await statsOf(first);
		expect(cache).toMatchObject({ requests: 2, breaks: [] });
		expect(cache?.predictedReadTokens).toBeGreaterThan(2000);
		expect(cache?.reportedReadTokens).toBe(cache?.predictedReadTokens);

		first.send({ id: "level", type: "set_thinking_level", level: "high" });
		await ask(first, "three");
		provider.forget();
		await ask(first, "four");
		const stats = await statsOf(first);
		expect(stats.cache).toMatchObject({
			requests: 4,
			breaks: [
				{ segment: "messages", cause: expect.stringContaining("the thinking level changed"), costUsd: expect.any(Number) },
				{ segment: "tools", cause: expect.stringContaining("the provider no longer had it"), costUsd: expect.any(Number) },
			],
		});
		await end(first);

		const again = start("--session-id", "paid");
		expect(await statsOf(again)).toEqual(stats);
		await end(again);

		const { rows, totals, ...printed } = JSON.parse(cost("paid", "--json").stdout) as SessionCost;
		expect(printed).toEqual({ sessionId: "paid", file: stats.sessionFile, cache: stats.cache });
		expect(totals).toEqual({ tokens: stats.tokens, cost: stats.cost });
		expect(rows.map(({ kind, text, models, requests }) => ({ kind, text, models, requests }))).toEqual(
			["one", "two", "three", "four"].map((text) => ({ kind: "prompt", text, models: ["anthropic/claude-opus-4-6"], requests: 1 })),
		);
	});

	test("the first prompt that asks for a value says that it cost the cache", async () => {
		const submit = { name: "submit_result", arguments: ['{"result":{"data":{}}}'] };
		const provider = cachingProvider(({ tools = [] }) =>
			tools.some(({ name }) => name === "submit_result") ? { call: submit } : { text: ["Done."] },
		);
		server.answer(provider.answer);
		const agent = start();
		await ask(agent, "one");
		await ask(agent, "two", { outputSchema: { type: "object" } });
		const { cache } = await statsOf(agent);
		const cause = "the first outputSchema added the tool submit_result; ask for a value with the first prompt";
		expect(cache).toMatchObject({ requests: 2, predictedReadTokens: 0, breaks: [{ segment: "tools", cause }] });
		await end(agent);
	});

	test("nothing of it is in the answers of dialect strict, nor where no request marks anything", async () => {
		server.answer(cachingProvider(() => ({ text: ["Done."] })).answer);
		const strict = start("--dialect", "strict");
		strict.send({ id: "one", type: "prompt", message: "one" });
		await strict.event("agent_end");
		expect(Object.keys(await statsOf(strict))).not.toContain("cache");
		await end(strict);
		const scripted = start("--provider", "scripted", "--model", "echo");
		await ask(scripted, "one");
		expect(Object.keys(await statsOf(scripted))).not.toContain("cache");
		await end(scripted);
	});
});

describe("bowline cost", () => {
	const at = (minute: number) => new Date(Date.UTC(2026, 2, 5, 10, minute)).toISOString();
	const counts = (input: number, output: number, cacheRead: number, cacheWrite: number) => ({
		input,
		output,
		cacheRead,
		cacheWrite,
		totalTokens: input + output + cacheRead + cacheWrite,
		cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: (3 * input + 15 * output + 0.3 * cacheRead + 3.75 * cacheWrite) / 1e6 },
	});
	const reply = (usage: object, more: object = {}) =>
		said(assistant("done", { api: "anthropic-messages", provider: "anthropic", model: "claude", usage, ...more } as never));
	const task = (details: object) => said(result("t", { toolName: "task", details }));
	const run = (cwd: string, ...args: string[]) =>
		spawnSync(process.execPath, [program, "cost", ...args], {
			cwd,
			env: { PATH: process.env.PATH, BOWLINE_DIR: join(cwd, "user"), TZ: "UTC" },
			encoding: "utf8",
			timeout: 60_000,
		});
	const stored = (bodies: readonly object[], more: object = {}) => {
		const cwd = folder();
		const entries = bodies.map((body, index) => ({ id: `e${index}`, parentId: index ? `e${index - 1}` : null, timestamp: at(index), ...body }));
		const directory = join(cwd, "user", "sessions", `--${cwd.slice(1).replaceAll("/", "-")}--`);
		mkdirSync(directory, { recursive: true });
		const file = join(directory, "x_0195a1b2-cafe.jsonl");
		writeFileSync(file, fileOf({ ...header, id: "0195a1b2-cafe", cwd, ...more }, ...entries));
		return { cwd, file };
	};

	const talk = [
		said(user("Find out why the search\nis slow, and repair it")),
		reply(counts(5, 100, 0, 9995), { timestamp: Date.parse(at(1)) }),
		reply(counts(5, 40, 10_000, 500), { timestamp: Date.parse(at(2)) }),
		task({
			results: [
				{ id: "FindIndex", agent: "explore", description: "Find the index", usage: counts(2000, 300, 0, 0) },
				{ id: "Measure", agent: "task", description: "Measure it", usage: counts(1000, 100, 0, 0) },
			],
			usage: counts(3000, 400, 0, 0),
		}),
		{
			type: "custom",
			customType: "bowline.cache",
			data: { segment: "tools", cause: 'MCP server "issues" changed its tools', lostTokens: 10_505, costUsd: 0.0345 },
		},
		reply(counts(5, 20, 0, 10_995), { timestamp: Date.parse(at(5)) }),
		{ type: "compaction", summary: "s", firstKeptEntryId: "e0", tokensBefore: 11_000, usage: counts(11_000, 900, 0, 0) },
		said(user("Now the tests")),
		said({ role: "user", content: [{ type: "image", data: "", mimeType: "image/png" }], timestamp: 1 }),
		reply(counts(5, 20, 0, 3995), { model: "other", timestamp: Date.parse(at(9)) }),
	];

	test("prints each prompt with what it cost, subagents and compactions apart, totals, and breaks with their causes", () => {
		const { cwd } = stored(talk);
		const { stdout, stderr, status } = run(cwd, "0195a1b2");
		expect([status, stderr]).toEqual([0, ""]);
		expect(stdout).toBe(`   prompt                                          model   requests  tokens in    out  cached       $
1  Find out why the search is slow, and repair it  claude         3     31,505    160    32 %  0.0860
     subagent FindIndex: Find the index                                  2,000    300     0 %  0.0105
     subagent Measure: Measure it                                        1,000    100     0 %  0.0045
     compaction                                                         11,000    900     0 %  0.0465
2  Now the tests                                                  0          0      0               -
3  (picture)                                       other          1      4,000     20     0 %  0.0153
   all                                                            4     49,505  1,480    20 %  0.1628

Cache: 4 requests, 10,000 tokens predicted to be found there, 10,000 found by the provider's count.
Lost once, which cost $0.0345 more:
  2026-03-05 10:04  tools     $0.0345  MCP server "issues" changed its tools
`);
	});

	test("gives programs the same as JSON, whose rows add up to the totals", () => {
		const { cwd, file } = stored(talk);
		const { rows, totals, cache, ...more } = JSON.parse(run(cwd, file, "--json").stdout) as SessionCost;
		expect(more).toEqual({ sessionId: "0195a1b2-cafe", file });
		expect(rows[1]).toEqual({
			kind: "subagent",
			at: Date.parse(at(3)),
			text: "FindIndex: Find the index",
			models: [],
			input: 2000,
			output: 300,
			cacheRead: 0,
			cacheWrite: 0,
			costUsd: expect.closeTo(0.0105, 10),
		});
		for (const name of ["input", "output", "cacheRead", "cacheWrite"] as const)
			expect(rows.reduce((sum, row) => sum + row[name], 0)).toBe(totals.tokens[name]);
		expect(rows.reduce((sum, row) => sum + row.costUsd, 0)).toBeCloseTo(totals.cost, 10);
		expect(cache?.breaks).toEqual([{ at: Date.parse(at(4)), segment: "tools", cause: 'MCP server "issues" changed its tools', costUsd: 0.0345 }]);
	});

	test("names the session that it goes on from, and what subagents cost that were killed", () => {
		const { cwd, file } = stored(talk.slice(0, 3), { parentSession: "/sessions/parent.jsonl" });
		mkdirSync(file.replace(".jsonl", ""));
		writeFileSync(join(file.replace(".jsonl", ""), "0-Killed.jsonl"), fileOf(header, { ...reply(counts(1000, 0, 0, 0)), id: "a", parentId: null }));
		const { stdout } = run(cwd, file);
		expect(stdout).toContain("\nBegun from /sessions/parent.jsonl: what was copied from it is counted here, too.\n");
		expect(stdout).toContain("\nNot in the table: $0.0030 of subagents that ended without a result.\n");
		expect(JSON.parse(run(cwd, file, "--json").stdout)).toMatchObject({
			parentSession: "/sessions/parent.jsonl",
			unreportedCostUsd: expect.closeTo(0.003, 10),
		});
	});

	test("prices what was lost by the list where no reply shows the price of the cache", () => {
		const lost = { provider: "anthropic", model: "claude-opus-4-6" };
		const { cwd } = stored([reply(counts(5, 1, 0, 99_995), lost), reply(counts(5, 1, 0, 99_995), lost)]);
		const { cache } = JSON.parse(run(cwd, "0195", "--json").stdout) as SessionCost;
		expect(cache?.breaks).toEqual([expect.objectContaining({ costUsd: expect.closeTo((100_000 * 5.75) / 1e6, 10) })]);
	});

	test("takes files of other programs and older versions, with odd members", () => {
		const cwd = folder();
		const old = join(cwd, "old.jsonl");
		const usage = { input: "many", output: 3, cacheRead: null, cost: { total: "free" } };
		const lines = [
			{ type: "session", id: "old", timestamp: at(0), cwd: "/elsewhere", provider: "anthropic", modelId: "m", thinkingLevel: "off" },
			{ type: "message", timestamp: at(1), message: { role: "user", content: "Hello \u001b[31mthere" } },
			{ type: "message", timestamp: at(2), message: { role: "assistant", content: [], usage } },
			{
				type: "message",
				timestamp: "never",
				message: { role: "toolResult", toolName: "task", content: [], details: { results: [null, { usage }] } },
			},
			{ type: "branch_summary", fromId: "x", summary: "s", usage },
			{ type: "title", usage },
			"garbage",
		];
		writeFileSync(old, fileOf(...(lines as object[])));
		const { stdout, stderr, status } = run(cwd, old);
		expect([status, stderr]).toEqual([0, ""]);
		expect(stdout).toContain("1  Hello [31mthere");
		expect(stdout).toContain("summary of a branch");
		expect(stdout).toContain("outside of the conversation");
		expect(stdout).not.toContain("Cache");
	});

	test("fits a long session into a narrow terminal", () => {
		const turns = Array.from({ length: 1200 }, (_, index) => [
			said(user(`Prompt ${index} ${"with many words ".repeat(20)}`)),
			reply(counts(1, 1, 0, 0)),
		]).flat();
		const { cwd, file } = stored(turns);
		const { stdout } = spawnSync(process.execPath, [program, "cost", file], {
			cwd,
			env: { PATH: process.env.PATH, BOWLINE_DIR: join(cwd, "user") },
			encoding: "utf8",
			timeout: 60_000,
			maxBuffer: 1e8,
		});
		const lines = stdout.split("\n");
		expect(lines.filter((line) => line.includes("Prompt "))).toHaveLength(1200);
		expect(Math.max(...lines.slice(0, 1202).map((line) => line.length))).toBeLessThanOrEqual(120);
	});

	test.each([
		["no session", [], 2, "Which session? bowline cost <session file or id>"],
		["two sessions", ["a", "b"], 2, "Unexpected argument: b. bowline cost <session file or id>"],
		["an id that no session has", ["fedc"], 1, "No session found: fedc. See bowline sessions."],
		["a file that is not there", ["no.jsonl"], 1, "No such session file, or an empty one: "],
		["a file that is none", ["text.jsonl"], 1, "Not a session file: "],
		["a directory", ["./"], 1, "Session file could not be read: EISDIR"],
	])("says what is wrong with %s", (_, args, code, words) => {
		const { cwd } = stored(talk);
		writeFileSync(join(cwd, "text.jsonl"), "text\n");
		const { stdout, stderr, status } = run(cwd, ...args);
		expect(stderr).toContain(words);
		expect([status, stdout]).toEqual([code, ""]);
		expect(stderr).not.toContain("    at ");
	});
});
