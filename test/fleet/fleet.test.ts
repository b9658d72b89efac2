/** The fleet as its users have it: real workers, real agents, a scripted model; what must hold when workers are killed and frozen. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { sharedFileQueue } from "../../src/fleet/file/control.ts";
import { withoutCut } from "../../src/fleet/takeovers.ts";
import { testUnless } from "../unless.ts";
import { postgresPrograms } from "./cluster.ts";
import { type Fixture, familyOf, git, makeFixture, program, signalAll, startWorker, submissionFor, until, type WorkerProcess } from "./fixture.ts";
import { check, emptyReport, torture } from "./torture.ts";

let fixture: Fixture | undefined;
const workers: WorkerProcess[] = [];

afterEach(async () => {
	for (const { child } of workers) if (child.exitCode === null && child.signalCode === null) signalAll(familyOf(child.pid as number), "SIGKILL");
	await Promise.all(workers.splice(0).map(({ exited }) => exited));
	fixture?.remove();
	fixture = undefined;
});

function begin(options?: Parameters<typeof makeFixture>[0]) {
	fixture = makeFixture(options);
	const made = fixture;
	const home = join(made.folder, "home");
	const env = { ...process.env, BOWLINE_DIR: home };
	return {
		fixture: made,
		queue: sharedFileQueue(join(home, "fleet")),
		work(flags: readonly string[] = [], settings: Record<string, string | number> = {}) {
			const worker = startWorker(home, flags, settings);
			workers.push(worker);
			return worker;
		},
		fleet: (...args: string[]) => execFileSync(process.execPath, [program, "fleet", ...args], { env, encoding: "utf8", stdio: "pipe" }),
		ask: (...args: string[]) => spawnSync(process.execPath, [program, "fleet", ...args], { env, encoding: "utf8" }),
	};
}

/** Waits for the end of a worker, and shows what it said if it failed. */
async function succeeds({ exited, output }: WorkerProcess): Promise<void> {
	const code = await exited;
	expect(code, output()).toBe(0);
}

interface LoggedFrame {
	type: string;
	seq: number;
	result?: { content: { text: string }[] };
}
const framesOf = (text: string) =>
	text
		.split("\n")
		.filter(Boolean)
		.map((line) => JSON.parse(line) as LoggedFrame);

test("one run from the command line to an applied patch, with a check, a repair and a receipt", { timeout: 180_000 }, async () => {
	const { fixture, queue, work, fleet, ask } = begin();
	const verify = { commands: [{ name: "repaired", command: "test -f repaired.txt" }], onFailure: "retry_once" };
	const [{ runId } = { runId: "" }] = await queue.submit([submissionFor(fixture, "one", { spec: { verify, setup: ["echo ready > .git/setup"] } })]);
	await succeeds(work(["--once"]));
	const result = await queue.result(runId);
	expect(result).toMatchObject({ status: "completed", epoch: 1 });
	expect(result?.receipt).toMatchObject({
		verification: { status: "passed", retriesUsed: 1 },
		patch: { files: 2 },
		agentRuns: [expect.any(String), expect.any(String)],
	});
	const [row] = await queue.list({ ids: [runId] });
	expect(row?.tokens).toBeGreaterThan(5000);
	const events = (await queue.lines(runId, "events", 0, 10_000)).map(({ body }) => body).join("\n");
	expect(events).toContain("subagent_verification_end");
	expect(fleet("logs", "-f", runId)).toContain("> Take all steps.");
	const frames = framesOf(fleet("logs", runId, "--json"));
	expect(frames.map(({ seq }) => seq)).toEqual([...new Set(frames.map(({ seq }) => seq))].sort((a, b) => a - b));
	const outputs = frames.filter(({ type }) => type === "tool_execution_end").map(({ result }) => result?.content[0]?.text.split("\n")[0]);
	expect(outputs).toEqual(["step 1 is done", "step 2 is done", "step 3 is done", "step 4 is done", "all-steps-done"]);
	expect(JSON.stringify(frames)).not.toContain("$entry");
	const [last] = frames.slice(-1);
	expect(framesOf(fleet("logs", runId, "--json", "--after", String((last?.seq ?? 0) - 1)))).toEqual([last]);
	expect(fleet("status", runId)).toContain("completed");
	fleet("result", runId, "--apply", fixture.repository);
	expect(readFileSync(join(fixture.repository, "work.txt"), "utf8")).toBe("line 1\nline 2\nline 3\nline 4\n");
	// The tree is not clean now.
	expect(ask("result", runId, "--apply", fixture.repository).status).toBe(2);
	expect(ask("result", "r_none").status).toBe(2);
});

test("a worker that is killed: the next one goes on from the checkpoint, and tells the model", { timeout: 180_000 }, async () => {
	const { fixture, queue, work, fleet } = begin({ waitAt: 3 });
	const [{ runId } = { runId: "" }] = await queue.submit([submissionFor(fixture, "one")]);
	const first = work();
	await until(() => readFileSync(fixture.effects, "utf8").includes(" 1 3\n"), "the third step has begun");
	first.child.kill("SIGKILL");
	await first.exited;
	fixture.go();
	await succeeds(work(["--once"]));
	const result = await queue.result(runId);
	expect(result).toMatchObject({ status: "completed", epoch: 2, receipt: { attempts: 2 } });
	expect(result?.patch?.toString().match(/^\+line \d$/gm)).toEqual(["+line 1", "+line 2", "+line 3", "+line 4"]);
	const steps = readFileSync(fixture.effects, "utf8").trim().split("\n");
	// Steps before the checkpoint are not repeated.
	expect(steps.filter((line) => line.endsWith(" 1 1") || line.endsWith(" 2 1"))).toHaveLength(1);
	const session = (await queue.lines(runId, "session", 0, 1000)).map(({ body }) => body).join("\n");
	expect(session).toContain("The worker that ran this was replaced.");
	expect(session).toContain("sh step.sh");
	expect((await queue.takeovers(runId)).map(({ epoch }) => epoch)).toEqual([2]);
	// The frames of both workers, with numbers that only grow.
	const frames = framesOf(fleet("logs", runId, "--json"));
	expect(frames.filter(({ type }) => type === "run_takeover")).toHaveLength(1);
	expect(frames.every(({ seq }, index) => seq > (frames[index - 1]?.seq ?? 0))).toBe(true);
});

test("a worker is killed in the second of two calls of one turn: the first, whose result was stored, is not repeated", {
	timeout: 180_000,
}, async () => {
	const step = { tool: "bash", arguments: { command: "sh step.sh" } };
	const { fixture, queue, work } = begin({ waitAt: 2, first: [{ when: { text: "Take all steps" }, blocks: [step, step] }] });
	const [{ runId } = { runId: "" }] = await queue.submit([submissionFor(fixture, "one")]);
	const first = work();
	await until(() => readFileSync(fixture.effects, "utf8").includes(" 1 2\n"), "the second call has begun");
	first.child.kill("SIGKILL");
	await first.exited;
	fixture.go();
	await succeeds(work(["--once"]));
	const result = await queue.result(runId);
	expect(result).toMatchObject({ status: "completed", epoch: 2 });
	expect(result?.patch?.toString().match(/^\+line \d$/gm)).toEqual(["+line 1", "+line 2", "+line 3", "+line 4"]);
	const steps = readFileSync(fixture.effects, "utf8").trim().split("\n");
	expect(steps.map((line) => line.split(" ").slice(1).join(" "))).toEqual(["1 1", "1 2", "2 2", "2 3", "2 4"]);
	// The model is told of the call that was at work, and of no other.
	const session = (await queue.lines(runId, "session", 0, 1000)).map(({ body }) => body).join("\n");
	expect(session.match(/had been started after it[^"]*: bash \\"sh step.sh\\"\./g)).toHaveLength(1);
});

test("a worker is killed at each kind of commit: the next one repeats no step that a checkpoint holds", { timeout: 240_000 }, async () => {
	const { fixture, queue, work } = begin();
	const [{ runId } = { runId: "" }] = await queue.submit([submissionFor(fixture, "one", { maxAttempts: 100 })]);
	const eventsOf = async (epoch: number) => (await queue.lines(runId, "events", 0, 10_000)).filter((line) => line.epoch === epoch);
	const has = async (epoch: number, text: string) => (await eventsOf(epoch)).some(({ body }) => body.includes(text));
	const effects = () =>
		readFileSync(fixture.effects, "utf8")
			.split("\n")
			.filter(Boolean)
			.map((line) => ({ epoch: Number(line.split(" ")[1]), step: Number(line.split(" ")[2]) }));
	const points: Record<string, (epoch: number) => boolean | Promise<boolean>> = {
		"it was claimed": async (epoch) => (await queue.list({ ids: [runId] }))[0]?.epoch === epoch,
		"the first request is granted": async (epoch) => (await eventsOf(epoch)).length > 0,
		"a tool call is granted": (epoch) => effects().some((each) => each.epoch === epoch),
		"the end of a tool call is stored": (epoch) => has(epoch, '"tool_execution_end"'),
		"the last reply is stored": (epoch) => has(epoch, '"Done."'),
	};
	for (const [index, [what, isReached]] of Object.entries(points).entries()) {
		const worker = work();
		await until(async () => (await isReached(index + 1)) || (await queue.result(runId)) !== undefined, what);
		worker.child.kill("SIGKILL");
		await worker.exited;
	}
	await succeeds(work(["--once"]));

	const report = emptyReport();
	await check(queue, [runId], fixture.effects, report);
	expect(report).toMatchObject({ results: 1, missing: [], problems: [], statuses: { completed: 1 } });
	const takeovers = await queue.takeovers(runId);
	// The last kill may have come after the result.
	expect(takeovers.length).toBeGreaterThanOrEqual(Object.keys(points).length - 1);
	const lines = await queue.lines(runId, "events", 0, 10_000);
	for (const { epoch } of takeovers) {
		const earlier = lines.filter((line) => line.epoch < epoch);
		const past = takeovers.filter((takeover) => takeover.epoch <= epoch);
		const stored = withoutCut(earlier, past, "events").filter(({ body }) => body.includes('"tool_execution_end"')).length;
		const [first] = effects().filter((each) => each.epoch === epoch);
		if (first) expect(first.step, `the first step of epoch ${epoch}`).toBe(stored + 1);
	}
});

test("workers that are killed with several runs cost none of them its only attempt, and the last worker ends them all", {
	timeout: 180_000,
}, async () => {
	const { fixture, queue, work } = begin({ waitAt: 1 });
	const runs = await queue.submit(["a", "b", "c"].map((key) => submissionFor(fixture, key, { maxAttempts: 1 })));
	for (const epoch of [1, 2]) {
		const worker = work(["--slots", "3"]);
		const begun = () => runs.every(({ runId }) => readFileSync(fixture.effects, "utf8").includes(`${runId} ${epoch} 1\n`));
		await until(begun, "all of them work on their first step");
		worker.child.kill("SIGKILL");
		await worker.exited;
	}
	fixture.go();
	await succeeds(work(["--once", "--slots", "3"]));
	for (const { runId } of runs) expect(await queue.result(runId)).toMatchObject({ status: "completed", receipt: { attempts: 1 } });
});

test("an agent that is killed is started again under the same epoch", { timeout: 180_000 }, async () => {
	const { fixture, queue, work } = begin({ waitAt: 2 });
	const [{ runId } = { runId: "" }] = await queue.submit([submissionFor(fixture, "one")]);
	const worker = work(["--once"]);
	await until(() => readFileSync(fixture.effects, "utf8").includes(" 1 2\n"), "the second step has begun");
	const agent = familyOf(worker.child.pid as number).find((pid) => {
		const path = `/proc/${pid}/cmdline`;
		return existsSync(path) && readFileSync(path, "utf8").includes("--gate");
	});
	signalAll([agent as number], "SIGKILL");
	fixture.go();
	await succeeds(worker);
	expect(await queue.result(runId)).toMatchObject({ status: "completed", epoch: 1 });
});

test("cancelling a run at work ends it with the files as they are; a limit of dollars and a limit of time end it, too", {
	timeout: 180_000,
}, async () => {
	const { fixture, queue, work, fleet } = begin({ waitAt: 2 });
	await queue.setBudget("team", { maxUsd: 1000 });
	const [cancelled, poor, slow] = await queue.submit([
		submissionFor(fixture, "cancelled", { priority: 3, budget: "team", needs: ["gpu"] }),
		// A request costs one dollar.
		submissionFor(fixture, "poor", { priority: 2, spec: { limits: { usd: 1.5 } } }),
		submissionFor(fixture, "slow", { priority: 1, spec: { limits: { wallMs: 1500 } } }),
	]);
	const worker = work(["--slots", "3", "--once", "--label", "gpu"], { "fleet.renewMs": 500 });
	await until(() => readFileSync(fixture.effects, "utf8").includes(`${cancelled?.runId} 1 2\n`), "its second step has begun");
	expect(await queue.cancel({ ids: [cancelled?.runId as string] })).toBe(1);
	await succeeds(worker);
	const result = await queue.result(cancelled?.runId as string);
	expect(result?.status).toBe("cancelled");
	expect(result?.patch?.toString()).toContain("+line 1");
	expect((await queue.result(poor?.runId as string))?.receipt).toMatchObject({ status: "budget" });
	expect((await queue.result(slow?.runId as string))?.receipt).toMatchObject({ status: "timeout" });
	expect((await queue.lanes())[0]).toMatchObject({ running: 0, queued: 0 });
	const again = fleet("retry", cancelled?.runId as string).trim();
	const [row] = await queue.list({ ids: [again] });
	expect(row).toMatchObject({ state: "queued", priority: 3, budget: "team", needs: ["gpu"], spec: { parent: cancelled?.runId } });
	// It needs a label that this worker lacks.
	await succeeds(work(["--once"]));
	expect((await queue.list({ ids: [again] }))[0]).toMatchObject({ state: "queued", epoch: 0 });
});

test("a budget of the fleet is not exceeded by more than a request of each run, and nothing stays held", { timeout: 180_000 }, async () => {
	const { fixture, queue, work } = begin();
	await queue.setBudget("team", { maxUsd: 6 });
	const runs = await queue.submit(Array.from({ length: 4 }, (_, index) => submissionFor(fixture, `b${index}`, { budget: "team" })));
	await succeeds(work(["--slots", "2", "--once"]));
	const [budget] = await queue.budgets();
	expect(budget?.heldUsd).toBe(0);
	expect(budget?.spentUsd).toBeGreaterThan(0);
	expect(budget?.spentUsd).toBeLessThanOrEqual(6 + 2);
	const statuses = await Promise.all(runs.map(async ({ runId }) => (await queue.result(runId))?.status));
	// Five requests of a dollar each: there is not enough for all.
	expect(statuses).toContain("budget");
	expect(statuses.filter((status) => status !== "budget" && status !== "completed")).toEqual([]);
});

test("a worker's ceiling ends runs that wish for a higher one, however they were submitted, and a run may have a lower one", {
	timeout: 180_000,
}, async () => {
	const { fixture, queue, work, fleet } = begin();
	const wish = (key: string, settings: object) => submissionFor(fixture, key, { spec: { settings } });
	const { spec } = wish("nested", { task: { budget: { maxToolCalls: 99, onExceeded: "finish" } } });
	const file = join(fixture.folder, "runs.jsonl");
	writeFileSync(file, `${JSON.stringify({ ...spec, key: "nested" })}\n`);
	const nested = fleet("submit", "--from", file).trim();
	const [dotted, lower] = await queue.submit([wish("dotted", { "task.budget.maxToolCalls": 99 }), wish("lower", { "task.budget.maxToolCalls": 1 })]);
	await succeeds(work(["--once", "--slots", "3"], { "task.budget.maxToolCalls": 2 }));
	const effects = readFileSync(fixture.effects, "utf8").trim().split("\n");
	for (const [id, calls] of [[nested, 2] as const, [dotted?.runId, 2] as const, [lower?.runId, 1] as const]) {
		expect((await queue.result(id as string))?.status).toBe("budget");
		expect(effects.filter((line) => line.startsWith(`${id} `))).toHaveLength(calls);
	}
});

test("subagents side by side keep to the budget together, and what they used is counted", { timeout: 180_000 }, async () => {
	const { fixture, queue, work } = begin();
	await queue.setBudget("team", { maxUsd: 12 });
	await queue.setBudget("rich", { maxUsd: 1000 });
	const spec = { prompt: "Send explorers." };
	const [poor, rich] = await queue.submit([
		submissionFor(fixture, "poor", { budget: "team", spec }),
		submissionFor(fixture, "rich", { budget: "rich", spec }),
	]);
	await succeeds(work(["--slots", "2", "--once"]));
	const budgets = Object.fromEntries((await queue.budgets()).map((budget) => [budget.id, budget]));
	// Three subagents with four requests of a dollar each, and two of the session.
	expect(await queue.result(rich?.runId as string)).toMatchObject({ status: "completed", receipt: { usd: 14 } });
	expect(budgets.rich).toMatchObject({ spentUsd: 14, heldUsd: 0, heldTokens: 0 });
	expect((await queue.result(poor?.runId as string))?.status).toBe("budget");
	expect(budgets.team).toMatchObject({ heldUsd: 0, heldTokens: 0 });
	expect(budgets.team?.spentUsd).toBeGreaterThan(1);
	expect(budgets.team?.spentUsd).toBeLessThanOrEqual(13);
});

test("draining: the run goes back without losing an attempt when asked twice", { timeout: 180_000 }, async () => {
	const { fixture, queue, work } = begin({ waitAt: 2 });
	const [{ runId } = { runId: "" }] = await queue.submit([submissionFor(fixture, "one")]);
	const worker = work();
	await until(() => readFileSync(fixture.effects, "utf8").includes(" 1 2\n"), "the second step has begun");
	worker.child.kill("SIGTERM");
	await until(() => worker.output().includes("draining"), "it drains");
	worker.child.kill("SIGTERM");
	await succeeds(worker);
	expect((await queue.list({ ids: [runId] }))[0]).toMatchObject({ state: "queued", attempts: 0 });
	fixture.go();
	await succeeds(work(["--once"]));
	expect(await queue.result(runId)).toMatchObject({ status: "completed", receipt: { attempts: 1 } });
});

test("what cannot be done ends as failed, with the reason", { timeout: 180_000 }, async () => {
	const { fixture, queue, work } = begin();
	symlinkSync(fixture.folder, join(fixture.repository, "way-out"));
	git(fixture.repository, "add", "way-out");
	git(fixture.repository, "commit", "-q", "-m", "A link");
	const failing = {
		setup: { setup: ["echo no room; exit 3"] },
		ref: { repo: { url: fixture.repository, ref: "no-such-branch" } },
		env: { env: ["DEPLOY_TOKEN"] },
		subdir: { repo: { url: fixture.repository, subdir: "nowhere" } },
		link: { repo: { url: fixture.repository, subdir: "way-out" } },
		profile: { verify: "no-such-profile" },
	};
	const runs = await queue.submit(Object.entries(failing).map(([key, spec]) => submissionFor(fixture, key, { spec })));
	await succeeds(work(["--once", "--slots", "3"]));
	const reasons = await Promise.all(runs.map(async ({ runId }) => (await queue.result(runId))?.receipt));
	const wanted = ["no room", "no-such-branch", "fleet.env.allow", "nowhere", "way-out of the repository leads out", "no-such-profile"];
	for (const [index, text] of wanted.entries()) expect(reasons[index]).toMatchObject({ status: "failed", reason: expect.stringContaining(text) });
});

test("a lease that is too short is refused at the start, and a password on the command line", () => {
	const { ask } = begin();
	const short = ask("work", "--set", "fleet.leaseMs=3000");
	expect(short.status).toBe(2);
	expect(short.stderr).toContain("fleet.leaseMs");
	const url = ask("status", "--set", "fleet.url=postgres://ada:secret@db/fleet");
	expect(url.status).toBe(2);
	expect(url.stderr).not.toContain("secret");
	const second = ask("status", "--set", "fleet.url=postgres://ada@db/fleet", "--set", "fleet.url=postgres://ada:secret@db/fleet");
	expect([second.status, second.stderr]).toEqual([2, url.stderr]);
	expect(ask("status", "--set", "fleet.url=postgres://ada@127.0.0.1:1/fleet").status).toBe(1);
});

const hasPostgres = postgresPrograms() !== undefined;
if (!hasPostgres) process.stderr.write("PostgreSQL is not installed: the test with kills and a crash of Postgres is left out.\n");
testUnless(!hasPostgres && "PostgreSQL is not installed")(
	"kills, a freeze, wrong clocks and a crash of Postgres: every run has one result, and no log has a gap",
	{ timeout: 300_000 },
	async () => {
		const report = await torture({
			...{ runs: 4, workers: 3, slots: 2, seed: 11, deadlineMs: 240_000 },
			...{ kills: 1, freezes: 1, crash: true, skew: true, early: 0.6, thawMs: 500 },
		});
		expect(report).toMatchObject({ results: 4, missing: [], problems: [], statuses: { completed: 4 }, submissions: 20 });
		// A step in flight in each slot of a worker that was harmed.
		expect(report.stepsLate).toBeLessThanOrEqual(2 * (report.freezes + report.kills));
	},
);
