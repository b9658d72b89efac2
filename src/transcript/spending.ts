/** What a session cost, prompt by prompt, with subagents and summaries apart. */
import type { UserMessage } from "../protocol/messages.ts";
import type { Entry } from "./entries.ts";
import { amount, subagentUsages, type UsageCounts, usagesOf } from "./stats.ts";

/** `other`: what another program noted down about a call outside of the conversation. */
export type SpendingKind = "prompt" | "subagent" | "compaction" | "branch_summary" | "other";

export interface Spending {
	kind: SpendingKind;
	/** Unix milliseconds; absent where the file does not say. */
	at?: number;
	/** The beginning of the prompt, the name and work of the subagent. */
	text: string;
	/** As `provider/model`, each once; empty where the file does not say. */
	models: string[];
	/** Replies of the model; absent where the file does not say. */
	requests?: number;
	input: number;
	output: number;
	cacheRead: number;
	cacheWrite: number;
	costUsd: number;
}

/** So much of a prompt tells which one it was. */
const beginning = 200;

/** Returns the prompts in the order of the file, each followed by what else was paid for meanwhile. All of them together are the totals of the file. */
export function spendingOf(entries: readonly Entry[]): Spending[] {
	const rows: Spending[] = [];
	let turn: Spending | undefined;
	const add = (kind: SpendingKind, entry: Entry, text: string): Spending => {
		const at = Date.parse(entry.timestamp);
		const row = { kind, ...(Number.isNaN(at) ? {} : { at }), text, models: [], input: 0, output: 0, cacheRead: 0, cacheWrite: 0, costUsd: 0 };
		rows.push(row);
		return row;
	};
	for (const entry of entries) {
		const message = entry.type === "message" ? entry.message : undefined;
		if (message?.role === "user" && message.synthetic !== true) {
			turn = add("prompt", entry, textOf(message));
			turn.requests = 0;
		}
		for (const usage of usagesOf(entry)) {
			if (message?.role !== "assistant") {
				spend(add(kindOf(entry), entry, ""), usage);
				continue;
			}
			turn ??= Object.assign(add("prompt", entry, ""), { requests: 0 });
			turn.requests = (turn.requests ?? 0) + 1;
			const name = [message.provider, message.model].filter(Boolean).join("/");
			if (name && !turn.models.includes(name)) turn.models.push(name);
			spend(turn, usage);
		}
		for (const { text, usage } of subagentsIn(entry)) spend(add("subagent", entry, text), usage);
	}
	return rows;
}

function kindOf({ type }: Entry): SpendingKind {
	return type === "compaction" || type === "branch_summary" ? type : "other";
}

function spend(row: Spending, usage: UsageCounts): void {
	for (const name of ["input", "output", "cacheRead", "cacheWrite"] as const) row[name] += amount(usage[name]);
	row.costUsd += amount(usage.cost?.total);
}

/** Returns the subagents of a call. Where not each of them says what it used, the call has one row. */
function subagentsIn(entry: Entry): { text: string; usage: UsageCounts }[] {
	const usages = subagentUsages(entry);
	if (usages.length === 0 || entry.type !== "message" || entry.message.role !== "toolResult") return [];
	const { results } = entry.message.details as { results?: { id?: string; agent?: string; description?: string; usage?: UsageCounts }[] };
	const single = (Array.isArray(results) ? results : []).flatMap((result) => (result?.usage ? [{ text: nameOf(result), usage: result.usage }] : []));
	return single.length === results?.length ? single : usages.map((usage) => ({ text: "", usage }));
}

const nameOf = ({ id, agent, description }: { id?: unknown; agent?: unknown; description?: unknown }) =>
	[id ?? agent, description].filter((part) => typeof part === "string" && part !== "").join(": ");

function textOf({ content }: UserMessage): string {
	if (typeof content === "string") return content.slice(0, beginning);
	const texts = Array.isArray(content) ? content.map((block) => (block?.type === "text" ? block.text : "(picture)")) : [];
	return texts.join(" ").slice(0, beginning);
}
