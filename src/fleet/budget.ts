/** Money is set aside in the fleet's budget before a request is made: in slices, so that not every request asks Postgres for it. */
import type { GateRequest } from "../protocol/types.generated.ts";
import type { InFlight } from "./in-flight.ts";
import type { Budget, Claim, RunQueue } from "./queue.ts";

export interface Estimate {
	usd: number;
	tokens: number;
}

export type Funds = "enough" | "wait" | "refused";

/** Of what is left. */
const slice = 1 / 16;

export class Wallet {
	readonly #queue: Pick<RunQueue, "hold" | "budgets">;
	readonly #claim: Claim;
	/** What this run may spend at most, its own limit. */
	readonly #limit: Partial<Estimate>;
	#held: Estimate = { usd: 0, tokens: 0 };
	/** One question at a time: two that looked at the same hold would both find it large enough. */
	#asking: Promise<unknown> = Promise.resolve();

	constructor(queue: Pick<RunQueue, "hold" | "budgets">, claim: Claim, limit: Partial<Estimate>) {
		this.#queue = queue;
		this.#claim = claim;
		this.#limit = limit;
	}

	/** Makes sure that the hold covers a request, besides those of this run that are in flight, and counts it among these. */
	cover(request: Pick<GateRequest, "kind" | "agentPath">, estimate: Estimate, inFlight: InFlight): Promise<Funds> {
		const work = this.#asking.then(async () => {
			const funds = await this.#cover(estimate, inFlight.total);
			if (funds === "enough") inFlight.granted(request, estimate);
			// A request in flight seldom uses all that was set aside for it.
			return funds === "refused" && inFlight.isMoving ? "wait" : funds;
		});
		// The failure is the caller's.
		this.#asking = work.catch(() => undefined);
		return work;
	}

	async #cover(estimate: Estimate, inFlight: Estimate): Promise<Funds> {
		const { budget: id } = this.#claim;
		if (id === undefined) return "enough";
		const needed = { usd: estimate.usd + inFlight.usd, tokens: estimate.tokens + inFlight.tokens };
		const missing = this.#missing(needed);
		if (missing.usd === 0 && missing.tokens === 0) return "enough";
		const budget = (await this.#queue.budgets()).find((each) => each.id === id);
		const wished = budget ? sliceOf(budget, missing, this.#limit) : missing;
		let answer = await this.#take(wished, inFlight);
		// Others took what a slice would have needed. Only requests in flight are covered now, so the whole request is asked for.
		if (answer !== "enough" && (wished.usd > missing.usd || wished.tokens > missing.tokens))
			answer = await this.#take(this.#missing(needed), inFlight);
		return answer;
	}

	#missing(needed: Estimate): Estimate {
		return { usd: Math.max(0, needed.usd - this.#held.usd), tokens: Math.max(0, needed.tokens - this.#held.tokens) };
	}

	async #take({ usd, tokens }: Estimate, keep: Estimate): Promise<Funds> {
		const answer = await this.#queue.hold(this.#claim, usd, tokens, keep);
		if (answer !== "held") {
			this.#held = { usd: Math.min(this.#held.usd, keep.usd), tokens: Math.min(this.#held.tokens, keep.tokens) };
			return answer;
		}
		this.#held = { usd: this.#held.usd + usd, tokens: this.#held.tokens + tokens };
		return "enough";
	}

	/** Whether the fleet's budget that the run belongs to has a ceiling in dollars. */
	async hasCeilingInDollars(): Promise<boolean> {
		const { budget: id } = this.#claim;
		if (id === undefined) return false;
		const budget = (await this.#queue.budgets()).find((each) => each.id === id);
		return budget !== undefined && budget.maxUsd !== null;
	}

	/** A commit moved this much from held to spent. */
	spent({ usd, tokens }: Estimate): void {
		this.#held = { usd: Math.max(0, this.#held.usd - usd), tokens: Math.max(0, this.#held.tokens - tokens) };
	}
}

function sliceOf({ maxUsd, spentUsd, heldUsd, maxTokens, spentTokens, heldTokens }: Budget, missing: Estimate, limit: Partial<Estimate>): Estimate {
	const wish = (least: number, most: number | null, used: number, own: number | undefined) => {
		const share = most === null ? least : Math.max(least, (most - used) * slice);
		return own === undefined ? share : Math.max(least, Math.min(share, own));
	};
	return {
		usd: wish(missing.usd, maxUsd, spentUsd + heldUsd, limit.usd),
		tokens: Math.ceil(wish(missing.tokens, maxTokens, spentTokens + heldTokens, limit.tokens)),
	};
}
