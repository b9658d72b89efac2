/** The same promises from both queues. Those with several machines hold for Postgres; in a directory, several workers of one process stand for them. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runTable } from "../../src/app/commands/fleet-view.ts";
import { listenFor, type SharedQueue, sharedFileQueue } from "../../src/fleet/file/control.ts";
import { ownFileQueue } from "../../src/fleet/file/queue.ts";
import { initialise, openPostgresQueue } from "../../src/fleet/postgres/queue.ts";
import type { Claim, RunQueue, Submission, WorkerFacts } from "../../src/fleet/queue.ts";
import type { RunParts } from "../../src/fleet/run.ts";
import { Worker } from "../../src/fleet/worker.ts";
import { testUnless } from "../unless.ts";
import { type Cluster, postgresPrograms, startCluster } from "./cluster.ts";
import { until } from "./fixture.ts";

/** Opens the queue as a process does that only submits and asks. */
type Another = () => Promise<SharedQueue>;

interface Kind {
	/** Several objects on one queue, as processes of several machines would have. */
	open(count: number): Promise<{ queues: RunQueue[]; another: Another; close(): Promise<void> }>;
}

let cluster: Cluster | undefined;
const hasPostgres = postgresPrograms() !== undefined;
if (!hasPostgres) process.stderr.write("PostgreSQL is not installed: its half of the queue's tests is left out.\n");

/** A database with the schema, to copy from. */
let initialised: string | undefined;
beforeAll(async () => {
	if (!hasPostgres) return;
	cluster = await startCluster();
	initialised = await cluster.database();
	await initialise({ url: initialised, schema: "bowline_fleet" });
}, 120_000);
afterAll(async () => cluster?.remove(), 60_000);

const file: Kind = {
	async open(count) {
		const directory = mkdtempSync(join(tmpdir(), "bl-fleet-"));
		const owned = ownFileQueue(directory);
		if (!("queue" in owned)) throw new Error("The new directory has an owner.");
		const server = await listenFor(owned.queue, directory);
		return {
			queues: Array.from({ length: count }, () => owned.queue),
			another: async () => sharedFileQueue(directory),
			async close() {
				server.close();
				owned.release();
				rmSync(directory, { recursive: true, force: true });
			},
		};
	},
};

const postgres: Kind = {
	async open(count) {
		const url = (await cluster?.database(initialised)) as string;
		const another = () => openPostgresQueue({ url, schema: "bowline_fleet", connections: 2 });
		const queues = await Promise.all(Array.from({ length: count }, another));
		return { queues, another, close: async () => void (await Promise.all(queues.map((queue) => queue.close()))) };
	},
};

const kinds: [string, Kind][] = [["file", file], ...(hasPostgres ? ([["postgres", postgres]] as [string, Kind][]) : [])];
testUnless(!hasPostgres && "PostgreSQL is not installed")("PostgreSQL keeps the same promises", () => expect(kinds).toHaveLength(2));

const worker = (id: string, more: Partial<WorkerFacts> = {}): WorkerFacts => ({ id, host: "here", labels: [], slots: 2, version: "1", ...more });
const submission = (key: string, more: Partial<Submission> = {}): Submission => ({
	key,
	spec: { repo: { url: "/r" }, prompt: `work on ${key}` },
	lane: "default",
	priority: 0,
	needs: [],
	maxAttempts: 5,
	...more,
});
const receipt = { ok: true };
/** Long ago: whoever was seen before is dead. */
const atOnce = -1000;

describe.each(kinds)("%s", (_, kind) => {
	async function withQueues(work: (queue: RunQueue, all: RunQueue[], another: Another) => Promise<void>): Promise<void> {
		const { queues, another, close } = await kind.open(work.length > 1 ? 8 : 1);
		try {
			await work(queues[0] as RunQueue, queues, another);
		} finally {
			await close();
		}
	}
	async function claimed(queue: RunQueue, key: string, more: Partial<Submission> = {}, id = "w1"): Promise<Claim> {
		await queue.register(worker(id));
		await queue.submit([submission(key, more)]);
		return (await queue.claim(worker(id))) as Claim;
	}

	test("a key makes one run, however often and from wherever it is sent", () =>
		withQueues(async (queue, all) => {
			const keys = Array.from({ length: 10 }, (_, index) => `k${index}`);
			const sent = keys.flatMap((key) =>
				all.flatMap((each) => [each, each].map((one) => one.submit([submission(key)]).then(([first]) => ({ key, ...first })))),
			);
			const answers = await Promise.all(sent);
			for (const key of keys) {
				const mine = answers.filter((answer) => answer.key === key);
				expect(new Set(mine.map(({ runId }) => runId)).size).toBe(1);
				expect(mine.filter(({ fresh }) => fresh)).toHaveLength(1);
			}
			expect(await queue.list({})).toHaveLength(10);
		}));

	test("a key with other content is refused, and nothing of its batch is stored", () =>
		withQueues(async (queue) => {
			await queue.submit([submission("a")]);
			const other = submission("a", { spec: { repo: { url: "/r" }, prompt: "something else" } });
			await expect(queue.submit([submission("b"), other])).rejects.toMatchObject({ code: "key_reused" });
			expect((await queue.list({})).map(({ key }) => key)).toEqual(["a"]);
			await expect(queue.submit([submission("c", { lane: "none" })])).rejects.toMatchObject({ code: "unknown_lane" });
			await expect(queue.submit([submission("c", { budget: "none" })])).rejects.toMatchObject({ code: "unknown_budget" });
		}));

	test("priority goes before age, needs choose the worker, and a worker can keep to its lanes", () =>
		withQueues(async (queue) => {
			await queue.setLane("night", {});
			await queue.submit([
				submission("old"),
				submission("urgent", { priority: 5 }),
				submission("gpu", { needs: ["gpu"], priority: 9 }),
				submission("late", { lane: "night" }),
			]);
			await queue.register(worker("plain"));
			await queue.register(worker("strong", { labels: ["gpu", "os:linux"] }));
			const keyOf = async (facts: WorkerFacts) => (await queue.claim(facts))?.key;
			expect(await keyOf(worker("plain", { lanes: ["night"] }))).toBe("late");
			expect(await keyOf(worker("plain"))).toBe("urgent");
			expect(await keyOf(worker("plain"))).toBe("old");
			expect(await keyOf(worker("plain"))).toBeUndefined();
			expect(await keyOf(worker("strong", { labels: ["gpu", "os:linux"] }))).toBe("gpu");
		}));

	test("two that claim at once get two runs, and a lane never has more than its ceiling", () =>
		withQueues(async (queue, all) => {
			await queue.setLane("narrow", { maxRunning: 3 });
			await queue.submit(Array.from({ length: 12 }, (_, index) => submission(`n${index}`, { lane: "narrow" })));
			for (const [index, each] of all.entries()) await each.register(worker(`w${index}`));
			const done: string[] = [];
			while (done.length < 12) {
				const claims = (await Promise.all(all.map((each, index) => each.claim(worker(`w${index}`))))).filter((claim) => claim !== undefined);
				expect(claims.length).toBeLessThanOrEqual(3);
				expect(new Set(claims.map(({ runId }) => runId)).size).toBe(claims.length);
				expect((await queue.lanes()).find(({ name }) => name === "narrow")?.running).toBe(claims.length);
				for (const claim of claims) {
					expect(await queue.finish(claim, { status: "completed", receipt })).toBe(true);
					done.push(claim.runId);
				}
			}
			expect(new Set(done).size).toBe(12);
			expect((await queue.lanes()).find(({ name }) => name === "narrow")).toMatchObject({ running: 0, queued: 0 });
		}));

	test("a worker that never asks by itself gets each run of processes that submit and end, and of a lane that has room again", () =>
		withQueues(async (queue, _, another) => {
			await queue.setLane("narrow", { maxRunning: 1 });
			const parts = {
				environmentOf: () => ({ problem: "Nothing is done here." }),
				settingsOf: () => ({ settings: {} }),
				limits: { stallMs: 60_000, patchBytes: 1000, commitEveryMs: 60_000 },
				worker: { host: "here", version: "1" },
				log: () => undefined,
			} as unknown as RunParts;
			const directory = mkdtempSync(join(tmpdir(), "bl-work-"));
			const hour = 3_600_000;
			const { id: _id, ...facts } = worker("", { slots: 1 });
			const times = { leaseMs: 2 * hour, renewMs: hour / 2, drainMs: 1, pollMs: hour };
			const atWork = new Worker({ queue, facts, ...times, directory, once: false, parts, log: () => undefined });
			const ended = atWork.run();
			const submitAndEnd = async (key: string, more: Partial<Submission> = {}) => {
				const client = await another();
				const [run] = await client.submit([submission(key, more)]);
				await client.close();
				return run?.runId as string;
			};
			const hasEnded = async (runId: string) => (await queue.result(runId))?.status === "failed";
			try {
				for (const key of ["a", "b", "c", "d", "e"]) {
					const runId = await submitAndEnd(key);
					await until(() => hasEnded(runId), `${key} has ended`, 20_000);
				}
				// Another worker holds the only place, and gives it back for later.
				const strong = worker("w1", { labels: ["gpu"] });
				await queue.register(strong);
				await submitAndEnd("first", { lane: "narrow", needs: ["gpu"] });
				const first = (await queue.claim(strong)) as Claim;
				const second = await submitAndEnd("second", { lane: "narrow" });
				await queue.requeue(first, { delayMs: hour, why: "later", counts: true });
				await until(() => hasEnded(second), "the second has ended", 20_000);
			} finally {
				atWork.drain();
				await ended;
				rmSync(directory, { recursive: true, force: true });
			}
		}));

	test("a paused lane gives nothing", () =>
		withQueues(async (queue) => {
			await queue.register(worker("w1"));
			await queue.submit([submission("a")]);
			await queue.setLane("default", { pauseMs: 60_000 });
			expect(await queue.claim(worker("w1"))).toBeUndefined();
			await queue.setLane("default", { pauseMs: 0 });
			expect((await queue.claim(worker("w1")))?.key).toBe("a");
		}));

	test("what an older epoch writes is refused, and the result is the newer one's", () =>
		withQueues(async (queue) => {
			const first = await claimed(queue, "a");
			expect(await queue.commit(first, { from: { session: 0, events: 0 }, session: ["s1"], events: ["e1"] })).toEqual({ cancel: false });
			await queue.register(worker("w2"));
			expect(await queue.reclaim(worker("w2"), 60_000)).toBeUndefined();
			await queue.leave("w1");
			const second = (await queue.reclaim(worker("w2"), 60_000)) as Claim;
			expect(second).toMatchObject({ runId: first.runId, epoch: 2, attempts: 2, sessionLines: 1, eventLines: 1 });

			expect(await queue.commit(first, { from: { session: 1, events: 1 }, session: ["stale"], events: [] })).toBe("fenced");
			expect(await queue.finish(first, { status: "failed", receipt })).toBe(false);
			expect(await queue.requeue(first, { delayMs: 0, why: "", counts: true })).toBe(false);
			expect(await queue.pin(first, first.spec)).toBe(false);
			expect(await queue.renew("w1")).toBe("gone");
			expect(await queue.finish(second, { status: "completed", receipt: { by: 2 } })).toBe(true);
			expect(await queue.finish(first, { status: "failed", receipt })).toBe(false);
			expect(await queue.result(first.runId)).toMatchObject({ status: "completed", epoch: 2, receipt: { by: 2 } });
			expect((await queue.lanes())[0]).toMatchObject({ running: 0 });
		}));

	test("a worker that does not renew loses its runs when the lease is over", () =>
		withQueues(async (queue) => {
			const first = await claimed(queue, "a");
			await queue.register(worker("w2"));
			expect(await queue.reclaim(worker("w2"), 3_600_000)).toBeUndefined();
			expect(await queue.renew("w1")).toMatchObject({ draining: false, cancel: [], held: [{ runId: first.runId, epoch: 1 }], running: 1 });
			const second = await queue.reclaim(worker("w2"), atOnce);
			// The worker that asks is old by that lease, too; what counts is that the run is given on.
			expect(second).toMatchObject({ runId: first.runId, epoch: 2, attempts: 2 });
			await queue.finish(second as Claim, { status: "completed", receipt });
			// Neither is known to have killed the worker that they shared.
			await queue.submit([submission("b"), submission("c")]);
			await queue.register(worker("w3"));
			expect([await queue.claim(worker("w3")), await queue.claim(worker("w3"))]).toMatchObject([{ attempts: 1 }, { attempts: 1 }]);
			await queue.register(worker("w4"));
			expect(await queue.reclaim(worker("w4"), atOnce)).toMatchObject({ epoch: 2, attempts: 1 });
		}));

	test.each([1, 3, 5])("a run that kills its workers is lost after %i attempts, and every run beside it completes", (maxAttempts) =>
		withQueues(async (queue) => {
			const keys = ["a", "b", "poison", "c", "d", "e", "f"];
			const ids = new Map(
				(await queue.submit(keys.map((key, index) => submission(key, { maxAttempts, priority: -index })))).map(({ runId }, index) => [
					keys[index],
					runId,
				]),
			);
			const deaths: number[] = [];
			for (let count = 1; (await queue.list({ state: "done" })).length < keys.length; count++) {
				expect(count).toBeLessThan(30);
				const facts = worker(`w${count}`, { slots: 4 });
				await queue.register(facts);
				const claims: Claim[] = [];
				const take = async () => (await queue.reclaim(facts, 3_600_000)) ?? (await queue.claim(facts));
				for (let next = await take(); next; next = claims.length < facts.slots ? await take() : undefined) claims.push(next);
				// It dies before any of its runs has ended.
				const isDeadly = claims.some(({ key }) => key === "poison");
				if (isDeadly) deaths.push(claims.length);
				else for (const claim of claims) expect(await queue.finish(claim, { status: "completed", receipt })).toBe(true);
				await queue.leave(facts.id);
			}
			for (const key of keys) {
				const result = await queue.result(ids.get(key) as string);
				expect(result?.status, key).toBe(key === "poison" ? "lost" : "completed");
				if (key === "poison") expect(result?.receipt).toMatchObject({ attempts: maxAttempts });
			}
			// Twice with others, which does not count, and then as often as it may.
			expect(deaths).toHaveLength(maxAttempts + 2);
			expect(deaths[0]).toBe(4);
			expect((await queue.lanes())[0]).toMatchObject({ running: 0, queued: 0 });
		}),
	);

	test("a worker holds at most one run that is under suspicion, and any number of others", () =>
		withQueues(async (queue) => {
			await queue.submit(["a", "b", "c"].map((key) => submission(key)));
			const taken = async (id: string) => {
				await queue.register(worker(id));
				const found: Claim[] = [];
				for (;;) {
					const claim = (await queue.reclaim(worker(id), 3_600_000)) ?? (await queue.claim(worker(id)));
					if (!claim) return found;
					found.push(claim);
				}
			};
			for (const id of ["w1", "w2"]) {
				expect((await taken(id)).map(({ key, attempts }) => `${key} ${attempts}`).sort()).toEqual(["a 1", "b 1", "c 1"]);
				await queue.leave(id);
			}
			const [first, ...none] = await taken("w3");
			expect([first?.attempts, none]).toEqual([1, []]);
			expect(await taken("w4")).toHaveLength(1);
			await queue.submit([submission("d"), submission("e")]);
			expect((await taken("w3")).map(({ key }) => key).sort()).toEqual(["d", "e"]);
			// It is under suspicion in the queue, too.
			expect(await queue.requeue(first as Claim, { delayMs: 0, why: "drained", counts: false })).toBe(true);
			expect(await taken("w4")).toEqual([]);
			const [last] = await taken("w3");
			expect(last?.key).not.toBe(first?.key);
			expect((await taken("w5")).map(({ key }) => key)).toEqual([first?.key]);
		}));

	test("a commit whose answer was lost can be repeated, and its lines are there once", () =>
		withQueues(async (queue) => {
			const claim = await claimed(queue, "a");
			const commit = { from: { session: 0, events: 0 }, session: ["s1", "s2"], events: ["e1"] };
			expect(await queue.commit(claim, commit)).toEqual({ cancel: false });
			expect(await queue.commit(claim, commit)).toEqual({ cancel: false });
			expect((await queue.lines(claim.runId, "session", 0, 10)).map(({ body }) => body)).toEqual(["s1", "s2"]);
			expect((await queue.lines(claim.runId, "session", 1, 10)).map(({ body }) => body)).toEqual(["s2"]);
			expect(await queue.finish(claim, { status: "completed", receipt })).toBe(true);
			expect(await queue.finish(claim, { status: "completed", receipt })).toBe(true);
		}));

	test("a list says for each run which sandbox its receipt names, and nothing where none is known", () =>
		withQueues(async (queue) => {
			const sandboxes = [{ mode: "workspace-write", network: "off" }, { mode: "off", reason: "bubblewrap is not installed" }, undefined];
			const ids: string[] = [];
			for (const [index, sandbox] of sandboxes.entries()) {
				const claim = await claimed(queue, `s${index}`);
				ids.push(claim.runId);
				await queue.finish(claim, { status: "completed", receipt: { ...receipt, ...(sandbox && { sandbox }) } });
			}
			const rows = await queue.list({ ids });
			expect(ids.map((id) => rows.find(({ runId }) => runId === id)?.sandbox)).toEqual([sandboxes[0], sandboxes[1], null]);
			expect(runTable(rows, {})).toMatch(/sandbox.*workspace-write.*\nsandbox off: bubblewrap is not installed\n/s);
		}));

	test("the next worker gets the lines up to the newest checkpoint, and its files", () =>
		withQueues(async (queue) => {
			const first = await claimed(queue, "a");
			const patch = (text: string) => Buffer.from(`patch ${text}\0\xff`, "latin1");
			await queue.commit(first, {
				from: { session: 0, events: 0 },
				session: ["s1"],
				events: ['{"r":4096,"e":1}', '{"s":1,"f":{}}'],
				checkpoint: { n: 1, tree: "t1", patch: patch("1") },
			});
			await queue.commit(first, {
				from: { session: 1, events: 2 },
				session: ["s2"],
				events: ['{"s":2,"f":{}}'],
				checkpoint: { n: 2, tree: "t2", patch: patch("2") },
			});
			await queue.commit(first, { from: { session: 2, events: 3 }, session: ["s3"], events: [], checkpoint: { n: 2 } });
			await queue.commit(first, { from: { session: 3, events: 3 }, session: ["cut1"], events: ['{"s":9000,"f":{"type":"cut"}}'] });
			await queue.leave("w1");
			await queue.register(worker("w2"));
			const second = (await queue.reclaim(worker("w2"), 60_000)) as Claim;
			const saved = await queue.load(second);
			expect(saved.session).toEqual(["s1", "s2", "s3"]);
			expect(saved.events).toEqual(['{"r":4096,"e":1}', '{"s":1,"f":{}}', '{"s":2,"f":{}}']);
			expect(saved.checkpoint).toEqual({ n: 2, tree: "t2", patch: patch("2") });
			expect(saved.cutEvents).toEqual(['{"s":9000,"f":{"type":"cut"}}']);
			expect(saved.highestSeq).toBe(9000);

			await queue.commit(second, {
				from: { session: 4, events: 4 },
				session: ["s4"],
				events: ["e4"],
				checkpoint: { n: 3, tree: "t3", patch: patch("3") },
			});
			expect(await queue.requeue(second, { delayMs: 0, why: "drained", counts: false })).toBe(true);
			const third = (await queue.claim(worker("w2"))) as Claim;
			expect(third).toMatchObject({ epoch: 4, attempts: 2 });
			const again = await queue.load(third);
			expect(again.session).toEqual(["s1", "s2", "s3", "s4"]);
			expect(again.checkpoint?.tree).toBe("t3");
			// Cut lines stay for people, without gaps.
			expect((await queue.lines(first.runId, "session", 0, 100)).map(({ line, epoch, body }) => [line, epoch, body])).toEqual([
				[1, 1, "s1"],
				[2, 1, "s2"],
				[3, 1, "s3"],
				[4, 1, "cut1"],
				[5, 2, "s4"],
			]);
			expect((await queue.takeovers(first.runId)).map(({ epoch, sessionCut, sessionFrom }) => [epoch, sessionCut, sessionFrom])).toEqual([
				[2, 3, 4],
				[4, 5, 5],
			]);
		}));

	test("lines and patches come back byte by byte", () =>
		withQueues(async (queue) => {
			const claim = await claimed(queue, "a");
			const session = [
				JSON.stringify({ nul: "\u0000", lone: "\ud800", pair: "\u{1f600}", separators: "\u2028\u2029", quotes: '"\\{},NULL' }),
				JSON.stringify("x".repeat(10 * 1024 * 1024)),
				" leading and trailing ",
				"{}",
			];
			const patch = Buffer.from(Array.from({ length: 70_000 }, (_, index) => index % 256));
			await queue.commit(claim, { from: { session: 0, events: 0 }, session, events: [], checkpoint: { n: 1, tree: "t", patch } });
			await queue.leave("w1");
			await queue.register(worker("w2"));
			const next = (await queue.reclaim(worker("w2"), 60_000)) as Claim;
			const saved = await queue.load(next);
			expect(saved.session.map((line, index) => line === session[index])).toEqual([true, true, true, true]);
			expect(saved.checkpoint?.patch.equals(patch)).toBe(true);
			await queue.finish(next, { status: "completed", patch, receipt });
			expect((await queue.result(claim.runId))?.patch?.equals(patch)).toBe(true);
		}));

	test("a run whose workers die ends as lost, with the files of its checkpoint", () =>
		withQueues(async (queue) => {
			const claim = await claimed(queue, "a", { maxAttempts: 2 });
			await queue.commit(claim, {
				from: { session: 0, events: 0 },
				session: ["s"],
				events: [],
				checkpoint: { n: 1, tree: "t", patch: Buffer.from("p") },
			});
			for (const id of ["w2", "w3"]) await queue.register(worker(id));
			await queue.leave("w1");
			expect(await queue.reclaim(worker("w2"), 60_000)).toMatchObject({ epoch: 2, attempts: 2 });
			await queue.leave("w2");
			expect(await queue.reclaim(worker("w3"), 60_000)).toBeUndefined();
			const result = await queue.result(claim.runId);
			expect(result).toMatchObject({ status: "lost", epoch: 3, receipt: { status: "lost", attempts: 2 } });
			expect(result?.patch?.toString()).toBe("p");
			expect((await queue.lanes())[0]?.running).toBe(0);
		}));

	test("a run that is lost says why it went back before", () =>
		withQueues(async (queue) => {
			const first = await claimed(queue, "a", { maxAttempts: 2 });
			await queue.requeue(first, { delayMs: 0, why: "The agent was ended by SIGKILL.", counts: true });
			expect(await queue.claim(worker("w1"))).toMatchObject({ attempts: 2 });
			await queue.leave("w1");
			await queue.register(worker("w2"));
			expect(await queue.reclaim(worker("w2"), 60_000)).toBeUndefined();
			const reason = expect.stringContaining("The agent was ended by SIGKILL.");
			expect(await queue.result(first.runId)).toMatchObject({ status: "lost", receipt: { reason } });
		}));

	test("cancelling ends what waits, asks what runs, and leaves what is done", () =>
		withQueues(async (queue) => {
			const done = await claimed(queue, "done", { batch: "b", priority: 9 });
			await queue.finish(done, { status: "completed", receipt });
			const running = await claimed(queue, "running", { batch: "b", priority: 8 });
			const [waiting] = await queue.submit([submission("waiting", { batch: "b" }), submission("other")]);
			expect(await queue.cancel({ batch: "b" })).toBe(2);
			expect(await queue.result(waiting?.runId as string)).toMatchObject({ status: "cancelled" });
			expect(await queue.result(running.runId)).toBeUndefined();
			expect(await queue.renew("w1")).toMatchObject({ cancel: [running.runId] });
			expect(await queue.commit(running, { from: { session: 0, events: 0 }, session: ["s"], events: [] })).toEqual({ cancel: true });
			expect(await queue.requeue(running, { delayMs: 0, why: "", counts: true })).toBe(false);
			// Its worker dies before it obeys.
			await queue.leave("w1");
			await queue.register(worker("w2"));
			expect(await queue.reclaim(worker("w2"), 60_000)).toBeUndefined();
			expect(await queue.result(running.runId)).toMatchObject({ status: "cancelled" });
			expect(await queue.result(done.runId)).toMatchObject({ status: "completed" });
			expect(await queue.cancel({ ids: [done.runId, "r_unknown"] })).toBe(0);
			expect(await queue.count({ batch: "b" })).toEqual({ completed: 1, cancelled: 2 });
			expect(await queue.count({})).toMatchObject({ queued: 1 });
		}));

	test("a requeued run waits for its time", () =>
		withQueues(async (queue) => {
			const claim = await claimed(queue, "a");
			expect(await queue.requeue(claim, { delayMs: 3_600_000, why: "later", counts: true })).toBe(true);
			expect(await queue.claim(worker("w1"))).toBeUndefined();
			expect((await queue.list({}))[0]).toMatchObject({ state: "queued", epoch: 2, attempts: 1 });
			expect((await queue.lanes())[0]).toMatchObject({ running: 0, queued: 1 });
		}));

	test("money is held before it is spent, and never more than there is", () =>
		withQueues(async (queue, all) => {
			await queue.setBudget("b", { maxUsd: 10, maxTokens: 1000 });
			for (const [index, each] of all.entries()) await each.register(worker(`w${index}`));
			await queue.submit(all.map((_, index) => submission(`m${index}`, { budget: "b" })));
			const claims = (await Promise.all(all.map((each, index) => each.claim(worker(`w${index}`))))).filter((claim) => claim !== undefined);
			while (claims.length < all.length) claims.push((await queue.claim(worker("w0"))) as Claim);
			const answers = await Promise.all(claims.map((claim, index) => (all[index] as RunQueue).hold(claim, 3, 100)));
			expect(answers.filter((answer) => answer === "held")).toHaveLength(3);
			expect(answers.filter((answer) => answer === "wait")).toHaveLength(5);
			const [held, other] = claims.filter((_, index) => answers[index] === "held") as [Claim, Claim];
			await queue.commit(held, { from: { session: 0, events: 0 }, session: ["s"], events: [], usd: 2.5, tokens: 40 });
			expect(await queue.budgets()).toMatchObject([{ spentUsd: 2.5, spentTokens: 40, heldUsd: 6.5, heldTokens: 260 }]);
			// More than it held: the overrun of one request.
			await queue.finish(held, { status: "completed", receipt, usd: 1, tokens: 100 });
			expect(await queue.budgets()).toMatchObject([{ spentUsd: 3.5, spentTokens: 140, heldUsd: 6, heldTokens: 200 }]);
			await queue.requeue(other, { delayMs: 0, why: "", counts: true });
			expect(await queue.budgets()).toMatchObject([{ heldUsd: 3, heldTokens: 100 }]);
			for (const claim of claims) await queue.finish(claim, { status: "completed", receipt });
			expect(await queue.budgets()).toMatchObject([{ spentUsd: 3.5, heldUsd: 0, heldTokens: 0 }]);
			await queue.submit([submission("last", { budget: "b", priority: 50 })]);
			const last = (await queue.claim(worker("w0"))) as Claim;
			expect(await queue.hold(last, 7, 0)).toBe("refused");
			expect(await queue.hold(last, 6.5, 0)).toBe("held");
		}));

	test("a run that must wait for money holds none; when no other holds any, it is refused", () =>
		withQueues(async (queue) => {
			await queue.setBudget("b", { maxUsd: 6, maxTokens: 100 });
			const first = await claimed(queue, "a", { budget: "b" });
			const second = await claimed(queue, "c", { budget: "b" });
			expect(await queue.hold(first, 3, 10)).toBe("held");
			expect(await queue.hold(second, 3, 10)).toBe("held");
			await queue.commit(first, { from: { session: 0, events: 0 }, session: ["s"], events: [], usd: 2, tokens: 5 });
			// Its last dollar goes back, and the other can go on with it.
			expect(await queue.hold(first, 2, 0)).toBe("wait");
			expect(await queue.budgets()).toMatchObject([{ spentUsd: 2, heldUsd: 3, heldTokens: 10 }]);
			expect(await queue.hold(second, 1, 0)).toBe("held");
			// What its requests in flight will use stays.
			expect(await queue.hold(second, 2, 0, { usd: 3.5, tokens: 20 })).toBe("refused");
			expect(await queue.budgets()).toMatchObject([{ spentUsd: 2, heldUsd: 3.5, heldTokens: 10 }]);
			expect(await queue.hold(first, 2, 0)).toBe("wait");
			await queue.commit(second, { from: { session: 0, events: 0 }, session: ["s"], events: [], usd: 2, tokens: 5 });
			// Both would wait for each other; the one that still holds something is refused.
			expect(await queue.hold(second, 1, 0)).toBe("refused");
			expect(await queue.budgets()).toMatchObject([{ spentUsd: 4, spentTokens: 10, heldUsd: 0, heldTokens: 0 }]);
			expect(await queue.hold(first, 2, 0)).toBe("held");
			// Tokens alone are money, too.
			expect(await queue.hold(second, 0, 91)).toBe("wait");
			await queue.finish(first, { status: "completed", receipt });
			expect(await queue.hold(second, 0, 91)).toBe("refused");
		}));

	test("many at once on a small budget: some go on, none waits for ever, and nothing stays held", () =>
		withQueues(async (queue, all) => {
			await queue.setBudget("b", { maxUsd: 10 });
			await queue.register(worker("w1"));
			await queue.submit(all.map((_, index) => submission(`m${index}`, { budget: "b" })));
			let running: { claim: Claim; lines: number; queue: RunQueue }[] = [];
			for (const each of all) running.push({ claim: (await queue.claim(worker("w1"))) as Claim, lines: 0, queue: each });
			let refused = 0;
			// Each asks for two dollars and spends one of them. With every round money is spent or a run ends.
			for (let round = 0; running.length > 0; round++) {
				expect(round).toBeLessThan(30);
				const answers = await Promise.all(running.map((each) => each.queue.hold(each.claim, 2, 0)));
				for (const [index, each] of running.entries()) {
					if (answers[index] === "refused") {
						refused += 1;
						await each.queue.finish(each.claim, { status: "budget", receipt });
					}
					if (answers[index] !== "held") continue;
					await each.queue.commit(each.claim, { from: { session: each.lines, events: 0 }, session: ["s"], events: [], usd: 1 });
					each.lines += 1;
				}
				running = running.filter((_, index) => answers[index] !== "refused");
			}
			expect(refused).toBe(all.length);
			const [budget] = await queue.budgets();
			expect(budget?.heldUsd).toBe(0);
			expect(budget?.spentUsd).toBeLessThanOrEqual(10);
			expect(budget?.spentUsd).toBeGreaterThan(0);
		}));

	test("rates are shared, and a pause never becomes shorter", () =>
		withQueues(async (queue) => {
			await queue.setRate("anthropic", { rpm: 50, tpm: 40_000 });
			await queue.setRate("anthropic", { pauseMs: 3_600_000 });
			await queue.setRate("anthropic", { pauseMs: 10 });
			await queue.setRate("anthropic", { rpm: null });
			const [rate] = await queue.rates();
			expect(rate).toMatchObject({ provider: "anthropic", rpm: null, tpm: 40_000 });
			expect(rate?.pausedMs).toBeGreaterThan(600_000);
			await queue.register(worker("w1"));
			expect(await queue.renew("w1")).toMatchObject({ rates: [{ provider: "anthropic", tpm: 40_000 }] });
		}));

	test("a worker is told to drain once it is asked to", () =>
		withQueues(async (queue) => {
			await queue.register(worker("w1"));
			expect(await queue.drain("w1")).toBe(true);
			expect(await queue.renew("w1")).toMatchObject({ draining: true });
			expect(await queue.drain("unknown")).toBe(false);
			expect(await queue.workers()).toMatchObject([{ id: "w1", draining: true, gone: false, running: 0 }]);
		}));

	test(
		"ten thousand waiting runs: each claim gets another one, and lists and counts are right",
		() =>
			withQueues(async (queue) => {
				await queue.register(worker("w1"));
				await queue.submit([submission("first")]);
				await queue.finish((await queue.claim(worker("w1"))) as Claim, { status: "completed", receipt });
				await queue.submit(Array.from({ length: 10_000 }, (_, index) => submission(`q${index}`, { spec: { repo: { url: "/r" }, prompt: "x" } })));
				const keys: string[] = [];
				for (let count = 0; count < 20; count++) {
					const claim = (await queue.claim(worker("w1"))) as Claim;
					keys.push(claim.key);
					await queue.finish(claim, { status: "completed", receipt });
				}
				expect(new Set(keys).size).toBe(20);
				expect(await queue.list({ limit: 50 })).toHaveLength(50);
				expect(await queue.count({})).toMatchObject({ queued: 9980, completed: 21 });
			}),
		120_000,
	);

	test("logs of old runs are dropped; runs and results stay", () =>
		withQueues(async (queue) => {
			const claim = await claimed(queue, "a");
			await queue.commit(claim, { from: { session: 0, events: 0 }, session: ["s"], events: [] });
			await queue.finish(claim, { status: "completed", patch: Buffer.from("p"), receipt });
			expect(await queue.prune(30)).toEqual([]);
			expect(await queue.lines(claim.runId, "session", 0, 10)).toHaveLength(1);
			expect((await queue.prune(-2)).length).toBeGreaterThan(0);
			expect((await queue.result(claim.runId))?.patch?.toString()).toBe("p");
			// Work goes on afterwards.
			const next = await claimed(queue, "b");
			expect(await queue.commit(next, { from: { session: 0, events: 0 }, session: ["s"], events: [] })).toEqual({ cancel: false });
		}));
});
