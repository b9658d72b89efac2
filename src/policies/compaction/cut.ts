/** Where to cut a conversation in two: the part to compact, and the part to keep word for word. Pure. */
import type { AgentMessage } from "../../protocol/messages.ts";
import { type Branch, type Entry, type EntryOf, isSpoken, kindOf } from "../../transcript/entries.ts";
import { estimateEntry } from "./estimate.ts";

export interface Cut {
	/** The compaction before this one; its summary is brought up to date. */
	previous: EntryOf<"compaction"> | undefined;
	/** Whole turns that are compacted. */
	history: Entry[];
	/** The beginning of the turn that the cut goes through; empty when it goes between two turns. */
	prefix: Entry[];
	/** The kept part, with the entries between its messages. */
	kept: Entry[];
	firstKeptEntryId: string;
}

export type CutProblem = "Already compacted" | "Nothing to compact (session too small)";

/** Keeps about `keepTokens` of the end of a branch. */
export function chooseCut(branch: Branch, keepTokens: number): Cut | { problem: CutProblem } {
	const compaction = branch.lastOf("compaction");
	const previous = compaction < 0 ? undefined : (branch.entry(compaction) as EntryOf<"compaction">);
	if (previous && lastPlace(branch, isSpoken) < compaction) return { problem: "Already compacted" };
	const start = previous ? boundary(branch, compaction, previous.firstKeptEntryId) : 0;
	// Only entries after the boundary are read: the rest of a long session need not be parsed.
	const path = Array.from({ length: branch.length - start }, (_, index) => branch.entry(start + index));

	const cut = cutPoint(path, keepTokens);
	if (cut === undefined) return { problem: "Nothing to compact (session too small)" };
	let keepFrom = cut;
	while (keepFrom > 0 && !isSaid(path[keepFrom - 1]) && path[keepFrom - 1]?.type !== "compaction") keepFrom--;

	const turn = isReply(path[cut]) ? turnStart(path, cut) : cut;
	const history = path.slice(0, turn).filter(isSaid);
	const prefix = path.slice(turn, cut).filter(isSaid);
	if (history.length + prefix.length === 0) return { problem: "Nothing to compact (session too small)" };
	return { previous, history, prefix, kept: path.slice(keepFrom), firstKeptEntryId: (path[keepFrom] as Entry).id };
}

/**
 * The first entry that the last compaction did not compact. What it kept is neither new nor in its summary, so a second
 * compaction that began after it would lose it.
 */
function boundary(branch: Branch, compaction: number, firstKeptEntryId: string): number {
	for (let place = 0; place < compaction; place++) if (branch.id(place) === firstKeptEntryId) return place;
	// The entry is not on this branch: nothing was kept.
	return compaction + 1;
}

/** The first place that leaves a tail of the wanted size; if the last reply's results alone are larger, that reply. */
function cutPoint(path: readonly Entry[], keepTokens: number): number | undefined {
	const candidates = candidatesIn(path);
	let index = path.length;
	for (let tokens = 0; index > 0 && tokens < keepTokens; ) tokens += estimateEntry(path[--index] as Entry);
	return candidates.find((candidate) => candidate >= index) ?? candidates.at(-1);
}

/** Where the kept part may begin: not at a result, nor anywhere between a call and its result. */
function candidatesIn(path: readonly Entry[]): number[] {
	const called = new Map<string, number>();
	const isTorn = new Set<number>();
	for (const [index, entry] of path.entries()) {
		const message = messageOf(entry);
		if (message?.role === "assistant") {
			for (const block of message.content ?? []) if (block.type === "toolCall") called.set(block.id, index);
		} else if (message?.role === "toolResult") {
			for (let torn = (called.get(message.toolCallId) ?? index - 1) + 1; torn <= index; torn++) isTorn.add(torn);
		}
	}
	return path.flatMap((entry, index) => (isSaid(entry) && !isTorn.has(index) ? [index] : []));
}

/** Where the turn of a reply begins: at the messages that asked for it. */
function turnStart(path: readonly Entry[], reply: number): number {
	let first = 0;
	for (let index = reply - 1; index >= 0; index--) {
		const entry = path[index];
		if (!isSaid(entry)) continue;
		const isAnswer = isReply(entry) || messageOf(entry)?.role === "toolResult";
		if (!isAnswer) first = index;
		else if (first > index) break;
	}
	return first;
}

const isSaid = (entry: Entry | undefined) => entry !== undefined && isSpoken(kindOf(entry));
const isReply = (entry: Entry | undefined) => messageOf(entry)?.role === "assistant";

function messageOf(entry: Entry | undefined): AgentMessage | undefined {
	return entry?.type === "message" ? entry.message : undefined;
}

function lastPlace(branch: Branch, fits: (kind: string) => boolean): number {
	for (let place = branch.length - 1; place >= 0; place--) if (fits(branch.kind(place))) return place;
	return -1;
}
