/** The queue in a directory, for one machine: the process that holds its lock decides about everything. */

import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { claim as claimFile, holderOf, unclaim } from "../../lib/claim.ts";
import { uuid } from "../../lib/ids.ts";
import type { FleetSandbox } from "../../protocol/serve.ts";
import type * as Fleet from "../queue.ts";
import { keyReused, reasons, savedRun, sharedDeathsAllowed, unknownBudget, unknownLane, unknownRun } from "../shared.ts";
import { type RunSpec, submissionDigest } from "../spec.ts";
import { Journal, type Tables, type Transaction } from "./journal.ts";
import { RunFiles } from "./run-files.ts";

type Run = Readonly<Tables["run"]>;

/** No ceiling that anyone will reach. */
const noCeiling = 1_000_000;
const iso = (ms: number) => new Date(ms).toISOString();

export interface Owned {
	queue: FileQueue;
	release(): void;
}

/** Takes the directory, or says which process has it. */
export function ownFileQueue(directory: string): Owned | { holder: number | undefined } {
	mkdirSync(directory, { recursive: true, mode: 0o700 });
	const lock = join(directory, "owner.lock");
	const own = JSON.stringify({ ...holderOf(process.pid), token: randomBytes(8).toString("hex") });
	const other = claimFile(lock, own);
	if (other) return { holder: other.holder?.pid };
	try {
		const queue = new FileQueue(directory);
		return {
			queue,
			release() {
				queue.end();
				unclaim(lock, own);
			},
		};
	} catch (error) {
		unclaim(lock, own);
		throw error;
	}
}

export class FileQueue implements Fleet.RunQueue {
	readonly name: string;
	readonly #journal: Journal;
	readonly #files: RunFiles;
	readonly #wakes = new Set<() => void>();
	/** Keys to runs, and runs that wait, so that neither is searched for. */
	readonly #byKey = new Map<string, string>();
	readonly #queued = new Set<string>();
	#isEnded = false;

	constructor(directory: string) {
		this.name = directory;
		this.#journal = new Journal(directory);
		this.#files = new RunFiles(directory);
		for (const { id, key, state } of this.#journal.all("run")) {
			this.#byKey.set(key, id);
			if (state === "queued") this.#queued.add(id);
		}
		const start = this.#journal.begin();
		if (!this.#journal.get("lane", "default")) start.put("lane", { name: "default", maxRunning: noCeiling, running: 0, pausedUntil: 0 });
		// Whoever owned the directory before is dead.
		for (const { id, gone } of this.#journal.all("worker")) if (!gone) this.#declareDead(start, id);
		start.commit();
	}

	async submit(submissions: readonly Fleet.Submission[]): Promise<Fleet.Submitted[]> {
		const change = this.#journal.begin();
		const done: Fleet.Submitted[] = [];
		const fresh = new Map<string, string>();
		for (const submission of submissions) {
			const { key, spec, lane, priority, batch, budget, needs, maxAttempts } = submission;
			const digest = submissionDigest(submission).toString("hex");
			const known = this.#byKey.get(key) ?? fresh.get(key);
			if (known !== undefined) {
				if (change.get("run", known)?.digest !== digest) throw keyReused(key, known);
				done.push({ runId: known, fresh: false });
				continue;
			}
			if (!change.get("lane", lane)) throw unknownLane(lane);
			if (budget !== undefined && !change.get("budget", budget)) throw unknownBudget(budget);
			const now = Date.now();
			const id = `r_${uuid(now)}`;
			change.put("spec", { id, spec });
			change.put("run", {
				id,
				key,
				digest,
				batch: batch ?? null,
				lane,
				priority,
				state: "queued",
				epoch: 0,
				attempts: 0,
				maxAttempts,
				availableAt: now,
				worker: null,
				cancelAt: null,
				needs: [...needs],
				budget: budget ?? null,
				sessionLines: 0,
				eventLines: 0,
				sessionBytes: 0,
				eventBytes: 0,
				usd: 0,
				tokens: 0,
				why: null,
				createdAt: now,
				startedAt: null,
				finishedAt: null,
			});
			fresh.set(key, id);
			done.push({ runId: id, fresh: true });
		}
		change.commit();
		for (const [key, id] of fresh) {
			this.#byKey.set(key, id);
			this.#queued.add(id);
		}
		this.#wake();
		return done;
	}

	async register({ id, host, labels, slots, version }: Fleet.WorkerFacts): Promise<void> {
		if (this.#journal.get("worker", id)) return;
		const now = Date.now();
		this.#change((change) =>
			change.put("worker", { id, host, labels: [...labels], slots, version, startedAt: now, seenAt: now, draining: false, gone: false }),
		);
	}

	async renew(worker: string): Promise<Fleet.Renewal | "gone"> {
		const row = this.#journal.get("worker", worker);
		if (!row || row.gone) return "gone";
		this.#change((change) => change.change("worker", worker, { seenAt: Date.now() }));
		const held = this.#runs(({ state, worker: holder }) => state === "running" && holder === worker);
		return {
			draining: row.draining,
			cancel: held.filter(({ cancelAt }) => cancelAt !== null).map(({ id }) => id),
			held: held.map(({ id, epoch }) => ({ runId: id, epoch })),
			running: [...this.#journal.all("lane")].reduce((sum, { running }) => sum + running, 0),
			rates: await this.rates(),
		};
	}

	async leave(worker: string): Promise<void> {
		if (this.#journal.get("worker", worker)?.gone === false) this.#change((change) => this.#declareDead(change, worker));
	}

	async reclaim({ id, labels, lanes }: Fleet.WorkerFacts, leaseMs: number): Promise<Fleet.Claim | undefined> {
		const now = Date.now();
		for (;;) {
			const change = this.#journal.begin();
			for (const worker of this.#journal.all("worker")) if (!worker.gone && worker.seenAt < now - leaseMs) this.#declareDead(change, worker.id);
			const isFull = this.#holdsSuspect(id);
			/** A death that the run has shared counts only when it is under suspicion. */
			const counts = ({ worker, sharedDeaths = 0 }: Run) =>
				(change.get("worker", worker as string)?.held ?? 1) <= 1 || sharedDeaths >= sharedDeathsAllowed;
			const isOver = (run: Run) => run.cancelAt !== null || (counts(run) && run.attempts >= run.maxAttempts);
			const fits = (run: Run) => isOver(run) || !isFull || (run.sharedDeaths ?? 0) + (counts(run) ? 0 : 1) < sharedDeathsAllowed;
			const lost = this.#runs(
				(run) =>
					run.state === "running" &&
					run.worker !== null &&
					change.get("worker", run.worker)?.gone === true &&
					serves(run, labels, lanes) &&
					fits(run),
			).sort((a, b) => (a.id < b.id ? -1 : 1))[0];
			if (!lost) {
				change.commit();
				return undefined;
			}
			if (!isOver(lost)) {
				if (counts(lost)) return this.#give(change, lost, id, now);
				const spared = change.change("run", lost.id, { attempts: lost.attempts - 1, sharedDeaths: (lost.sharedDeaths ?? 0) + 1 });
				return this.#give(change, spared, id, now);
			}
			const cancelled = lost.cancelAt !== null;
			const reason = cancelled ? reasons.cancelledLate : `${reasons.died}${lost.why === null ? "" : ` ${lost.why}`}`;
			this.#end(change, lost, cancelled ? "cancelled" : "lost", reason, now);
			change.change("lane", lost.lane, { running: (change.get("lane", lost.lane)?.running ?? 1) - 1 });
			this.#releaseHold(change, lost.id);
			change.commit();
		}
	}

	async claim({ id, labels, lanes }: Fleet.WorkerFacts): Promise<Fleet.Claim | undefined> {
		const now = Date.now();
		const isFull = this.#holdsSuspect(id);
		let best: Run | undefined;
		for (const waiting of this.#queued) {
			const run = this.#journal.get("run", waiting);
			if (!run || run.availableAt > now || !serves(run, labels, lanes) || (isFull && isSuspect(run))) continue;
			if (best && (best.priority > run.priority || (best.priority === run.priority && best.id < run.id))) continue;
			const lane = this.#journal.get("lane", run.lane);
			if (lane && lane.running < lane.maxRunning && lane.pausedUntil <= now) best = run;
		}
		if (!best) return undefined;
		const change = this.#journal.begin();
		change.change("lane", best.lane, { running: (change.get("lane", best.lane)?.running ?? 0) + 1 });
		const claimed = this.#give(change, best, id, now);
		this.#queued.delete(best.id);
		return claimed;
	}

	#give(change: Transaction, run: Run, worker: string, now: number): Fleet.Claim {
		const epoch = run.epoch + 1;
		const row = change.change("run", run.id, {
			state: "running",
			epoch,
			attempts: run.attempts + 1,
			worker,
			startedAt: run.startedAt ?? now,
		});
		if (epoch > 1) {
			const checkpoint = this.#newestCheckpoint(run.id);
			change.put("takeover", {
				id: `${run.id} ${epoch}`,
				run: run.id,
				epoch,
				worker,
				sessionCut: checkpoint?.sessionLines ?? 0,
				eventCut: checkpoint?.eventLines ?? 0,
				sessionFrom: run.sessionLines,
				eventFrom: run.eventLines,
				at: now,
			});
		}
		change.commit();
		return {
			runId: run.id,
			epoch,
			day: iso(run.createdAt).slice(0, 10),
			spec: this.#spec(run.id),
			key: run.key,
			attempts: row.attempts,
			maxAttempts: run.maxAttempts,
			...(run.budget === null ? {} : { budget: run.budget }),
			worker,
			startedAt: iso(row.startedAt ?? now),
			elapsedMs: now - (row.startedAt ?? now),
			sessionLines: run.sessionLines,
			eventLines: run.eventLines,
			usd: run.usd,
			tokens: run.tokens,
		};
	}

	async load({ runId }: Fleet.Claim): Promise<Fleet.SavedRun> {
		const run = this.#journal.get("run", runId);
		if (!run) throw unknownRun(runId);
		const lines = {
			session: this.#files.lines(runId, "session", run.sessionBytes),
			events: this.#files.lines(runId, "events", run.eventBytes),
		};
		const newest = this.#newestCheckpoint(runId);
		const checkpoint = newest && { n: newest.n, tree: newest.tree, patch: this.#files.readCheckpoint(runId, newest.n) };
		return savedRun(lines, await this.takeovers(runId), checkpoint);
	}

	async pin(claim: Fleet.Claim, spec: RunSpec): Promise<boolean> {
		if (!this.#mine(claim)) return false;
		this.#change((change) => change.put("spec", { id: claim.runId, spec }));
		return true;
	}

	async commit(
		claim: Fleet.Claim,
		{ from, session, events, checkpoint, usd = 0, tokens = 0 }: Fleet.Commit,
	): Promise<{ cancel: boolean } | "fenced"> {
		const run = this.#mine(claim);
		if (!run) return "fenced";
		const { id, epoch } = run;
		if (run.sessionLines !== from.session || run.eventLines !== from.events) {
			const isDone = run.sessionLines === from.session + session.length && run.eventLines === from.events + events.length;
			return isDone ? { cancel: run.cancelAt !== null } : "fenced";
		}
		const counts = { sessionLines: run.sessionLines + session.length, eventLines: run.eventLines + events.length };
		const bytes = {
			sessionBytes: this.#files.append(id, "session", run.sessionBytes, epoch, session),
			eventBytes: this.#files.append(id, "events", run.eventBytes, epoch, events),
		};
		const change = this.#journal.begin();
		change.change("run", id, { ...counts, ...bytes, usd: run.usd + usd, tokens: run.tokens + tokens });
		const old: number[] = [];
		if (checkpoint && "tree" in checkpoint) {
			this.#files.writeCheckpoint(id, checkpoint.n, checkpoint.patch);
			change.put("checkpoint", { id: `${id} ${checkpoint.n}`, run: id, n: checkpoint.n, epoch, ...counts, tree: checkpoint.tree });
			if (this.#journal.get("checkpoint", `${id} ${checkpoint.n - 2}`)) {
				change.remove("checkpoint", `${id} ${checkpoint.n - 2}`);
				old.push(checkpoint.n - 2);
			}
		} else if (checkpoint && this.#journal.get("checkpoint", `${id} ${checkpoint.n}`)) {
			change.change("checkpoint", `${id} ${checkpoint.n}`, counts);
		}
		if (usd + tokens > 0) this.#spend(change, run, usd, tokens);
		change.commit();
		for (const n of old) this.#files.removeCheckpoint(id, n);
		return { cancel: run.cancelAt !== null };
	}

	async finish(claim: Fleet.Claim, { status, patch, receipt, usd = 0, tokens = 0 }: Fleet.Result): Promise<boolean> {
		const run = this.#mine(claim);
		if (!run) return this.#journal.get("result", claim.runId)?.epoch === claim.epoch;
		const now = Date.now();
		if (patch) this.#files.writePatch(run.id, patch);
		const change = this.#journal.begin();
		if (usd + tokens > 0) this.#spend(change, run, usd, tokens);
		this.#releaseHold(change, run.id);
		change.change("run", run.id, { state: "done", finishedAt: now, usd: run.usd + usd, tokens: run.tokens + tokens });
		change.change("lane", run.lane, { running: (change.get("lane", run.lane)?.running ?? 1) - 1 });
		const hasPatch = patch !== undefined;
		change.put("result", { id: run.id, epoch: run.epoch, status, hasPatch, receipt: { ...receipt }, finishedAt: now });
		change.commit();
		this.#wake();
		return true;
	}

	async requeue(claim: Fleet.Claim, { delayMs, why, counts }: Fleet.Requeue): Promise<boolean> {
		const run = this.#mine(claim);
		if (!run || run.cancelAt !== null) return false;
		const change = this.#journal.begin();
		this.#releaseHold(change, run.id);
		change.change("lane", run.lane, { running: (change.get("lane", run.lane)?.running ?? 1) - 1 });
		const attempts = run.attempts - (counts ? 0 : 1);
		change.change("run", run.id, { state: "queued", epoch: run.epoch + 1, attempts, availableAt: Date.now() + delayMs, why });
		change.commit();
		this.#queued.add(run.id);
		// A run that waits for its time has made room in its lane.
		this.#wake();
		return true;
	}

	async hold(claim: Fleet.Claim, usd: number, tokens: number, keep = { usd: 0, tokens: 0 }): Promise<"held" | "wait" | "refused"> {
		const run = this.#mine(claim);
		const budget = run?.budget == null ? undefined : this.#journal.get("budget", run.budget);
		if (!run || !budget) return "refused";
		const { id, maxUsd, maxTokens, spentUsd, spentTokens, heldUsd, heldTokens } = budget;
		const fits = (maxUsd === null || spentUsd + heldUsd + usd <= maxUsd) && (maxTokens === null || spentTokens + heldTokens + tokens <= maxTokens);
		const had = this.#journal.get("hold", run.id);
		if (!fits) {
			const others = [...this.#journal.all("hold")].some((hold) => hold.budget === id && hold.id !== run.id && (hold.usd > 0 || hold.tokens > 0));
			this.#change((change) => {
				if (had) {
					const kept = { usd: Math.min(had.usd, keep.usd), tokens: Math.min(had.tokens, keep.tokens) };
					change.change("budget", id, { heldUsd: heldUsd - had.usd + kept.usd, heldTokens: heldTokens - had.tokens + kept.tokens });
					change.change("hold", run.id, kept);
				}
			});
			return others ? "wait" : "refused";
		}
		this.#change((change) => {
			change.change("budget", id, { heldUsd: heldUsd + usd, heldTokens: heldTokens + tokens });
			change.put("hold", { id: run.id, epoch: run.epoch, budget: id, usd: (had?.usd ?? 0) + usd, tokens: (had?.tokens ?? 0) + tokens });
		});
		return "held";
	}

	async cancel(selection: Fleet.Selection): Promise<number> {
		const now = Date.now();
		const ids = "ids" in selection ? selection.ids : this.#runs(({ batch }) => batch === selection.batch).map(({ id }) => id);
		const runs = ids.flatMap((id) => this.#journal.get("run", id) ?? []).filter(({ state }) => state !== "done");
		const change = this.#journal.begin();
		for (const run of runs) {
			if (run.state === "queued") this.#end(change, run, "cancelled", reasons.cancelledEarly, now);
			else change.change("run", run.id, { cancelAt: run.cancelAt ?? now });
		}
		change.commit();
		this.#wake();
		return runs.length;
	}

	async list({ ids, batch, lane, state, limit = 100, before }: Fleet.RunFilter): Promise<Fleet.RunRow[]> {
		const now = Date.now();
		const found = ids ? ids.flatMap((id) => this.#journal.get("run", id) ?? []) : [...this.#journal.all("run")];
		return found
			.filter(
				(run) =>
					(batch === undefined || run.batch === batch) &&
					(lane === undefined || run.lane === lane) &&
					(state === undefined || run.state === state) &&
					(before === undefined || run.id < before),
			)
			.sort((a, b) => (a.id < b.id ? 1 : -1))
			.slice(0, limit)
			.map((run) => ({
				runId: run.id,
				key: run.key,
				batch: run.batch,
				lane: run.lane,
				priority: run.priority,
				state: run.state,
				status: this.#journal.get("result", run.id)?.status ?? null,
				sandbox: (this.#journal.get("result", run.id)?.receipt.sandbox as FleetSandbox | undefined) ?? null,
				epoch: run.epoch,
				attempts: run.attempts,
				worker: run.worker,
				needs: run.needs,
				budget: run.budget,
				isCancelled: run.cancelAt !== null,
				usd: run.usd,
				tokens: run.tokens,
				sessionLines: run.sessionLines,
				eventLines: run.eventLines,
				createdAt: iso(run.createdAt),
				startedAt: run.startedAt === null ? null : iso(run.startedAt),
				finishedAt: run.finishedAt === null ? null : iso(run.finishedAt),
				ageMs: (run.finishedAt ?? now) - run.createdAt,
				spec: this.#spec(run.id),
			}));
	}

	async count({ batch, lane }: Pick<Fleet.RunFilter, "batch" | "lane">): Promise<Partial<Record<Fleet.RunState | Fleet.Status, number>>> {
		const counts: Partial<Record<Fleet.RunState | Fleet.Status, number>> = {};
		for (const run of this.#journal.all("run")) {
			if ((batch !== undefined && run.batch !== batch) || (lane !== undefined && run.lane !== lane)) continue;
			const name = this.#journal.get("result", run.id)?.status ?? run.state;
			counts[name] = (counts[name] ?? 0) + 1;
		}
		return counts;
	}

	async result(runId: string): Promise<Fleet.StoredResult | undefined> {
		const row = this.#journal.get("result", runId);
		if (!row) return undefined;
		const finishedAt = iso(row.finishedAt);
		const patch = row.hasPatch ? { patch: this.#files.readPatch(runId) } : {};
		return { runId, epoch: row.epoch, status: row.status, ...patch, receipt: { ...row.receipt, finishedAt }, finishedAt };
	}

	async lines(runId: string, file: Fleet.LogFile, after: number, limit: number): Promise<Fleet.Line[]> {
		const run = this.#journal.get("run", runId);
		if (!run || (file === "session" ? run.sessionLines : run.eventLines) <= after) return [];
		return this.#files.lines(runId, file, file === "session" ? run.sessionBytes : run.eventBytes).slice(after, after + limit);
	}

	async takeovers(runId: string): Promise<Fleet.Takeover[]> {
		const found = [...this.#journal.all("takeover")].filter(({ run }) => run === runId).sort((a, b) => a.epoch - b.epoch);
		return found.map(({ id, run, at, ...rest }) => ({ ...rest, at: iso(at) }));
	}

	async workers(): Promise<Fleet.WorkerRow[]> {
		const now = Date.now();
		return [...this.#journal.all("worker")]
			.filter(({ gone, seenAt }) => !gone || seenAt > now - 3_600_000)
			.map(({ seenAt, startedAt, held: _, ...worker }) => ({
				...worker,
				startedAt: iso(startedAt),
				seenMs: now - seenAt,
				running: this.#runs((run) => run.state === "running" && run.worker === worker.id).length,
			}))
			.sort((a, b) => Number(a.gone) - Number(b.gone) || (a.id < b.id ? -1 : 1));
	}

	async drain(worker: string): Promise<boolean> {
		const row = this.#journal.get("worker", worker);
		if (!row || row.gone) return false;
		this.#change((change) => change.change("worker", worker, { draining: true }));
		this.#wake();
		return true;
	}

	async lanes(): Promise<Fleet.Lane[]> {
		const now = Date.now();
		return [...this.#journal.all("lane")]
			.map(({ name, maxRunning, running, pausedUntil }) => ({
				name,
				maxRunning,
				running,
				queued: this.#runs((run) => run.state === "queued" && run.lane === name).length,
				pausedMs: Math.max(0, pausedUntil - now),
			}))
			.sort((a, b) => (a.name < b.name ? -1 : 1));
	}

	async setLane(name: string, { maxRunning, pauseMs }: { maxRunning?: number; pauseMs?: number }): Promise<void> {
		const lane = this.#journal.get("lane", name) ?? { name, maxRunning: noCeiling, running: 0, pausedUntil: 0 };
		const pausedUntil = pauseMs === undefined ? lane.pausedUntil : Date.now() + pauseMs;
		this.#change((change) => change.put("lane", { ...lane, maxRunning: maxRunning ?? lane.maxRunning, pausedUntil }));
		this.#wake();
	}

	async budgets(): Promise<Fleet.Budget[]> {
		return [...this.#journal.all("budget")].map((budget) => ({ ...budget })).sort((a, b) => (a.id < b.id ? -1 : 1));
	}

	async setBudget(id: string, { maxUsd, maxTokens }: { maxUsd?: number | null; maxTokens?: number | null }): Promise<void> {
		const none = { id, maxUsd: null, maxTokens: null, spentUsd: 0, spentTokens: 0, heldUsd: 0, heldTokens: 0 };
		const budget = this.#journal.get("budget", id) ?? none;
		const next = { ...budget, ...(maxUsd === undefined ? {} : { maxUsd }), ...(maxTokens === undefined ? {} : { maxTokens }) };
		this.#change((change) => change.put("budget", next));
	}

	async rates(): Promise<Fleet.Rate[]> {
		const now = Date.now();
		return [...this.#journal.all("rate")]
			.map(({ id, rpm, tpm, pausedUntil }) => ({ provider: id, rpm, tpm, pausedMs: Math.max(0, pausedUntil - now) }))
			.sort((a, b) => (a.provider < b.provider ? -1 : 1));
	}

	async setRate(provider: string, { rpm, tpm, pauseMs }: { rpm?: number | null; tpm?: number | null; pauseMs?: number }): Promise<void> {
		const rate = this.#journal.get("rate", provider) ?? { id: provider, rpm: null, tpm: null, pausedUntil: 0 };
		const pausedUntil = Math.max(rate.pausedUntil, pauseMs === undefined ? 0 : Date.now() + pauseMs);
		const next = { ...rate, ...(rpm === undefined ? {} : { rpm }), ...(tpm === undefined ? {} : { tpm }), pausedUntil };
		this.#change((change) => change.put("rate", next));
		if (pauseMs !== undefined) this.#wake();
	}

	async prune(days: number): Promise<string[]> {
		const before = Date.now() - days * 86_400_000;
		const old = this.#runs(({ state, finishedAt }) => state === "done" && finishedAt !== null && finishedAt < before);
		const pruned = old.filter(({ id }) => this.#files.prune(id)).map(({ id }) => id);
		this.#change((change) => {
			for (const { id, run } of this.#journal.all("checkpoint")) if (pruned.includes(run)) change.remove("checkpoint", id);
			for (const id of pruned) change.change("run", id, { sessionLines: 0, eventLines: 0, sessionBytes: 0, eventBytes: 0 });
		});
		return pruned;
	}

	watch(wake: () => void): () => void {
		this.#wakes.add(wake);
		return () => this.#wakes.delete(wake);
	}

	async close(): Promise<void> {
		this.end();
	}

	end(): void {
		if (this.#isEnded) return;
		this.#isEnded = true;
		this.#journal.close();
	}

	/** The run, while the claim's epoch is the one that counts. */
	#mine({ runId, epoch }: Fleet.Claim): Run | undefined {
		const run = this.#journal.get("run", runId);
		return run && run.epoch === epoch && run.state === "running" ? run : undefined;
	}

	#declareDead(change: Transaction, worker: string): void {
		const held = this.#runs((run) => run.state === "running" && run.worker === worker).length;
		change.change("worker", worker, { gone: true, held });
	}

	/** Whether the worker holds a run that is under suspicion of killing its workers: then it gets no second one. */
	#holdsSuspect(worker: string): boolean {
		return this.#runs((run) => run.state === "running" && run.worker === worker && isSuspect(run)).length > 0;
	}

	#spec(id: string): RunSpec {
		const row = this.#journal.get("spec", id);
		if (!row) throw unknownRun(id);
		return row.spec;
	}

	#runs(matches: (run: Run) => boolean): Run[] {
		const found: Run[] = [];
		for (const run of this.#journal.all("run")) if (matches(run)) found.push(run);
		return found;
	}

	#newestCheckpoint(runId: string): Readonly<Tables["checkpoint"]> | undefined {
		let newest: Readonly<Tables["checkpoint"]> | undefined;
		for (const row of this.#journal.all("checkpoint")) if (row.run === runId && row.n > (newest?.n ?? -1)) newest = row;
		return newest;
	}

	/** Ends a run that no worker holds. */
	#end(change: Transaction, run: Run, status: Fleet.Status, reason: string, now: number): void {
		const epoch = run.epoch + 1;
		const checkpoint = this.#newestCheckpoint(run.id);
		if (checkpoint) this.#files.writePatch(run.id, this.#files.readCheckpoint(run.id, checkpoint.n));
		change.change("run", run.id, { state: "done", epoch, finishedAt: now });
		const receipt = { runId: run.id, key: run.key, epoch, attempts: run.attempts, status, reason };
		change.put("result", { id: run.id, epoch, status, hasPatch: checkpoint !== undefined, receipt, finishedAt: now });
		this.#queued.delete(run.id);
	}

	#spend(change: Transaction, run: Run, usd: number, tokens: number): void {
		const budget = run.budget === null ? undefined : change.get("budget", run.budget);
		if (!budget) return;
		const hold = change.get("hold", run.id);
		const fromHold = { usd: Math.min(hold?.usd ?? 0, usd), tokens: Math.min(hold?.tokens ?? 0, tokens) };
		if (hold) change.put("hold", { ...hold, usd: hold.usd - fromHold.usd, tokens: hold.tokens - fromHold.tokens });
		change.put("budget", {
			...budget,
			spentUsd: budget.spentUsd + usd,
			spentTokens: budget.spentTokens + tokens,
			heldUsd: budget.heldUsd - fromHold.usd,
			heldTokens: budget.heldTokens - fromHold.tokens,
		});
	}

	#releaseHold(change: Transaction, runId: string): void {
		const hold = change.get("hold", runId);
		const budget = hold && change.get("budget", hold.budget);
		if (!hold || !budget) return;
		const others = [...this.#journal.all("hold")].some(({ id, budget: of }) => of === budget.id && id !== runId);
		// Sums of fractions leave crumbs; without holds there is nothing held.
		change.put("budget", { ...budget, heldUsd: others ? budget.heldUsd - hold.usd : 0, heldTokens: budget.heldTokens - hold.tokens });
		change.remove("hold", runId);
	}

	#change(make: (change: Transaction) => unknown): void {
		const change = this.#journal.begin();
		make(change);
		change.commit();
	}

	#wake(): void {
		for (const wake of this.#wakes) setImmediate(wake);
	}
}

const isSuspect = ({ sharedDeaths = 0 }: Run) => sharedDeaths >= sharedDeathsAllowed;

function serves({ needs, lane }: Run, labels: readonly string[], lanes: readonly string[] | undefined): boolean {
	return needs.every((need) => labels.includes(need)) && (lanes === undefined || lanes.includes(lane));
}
