/** A compaction that extensions have a say in. Loaded when one listens. */
import type { CompactionResult } from "../../protocol/commands/compaction.ts";
import type { Branch } from "../../transcript/entries.ts";
import { messageOf } from "../../transcript/projection.ts";
import type { Cut } from "./cut.ts";
import { estimateMessages } from "./estimate.ts";
import type { CompactionParts } from "./policy.ts";
import { refusedText } from "./refused.ts";

export interface Question {
	cut: Cut;
	branch: Branch;
	tokensBefore: number;
	instructions: string | undefined;
	/** Tokens of system prompt and tools. */
	overhead: number;
	signal: AbortSignal;
}

type Otherwise = { result: CompactionResult; after: number } | { problem: string };

/** Asks whether somebody wants it otherwise: not at all, or with a summary of their own, which is stored. */
export async function askedOtherwise({ conversation, hooks }: CompactionParts, question: Question): Promise<Otherwise | undefined> {
	const { cut, branch, tokensBefore, instructions, overhead, signal } = question;
	const { firstKeptEntryId, history, prefix, previous } = cut;
	const branchEntries = Array.from({ length: branch.length }, (_, place) => branch.entry(place));
	const messagesToSummarize = [...history, ...prefix].flatMap((entry) => messageOf(entry) ?? []);
	const preparation = { firstKeptEntryId, messagesToSummarize, tokensBefore, ...(previous ? { previousSummary: previous.summary } : {}) };
	const plan = { preparation, branchEntries, ...(instructions === undefined ? {} : { customInstructions: instructions }) };
	const answer = await hooks?.beforeCompact?.(plan, signal);
	if (signal.aborted) return { problem: "aborted" };
	if (!answer) return undefined;
	if ("cancel" in answer) return { problem: refusedText };
	const { summary, firstKeptEntryId: kept, tokensBefore: counted, details } = answer.compaction;
	if (!branchEntries.some(({ id }) => id === kept)) return { problem: `the summary of an extension names an entry that is not there: ${kept}` };
	conversation.store({ type: "compaction", summary, firstKeptEntryId: kept, tokensBefore: counted || tokensBefore, details, fromHook: true });
	const after = overhead + estimateMessages(conversation.messages());
	const result = { ...answer.compaction, tokensBefore: counted || tokensBefore, estimatedTokensAfter: after };
	hooks?.tell?.({ type: "session_compact", compaction: result, fromExtension: true });
	return { result, after };
}
