/** The worker: takes runs while it has room, works on them, and gives signs of life. When it was declared dead it begins again under another name. */
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { claim as claimFile, claimOf, holderOf, unclaim } from "../lib/claim.ts";
import { uuid } from "../lib/ids.ts";
import { Lease } from "./lease.ts";
import { type Claim, queueErrorCode, type Renewal, type RunQueue, type RunRow, type WorkerFacts } from "./queue.ts";
import { Rates } from "./rates.ts";
import { RunAtWork, type RunParts } from "./run.ts";

export interface WorkerOptions {
	queue: RunQueue;
	facts: Omit<WorkerFacts, "id">;
	leaseMs: number;
	renewMs: number;
	drainMs: number;
	/** Where runs are worked on. Folders of workers that are dead are removed. */
	directory: string;
	/** Ends when there is nothing left that this worker could do. */
	once: boolean;
	/** The interval of asking for work without a notification. */
	pollMs?: number;
	parts: Omit<RunParts, "queue" | "lease" | "rates" | "directory">;
	log(text: string): void;
}

const usualPollMs = 2000;

interface Identity {
	facts: WorkerFacts;
	lease: Lease;
}

export class Worker {
	readonly #options: WorkerOptions;
	readonly #rates: Rates;
	readonly #pollMs: number;
	readonly #runs = new Map<string, RunAtWork>();
	/** Runs that the queue says we hold and we know nothing of, since the last renewal. */
	#unknown = new Set<string>();
	readonly #directory: string;
	readonly #own: string;
	#isDraining = false;
	#isEnding = false;
	#drainTimer: NodeJS.Timeout | undefined;
	/** Something has happened since the last pause began, so the next one is over at once. */
	#isWoken = false;
	#endPause: () => void = () => undefined;
	#reclaimedAt = Number.NEGATIVE_INFINITY;

	constructor(options: WorkerOptions) {
		this.#options = options;
		this.#rates = new Rates(options.queue);
		this.#pollMs = options.pollMs ?? usualPollMs;
		this.#directory = join(options.directory, uuid(Date.now()));
		this.#own = JSON.stringify(holderOf(process.pid));
	}

	/** Until it was drained, or with `once` until there is nothing left. */
	async run(): Promise<void> {
		const { queue, directory } = this.#options;
		mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
		claimFile(join(this.#directory, "owner.lock"), this.#own);
		removeDead(directory, this.#directory);
		const stopWatching = queue.watch(() => this.#wake());
		try {
			while (!this.#isEnding) await this.#serve(await this.#register());
		} finally {
			stopWatching();
			clearTimeout(this.#drainTimer);
			unclaim(join(this.#directory, "owner.lock"), this.#own);
			rmSync(this.#directory, { recursive: true, force: true, maxRetries: 3 });
		}
	}

	/** Takes nothing new. Runs go on for a while, then they are given back; at once when asked a second time. */
	drain(): void {
		if (this.#isDraining) return this.#giveBack();
		this.#isDraining = true;
		this.#options.log(`draining: ${this.#runs.size} runs may go on for ${Math.round(this.#options.drainMs / 1000)} s`);
		this.#drainTimer = setTimeout(() => this.#giveBack(), this.#options.drainMs);
		this.#wake();
	}

	#giveBack(): void {
		for (const run of this.#runs.values()) run.giveBack("Its worker was drained.");
		this.#wake();
	}

	async #register(): Promise<Identity> {
		const { queue, facts: given, leaseMs, renewMs, log } = this.#options;
		for (let wait = 100; ; wait = Math.min(2000, wait * 2)) {
			const facts = { ...given, id: `w_${uuid(Date.now())}` };
			const registeredAt = performance.now();
			try {
				await queue.register(facts);
				log(`${facts.id} works on ${facts.slots} runs at once`);
				const lease: Lease = new Lease(
					{ queue, worker: facts.id, leaseMs, renewMs, onRenewal: (renewal) => this.#renewed(renewal), onLost: (why) => this.#lost(why) },
					registeredAt,
				);
				return { facts, lease };
			} catch (error) {
				if (queueErrorCode(error) !== "unavailable") throw error;
				log((error as Error).message);
				if (this.#isDraining) throw error;
				await this.#pause(wait);
			}
		}
	}

	/** Everything that this identity held is gone: agents are killed before anything else. */
	#lost(why: string): void {
		for (const run of this.#runs.values()) run.fence();
		this.#options.log(`fenced: ${why} ${this.#runs.size} runs were let go`);
		this.#wake();
	}

	#renewed({ draining, cancel, held, running, rates }: Renewal): void {
		this.#rates.update(rates, this.#runs.size, running);
		for (const id of cancel) this.#runs.get(id)?.cancel();
		if (draining && !this.#isDraining) this.drain();
		const unknown = held.filter(({ runId, epoch }) => this.#runs.get(runId)?.claim.epoch !== epoch);
		// Twice in a row: a claim that is being answered right now is not among them.
		for (const { runId, epoch } of unknown.filter((each) => this.#unknown.has(`${each.runId} ${each.epoch}`))) {
			const claim = { runId, epoch } as Claim;
			const { queue, log } = this.#options;
			const back = cancel.includes(runId)
				? queue.finish(claim, { status: "cancelled", receipt: { runId, epoch, status: "cancelled", reason: "It was cancelled." } })
				: queue.requeue(claim, { delayMs: 0, why: "The answer to its claim was lost.", counts: false });
			// Tried again with the next renewal.
			back.catch((error: Error) => log(`${runId}: ${error.message}`));
		}
		this.#unknown = new Set(unknown.map(({ runId, epoch }) => `${runId} ${epoch}`));
	}

	async #serve({ facts, lease }: Identity): Promise<void> {
		const { queue, log } = this.#options;
		await lease.renew();
		try {
			while (lease.isHeld) {
				if (this.#isDraining && this.#runs.size === 0) {
					this.#isEnding = true;
					return;
				}
				const claim = this.#isDraining || this.#runs.size >= facts.slots ? undefined : await this.#take(facts);
				if (claim) {
					// A claim that took so long that the lease was over is not begun.
					if (lease.isHeld) this.#start(claim, lease);
					continue;
				}
				if (this.#options.once && this.#runs.size === 0 && !(await this.#mayGetMore(facts))) {
					this.#isEnding = true;
					return;
				}
				await this.#pause(this.#pollMs * (0.5 + Math.random()));
			}
		} catch (error) {
			if (queueErrorCode(error) !== "unavailable") throw error;
			log((error as Error).message);
			await this.#pause(500);
		} finally {
			const wasHeld = lease.isHeld;
			if (this.#isEnding) lease.stop();
			if (this.#isEnding && wasHeld) await queue.leave(facts.id).catch((error: Error) => log(error.message));
		}
		if (this.#isEnding) return;
		// Postgres cannot be reached, or the lease was lost. While the lease is held, the worker keeps its identity.
		if (lease.isHeld) return this.#serve({ facts, lease });
		await Promise.all([...this.#runs.values()].map(({ done }) => done));
	}

	async #take(facts: WorkerFacts): Promise<Claim | undefined> {
		const { queue, leaseMs } = this.#options;
		if (performance.now() - this.#reclaimedAt >= Math.min(this.#pollMs, leaseMs / 4)) {
			const taken = await queue.reclaim(facts, leaseMs);
			// There may be more of them.
			if (taken) return taken;
			this.#reclaimedAt = performance.now();
		}
		return queue.claim(facts);
	}

	#start(claim: Claim, lease: Lease): void {
		const { queue, parts, log } = this.#options;
		log(`${claim.runId}: attempt ${claim.attempts}, epoch ${claim.epoch}`);
		const directory = join(this.#directory, `${claim.runId}-${claim.epoch}`);
		const run = new RunAtWork({ ...parts, queue, lease, rates: this.#rates, directory }, claim);
		this.#runs.set(claim.runId, run);
		void run.done.then(() => {
			if (this.#runs.get(claim.runId) === run) this.#runs.delete(claim.runId);
			// A run of a dead worker may have waited for this place.
			this.#reclaimedAt = Number.NEGATIVE_INFINITY;
			this.#wake();
		});
	}

	/** Whether a run waits that this worker could do, now or later. */
	async #mayGetMore({ labels, lanes }: WorkerFacts): Promise<boolean> {
		const limit = 1000;
		for (let before: string | undefined; ; ) {
			const waiting: RunRow[] = await this.#options.queue.list({ state: "queued", limit, ...(before === undefined ? {} : { before }) });
			if (waiting.some(({ lane, needs }) => (lanes === undefined || lanes.includes(lane)) && needs.every((need) => labels.includes(need))))
				return true;
			if (waiting.length < limit) return false;
			before = waiting.at(-1)?.runId;
		}
	}

	#wake(): void {
		this.#isWoken = true;
		this.#endPause();
	}

	/** Waits until something may have happened: since the last pause, not only during this one. */
	async #pause(ms: number): Promise<void> {
		if (!this.#isWoken)
			await new Promise<void>((resolve) => {
				const timer = setTimeout(resolve, ms);
				this.#endPause = () => {
					clearTimeout(timer);
					resolve();
				};
			});
		this.#isWoken = false;
	}
}

/** Folders of workers whose process is gone. */
function removeDead(directory: string, own: string): void {
	for (const name of readdirSync(directory)) {
		const place = join(directory, name);
		if (place === own || !existsSync(join(place, "owner.lock")) || claimOf(join(place, "owner.lock"))) continue;
		rmSync(place, { recursive: true, force: true, maxRetries: 3 });
	}
}
