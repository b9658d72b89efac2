/** A ceiling is the session's, not the process's: what was spent counts after a restart, a kill, a fork and a switch. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type Client, type ClientOptions, startClient } from "../../src/client/index.ts";
import { budgetRefusal } from "../../src/protocol/budget-refusal.ts";
import { environment, folder, kept } from "../client/support.ts";
import { serve } from "../serve/support.ts";

const priced = { cost: { input: 1_000_000, output: 0, cacheRead: 0, cacheWrite: 0 } };
/** A reply that costs so many dollars. */
const costing = (dollars: number, blocks: object[] = [{ text: "done" }]) => ({ blocks, usage: { input: dollars, output: 3, cacheRead: 2 } });
const ls = { tool: "bash", arguments: { command: "true" } };

/** Agents of one directory, one after the other. */
class Place {
	readonly cwd: string;

	constructor(replies: object[], files: Record<string, string> = {}) {
		this.cwd = folder({ ...files, "script.jsonc": JSON.stringify({ model: priced, replies }) });
	}

	start(limits: Record<string, number>, args: string[] = ["--continue"], options: Partial<ClientOptions> = {}): Promise<Client> {
		const set = Object.entries(limits).flatMap(([name, limit]) => ["--set", `task.budget.${name}=${limit}`]);
		const model = ["--provider", "scripted", "--model", "script.jsonc"];
		return kept(startClient({ cwd: this.cwd, env: environment(this.cwd), args: [...model, ...set, ...args], waitForReady: true, ...options }));
	}
}

/** What of each ceiling is used. */
async function used(client: Client): Promise<Record<string, number>> {
	const { budget = [] } = await client.getSessionStats();
	return Object.fromEntries(budget.map(({ dimension, used }) => [dimension, used]));
}

/** The events of a budget that a client heard. */
function heardBy(client: Client): string[] {
	const heard: string[] = [];
	client.on("event", (event) => {
		if (event.type === "budget_warning" || event.type === "budget_exceeded")
			heard.push(`${event.type} ${event.snapshot.reason} ${event.snapshot.costUsd}`);
	});
	return heard;
}

const far = { maxCostUsd: 1000, maxInputTokens: 1000, maxOutputTokens: 1000, maxTotalTokens: 5000, maxToolCalls: 100, maxSubagents: 100 };

describe("what was spent counts", () => {
	test("after a restart: the ceiling holds, the refusal says what to do, and a raised ceiling counts at once", async () => {
		const place = new Place([costing(2)]);
		const first = await place.start({ maxCostUsd: 3 }, []);
		await first.promptAndWait("one");
		expect(await used(first)).toEqual({ cost: 2 });
		await first.close();
		const second = await place.start({ maxCostUsd: 3 });
		expect(await used(second)).toEqual({ cost: 2 });
		const heard = heardBy(second);
		await second.promptAndWait("two");
		expect(heard).toEqual(["budget_exceeded cost 4"]);
		await second.close();
		const third = await place.start({ maxCostUsd: 3 }, ["--continue", "--set", "compaction.keepRecentTokens=1"]);
		const told = heardBy(third);
		await expect(third.promptAndWait("three")).rejects.toThrow(budgetRefusal("cost"));
		await expect(third.promptAndWait("four")).rejects.toThrow("Raise task.budget.maxCostUsd, or begin a new session.");
		await expect(third.compact()).rejects.toThrow(budgetRefusal("cost"));
		expect(told).toEqual(["budget_exceeded cost 4"]);
		expect(await used(third)).toEqual({ cost: 4 });
		const { sessionId } = await third.getState();
		// A new session has all of it.
		await third.newSession();
		expect(await used(third)).toEqual({ cost: 0 });
		await third.promptAndWait("five");
		await third.close();
		const fourth = await place.start({ maxCostUsd: 5 }, ["--resume", sessionId]);
		const warned = heardBy(fourth);
		await fourth.promptAndWait("six");
		expect(warned).toEqual(["budget_warning cost 4", "budget_exceeded cost 6"]);
	});

	test("every counter is after a restart what it was before, whatever happened in the run", async () => {
		const task = (id: string) => ({ tool: "task", arguments: { agent: "task", tasks: [{ id, description: id, assignment: "do it" }] } });
		const answer = [{ tool: "submit_result", arguments: { result: { data: "ok" } } }];
		const place = new Place([
			{ when: { agent: "task", tool: "bash" }, ...costing(5, answer), times: "always" },
			{ when: { agent: "task" }, ...costing(3, [ls]), times: "always" },
			costing(7, [ls, { tool: "nothing_like_it", arguments: {} }, ls]),
			{ fail: { status: 529, body: "overloaded" } },
			costing(11, [task("A")]),
			costing(13),
			costing(17, [{ text: "a summary" }]),
		]);
		const before = await place.start(far, ["--set", "retry.baseDelayMs=1", "--set", "compaction.keepRecentTokens=1"]);
		await before.promptAndWait("one");
		await before.compact();
		const counted = await used(before);
		expect(counted).toMatchObject({ tool_calls: 6, subagents: 1 });
		expect(counted.cost).toBeGreaterThanOrEqual(7 + 11 + 13 + 17 + 3 + 5);
		await before.close();
		const after = await place.start(far, ["--continue"]);
		expect(await used(after)).toEqual(counted);
	});

	test("after a kill, with what a subagent had spent whose result was never kept", async () => {
		const task = { tool: "task", arguments: { agent: "task", tasks: [{ id: "A", description: "A", assignment: "do it" }] } };
		const place = new Place([
			{ when: { agent: "task", tool: "bash" }, stall: true },
			{ when: { agent: "task" }, ...costing(3, [ls]) },
			costing(5, [task]),
		]);
		let child: ReturnType<typeof spawn> | undefined;
		const first = await place.start(far, [], {
			spawn: (file, args, options) => {
				child = spawn(file, args, options);
				return child;
			},
		});
		const file = (await first.getState()).sessionFile as string;
		void first.promptAndWait("go").catch(() => undefined);
		const own = `${file.replace(/\.jsonl$/, "")}/0-A.jsonl`;
		await expect.poll(() => existsSync(own) && readFileSync(own, "utf8").includes('"toolResult"'), { timeout: 20_000 }).toBe(true);
		child?.kill("SIGKILL");
		await first.exited;
		const second = await place.start({ ...far, maxCostUsd: 8 }, ["--continue"]);
		expect(await used(second)).toMatchObject({ cost: 8, tool_calls: 2, subagents: 1 });
		await expect(second.promptAndWait("on")).rejects.toThrow(budgetRefusal("cost"));
	});

	test("in a fork, from the shared part; in a session that is switched to, from its file", async () => {
		const place = new Place([{ ...costing(2), times: "always" }]);
		const client = await place.start({ maxCostUsd: 100 }, []);
		const { sessionFile } = await client.getState();
		for (const text of ["one", "two", "three"]) await client.promptAndWait(text);
		expect(await used(client)).toEqual({ cost: 6 });
		const { messages } = await client.getForkMessages();
		await client.fork({ entryId: messages[1]?.entryId as string });
		expect(await used(client)).toEqual({ cost: 2 });
		await client.promptAndWait("elsewhere");
		expect(await used(client)).toEqual({ cost: 4 });
		await client.switchSession({ sessionPath: sessionFile as string });
		expect(await used(client)).toEqual({ cost: 6 });
	});

	test("of time: what earlier processes worked counts, and what lies between them does not", async () => {
		const place = new Place([
			{ ...costing(1, [{ tool: "bash", arguments: { command: "sleep 0.3" } }]) },
			costing(1),
			{ ...costing(1), times: "always" },
		]);
		const first = await place.start({ maxWallTimeMs: 600_000 }, []);
		await first.promptAndWait("one");
		const { wall_time: before = 0 } = await used(first);
		await first.close();
		const second = await place.start({ maxWallTimeMs: 600_000 });
		const { wall_time: after = 0 } = await used(second);
		expect(after).toBeGreaterThanOrEqual(250);
		expect(after).toBeLessThanOrEqual(before);
		await second.close();
		const third = await place.start({ maxWallTimeMs: 100 });
		await expect(third.promptAndWait("two")).rejects.toThrow(budgetRefusal("wall_time"));
	});

	test("under a server, when the session slept meanwhile", async () => {
		const server = await serve({
			files: { "script.json": JSON.stringify({ model: priced, replies: [{ ...costing(1), times: "always" }] }) },
			args: ["--model", "script.json", "--provider", "scripted", "--set", "task.budget.maxCostUsd=1.5"],
		});
		const { id } = await server.create();
		expect((await server.prompt(id, "one")).json.result.status).toBe("completed");
		await server.post(`/v1/sessions/${id}/stop`);
		await server.inState(id, "asleep");
		expect((await server.prompt(id, "two")).json.result.status).toBe("budget");
		await server.post(`/v1/sessions/${id}/stop`);
		await server.inState(id, "asleep");
		const refused = await server.prompt(id, "three");
		expect(JSON.stringify(refused.json)).toContain(budgetRefusal("cost"));
	});
});

describe("a ceiling that cannot be read", () => {
	const broken: [name: string, files: Record<string, string>, words: string, args?: string[]][] = [
		["in a file with a missing comma", { ".user/settings.jsonc": '{ "task.budget.maxCostUsd": 2\n"todo.enabled": true }' }, "settings.jsonc:2: "],
		[
			"that is no number",
			{ ".user/settings.jsonc": '{ "task": { "budget": { "maxCostUsd": "two" } } }' },
			"task.budget.maxCostUsd must be a number.",
		],
		["in a file that is no file", { ".user/settings.jsonc/x": "" }, "settings.jsonc: it is not a regular file."],
		["of a trusted project", { ".bowline/settings.jsonc": '{ "task.budget.maxCostUsd": 2, "a": }' }, ".bowline/settings.jsonc:1: ", ["--approve"]],
	];
	test.each(broken)("%s refuses prompts until it is mended", async (_, files, words, args = []) => {
		const place = new Place([costing(1)], files);
		const client = await place.start({}, ["--no-session", ...args]);
		const refused = await client.promptAndWait("one").catch((error: Error) => error.message);
		expect(refused).toMatch(/A ceiling may be lost, so no prompt is run\. .* Mend it, leave the setting out, or set a ceiling with --set\.$/);
		expect(refused).toContain(words);
		const own = await place.start({ maxCostUsd: 5 }, ["--no-session", ...args]);
		if (!words.includes("regular")) expect((await own.promptAndWait("one")).text).toBe("done");
		// The process lives on.
		expect((await client.getState()).isStreaming).toBe(false);
	});

	test("is none in a broken file of a project that is not trusted, which could set none, nor in a file without a word of it", async () => {
		const files = { ".bowline/settings.jsonc": '{ "task.budget.maxCostUsd": 2, "a": }', ".user/settings.jsonc": '{ "todo.enabled": }' };
		const client = await new Place([costing(1)], files).start({}, ["--no-session"]);
		expect((await client.promptAndWait("one")).text).toBe("done");
	});
});
