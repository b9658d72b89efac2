/** How full the context is and what the session has cost. */
import type { SessionUpdate } from "@agentclientprotocol/sdk";
import type { LiveSession } from "../live/live-session.ts";
import type { AssistantMessage } from "../protocol/messages.ts";
import { contextUsageOf } from "../session/queries.ts";

export class UsageReport {
	#live: LiveSession;
	#tell: (update: SessionUpdate) => void;
	#cost = 0;
	#last = "";

	constructor(live: LiveSession, tell: (update: SessionUpdate) => void) {
		this.#live = live;
		this.#tell = tell;
	}

	add(cost: number): void {
		this.#cost += cost;
	}

	/** A call that was cancelled before it cost anything says nothing new. */
	turnEnded({ stopReason, usage }: AssistantMessage): void {
		if (stopReason === "aborted" && usage.totalTokens === 0) return;
		this.tell();
	}

	/** Nothing while the tokens or the window are unknown. */
	tell(): void {
		const usage = contextUsageOf(this.#live.session);
		if (!usage || usage.tokens === null || !Number.isFinite(usage.tokens)) return;
		const cost = { amount: Number(this.#cost.toFixed(6)), currency: "USD" };
		const update: SessionUpdate = { sessionUpdate: "usage_update", used: Math.round(usage.tokens), size: usage.contextWindow, cost };
		const json = JSON.stringify(update);
		if (json === this.#last) return;
		this.#last = json;
		this.#tell(update);
	}
}
