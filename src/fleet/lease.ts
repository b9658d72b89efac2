/**
 * The worker's sign of life. All times are of its own monotonic clock, and count from when a renewal was sent, not from when it was answered:
 * so the worker stops before others may take its runs, whatever happened to the answer.
 */
import { queueErrorCode, type Renewal, type RunQueue } from "./queue.ts";

export interface LeaseOptions {
	queue: Pick<RunQueue, "renew">;
	worker: string;
	leaseMs: number;
	renewMs: number;
	onRenewal: (renewal: Renewal) => void;
	/** Once: what this worker holds is no longer its own. */
	onLost: (why: string) => void;
	now?: () => number;
}

/** How long before others may take a run its worker lets go of it. */
export const marginMs = 2000;

export function checkLease({ leaseMs, renewMs }: { leaseMs: number; renewMs: number }): string | undefined {
	if (!(renewMs > 0)) return "fleet.renewMs must be greater than 0.";
	if (leaseMs >= 3 * renewMs + marginMs) return undefined;
	return `fleet.leaseMs (${leaseMs}) must be at least three times fleet.renewMs (${renewMs}) and ${marginMs} more: ${3 * renewMs + marginMs}.`;
}

export class Lease {
	readonly #options: LeaseOptions;
	readonly #now: () => number;
	#provenAt: number;
	#isLost = false;
	#isStopped = false;
	#isAsking = false;
	#renewTimer: NodeJS.Timeout;
	#watchTimer: NodeJS.Timeout;

	/** Begins when the worker was registered. */
	constructor(options: LeaseOptions, registeredAt: number) {
		this.#options = options;
		this.#now = options.now ?? (() => performance.now());
		this.#provenAt = registeredAt;
		this.#renewTimer = setInterval(() => void this.renew(), options.renewMs);
		this.#watchTimer = setInterval(() => this.isHeld, Math.min(250, options.renewMs));
	}

	/** Whether steps may be granted. Looks at the clock at this very moment. */
	get isHeld(): boolean {
		if (this.#isLost || this.#isStopped) return false;
		if (this.#now() - this.#provenAt <= this.#options.leaseMs - marginMs) return true;
		this.#lose("No renewal was answered in time.");
		return false;
	}

	async renew(): Promise<void> {
		if (this.#isAsking || !this.isHeld) return;
		this.#isAsking = true;
		const sentAt = this.#now();
		try {
			const renewal = await this.#options.queue.renew(this.#options.worker);
			if (renewal === "gone") return this.#lose("The fleet has declared this worker dead.");
			this.#provenAt = Math.max(this.#provenAt, sentAt);
			if (this.isHeld) this.#options.onRenewal(renewal);
		} catch (error) {
			// Tried again with the next tick, until the lease is over.
			if (queueErrorCode(error) !== "unavailable") this.#lose((error as Error).message);
		} finally {
			this.#isAsking = false;
		}
	}

	stop(): void {
		this.#isStopped = true;
		clearInterval(this.#renewTimer);
		clearInterval(this.#watchTimer);
	}

	#lose(why: string): void {
		if (this.#isLost || this.#isStopped) return;
		this.#isLost = true;
		clearInterval(this.#renewTimer);
		clearInterval(this.#watchTimer);
		this.#options.onLost(why);
	}
}
