/** The summary of a branch that is left. Loaded on demand. */
import type { Entry } from "../../transcript/entries.ts";
import { messageOf } from "../../transcript/projection.ts";
import type { BranchInput } from "./policy.ts";
import { type FileLists, fileBlocks, fileLists, serialize } from "./serialize.ts";
import {
	charactersPerToken,
	type Problem,
	type Summarizer,
	type Summary,
	summarizePieces,
	UsageSum,
	unknownWindow,
	withoutOldest,
} from "./summarize.ts";

const maxOutput = 2048;
/** The minimum to read, however small the window. */
const smallestRecord = 2000;

/** One call: omits the oldest messages that do not fit into the window. */
export async function summarizeBranch(parts: Summarizer, input: BranchInput): Promise<Summary | Problem | undefined> {
	const { entries, model, reserveTokens, instructions, signal } = input;
	const pieces = serialize(entries.map(spoken));
	if (pieces.length === 0) return undefined;
	const room = Math.max(smallestRecord, ((model.contextWindow || unknownWindow) - reserveTokens) * charactersPerToken);
	const usage = new UsageSum();
	const maxTokens = Math.min(maxOutput, model.maxTokens || maxOutput);
	const work = { ...parts, model, maxTokens, signal, usage, isBranch: true };
	const text = await summarizePieces(work, { pieces: newest(pieces, room), previous: undefined, isPrefix: false, instructions });
	if (typeof text !== "string") return text;
	const details = fileLists(entries, earlierLists(entries));
	return { text: text + fileBlocks(details), details, usage: usage.total };
}

/** The newest pieces that fit; a part of one when not even that does. */
function newest(pieces: readonly string[], room: number): string[] {
	let left = room;
	let first = pieces.length;
	// The separator between two pieces counts too.
	while (first > 0 && left >= (pieces[first - 1] as string).length + 2) left -= (pieces[--first] as string).length + 2;
	return first < pieces.length ? pieces.slice(first) : withoutOldest(pieces.slice(-1), room);
}

/** A summary inside the branch replaces everything that came before it. */
function spoken(entry: Entry): Entry {
	const message = entry.type === "compaction" ? messageOf(entry) : undefined;
	return message ? { type: "message", id: entry.id, parentId: entry.parentId, timestamp: entry.timestamp, message } : entry;
}

/** The files of summaries inside the branch, except those that an extension made. */
function earlierLists(entries: readonly Entry[]): FileLists {
	const lists: FileLists = { readFiles: [], modifiedFiles: [] };
	for (const entry of entries) {
		if ((entry.type !== "branch_summary" && entry.type !== "compaction") || entry.fromHook) continue;
		const { readFiles, modifiedFiles } = fileLists([], entry.details);
		lists.readFiles.push(...readFiles);
		lists.modifiedFiles.push(...modifiedFiles);
	}
	return lists;
}
