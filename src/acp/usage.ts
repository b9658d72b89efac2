/** How full the context is and what the session has cost. */
import type { SessionUpdate } from "@agentclientprotocol/sdk";
import type { LiveSession } from "../live/live-session.ts";
import type { AgentMessage, AssistantMessage } from "../protocol/messages.ts";
import { contextUsageOf } from "../session/queries.ts";
import type { Branch } from "../transcript/entries.ts";
import { PlainMessages } from "../transcript/plain-message.ts";

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
			if (kind === "message:assistant") this.#cost += replyCost(everything, index);
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

/** What a stored reply cost. Its bytes are enough where they name a cost once: then it is that of the reply. */
function replyCost(branch: Branch, index: number): number {
	const bytes = bytesOf(branch, index);
	const at = bytes?.indexOf(costStart) ?? -1;
	if (!bytes || at < 0 || at !== bytes.lastIndexOf(costStart)) return costOf(storedMessage(branch, index));
	const from = at + costStart.length - 1;
	const { total } = JSON.parse(bytes.toString("utf8", from, bytes.indexOf("}", from) + 1)) as { total?: unknown };
	return typeof total === "number" ? total : 0;
}

const costStart = '"cost":{';
const plain = new PlainMessages();

function bytesOf(branch: Branch, index: number): Buffer | undefined {
	const bytes = branch.messageBytes(index, plain);
	return bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The message of an entry. A long session is not kept in memory for having been looked at. */
export function storedMessage(branch: Branch, index: number): AgentMessage | undefined {
	const bytes = bytesOf(branch, index);
	if (bytes) return JSON.parse(bytes.toString("utf8"));
	const entry = branch.entry(index);
	return entry.type === "message" ? entry.message : undefined;
}
