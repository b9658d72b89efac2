/** What only the queue in Postgres has: answers that are lost, roles, TLS, steps between versions. */
import { execFileSync } from "node:child_process";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { roleStatements } from "../../src/fleet/postgres/migrate.ts";
import { initialise, openPostgresQueue, type PostgresQueue } from "../../src/fleet/postgres/queue.ts";
import type { Claim, Submission, WorkerFacts } from "../../src/fleet/queue.ts";
import { describeUnless, testUnless } from "../unless.ts";
import { type Cluster, postgresPrograms, startCluster } from "./cluster.ts";
import { type Cut, type CuttingProxy, cuttingProxy, poolingProxy } from "./proxy.ts";

const schema = "bowline_fleet";
const hasPostgres = postgresPrograms() !== undefined;
if (!hasPostgres) process.stderr.write("PostgreSQL is not installed: its own tests are left out.\n");

describeUnless(!hasPostgres && "PostgreSQL is not installed")("postgres", () => {
	let cluster: Cluster;
	let initialised: string;
	beforeAll(async () => {
		cluster = await startCluster({ tls: hasOpenssl() });
		initialised = await cluster.database();
		await initialise({ url: initialised, schema });
	}, 120_000);
	afterAll(() => cluster.remove(), 60_000);

	const worker: WorkerFacts = { id: "w1", host: "here", labels: [], slots: 2, version: "1" };
	const submission = (key: string, more: Partial<Submission> = {}): Submission => ({
		key,
		spec: { repo: { url: "/r" }, prompt: `work on ${key}` },
		lane: "default",
		priority: 0,
		needs: [],
		maxAttempts: 5,
		...more,
	});

	/** The statement of each write, by words that only it has. */
	const statements = {
		submit: "on conflict (key) do nothing",
		claim: "set state = 'running', epoch = epoch + 1",
		commit: "set session_lines = session_lines + cardinality",
		finish: "set state = 'done', finished_at = now(), usd = usd",
		requeue: "set state = 'queued', epoch = epoch + 1",
		cancel: "It was cancelled before",
	};

	describe.each(["before", "after"] as const)("the connection is cut %s Postgres does it", (when: Cut) => {
		let proxy: CuttingProxy;
		let queue: PostgresQueue;
		beforeAll(async () => {
			const url = new URL(await cluster.database(initialised));
			proxy = await cuttingProxy(cluster.port);
			url.port = String(proxy.port);
			queue = await openPostgresQueue({ url: url.href, schema, connections: 2, listen: false });
			await queue.register(worker);
		}, 60_000);
		afterAll(async () => {
			await queue.close();
			await proxy.close();
		});

		/** As a worker asks: again while there is no answer. */
		async function persistently<T>(statement: keyof typeof statements, ask: () => Promise<T>): Promise<T> {
			const before = proxy.cuts;
			proxy.cut(statements[statement], when);
			for (;;) {
				try {
					const answer = await ask();
					expect(proxy.cuts).toBe(before + 1);
					return answer;
				} catch (error) {
					expect(error).toMatchObject({ code: "unavailable" });
				}
			}
		}
		async function claimed(key: string): Promise<Claim> {
			await queue.submit([submission(key, { priority: 50 })]);
			return (await queue.claim(worker)) as Claim;
		}

		test("a submission, alone and with others, makes one run", async () => {
			const first = await persistently("submit", () => queue.submit([submission("a")]));
			const many = await persistently("submit", () => queue.submit([submission("a"), submission("b")]));
			expect(many).toMatchObject([{ runId: first[0]?.runId, fresh: false }, {}]);
			expect(await queue.list({ lane: "default" })).toHaveLength(2);
			await persistently("cancel", () => queue.cancel({ ids: many.map(({ runId }) => runId) }));
			expect(await queue.count({})).toEqual({ cancelled: 2 });
		});

		test("a claim whose answer is lost is found with the next renewal; none is given twice", async () => {
			const [{ runId } = { runId: "" }] = await queue.submit([submission("claim")]);
			proxy.cut(statements.claim, when);
			await expect(queue.claim(worker)).rejects.toMatchObject({ code: "unavailable" });
			const renewal = await queue.renew("w1");
			expect(renewal).toMatchObject({ held: when === "after" ? [{ runId, epoch: 1 }] : [] });
			const again = await queue.claim(worker);
			expect(again?.runId).toBe(when === "after" ? undefined : runId);
			await queue.finish({ runId, epoch: 1 } as Claim, { status: "completed", receipt: {} });
		});

		test("lines are there once, and nothing is granted before they are; the result is one", async () => {
			const claim = await claimed("lines");
			const commit = {
				from: { session: 0, events: 0 },
				session: ["s1", "s2"],
				events: ["e1"],
				checkpoint: { n: 1, tree: "t", patch: Buffer.from("p") },
			};
			expect(await persistently("commit", () => queue.commit(claim, commit))).toEqual({ cancel: false });
			expect((await queue.lines(claim.runId, "session", 0, 10)).map(({ body }) => body)).toEqual(["s1", "s2"]);
			expect(await persistently("finish", () => queue.finish(claim, { status: "completed", receipt: { n: 1 }, usd: 1 }))).toBe(true);
			// Another result of the same epoch changes nothing.
			await queue.finish(claim, { status: "failed", receipt: { n: 2 } });
			expect(await queue.result(claim.runId)).toMatchObject({ status: "completed", receipt: { n: 1 } });
			expect((await queue.list({ ids: [claim.runId] }))[0]?.usd).toBe(1);
			expect((await queue.lanes())[0]?.running).toBe(0);
		});

		test("a run that goes back goes back once", async () => {
			const claim = await claimed("back");
			await persistently("requeue", () => queue.requeue(claim, { delayMs: 0, why: "drained", counts: false }));
			expect((await queue.list({ ids: [claim.runId] }))[0]).toMatchObject({ state: "queued", attempts: 0, epoch: 2 });
			expect((await queue.lanes())[0]?.running).toBe(0);
		});
	});

	test("a pooler in transaction mode: everything works, without notifications", async () => {
		const url = new URL(await cluster.database(initialised));
		const proxy = await poolingProxy({ port: cluster.port, database: url.pathname.slice(1), size: 2 });
		url.port = String(proxy.port);
		const queues = await Promise.all(Array.from({ length: 4 }, () => openPostgresQueue({ url: url.href, schema, connections: 3 })));
		try {
			await Promise.all(queues.map((queue, index) => queue.register({ ...worker, id: `w${index}` })));
			for (const queue of queues) queue.watch(() => undefined);
			const keys = Array.from({ length: 12 }, (_, index) => `k${index}`);
			await Promise.all(queues.map((queue) => queue.submit(keys.map((key) => submission(key)))));
			const ended = await Promise.all(
				queues.map(async (queue, index) => {
					let count = 0;
					for (;;) {
						const claim = await queue.claim({ ...worker, id: `w${index}` });
						if (!claim) return count;
						await queue.commit(claim, { from: { session: 0, events: 0 }, session: ["s"], events: [] });
						await queue.renew(`w${index}`);
						await queue.finish(claim, { status: "completed", receipt: {} });
						count++;
					}
				}),
			);
			expect(ended.reduce((sum, count) => sum + count, 0)).toBe(12);
			expect(await queues[0]?.count({})).toEqual({ completed: 12 });
		} finally {
			await Promise.all(queues.map((queue) => queue.close()));
			await proxy.close();
		}
	});

	test("roles: a reader reads, a submitter submits, a worker works, and none of them does more", async () => {
		const url = await cluster.database(initialised);
		const owner = new pg.Client({ connectionString: url });
		await owner.connect();
		await owner.query(roleStatements(schema));
		for (const role of ["read", "submit", "work"]) await owner.query(`create role ${role}er login in role fleet_${role}`);
		// The partitions of a week ahead are gone, as after a week.
		const { rows } = await owner.query(
			"select inhrelid::regclass::text as name from pg_inherits join pg_class on oid = inhrelid where relkind = 'r'",
		);
		for (const { name } of rows as { name: string }[]) await owner.query(`drop table ${name}`);
		const as = async <T>(user: string, work: (queue: PostgresQueue) => Promise<T>) => {
			const own = new URL(url);
			own.username = user;
			const queue = await openPostgresQueue({ url: own.href, schema, listen: false });
			return work(queue).finally(() => queue.close());
		};
		const denied = { code: "42501" };
		try {
			await as("reader", async (queue) => {
				expect(await queue.list({})).toEqual([]);
				await expect(queue.submit([submission("a")])).rejects.toMatchObject(denied);
			});
			await as("submiter", async (queue) => {
				expect(await queue.submit([submission("a")])).toMatchObject([{ fresh: true }]);
				expect(await queue.submit([submission("a")])).toMatchObject([{ fresh: false }]);
				await expect(queue.register(worker)).rejects.toMatchObject(denied);
				await expect(queue.setBudget("b", { maxUsd: 1 })).rejects.toMatchObject(denied);
			});
			await as("worker", async (queue) => {
				await queue.register(worker);
				const claim = (await queue.claim(worker)) as Claim;
				expect(await queue.commit(claim, { from: { session: 0, events: 0 }, session: ["s"], events: [] })).toEqual({ cancel: false });
				expect(await queue.finish(claim, { status: "completed", receipt: {} })).toBe(true);
			});
			const own = new URL(url);
			own.username = "worker";
			const plain = new pg.Client({ connectionString: own.href });
			await plain.connect();
			await expect(plain.query(`create table ${schema}.mine (n int)`)).rejects.toMatchObject(denied);
			await expect(plain.query(`drop table ${schema}.run`)).rejects.toMatchObject(denied);
			await plain.end();
		} finally {
			await owner.end();
		}
	});

	test("after many submissions Postgres knows how many wait, so that a claim does not sort them all", async () => {
		const url = await cluster.database(initialised);
		const queue = await openPostgresQueue({ url, schema, listen: false });
		const owner = new pg.Client({ connectionString: url });
		await owner.connect();
		try {
			await queue.register(worker);
			await queue.submit(Array.from({ length: 2000 }, (_, index) => submission(`k${index}`)));
			const { rows } = await owner.query("select reltuples from pg_class where oid = $1::regclass", [`${schema}.run`]);
			expect((rows[0] as { reltuples: number }).reltuples).toBe(2000);
		} finally {
			await owner.end();
			await queue.close();
		}
	});

	test("a schema of an earlier version is refused with the remedy, and `init` brings it up to date", async () => {
		const url = await cluster.database(initialised);
		const owner = new pg.Client({ connectionString: url });
		await owner.connect();
		await owner.query(
			`drop function ${schema}.make_partitions; alter table ${schema}.worker drop column held; alter table ${schema}.run drop column shared_deaths;
			update ${schema}.meta set minor = 1`,
		);
		await expect(openPostgresQueue({ url, schema })).rejects.toMatchObject({
			code: "not_initialised",
			message: expect.stringContaining("fleet init"),
		});
		expect(await initialise({ url, schema })).toEqual(["applied step 2", "applied step 3"]);
		expect(await initialise({ url, schema })).toEqual([]);
		await owner.query(`update ${schema}.meta set major = 9`);
		await expect(openPostgresQueue({ url, schema })).rejects.toMatchObject({ code: "other_version" });
		await expect(initialise({ url, schema })).rejects.toMatchObject({ code: "other_version" });
		await owner.end();
	});

	testUnless(!hasOpenssl() && "openssl is not installed")("TLS: a certificate is accepted when it is known and names the host", async () => {
		const url = new URL(await cluster.database(initialised));
		const open = async (host: string, more: string) => {
			const { pathname, port } = url;
			const queue = await openPostgresQueue({
				url: `postgres://bowline@${host}:${port}${pathname}?sslmode=verify-full${more}`,
				schema,
				listen: false,
			});
			const lanes = await queue.lanes();
			await queue.close();
			return lanes.length;
		};
		expect(await open("localhost", `&sslrootcert=${cluster.certificate}`)).toBe(1);
		await expect(open("localhost", "")).rejects.toThrow(/self.signed certificate/);
		await expect(open("127.0.0.1", `&sslrootcert=${cluster.certificate}`)).rejects.toThrow(/does not match|altnames/i);
	});
});

function hasOpenssl(): boolean {
	try {
		execFileSync("openssl", ["version"], { stdio: "pipe" });
		return true;
	} catch {
		// It is not installed.
		return false;
	}
}
