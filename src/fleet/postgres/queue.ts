/** The queue in PostgreSQL: any number of machines. Postgres decides about everything, its clock included. */
import pg from "pg";
import { uuid } from "../../lib/ids.ts";
import type * as Fleet from "../queue.ts";
import { QueueError } from "../queue.ts";
import { keyReused, savedRun, unknownBudget, unknownLane } from "../shared.ts";
import { type RunSpec, submissionDigest } from "../spec.ts";
import { connectionConfig, isPassing, shownUrl } from "./connect.ts";
import { checkVersion, dropPartitions, makePartitions, migrate } from "./migrate.ts";
import { type Statements, statementsFor } from "./statements.ts";

export interface PostgresOptions {
	url: string;
	schema: string;
	/** Connections at most, besides the one that renews and the one that listens. */
	connections?: number;
	/** Behind a pooler in transaction mode there are no notifications: polling is enough. */
	listen?: boolean;
}

type Row = Record<string, unknown>;

/** A query that hangs must not hold up later notifications. */
const notifyTimeoutMs = 2000;
const files: Record<Fleet.LogFile, number> = { session: 0, events: 1 };
/** Submissions of one transaction. */
const submitAtOnce = 500;

/** Creates or migrates the schema. Returns a line for each thing it did. */
export async function initialise({ url, schema }: PostgresOptions): Promise<string[]> {
	const client = new pg.Client(connectionConfig(url));
	try {
		await connected(client, url);
		return await migrate(client, schema);
	} finally {
		await client.end();
	}
}

async function connected(client: pg.Client, url: string): Promise<void> {
	client.on("error", () => undefined);
	try {
		await client.connect();
	} catch (error) {
		throw unavailable(url, error);
	}
}

function unavailable(url: string, error: unknown): QueueError {
	const { message, code } = error as Error & { code?: string };
	return new QueueError("unavailable", `PostgreSQL at ${shownUrl(url)} cannot be used: ${message || code || "no answer"}`, { cause: error });
}

export async function openPostgresQueue(options: PostgresOptions): Promise<PostgresQueue> {
	const queue = new PostgresQueue(options);
	try {
		await queue.check();
	} catch (error) {
		await queue.close();
		throw error;
	}
	return queue;
}

export class PostgresQueue implements Fleet.RunQueue {
	readonly name: string;
	readonly #options: PostgresOptions;
	readonly #pool: pg.Pool;
	/** Renewals have a connection of their own: runs at work must not make them wait. */
	readonly #renewals: pg.Pool;
	readonly #sql: Statements;
	readonly #wakes = new Set<() => void>();
	#listener: pg.Client | undefined;
	#listening: Promise<void> | undefined;
	#relisten: NodeJS.Timeout | undefined;
	#isClosed = false;
	/** Whether a notification is still to be sent. */
	#isUntold = false;
	#telling: Promise<void> | undefined;

	constructor(options: PostgresOptions) {
		this.#options = options;
		this.name = shownUrl(options.url);
		const config = connectionConfig(options.url);
		this.#pool = new pg.Pool({ ...config, max: options.connections ?? 4, idleTimeoutMillis: 30_000 });
		this.#renewals = new pg.Pool({ ...config, max: 1 });
		// An idle connection that breaks is replaced with the next question.
		for (const pool of [this.#pool, this.#renewals]) pool.on("error", () => undefined);
		this.#sql = statementsFor(options.schema);
	}

	/** Refuses a schema that is missing or of another version. */
	async check(): Promise<void> {
		await this.#with((client) => checkVersion(client, this.#options.schema));
	}

	async submit(submissions: readonly Fleet.Submission[]): Promise<Fleet.Submitted[]> {
		const done: Fleet.Submitted[] = [];
		for (let from = 0; from < submissions.length; from += submitAtOnce) {
			const part = submissions.slice(from, from + submitAtOnce);
			// The same key gives the same run, so that it may be repeated.
			done.push(...(await this.#repeatedly(() => this.#transaction((client) => this.#submitAll(client, part)))));
		}
		// Without it claims would sort all waiting runs until Postgres analyzes the table automatically, a minute later. Only the owner may do this; others get a warning.
		if (submissions.length >= submitAtOnce) await this.#ask(this.#sql.analyze, []).catch(() => undefined);
		this.#notify();
		return done;
	}

	async #submitAll(client: pg.ClientBase, submissions: readonly Fleet.Submission[]): Promise<Fleet.Submitted[]> {
		const done: Fleet.Submitted[] = [];
		// In one order everywhere, so that two transactions with the same keys do not wait for each other in a ring.
		const order = submissions.map((submission, index) => ({ submission, index })).sort((a, b) => (a.submission.key < b.submission.key ? -1 : 1));
		const known =
			order.length > 1
				? await this.#submitTogether(
						client,
						order.map(({ submission }) => submission),
					)
				: new Map<string, Row>();
		for (const { submission, index } of order) {
			const row = known.get(submission.key);
			// A key that is there twice is found by the second question.
			known.delete(submission.key);
			done[index] = row ? submitted(submission.key, row) : await this.#submitOne(client, submission);
		}
		return done;
	}

	async #submitTogether(client: pg.ClientBase, submissions: readonly Fleet.Submission[]): Promise<Map<string, Row>> {
		const column = <T>(of: (submission: Fleet.Submission) => T): T[] => submissions.map(of);
		const values = [
			column(() => `r_${uuid(Date.now())}`),
			column(({ key }) => key),
			column((submission) => submissionDigest(submission).toString("hex")),
			column(({ lane }) => lane),
			column(({ priority }) => priority),
			column(({ spec }) => JSON.stringify(spec)),
			column(({ batch }) => batch ?? null),
			column(({ budget }) => budget ?? null),
			column(({ needs }) => JSON.stringify(needs)),
			column(({ maxAttempts }) => maxAttempts),
		];
		try {
			const { rows } = await client.query(this.#sql.submitMany, values);
			return new Map((rows as Row[]).map((row) => [row.key as string, row]));
		} catch (error) {
			const wrong = submissions.find(
				({ lane, budget }) =>
					(error as { detail?: string }).detail?.includes(`(${lane})`) || (budget && (error as { detail?: string }).detail?.includes(`(${budget})`)),
			);
			throw wrong ? this.#explain(error, wrong) : error;
		}
	}

	async #submitOne(client: pg.ClientBase, submission: Fleet.Submission): Promise<Fleet.Submitted> {
		const { key, spec, lane, priority, batch, budget, needs, maxAttempts } = submission;
		const values = [
			`r_${uuid(Date.now())}`,
			key,
			submissionDigest(submission),
			lane,
			priority,
			JSON.stringify(spec),
			batch ?? null,
			budget ?? null,
			needs,
			maxAttempts,
		];
		for (let attempt = 0; ; attempt++) {
			let row: Row | undefined;
			try {
				row = (await client.query(this.#sql.submit, values)).rows[0] as Row | undefined;
			} catch (error) {
				throw this.#explain(error, submission);
			}
			if (row) return submitted(key, row);
			// The twin that was first has not committed yet.
			if (attempt >= 50) throw new QueueError("unavailable", `The key ${JSON.stringify(key)} is being submitted by others. Try again.`);
			await new Promise((resolve) => setTimeout(resolve, 5 + attempt * 5));
		}
	}

	#explain(error: unknown, { lane, budget }: Fleet.Submission): unknown {
		const { code, constraint = "" } = error as { code?: string; constraint?: string };
		if (code !== "23503") return error;
		if (constraint.includes("lane")) return unknownLane(lane);
		return unknownBudget(String(budget));
	}

	async register({ id, host, labels, slots, version }: Fleet.WorkerFacts): Promise<void> {
		await this.#ask(this.#sql.register, [id, host, labels, slots, version]);
		await this.#transaction((client) => makePartitions(client, this.#options.schema));
	}

	async renew(worker: string): Promise<Fleet.Renewal | "gone"> {
		const { rows } = await this.#renewals.query(this.#sql.renew, [worker]).catch((error: unknown) => {
			throw this.#failure(error);
		});
		const row = rows[0] as Row | undefined;
		if (!row) return "gone";
		return {
			draining: row.draining as boolean,
			cancel: row.cancel as string[],
			held: row.held as Fleet.Renewal["held"],
			running: row.running as number,
			rates: row.rates as Fleet.Rate[],
		};
	}

	async leave(worker: string): Promise<void> {
		await this.#ask(this.#sql.leave, [worker]);
	}

	async reclaim({ id, labels, lanes }: Fleet.WorkerFacts, leaseMs: number): Promise<Fleet.Claim | undefined> {
		for (;;) {
			const [row] = await this.#ask(this.#sql.reclaim, [id, labels, leaseMs, lanes ?? null]);
			if (row?.id) return toClaim(row, id);
			// One was ended; there may be others.
			if (!row || Number(row.ended) === 0) return undefined;
		}
	}

	async claim({ id, labels, lanes }: Fleet.WorkerFacts): Promise<Fleet.Claim | undefined> {
		const [row] = await this.#ask(this.#sql.claim, [id, labels, lanes ?? null]);
		return row && toClaim(row, id);
	}

	async load({ day, runId }: Fleet.Claim): Promise<Fleet.SavedRun> {
		const [checkpoint] = await this.#ask(this.#sql.checkpoint, [day, runId]);
		const log = await this.#ask(this.#sql.wholeLog, [day, runId]);
		const linesOf = (file: Fleet.LogFile) =>
			log.filter((row) => row.file === files[file]).map((row) => ({ line: Number(row.line), body: row.body as string }));
		const found = checkpoint && { n: checkpoint.n as number, tree: checkpoint.tree as string, patch: checkpoint.patch as Buffer };
		return savedRun({ session: linesOf("session"), events: linesOf("events") }, await this.takeovers(runId), found);
	}

	async pin({ runId, epoch }: Fleet.Claim, spec: RunSpec): Promise<boolean> {
		return (await this.#ask(this.#sql.pin, [runId, epoch, JSON.stringify(spec)])).length > 0;
	}

	async commit(
		claim: Fleet.Claim,
		{ from, session, events, checkpoint, usd = 0, tokens = 0 }: Fleet.Commit,
	): Promise<{ cancel: boolean } | "fenced"> {
		const { runId, epoch } = claim;
		const full = checkpoint && "tree" in checkpoint ? checkpoint : undefined;
		const values = [
			runId,
			epoch,
			session,
			events,
			checkpoint?.n ?? null,
			full?.tree ?? null,
			full?.patch ?? null,
			from.session,
			from.events,
			usd,
			tokens,
		];
		let rows: Row[];
		try {
			rows = await this.#ask(this.#sql.commit, values);
		} catch (error) {
			if (!isMissingPartition(error)) throw error;
			await this.#transaction((client) => makePartitions(client, this.#options.schema, [claim.day]));
			rows = await this.#ask(this.#sql.commit, values);
		}
		if (!rows[0] && session.length + events.length > 0)
			rows = await this.#ask(this.#sql.committed, [runId, epoch, from.session + session.length, from.events + events.length]);
		return rows[0] ? { cancel: rows[0].cancel as boolean } : "fenced";
	}

	async finish({ runId, epoch }: Fleet.Claim, { status, patch, receipt, usd = 0, tokens = 0 }: Fleet.Result): Promise<boolean> {
		const rows = await this.#ask(this.#sql.finish, [runId, epoch, status, JSON.stringify(receipt), usd, tokens, patch ?? null]);
		const done = rows.length > 0 || (await this.#ask(this.#sql.finished, [runId, epoch])).length > 0;
		if (done) this.#notify();
		return done;
	}

	async requeue({ runId, epoch }: Fleet.Claim, { delayMs, why, counts }: Fleet.Requeue): Promise<boolean> {
		const rows = await this.#ask(this.#sql.requeue, [runId, epoch, delayMs, counts ? 0 : 1, why]);
		// A run that waits for its time has made room in its lane.
		if (rows.length > 0) this.#notify();
		return rows.length > 0;
	}

	async hold({ runId, epoch }: Fleet.Claim, usd: number, tokens: number, keep = { usd: 0, tokens: 0 }): Promise<"held" | "wait" | "refused"> {
		const [row] = await this.#ask(this.#sql.hold, [runId, epoch, usd, tokens, keep.usd, keep.tokens]);
		if (row?.fits === true) return "held";
		return row?.others === true ? "wait" : "refused";
	}

	async cancel(selection: Fleet.Selection): Promise<number> {
		const [row] = await this.#repeatedly(() =>
			this.#ask(this.#sql.cancel, ["ids" in selection ? selection.ids : [], "batch" in selection ? selection.batch : null]),
		);
		this.#notify();
		return Number(row?.ended ?? 0) + Number(row?.asked ?? 0);
	}

	async list({ ids, batch, lane, state, limit = 100, before }: Fleet.RunFilter): Promise<Fleet.RunRow[]> {
		const rows = await this.#ask(this.#sql.list, [ids ?? null, batch ?? null, lane ?? null, state ?? null, before ?? null, limit]);
		return rows.map(toRunRow);
	}

	async count({ batch, lane }: Pick<Fleet.RunFilter, "batch" | "lane">): Promise<Partial<Record<Fleet.RunState | Fleet.Status, number>>> {
		const rows = await this.#ask(this.#sql.count, [batch ?? null, lane ?? null]);
		return Object.fromEntries(rows.map(({ name, n }) => [name, n]));
	}

	async result(runId: string): Promise<Fleet.StoredResult | undefined> {
		const [row] = await this.#ask(this.#sql.result, [runId]);
		if (!row) return undefined;
		const finishedAt = row.finished_at as string;
		return {
			runId,
			epoch: row.epoch as number,
			status: row.status as Fleet.Status,
			...(row.patch ? { patch: row.patch as Buffer } : {}),
			receipt: { ...(JSON.parse(row.receipt as string) as object), finishedAt },
			finishedAt,
		};
	}

	async lines(runId: string, file: Fleet.LogFile, after: number, limit: number): Promise<Fleet.Line[]> {
		const rows = await this.#ask(this.#sql.lines, [runId, files[file], after, limit]);
		return rows.map(({ line, epoch, body }) => ({ line: Number(line), epoch: epoch as number, body: body as string }));
	}

	async takeovers(runId: string): Promise<Fleet.Takeover[]> {
		const rows = await this.#ask(this.#sql.takeovers, [runId]);
		return rows.map((row) => ({
			epoch: row.epoch as number,
			worker: row.worker as string,
			sessionCut: Number(row.session_cut),
			eventCut: Number(row.event_cut),
			sessionFrom: Number(row.session_from),
			eventFrom: Number(row.event_from),
			at: row.at as string,
		}));
	}

	async workers(): Promise<Fleet.WorkerRow[]> {
		const rows = await this.#ask(this.#sql.workers, []);
		return rows.map(({ started_at, seen_ms, ...row }) => ({ ...row, startedAt: started_at, seenMs: Math.round(Number(seen_ms)) }) as Fleet.WorkerRow);
	}

	async drain(worker: string): Promise<boolean> {
		const rows = await this.#ask(this.#sql.drain, [worker]);
		this.#notify();
		return rows.length > 0;
	}

	async lanes(): Promise<Fleet.Lane[]> {
		const rows = await this.#ask(this.#sql.lanes, []);
		return rows.map(({ name, max_running, running, queued, paused_ms }) => ({
			name: name as string,
			maxRunning: max_running as number,
			running: running as number,
			queued: queued as number,
			pausedMs: Math.round(Number(paused_ms)),
		}));
	}

	async setLane(name: string, { maxRunning, pauseMs }: { maxRunning?: number; pauseMs?: number }): Promise<void> {
		await this.#ask(this.#sql.setLane, [name, maxRunning ?? null, pauseMs ?? null]);
		this.#notify();
	}

	async budgets(): Promise<Fleet.Budget[]> {
		const rows = await this.#ask(this.#sql.budgets, []);
		const number = (value: unknown) => (value === null ? null : Number(value));
		return rows.map((row) => ({
			id: row.id as string,
			maxUsd: number(row.max_usd),
			maxTokens: number(row.max_tokens),
			spentUsd: Number(row.spent_usd),
			spentTokens: Number(row.spent_tokens),
			heldUsd: Number(row.held_usd),
			heldTokens: Number(row.held_tokens),
		}));
	}

	async setBudget(id: string, { maxUsd, maxTokens }: { maxUsd?: number | null; maxTokens?: number | null }): Promise<void> {
		await this.#ask(this.#sql.setBudget, [id, maxUsd !== undefined, maxUsd ?? null, maxTokens !== undefined, maxTokens ?? null]);
	}

	async rates(): Promise<Fleet.Rate[]> {
		const rows = await this.#ask(this.#sql.rates, []);
		return rows.map(({ provider, rpm, tpm, paused_ms }) => ({
			provider: provider as string,
			rpm: rpm as number | null,
			tpm: tpm as number | null,
			pausedMs: Math.round(Number(paused_ms)),
		}));
	}

	async setRate(provider: string, { rpm, tpm, pauseMs }: { rpm?: number | null; tpm?: number | null; pauseMs?: number }): Promise<void> {
		await this.#ask(this.#sql.setRate, [provider, rpm !== undefined, rpm ?? null, tpm !== undefined, tpm ?? null, pauseMs ?? null]);
		if (pauseMs !== undefined) this.#notify();
	}

	prune(days: number): Promise<string[]> {
		return this.#transaction((client) => dropPartitions(client, this.#options.schema, days));
	}

	watch(wake: () => void): () => void {
		this.#wakes.add(wake);
		if (this.#options.listen !== false) void this.#listen();
		return () => this.#wakes.delete(wake);
	}

	async close(): Promise<void> {
		if (this.#isClosed) return;
		this.#isClosed = true;
		clearTimeout(this.#relisten);
		await this.#telling;
		// A connection that is broken already has nothing to end.
		const ended = [this.#listener, this.#pool, this.#renewals].map((each) => each?.end().catch(() => undefined));
		await Promise.all(ended);
	}

	/** Listening is a hint. When the connection breaks it is made again some time later; polling goes on meanwhile. */
	async #listen(): Promise<void> {
		this.#listening ??= this.#startListening().catch(() => this.#listenLater());
		await this.#listening;
	}

	async #startListening(): Promise<void> {
		if (this.#isClosed) return;
		const client = new pg.Client(connectionConfig(this.#options.url));
		this.#listener = client;
		client.on("error", () => this.#listenLater());
		client.on("end", () => this.#listenLater());
		const wake = () => {
			for (const each of this.#wakes) each();
		};
		client.on("notification", wake);
		await client.connect();
		await client.query(`listen ${pg.escapeIdentifier(this.#channel)}`);
		// Tells of what happened before anyone listened.
		wake();
	}

	#listenLater(): void {
		this.#listening = undefined;
		if (this.#isClosed || this.#relisten) return;
		this.#relisten = setTimeout(() => {
			this.#relisten = undefined;
			void this.#listen();
		}, 2000);
		this.#relisten.unref();
	}

	get #channel(): string {
		return this.#options.schema;
	}

	/**
	 * Wakes those who watch. Never part of a transaction that writes: it would take a lock of the whole cluster while it commits. One notification at a
	 * time is on its way; a single one follows for all that was to be told meanwhile. `close` waits for them.
	 */
	#notify(): void {
		this.#isUntold = true;
		this.#telling ??= this.#tell().finally(() => {
			this.#telling = undefined;
		});
	}

	async #tell(): Promise<void> {
		while (this.#isUntold) {
			this.#isUntold = false;
			// Workers also poll: a notification that a broken connection takes along only delays them.
			const notify = { text: "select pg_notify($1, '')", values: [this.#channel], query_timeout: notifyTimeoutMs };
			await this.#pool.query(notify).catch(() => undefined);
		}
	}

	async #ask(text: string, values: readonly unknown[]): Promise<Row[]> {
		try {
			const { rows } = await this.#pool.query(text, [...values]);
			return rows as Row[];
		} catch (error) {
			throw this.#failure(error);
		}
	}

	async #with<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
		let client: pg.PoolClient;
		try {
			client = await this.#pool.connect();
		} catch (error) {
			throw unavailable(this.#options.url, error);
		}
		let broken = false;
		// While it is out of the pool its errors are ours.
		const note = () => {
			broken = true;
		};
		client.on("error", note);
		try {
			return await work(client);
		} catch (error) {
			broken ||= isPassing(error);
			throw this.#failure(error);
		} finally {
			client.off("error", note);
			client.release(broken);
		}
	}

	#transaction<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
		return this.#with(async (client) => {
			await client.query("begin");
			try {
				const result = await work(client);
				await client.query("commit");
				return result;
			} catch (error) {
				// On a broken connection the transaction is over anyway.
				await client.query("rollback").catch(() => undefined);
				throw error;
			}
		});
	}

	/** For questions that may be asked twice: the connection may break once or twice meanwhile. */
	async #repeatedly<T>(ask: () => Promise<T>): Promise<T> {
		for (let attempt = 1; ; attempt++) {
			try {
				return await ask();
			} catch (error) {
				if (attempt >= 6 || !(error instanceof QueueError && error.code === "unavailable") || this.#isClosed) throw error;
				await new Promise((resolve) => setTimeout(resolve, 100 * 2 ** attempt));
			}
		}
	}

	#failure(error: unknown): unknown {
		if (error instanceof QueueError) return error;
		return isPassing(error) ? unavailable(this.#options.url, error) : error;
	}
}

function submitted(key: string, { id, fresh, same }: Row): Fleet.Submitted {
	if (same !== true) throw keyReused(key, String(id));
	return { runId: id as string, fresh: fresh as boolean };
}

const isMissingPartition = (error: unknown) =>
	(error as { code?: string }).code === "23514" && /no partition of relation/.test((error as Error).message);

function toClaim(row: Row, worker: string): Fleet.Claim {
	return {
		runId: row.id as string,
		epoch: row.epoch as number,
		day: row.day as string,
		spec: JSON.parse(row.spec as string) as RunSpec,
		key: row.key as string,
		attempts: row.attempts as number,
		maxAttempts: row.max_attempts as number,
		...(row.budget === null ? {} : { budget: row.budget as string }),
		worker,
		startedAt: row.started_at as string,
		elapsedMs: Number(row.elapsed_ms),
		sessionLines: Number(row.session_lines),
		eventLines: Number(row.event_lines),
		usd: Number(row.usd),
		tokens: Number(row.tokens),
	};
}

function toRunRow(row: Row): Fleet.RunRow {
	return {
		runId: row.id as string,
		key: row.key as string,
		batch: row.batch as string | null,
		lane: row.lane as string,
		priority: row.priority as number,
		state: row.state as Fleet.RunState,
		status: row.status as Fleet.Status | null,
		epoch: row.epoch as number,
		attempts: row.attempts as number,
		worker: row.worker as string | null,
		sandbox: row.sandbox === null ? null : (JSON.parse(row.sandbox as string) as Fleet.RunRow["sandbox"]),
		needs: row.needs as string[],
		budget: row.budget as string | null,
		isCancelled: row.cancelled as boolean,
		usd: Number(row.usd),
		tokens: Number(row.tokens),
		sessionLines: Number(row.session_lines),
		eventLines: Number(row.event_lines),
		createdAt: row.created_at as string,
		startedAt: row.started_at as string | null,
		finishedAt: row.finished_at as string | null,
		ageMs: Math.round(Number(row.age_ms)),
		spec: JSON.parse(row.spec as string) as RunSpec,
	};
}
