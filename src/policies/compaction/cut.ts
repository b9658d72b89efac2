/** Where to cut a conversation in two: what is condensed, and what stays word for word. Pure. */
import type { AgentMessage } from "../../protocol/messages.ts";
import type { CompactionBody, Entry } from "../../transcript/entries.ts";
import { estimateEntry } from "./estimate.ts";

type CompactionEntry = CompactionBody & Pick<Entry, "id" | "parentId" | "timestamp">;

export interface Cut {
	/** The compaction before this one; its summary is brought up to date. */
	previous: CompactionEntry | undefined;
	/** Whole turns that are condensed. */
	history: Entry[];
	/** The beginning of the turn that the cut goes through; empty when it goes between two turns. */
	prefix: Entry[];
	/** What stays, with the entries between its messages. */
	kept: Entry[];
	firstKeptEntryId: string;
}

export type CutProblem = "Already compacted" | "Nothing to compact (session too small)";

/** Keeps about `keepTokens` of the end of a branch, given from the root to its current entry. */
export function chooseCut(path: readonly Entry[], keepTokens: number): Cut | { problem: CutProblem } {
	const at = path.findLastIndex((entry) => entry.type === "compaction");
	const previous = path[at] as CompactionEntry | undefined;
	if (previous && !path.slice(at + 1).some(isSaid)) return { problem: "Already compacted" };
	const start = previous ? boundary(path, at, previous) : 0;

	const found = cutPoint(path, start, keepTokens);
	if (found === undefined) return { problem: "Nothing to compact (session too small)" };
	let keepFrom = found;
	while (keepFrom > start && !isSaid(path[keepFrom - 1] as Entry) && path[keepFrom - 1]?.type !== "compaction") keepFrom--;

	const turn = isReply(path[found] as Entry) ? turnStart(path, start, found) : found;
	const history = path.slice(start, turn).filter(isSaid);
	const prefix = path.slice(turn, found).filter(isSaid);
	if (history.length + prefix.length === 0) return { problem: "Nothing to compact (session too small)" };
	return { previous, history, prefix, kept: path.slice(keepFrom), firstKeptEntryId: (path[keepFrom] as Entry).id };
}

/**
 * The first entry that the last compaction did not condense. What it kept is neither new nor in its summary, so a second
 * compaction that began behind it would lose it.
 */
function boundary(path: readonly Entry[], at: number, { firstKeptEntryId }: CompactionBody): number {
	const kept = path.findIndex(({ id }) => id === firstKeptEntryId);
	// An entry that is not on this branch: nothing was kept.
	return kept >= 0 && kept < at ? kept : at + 1;
}

/** The first place at or behind which the tail has room; if the last reply's results alone are too large, that reply. */
function cutPoint(path: readonly Entry[], start: number, keepTokens: number): number | undefined {
	const candidates = candidatesIn(path, start);
	let index = path.length;
	for (let tokens = 0; index > start && tokens < keepTokens; ) tokens += estimateEntry(path[--index] as Entry);
	return candidates.find((candidate) => candidate >= index) ?? candidates.at(-1);
}

/** Where the kept part may begin: not at a result, nor anywhere between a call and its result. */
function candidatesIn(path: readonly Entry[], start: number): number[] {
	const called = new Map<string, number>();
	const isTorn = new Set<number>();
	for (let index = start; index < path.length; index++) {
		const message = messageOf(path[index] as Entry);
		if (message?.role === "assistant") {
			for (const block of message.content) if (block.type === "toolCall") called.set(block.id, index);
		} else if (message?.role === "toolResult") {
			for (let torn = (called.get(message.toolCallId) ?? index - 1) + 1; torn <= index; torn++) isTorn.add(torn);
		}
	}
	const candidates: number[] = [];
	for (let index = start; index < path.length; index++) if (isSaid(path[index] as Entry) && !isTorn.has(index)) candidates.push(index);
	return candidates;
}

/** Where the turn of a reply begins: at the messages that asked for it. */
function turnStart(path: readonly Entry[], start: number, reply: number): number {
	let index = reply;
	let first = start;
	while (index > start) {
		const entry = path[--index] as Entry;
		if (!isSaid(entry)) continue;
		const isAnswer = isReply(entry) || messageOf(entry)?.role === "toolResult";
		if (!isAnswer) first = index;
		else if (first > index) return first;
	}
	return first;
}

/** Whether an entry stands in the context. */
function isSaid({ type }: Entry): boolean {
	return type === "message" || type === "custom_message" || type === "branch_summary";
}

function isReply(entry: Entry): boolean {
	return messageOf(entry)?.role === "assistant";
}

function messageOf(entry: Entry): AgentMessage | undefined {
	return entry.type === "message" ? entry.message : undefined;
}
