/** A worker's share of what a provider allows the whole fleet: by its busy slots of all busy slots. One bucket for requests, one for tokens. */
import type { Rate, RunQueue } from "./queue.ts";

interface Bucket {
	level: number;
	at: number;
}

/** After a refusal without a time of its own; doubled with each further one in a row. */
const firstPauseMs = 10_000;
const longestPauseMs = 300_000;

export class Rates {
	readonly #queue: Pick<RunQueue, "setRate">;
	readonly #now: () => number;
	#rates = new Map<string, { rate: Rate; pausedUntil: number }>();
	#share = 1;
	readonly #buckets = new Map<string, Bucket>();
	readonly #refusals = new Map<string, number>();

	constructor(queue: Pick<RunQueue, "setRate">, now: () => number = () => performance.now()) {
		this.#queue = queue;
		this.#now = now;
	}

	/** With each renewal. */
	update(rates: readonly Rate[], mine: number, all: number): void {
		const now = this.#now();
		this.#rates = new Map(rates.map((rate) => [rate.provider, { rate, pausedUntil: now + rate.pausedMs }]));
		this.#share = mine > 0 && all > 0 ? Math.min(1, mine / all) : 1;
	}

	/** 0: go ahead, and it counts. Otherwise how long to wait. */
	take(provider: string, tokens: number): number {
		const known = this.#rates.get(provider);
		if (!known) return 0;
		const now = this.#now();
		if (known.pausedUntil > now) return Math.ceil(known.pausedUntil - now);
		const { rpm, tpm } = known.rate;
		const waits = [
			rpm === null ? 0 : this.#wait(`${provider} requests`, 1, rpm * this.#share, now),
			// A request that is larger than a minute's share waits for a full bucket.
			tpm === null ? 0 : this.#wait(`${provider} tokens`, Math.min(tokens, tpm * this.#share), tpm * this.#share, now),
		];
		const wait = Math.max(...waits);
		if (wait > 0) return Math.ceil(wait);
		if (rpm !== null) this.#spend(`${provider} requests`, 1);
		if (tpm !== null) this.#spend(`${provider} tokens`, Math.min(tokens, tpm * this.#share));
		return 0;
	}

	/** The provider refused for its limits: one pause for the whole fleet. */
	async refused(provider: string, retryAfterMs: number | undefined): Promise<void> {
		const now = this.#now();
		const { rate, pausedUntil } = this.#rates.get(provider) ?? { rate: { provider, rpm: null, tpm: null, pausedMs: 0 }, pausedUntil: 0 };
		const isPaused = pausedUntil > now;
		// The provider also refuses requests that were in flight when the pause began. They do not count as further refusals.
		if (isPaused && now + (retryAfterMs ?? 0) <= pausedUntil) return;
		const count = this.#refusals.get(provider) ?? 0;
		if (!isPaused) this.#refusals.set(provider, count + 1);
		const pauseMs = retryAfterMs ?? Math.min(longestPauseMs, firstPauseMs * 2 ** count);
		this.#rates.set(provider, { rate, pausedUntil: now + pauseMs });
		await this.#queue.setRate(provider, { pauseMs });
	}

	succeeded(provider: string): void {
		this.#refusals.delete(provider);
	}

	/** Filled evenly; never holds more than a tenth of a minute's worth, or one. */
	#wait(name: string, amount: number, perMinute: number, now: number): number {
		const most = Math.max(amount, perMinute / 10, 1);
		const bucket = this.#buckets.get(name) ?? { level: most, at: now };
		const level = Math.min(most, bucket.level + ((now - bucket.at) / 60_000) * perMinute);
		this.#buckets.set(name, { level, at: now });
		return level >= amount ? 0 : ((amount - level) / perMinute) * 60_000;
	}

	#spend(name: string, amount: number): void {
		const bucket = this.#buckets.get(name);
		if (bucket) bucket.level -= amount;
	}
}
