/** How full the context is and what the session has cost. */
import type { SessionUpdate } from "@agentclientprotocol/sdk";
import type { LiveSession } from "../live/live-session.ts";
import type { AgentMessage, AssistantMessage } from "../protocol/messages.ts";
import { contextUsageOf } from "../session/queries.ts";
import type { Branch } from "../transcript/entries.ts";

export class UsageReport {
	#live: LiveSession;
	#tell: (update: SessionUpdate) => void;
	#cost = 0;
	#last = "";

	constructor(live: LiveSession, tell: (update: SessionUpdate) => void) {
		this.#live = live;
		this.#tell = tell;
	}

	/** The cost of what is stored, on every branch. */
	learn(): void {
		const { everything } = this.#live.session.transcript;
		this.#cost = 0;
		for (let index = 0; index < everything.length; index++) {
			const kind = everything.kind(index);
			if (kind === "message:assistant") this.#cost += costOf(storedMessage(everything, index));
			else if (kind === "compaction" || kind === "branch_summary") this.#cost += costOf(everything.entry(index));
		}
	}

	add(cost: number): void {
		this.#cost += cost;
	}

	/** A call that was cancelled before it cost anything says nothing new. */
	turnEnded({ stopReason, usage }: AssistantMessage): void {
		if (stopReason === "aborted" && usage.totalTokens === 0) return;
		this.tell();
	}

	/** Nothing while the tokens or the window are unknown. `always`: also when nothing has changed. */
	tell(always = false): void {
		const usage = contextUsageOf(this.#live.session);
		if (!usage || usage.tokens === null || !Number.isFinite(usage.tokens)) return;
		const cost = { amount: Number(this.#cost.toFixed(6)), currency: "USD" };
		const update: SessionUpdate = { sessionUpdate: "usage_update", used: Math.round(usage.tokens), size: usage.contextWindow, cost };
		const json = JSON.stringify(update);
		if (json === this.#last && !always) return;
		this.#last = json;
		this.#tell(update);
	}
}

function costOf(value: unknown): number {
	const total = (value as { usage?: { cost?: { total?: unknown } } } | undefined)?.usage?.cost?.total;
	return typeof total === "number" ? total : 0;
}

/** Returns the message of an entry, which is not kept in memory: a long session is replayed and not looked at again. */
export function storedMessage(branch: Branch, index: number): AgentMessage | undefined {
	const entry = branch.peek(index);
	return entry.type === "message" ? entry.message : undefined;
}
