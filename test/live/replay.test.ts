/** Replay and accounts over real processes: cut anywhere, killed anywhere, every kept frame comes once and every run has one result. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isEphemeral } from "../../src/protocol/live.ts";
import { Agent } from "../wire/support/agent.ts";
import type { Frame } from "../wire/support/match.ts";

let folder: string;
let agents: Agent[];
beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), "bowline-replay-"));
	agents = [];
});
afterEach(async () => {
	await Promise.all(agents.map((agent) => agent.dispose()));
	rmSync(folder, { recursive: true, force: true });
});

const script = {
	replies: [
		{
			blocks: [
				{ text: "First I look." },
				{ tool: "bash", arguments: { command: "echo one; echo two" }, id: "c1" },
				{ tool: "ls", arguments: {}, id: "c2" },
			],
		},
		{ fail: { status: 529, body: "overloaded" } },
		{ blocks: [{ thinking: "hm" }, { text: "Done." }] },
		{ blocks: [{ text: "Again." }], times: "always" },
	],
};

function start(more: { flags?: string[] } = {}): Agent {
	writeFileSync(join(folder, "script.jsonc"), JSON.stringify(script));
	const agent = new Agent({
		cwd: folder,
		flags: [
			"--seq",
			"--updates",
			"delta",
			"--session-id",
			"s1",
			"--session-dir",
			join(folder, "sessions"),
			"--provider",
			"scripted",
			"--model",
			"script.jsonc",
			...(more.flags ?? []),
		],
	});
	agents.push(agent);
	return agent;
}

const kept = (frames: readonly Frame[]) =>
	frames.filter((frame) => typeof frame.seq === "number" && frame.type !== "snapshot" && !isEphemeral(frame));
const file = (ending: string) => join(folder, "sessions", readdirSync(join(folder, "sessions")).find((name) => name.endsWith(ending)) as string);

async function replayed(agent: Agent, afterSeq: number): Promise<{ gap: Frame | undefined; frames: Frame[]; snapshot: Frame }> {
	agent.forget();
	agent.send({ id: "sub", type: "subscribe", afterSeq });
	const snapshot = await agent.event("snapshot");
	const frames = agent.frames.filter(({ type }) => type !== "response" && type !== "snapshot" && type !== "ready");
	return { gap: frames.find(({ type }) => type === "gap"), frames: frames.filter(({ type }) => type !== "gap"), snapshot };
}

test("a reader that is cut at any frame gets exactly the kept frames that it missed, as they were sent", async () => {
	const agent = start();
	agent.send({ id: "1", type: "prompt", message: "go" });
	await agent.event("run_result");
	const sent = [...agent.frames];
	const numbers = sent.flatMap(({ seq }) => (typeof seq === "number" ? [seq] : []));
	expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
	const durable = kept(sent);
	expect(durable.map(({ type }) => type)).toContain("auto_retry_start");
	for (const cut of [0, ...numbers]) {
		const { gap, frames } = await replayed(agent, cut);
		const missed = durable.filter(({ seq }) => (seq as number) > cut);
		expect(frames).toEqual(missed);
		expect(gap === undefined).toBe(missed.length === (numbers.at(-1) as number) - cut);
		if (gap) expect(gap).toMatchObject({ reason: "ephemeral", durableLost: false });
	}
}, 60_000);

test("another process gives the same, and goes on with the numbers", async () => {
	const first = start();
	first.send({ id: "1", type: "prompt", message: "go" });
	const { seq: last } = await first.event("run_result");
	const durable = kept(first.frames);
	first.child.stdin.end();
	await first.exited();
	const second = start();
	expect(await second.event("ready")).toMatchObject({ epoch: 2, asOf: last });
	const { frames, snapshot } = await replayed(second, 0);
	expect(frames).toEqual(durable);
	expect(snapshot).toMatchObject({ seq: last, epoch: 2, live: { phase: "idle" } });
	second.child.stdin.end();
	await second.exited();
	// A host that saw higher numbers on another machine says so.
	const third = start({ flags: ["--seq-after", "900000"] });
	expect(await third.event("ready")).toMatchObject({ asOf: 900_000 });
	third.send({ id: "2", type: "prompt", message: "go on" });
	await third.event("run_result");
	expect(kept(third.frames)[0]?.seq).toBe(900_001);
	const { gap } = await replayed(third, last as number);
	expect(gap).toMatchObject({ from: (last as number) + 1, reason: "restart", durableLost: false });
}, 60_000);

test("killed at any kept frame: what was sent comes again, everything is closed, and the run has one result", async () => {
	const types = [
		"agent_start",
		"message_start",
		"tool_execution_start",
		"tool_execution_end",
		"turn_end",
		"auto_retry_start",
		"agent_end",
		"agent_settled",
	];
	for (const type of types) {
		rmSync(join(folder, "sessions"), { recursive: true, force: true });
		const agent = start();
		agent.send({ id: "1", type: "prompt", message: "go", key: "k" });
		const answer = await agent.response("1");
		await agent.event(type);
		agent.child.kill("SIGKILL");
		await agent.exited();
		const before = kept(agent.frames);
		const last = before.at(-1)?.seq as number;
		const next = start();
		const { gap, frames } = await replayed(next, 0);
		expect(gap?.durableLost).toBe(false);
		const seen = frames.filter(({ seq }) => (seq as number) <= last);
		// The one frame that may differ: the end of a call whose result was not stored.
		const comparable = (each: Frame) => (each.type === "tool_execution_end" ? { ...each, result: undefined } : each);
		expect(seen.map(comparable)).toEqual(before.map(comparable));
		const numbers = frames.map(({ seq }) => seq as number);
		expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
		const { runId } = (answer as unknown as { data: { runId: string } }).data;
		expect(frames.filter((frame) => frame.type === "run_result" && frame.runId === runId)).toHaveLength(1);
		const count = (name: string) => frames.filter((frame) => frame.type === name).length;
		for (const [open, closed] of [
			["agent_start", "agent_end"],
			["turn_start", "turn_end"],
			["message_start", "message_end"],
			["tool_execution_start", "tool_execution_end"],
		] as const)
			expect([type, open, count(closed)]).toEqual([type, open, count(open)]);
		expect(frames.at(-1)?.type).toBe("run_result");
		next.send({ id: "2", type: "prompt", message: "go", key: "k" });
		expect(await next.response("2")).toMatchObject({ success: true, data: { runId, duplicate: true } });
		next.child.kill("SIGKILL");
		await next.exited();
		// A third process finds nothing to close.
		const third = start();
		expect((await replayed(third, 0)).frames.filter((frame) => frame.type === "run_result")).toHaveLength(1);
		await third.dispose();
	}
}, 240_000);

test("killed between acceptance and the first frame: the same runId, and its result", async () => {
	const agent = start();
	agent.send({ id: "1", type: "prompt", message: "go", key: "k" });
	const { data } = (await agent.response("1")) as unknown as { data: { runId: string } };
	agent.child.kill("SIGKILL");
	await agent.exited();
	const next = start();
	next.send({ id: "2", type: "prompt", message: "go", key: "k" });
	expect(await next.response("2")).toMatchObject({ data: { runId: data.runId, duplicate: true } });
	const { frames } = await replayed(next, 0);
	expect(frames.filter((frame) => frame.type === "run_result" && frame.runId === data.runId)).toHaveLength(1);
}, 60_000);

test("a hundred twins with one key are one run", async () => {
	const agent = start();
	for (let twin = 0; twin < 100; twin++) agent.send({ id: `t${twin}`, type: "prompt", message: "go", key: "k" });
	await agent.event("run_result");
	agent.send({ id: "end", type: "get_state" });
	await agent.response("end");
	const answers = agent.frames.filter((frame) => frame.type === "response" && frame.command === "prompt") as unknown as {
		data: { runId: string; duplicate?: true };
	}[];
	expect(answers).toHaveLength(100);
	expect(new Set(answers.map(({ data }) => data.runId)).size).toBe(1);
	expect(answers.filter(({ data }) => !data.duplicate)).toHaveLength(1);
	// One retry is the same run.
	expect(new Set(agent.frames.filter(({ type }) => type === "agent_start").map(({ runId }) => runId)).size).toBe(1);
}, 60_000);

test("a log that is deleted is missed in words; the conversation is whole", async () => {
	const agent = start();
	agent.send({ id: "1", type: "prompt", message: "go" });
	await agent.event("run_result");
	agent.child.stdin.end();
	await agent.exited();
	const entries = readFileSync(file(".jsonl"), "utf8");
	rmSync(file(".events"));
	const next = start();
	const { gap, frames } = await replayed(next, 3);
	expect(gap).toMatchObject({ from: 4, reason: "log_missing", durableLost: true });
	expect(frames).toEqual([]);
	next.send({ id: "3", type: "get_messages" });
	expect(((await next.response("3")) as unknown as { data: { messages: unknown[] } }).data.messages.length).toBeGreaterThan(3);
	expect(readFileSync(file(".jsonl"), "utf8")).toBe(entries);
}, 60_000);

test("resume_run goes on after a kill", async () => {
	const agent = start();
	agent.send({ id: "1", type: "prompt", message: "go" });
	await agent.event("tool_execution_start");
	agent.child.kill("SIGKILL");
	await agent.exited();
	const next = start();
	next.send({ id: "2", type: "resume_run", note: "The machine was restarted." });
	expect(await next.response("2")).toMatchObject({ success: true, data: { disposition: "started" } });
	expect(await next.event("run_result")).toMatchObject({ status: "completed" });
}, 60_000);
