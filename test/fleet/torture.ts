/**
 * Many runs on workers that are killed and frozen, with a Postgres that crashes in the middle, each run submitted five times. Afterwards every
 * promise is checked against what is in the tables, in the patches, and in the effects that steps had outside.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { initialise, openPostgresQueue, type PostgresQueue } from "../../src/fleet/postgres/queue.ts";
import type { RunQueue } from "../../src/fleet/queue.ts";
import { chain } from "../../src/fleet/receipt.ts";
import { withoutCut } from "../../src/fleet/takeovers.ts";
import { startCluster } from "./cluster.ts";
import { endedFile, familyOf, makeFixture, signalAll, startWorker, steps, submissionFor, until, type WorkerProcess, wrongClock } from "./fixture.ts";
import { type Between, poolingProxy } from "./proxy.ts";

export interface TortureOptions {
	runs: number;
	workers: number;
	slots: number;
	/** How many workers are killed and frozen while runs are left. */
	kills: number;
	freezes: number;
	/** How much of the harm comes before the first run has ended, from 0 to 1. */
	early?: number;
	/** Whether Postgres crashes, and starts again. */
	crash: boolean;
	/** Half of the machines have a clock that is wrong by a day, ahead or behind. */
	skew?: boolean;
	/** Everything goes through a pooler in transaction mode with so many connections. */
	pooled?: number;
	/** A frozen worker thaws so long after its lease at most. */
	thawMs?: number;
	seed: number;
	deadlineMs: number;
	leaseMs?: number;
	renewMs?: number;
	log?: (text: string) => void;
}

export interface TortureReport {
	results: number;
	missing: string[];
	/** By status. */
	statuses: Record<string, number>;
	problems: string[];
	submissions: number;
	kills: number;
	freezes: number;
	takeovers: number;
	stepsRun: number;
	stepsTwice: number;
	/** Of these, the steps that had ended before their worker was lost. */
	stepsTwiceAfterEnd: number;
	/** Steps of an older epoch after one of a newer: at most the one in flight when a machine was frozen. */
	stepsLate: number;
	seconds: number;
}

const hasEnded = ({ exitCode, signalCode }: WorkerProcess["child"]) => exitCode !== null || signalCode !== null;

/** The same sequence for the same seed. */
function random(seed: number): () => number {
	let state = seed >>> 0 || 1;
	return () => {
		state ^= state << 13;
		state ^= state >>> 17;
		state ^= state << 5;
		return (state >>> 0) / 2 ** 32;
	};
}

export const emptyReport = (): TortureReport => ({
	results: 0,
	missing: [],
	statuses: {},
	problems: [],
	submissions: 0,
	kills: 0,
	freezes: 0,
	takeovers: 0,
	stepsRun: 0,
	stepsTwice: 0,
	stepsTwiceAfterEnd: 0,
	stepsLate: 0,
	seconds: 0,
});

export async function torture(options: TortureOptions): Promise<TortureReport> {
	const {
		runs,
		slots,
		crash,
		skew = false,
		pooled,
		thawMs = 2000,
		early = 0.15,
		seed,
		deadlineMs,
		leaseMs = 6000,
		renewMs = 1000,
		log = () => undefined,
	} = options;
	const start = Date.now();
	const next = random(seed);
	const cluster = await startCluster({ durable: true });
	const fixture = makeFixture({ stepSeconds: 0.2 });
	const frozen: number[] = [];
	const workers: WorkerProcess[] = [];
	const queues: PostgresQueue[] = [];
	const report = emptyReport();
	let homes = 0;
	let pooler: Between | undefined;
	try {
		const place = new URL(await cluster.database());
		await initialise({ url: place.href, schema: "bowline_fleet" });
		if (pooled !== undefined) {
			pooler = await poolingProxy({ port: cluster.port, database: place.pathname.slice(1), size: pooled });
			place.port = String(pooler.port);
		}
		const url = place.href;
		for (let count = 0; count < 5; count++) queues.push(await openPostgresQueue({ url, schema: "bowline_fleet" }));
		const queue = queues[0] as PostgresQueue;
		const settings = { "fleet.url": url, "fleet.leaseMs": leaseMs, "fleet.renewMs": renewMs };
		const day = 86_400_000;
		const startOne = () => {
			const number = ++homes;
			const clock = skew && number % 2 === 0 ? wrongClock(fixture.folder, number % 4 === 0 ? day : -day) : {};
			workers.push(startWorker(join(fixture.folder, `machine-${number}`), ["--slots", String(slots)], settings, clock));
		};
		for (let count = 0; count < options.workers; count++) startOne();

		const keys = Array.from({ length: runs }, (_, index) => `run-${index}`);
		const answers = await Promise.all(
			keys.flatMap((key) => queues.map((each) => each.submit([submissionFor(fixture, key, { maxAttempts: 100 })]).then(([one]) => ({ key, one })))),
		);
		report.submissions = answers.length;
		for (const key of keys) {
			const mine = answers.filter((answer) => answer.key === key);
			if (new Set(mine.map(({ one }) => one?.runId)).size !== 1) report.problems.push(`${key} has several runs`);
			if (mine.filter(({ one }) => one?.fresh).length !== 1) report.problems.push(`${key} was fresh more than once`);
		}
		const ids = [...new Set(answers.map(({ one }) => one?.runId as string))];

		const doneCount = async () => {
			try {
				const counts = await queue.count({});
				return runs - (counts.queued ?? 0) - (counts.running ?? 0);
			} catch {
				// Postgres is away.
				return 0;
			}
		};
		// What is left of the harm is spread over what is left of the runs.
		const harm = [
			...Array.from({ length: options.kills }, () => "kill" as const),
			...Array.from({ length: options.freezes }, () => "freeze" as const),
			...(crash ? (["crash"] as const) : []),
		]
			.map((what) => ({ what, order: next() }))
			.sort((a, b) => a.order - b.order);
		let harmed = 0;
		const thaws: Promise<void>[] = [];
		await until(
			async () => {
				const done = await doneCount();
				if (done >= runs) return true;
				// Some of the harm at the beginning, before any run has ended.
				const due = Math.ceil(((done + runs * early) / (runs * 1.1)) * harm.length);
				while (harmed < Math.min(due, harm.length) && done < runs) {
					const { what } = harm[harmed++] as (typeof harm)[number];
					// A worker that cannot reach Postgres at its start ends; harm is for those that are at work.
					await until(() => workers.every(({ child, output }) => hasEnded(child) || output().includes(" works on ")), "the workers are registered");
					log(`${done} of ${runs} done: ${what}`);
					if (what === "crash") {
						await cluster.crash();
						await new Promise((resolve) => setTimeout(resolve, 500 + next() * 1000));
						await cluster.start();
						continue;
					}
					const living = workers.filter(({ child }) => !hasEnded(child));
					const victim = living[Math.floor(next() * living.length)];
					if (!victim) continue;
					if (what === "kill") {
						victim.child.kill("SIGKILL");
						await victim.exited;
						report.kills += 1;
						startOne();
					} else {
						// The whole machine, or the worker alone.
						const pid = victim.child.pid as number;
						const family = next() < 0.7 ? familyOf(pid) : [pid];
						frozen.push(...family);
						signalAll(family, "SIGSTOP");
						report.freezes += 1;
						const frozenMs = leaseMs + 1 + next() * thawMs;
						thaws.push(new Promise((resolve) => setTimeout(resolve, frozenMs)).then(() => signalAll(family, "SIGCONT")));
					}
					await new Promise((resolve) => setTimeout(resolve, 200 + next() * 600));
				}
				return false;
			},
			`${runs} runs have ended`,
			deadlineMs,
		);
		await Promise.all(thaws);
		// Thawed workers notice that they are dead; their agents end with them.
		for (const { child } of workers) child.kill("SIGTERM");
		await Promise.all(workers.map(({ exited }) => exited));
		await check(queue, ids, fixture.effects, report);
	} catch (error) {
		const said = workers.map(({ output }, index) => `worker ${index + 1}: ${output().slice(-1500)}`).join("\n");
		throw new Error(`${(error as Error).message}\n${said}`, { cause: error });
	} finally {
		signalAll(frozen, "SIGCONT");
		for (const { child } of workers) child.kill("SIGKILL");
		await Promise.all(workers.map(({ exited }) => exited));
		await Promise.all(queues.map((each) => each.close()));
		await pooler?.close();
		await cluster.remove();
		fixture.remove();
	}
	report.seconds = Math.round((Date.now() - start) / 1000);
	return report;
}

/** Reads which steps of which runs noted something, in the order of their notes. */
const notesIn = (path: string) =>
	readFileSync(path, "utf8")
		.split("\n")
		.filter(Boolean)
		.map((line) => line.split(" "))
		.map(([run, epoch, step]) => ({ run, epoch: Number(epoch), step: Number(step) }));

/** What must hold for runs that have ended, whatever happened to them. */
export async function check(
	queue: Pick<RunQueue, "list" | "result" | "takeovers" | "lines" | "lanes">,
	ids: readonly string[],
	effectsFile: string,
	report: TortureReport,
): Promise<void> {
	const effects = notesIn(effectsFile);
	const ended = notesIn(endedFile(effectsFile));
	report.stepsRun = effects.length;
	for (const id of ids) {
		const [row] = await queue.list({ ids: [id] });
		const result = await queue.result(id);
		if (!row || !result) {
			report.missing.push(id);
			continue;
		}
		report.results += 1;
		report.statuses[result.status] = (report.statuses[result.status] ?? 0) + 1;
		const complain = (text: string) => report.problems.push(`${id}: ${text}`);
		if (row.state !== "done") complain(`is ${row.state} and has a result`);
		if (result.epoch !== row.epoch) complain(`its result is of epoch ${result.epoch}, its row of ${row.epoch}`);
		const takeovers = await queue.takeovers(id);
		report.takeovers += takeovers.length;
		for (const file of ["session", "events"] as const) {
			const lines = await queue.lines(id, file, 0, 1_000_000);
			const count = file === "session" ? row.sessionLines : row.eventLines;
			if (lines.length !== count || lines.some(({ line }, index) => line !== index + 1)) complain(`its ${file} lines have gaps`);
			if (lines.some(({ epoch }, index) => epoch < (lines[index - 1]?.epoch ?? 0))) complain(`its ${file} epochs go down`);
			const kept = withoutCut(lines, takeovers, file).map(({ body }) => body);
			if (file === "session" && chain("", kept) !== result.receipt.logHead) complain("its receipt does not fit its log");
			if (file === "events") {
				const numbers = lines.flatMap(({ body }) => (body.startsWith('{"s":') ? [Number(/^\{"s":(\d+)/.exec(body)?.[1])] : []));
				if (new Set(numbers).size !== numbers.length) complain("a number of its events was used twice");
			}
		}
		// The files and the conversation are of one moment: each step is in the files once.
		const added = (result.patch?.toString() ?? "").split("\n").filter((line) => line.startsWith("+line "));
		const wanted = Array.from({ length: steps }, (_, index) => `+line ${index + 1}`);
		if (result.status === "completed" && added.join() !== wanted.join()) complain(`its patch has ${added.join(" ") || "nothing"}`);
		const mine = effects.filter(({ run }) => run === id);
		const repeated = mine.filter(({ step }, index) => mine.slice(index + 1).some((later) => later.step === step));
		report.stepsTwice += repeated.length;
		report.stepsTwiceAfterEnd += repeated.filter(({ epoch, step }) =>
			ended.some((each) => each.run === id && each.epoch === epoch && each.step === step),
		).length;
		report.stepsLate += mine.filter(({ epoch }, index) => mine.slice(0, index).some((before) => before.epoch > epoch)).length;
	}
	for (const lane of await queue.lanes()) if (lane.running !== 0) report.problems.push(`lane ${lane.name} says that ${lane.running} run`);
}
