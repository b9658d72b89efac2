/** What a session file is made of: a header line, then entries that form a tree. Format version 3. */
import type { AgentMessage } from "../protocol/messages.ts";
import type { Usage } from "../protocol/model.ts";

export interface Header {
	type: "session";
	version: 3;
	id: string;
	timestamp: string;
	cwd: string;
	parentSession?: string;
}

export interface CompactionBody {
	type: "compaction";
	summary: string;
	/** The first entry that is kept word for word. */
	firstKeptEntryId: string;
	tokensBefore: number;
	details?: unknown;
	/** An extension made the summary. */
	fromHook?: boolean;
	shortSummary?: string;
	usage?: Usage;
}

export type EntryBody =
	| { type: "message"; message: AgentMessage }
	| { type: "model_change"; provider: string; modelId: string }
	| { type: "thinking_level_change"; thinkingLevel: string }
	| CompactionBody
	| { type: "branch_summary"; fromId: string; summary: string; details?: unknown; fromHook?: boolean; usage?: Usage }
	| { type: "custom"; customType: string; data?: unknown }
	| { type: "custom_message"; customType: string; content: string | unknown[]; display: boolean; details?: unknown }
	| { type: "label"; targetId: string; label?: string }
	| { type: "session_info"; name?: string }
	| { type: "ttsr_injection"; injectedRules: string[] };

/** An entry of the file. `parentId` is null for a root. Types that are not known here are kept as they are. */
export type Entry = EntryBody & { id: string; parentId: string | null; timestamp: string };

export type EntryOf<Type extends Entry["type"]> = Extract<Entry, { type: Type }>;

/** What others may see of a transcript. */
export interface TranscriptView {
	readonly sessionId: string;
	readonly header: Header;
	readonly file: string | undefined;
	/** All entries in the order in which they were written. */
	readonly entries: readonly Entry[];
	/** The current entry; null before the first. */
	readonly leafId: string | null;
	/** The entries from the root to the current one. */
	path(): readonly Entry[];
}

/**
 * A branch, root first, that tells what its entries are without reading them: opening a long session must not parse all of it.
 * `kind` is the type, for messages with the role behind it: `message:user`.
 */
export interface Branch {
	readonly length: number;
	id(index: number): string;
	kind(index: number): string;
	entry(index: number): Entry;
	/** False only when the entry surely does not hold this piece of JSON, which has no spaces between its tokens. */
	mayHold(index: number, json: string): boolean;
	/** The message of an entry as JSON, if the file's bytes can be taken for it; else the entry must be asked. */
	messageBytes(index: number): Uint8Array | undefined;
	/** Bytes of the entry in the file, 0 when it is not known. */
	size(index: number): number;
}

export function kindOf(entry: Entry): string {
	return entry.type === "message" && entry.message ? `message:${entry.message.role}` : entry.type;
}

/** A reply that is in the file and not in the context: it was asked for again, or is to be forgotten. Others see a `custom` entry. */
export const droppedReply = "dropped_reply";

/** A branch of entries that are at hand. */
export function branchOf(entries: readonly Entry[]): Branch {
	const at = (index: number) => entries[index] as Entry;
	return {
		length: entries.length,
		id: (index) => at(index).id,
		kind: (index) => kindOf(at(index)),
		entry: at,
		mayHold: () => true,
		messageBytes: () => undefined,
		size: () => 0,
	};
}
