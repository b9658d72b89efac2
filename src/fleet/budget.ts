/** Money is set aside in the fleet's budget before a request is made: in slices, so that not every request asks Postgres for it. */
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

	constructor(queue: Pick<RunQueue, "hold" | "budgets">, claim: Claim, limit: Partial<Estimate>) {
		this.#queue = queue;
		this.#claim = claim;
		this.#limit = limit;
	}

	/** Makes sure that the hold covers a request. */
	async cover(estimate: Estimate): Promise<Funds> {
		const { budget: id } = this.#claim;
		if (id === undefined) return "enough";
		const missing = { usd: Math.max(0, estimate.usd - this.#held.usd), tokens: Math.max(0, estimate.tokens - this.#held.tokens) };
		if (missing.usd === 0 && missing.tokens === 0) return "enough";
		const budget = (await this.#queue.budgets()).find((each) => each.id === id);
		const wished = budget ? sliceOf(budget, missing, this.#limit) : missing;
		const answer = await this.#take(wished);
		if (answer === "enough" || (wished.usd <= missing.usd && wished.tokens <= missing.tokens)) return answer;
		// Others took what a slice would have needed. Nothing is held now, so the whole request is asked for.
		return this.#take(estimate);
	}

	async #take({ usd, tokens }: Estimate): Promise<Funds> {
		const answer = await this.#queue.hold(this.#claim, usd, tokens);
		if (answer !== "held") {
			this.#held = { usd: 0, tokens: 0 };
			return answer;
		}
		this.#held = { usd: this.#held.usd + usd, tokens: this.#held.tokens + tokens };
		return "enough";
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
