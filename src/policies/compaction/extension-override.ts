/** Asks policies, that is extensions, about a compaction. Loaded when one takes part. */
import type { CompactionResult } from "../../protocol/commands/compaction.ts";
import type { Branch } from "../../transcript/entries.ts";
import { messageOf } from "../../transcript/projection.ts";
import type { Cut } from "./cut.ts";
import { estimateMessages } from "./estimate.ts";
import type { CompactionParts, CompactionProblem } from "./policy.ts";

export interface Question {
	cut: Cut;
	branch: Branch;
	tokensBefore: number;
	instructions: string | undefined;
	/** Tokens of system prompt and tools. */
	overhead: number;
	signal: AbortSignal;
}

type Override = { result: CompactionResult; after: number } | CompactionProblem;

/** Asks whether the compaction is cancelled or its summary supplied. A supplied summary is stored. */
export async function askExtensions({ conversation, doors }: CompactionParts, question: Question): Promise<Override | undefined> {
	const { cut, branch, tokensBefore, instructions, overhead, signal } = question;
	const { firstKeptEntryId, history, prefix, previous } = cut;
	const branchEntries = Array.from({ length: branch.length }, (_, place) => branch.entry(place));
	const messagesToSummarize = [...history, ...prefix].flatMap((entry) => messageOf(entry) ?? []);
	const preparation = { firstKeptEntryId, messagesToSummarize, tokensBefore, ...(previous ? { previousSummary: previous.summary } : {}) };
	const plan = { preparation, branchEntries, ...(instructions === undefined ? {} : { customInstructions: instructions }) };
	const answer = await doors.compact?.(plan, signal);
	if (signal.aborted) return { problem: "aborted" };
	if (!answer) return undefined;
	if ("cancel" in answer) return { problem: "an extension refused it", code: "cancelled" };
	const { summary, firstKeptEntryId: kept, tokensBefore: counted, details } = answer.compaction;
	if (!branchEntries.some(({ id }) => id === kept)) return { problem: `the summary of an extension names an entry that is not there: ${kept}` };
	conversation.store({ type: "compaction", summary, firstKeptEntryId: kept, tokensBefore: counted || tokensBefore, details, fromHook: true });
	const after = overhead + estimateMessages(conversation.messages());
	const result = { ...answer.compaction, tokensBefore: counted || tokensBefore, estimatedTokensAfter: after };
	doors.notice({ type: "session_compact", compaction: result, fromExtension: true });
	return { result, after };
}
