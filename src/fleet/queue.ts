/**
 * The queue of runs: what every implementation offers. A run is one prompt on one checkout with one result. A worker holds a run under an
 * epoch, which grows each time the run is given away; every write names its epoch, and a write of an older one is refused.
 */

import type { ErrorCode } from "../protocol/errors.ts";
import type { FleetRun, FleetLine as Line, FleetRunFilter as RunFilter, FleetCut as Takeover } from "../protocol/serve.ts";
import type { RunSpec } from "./spec.ts";

export type { Line, RunFilter, Takeover };

export const statuses = ["completed", "verification_failed", "failed", "budget", "timeout", "cancelled", "stalled", "lost"] as const;
export type Status = (typeof statuses)[number];
export type RunState = FleetRun["state"];

export interface Submission {
	/** Whoever sends the same key again gets the same run. */
	key: string;
	spec: RunSpec;
	lane: string;
	/** -100 to 100; higher ones go first. */
	priority: number;
	batch?: string;
	budget?: string;
	/** Labels that a worker must have. */
	needs: readonly string[];
	maxAttempts: number;
}

export interface Submitted {
	runId: string;
	/** False: the key was known, and this is its run. */
	fresh: boolean;
}

export interface WorkerFacts {
	/** New at every start. */
	id: string;
	host: string;
	labels: readonly string[];
	/** Only runs of these lanes; of all when absent. */
	lanes?: readonly string[];
	slots: number;
	version: string;
}

/** A run in the hands of a worker. */
export interface Claim {
	runId: string;
	epoch: number;
	/** Of the run's creation, as the queue writes it. */
	day: string;
	spec: RunSpec;
	key: string;
	attempts: number;
	maxAttempts: number;
	budget?: string;
	worker: string;
	/** When it was first claimed, by the queue's clock. */
	startedAt: string;
	/** Milliseconds since then, by the queue's clock. */
	elapsedMs: number;
	/** Lines that the log holds, those that takeovers have cut included. */
	sessionLines: number;
	eventLines: number;
	usd: number;
	tokens: number;
}

export interface Checkpoint {
	n: number;
	/** The id of the tree of files. */
	tree: string;
	/** From the base commit to that tree, as `git apply` reads it. */
	patch: Buffer;
}

/** State of a run for the worker that continues it. */
export interface SavedRun {
	/** Lines of both files up to the checkpoint, without those that an earlier takeover has cut. */
	session: string[];
	events: string[];
	checkpoint?: Checkpoint;
	/** Event lines after the checkpoint, of the worker that lost the run. */
	cutEvents: string[];
	/** The highest number that any committed event line names, those that were cut included. */
	highestSeq: number;
}

export interface Commit {
	/** Lines that were committed before; a commit that is repeated after its answer was lost is found by these. */
	from: { session: number; events: number };
	session: readonly string[];
	events: readonly string[];
	/** A new one, or the number of the newest one alone: it is moved up to these lines. */
	checkpoint?: Checkpoint | { n: number };
	usd?: number;
	tokens?: number;
}

export interface Result {
	status: Status;
	patch?: Buffer;
	/** JSON. The queue adds its own times. */
	receipt: object;
	/** Spent since the last commit. */
	usd?: number;
	tokens?: number;
}

export interface StoredResult {
	runId: string;
	epoch: number;
	status: Status;
	patch?: Buffer;
	receipt: Record<string, unknown>;
	finishedAt: string;
}

export interface Requeue {
	delayMs: number;
	why: string;
	/** False: the attempt does not count, as when a worker is drained. */
	counts: boolean;
}

export interface Renewal {
	draining: boolean;
	/** Runs of this worker that are to be cancelled. */
	cancel: string[];
	/** Runs that this worker holds, with their epochs: one whose claim was answered into the void is found here. */
	held: { runId: string; epoch: number }[];
	/** Runs at work in the whole fleet. */
	running: number;
	rates: Rate[];
}

export interface Lane {
	name: string;
	maxRunning: number;
	running: number;
	queued: number;
	/** Milliseconds until it goes on; 0 when it is not paused. */
	pausedMs: number;
}

export interface Budget {
	id: string;
	maxUsd: number | null;
	maxTokens: number | null;
	spentUsd: number;
	spentTokens: number;
	heldUsd: number;
	heldTokens: number;
}

export interface Rate {
	provider: string;
	/** Requests and tokens per minute of the whole fleet. */
	rpm: number | null;
	tpm: number | null;
	pausedMs: number;
}

export interface WorkerRow {
	id: string;
	host: string;
	labels: string[];
	slots: number;
	running: number;
	version: string;
	startedAt: string;
	seenMs: number;
	draining: boolean;
	gone: boolean;
}

export interface RunRow extends Omit<FleetRun, "status" | "spec"> {
	status: Status | null;
	spec: RunSpec;
}

export type LogFile = "session" | "events";

/** For cancelling: some runs, or a batch. */
export type Selection = { ids: readonly string[] } | { batch: string };

export interface RunQueue {
	/** For people: which queue this is, without secrets. */
	readonly name: string;
	/** All of them, or none. Throws a `QueueError` `key_reused` when a key came with another body. */
	submit(submissions: readonly Submission[]): Promise<Submitted[]>;

	register(worker: WorkerFacts): Promise<void>;
	/** Says that the worker lives. "gone": it was declared dead, and what it held is no longer its own. */
	renew(worker: string): Promise<Renewal | "gone">;
	/** A worker that ends in order; runs that it still holds are taken over at once. */
	leave(worker: string): Promise<void>;
	/** Takes over a run of a worker that has not renewed for the lease. */
	reclaim(worker: WorkerFacts, leaseMs: number): Promise<Claim | undefined>;
	claim(worker: WorkerFacts): Promise<Claim | undefined>;
	load(claim: Claim): Promise<SavedRun>;
	/** Writes the submission again, with what was found out about it. */
	pin(claim: Claim, spec: RunSpec): Promise<boolean>;
	commit(claim: Claim, commit: Commit): Promise<{ cancel: boolean } | "fenced">;
	finish(claim: Claim, result: Result): Promise<boolean>;
	requeue(claim: Claim, how: Requeue): Promise<boolean>;
	/**
	 * Sets money aside before it is spent, on top of what the run holds. When there is not enough, the run holds at most `keep` afterwards, which its
	 * requests in flight will use: "wait" while others hold what may come back, else "refused". Those who wait for all of their requests hold nothing,
	 * so they never wait for each other.
	 */
	hold(claim: Claim, usd: number, tokens: number, keep?: { usd: number; tokens: number }): Promise<"held" | "wait" | "refused">;

	/** How many were cancelled, or will be. */
	cancel(selection: Selection): Promise<number>;
	list(filter: RunFilter): Promise<RunRow[]>;
	count(filter: Pick<RunFilter, "batch" | "lane">): Promise<Partial<Record<RunState | Status, number>>>;
	result(runId: string): Promise<StoredResult | undefined>;
	lines(runId: string, file: LogFile, after: number, limit: number): Promise<Line[]>;
	takeovers(runId: string): Promise<Takeover[]>;

	workers(): Promise<WorkerRow[]>;
	drain(worker: string): Promise<boolean>;
	lanes(): Promise<Lane[]>;
	setLane(name: string, change: { maxRunning?: number; pauseMs?: number }): Promise<void>;
	budgets(): Promise<Budget[]>;
	setBudget(id: string, change: { maxUsd?: number | null; maxTokens?: number | null }): Promise<void>;
	rates(): Promise<Rate[]>;
	setRate(provider: string, change: { rpm?: number | null; tpm?: number | null; pauseMs?: number }): Promise<void>;
	/** Drops logs and checkpoints of runs that are older; runs and results stay. */
	prune(days: number): Promise<string[]>;

	/** Calls when there may be something to do. A hint: callers must also ask from time to time. */
	watch(wake: () => void): () => void;
	close(): Promise<void>;
}

export type QueueErrorCode = Extract<
	ErrorCode,
	"key_reused" | "unknown_lane" | "unknown_budget" | "unknown_run" | "not_initialised" | "other_version" | "unavailable" | "owned"
>;

/** A refusal with a remedy. `unavailable`: the queue cannot be reached now, and may be later. */
export class QueueError extends Error {
	override readonly name = "QueueError";
	readonly code: QueueErrorCode;

	constructor(code: QueueErrorCode, message: string, options?: ErrorOptions) {
		super(message, options);
		this.code = code;
	}
}

/** Bundles have their own copies of a class. */
export const queueErrorCode = (error: unknown): QueueErrorCode | undefined =>
	error instanceof Error && error.name === "QueueError" ? (error as QueueError).code : undefined;

/** How long to wait before a run is tried again: 5 s, doubled with each attempt, at most 10 minutes, and not for all at the same moment. */
export function backOffMs(attempts: number, random = Math.random()): number {
	const base = Math.min(600_000, 5000 * 2 ** Math.max(0, attempts - 1));
	return Math.round(base * (0.8 + 0.4 * random));
}

/** The highest number that a line of an event log names: the number of a frame, or the end of a reservation. */
export function seqOf(line: string): number {
	try {
		const { s, r } = JSON.parse(line) as { s?: unknown; r?: unknown };
		return Math.max(0, ...[s, r].filter((value): value is number => Number.isSafeInteger(value)));
	} catch {
		return 0;
	}
}
