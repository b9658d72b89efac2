/** What a session file is made of: a header line, then entries that form a tree. Format version 3. */
import type { AgentMessage } from "./messages.ts";
import type { Usage } from "./model.ts";

export interface Header {
	type: "session";
	version: 3;
	id: string;
	timestamp: string;
	cwd: string;
	parentSession?: string;
	/** Minutes by which the user's clock was ahead of UTC when the session began. */
	utcOffset?: number;
	/** In a fork: what caches of providers know the conversation by. */
	cacheKey?: string;
}

/** What a fork takes over: it goes on with the same caches and the same days. */
export type Origin = Required<Pick<Header, "utcOffset" | "cacheKey">>;

export type CompactionBody = {
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
};

export type EntryBody =
	| { type: "message"; message: AgentMessage }
	| { type: "model_change"; provider: string; modelId: string }
	| { type: "thinking_level_change"; thinkingLevel: string }
	| CompactionBody
	| { type: "branch_summary"; fromId: string; summary: string; details?: unknown; fromHook?: boolean; usage?: Usage }
	| { type: "custom"; customType: string; data?: unknown }
	| { type: "custom_message"; customType: string; content: string | unknown[]; display: boolean; details?: unknown }
	/** Newer versions of pi write it when a person removes the target from the context (null) or changes its content. */
	| { type: "context_edit"; targetId: string; replacement: unknown[] | null }
	| { type: "label"; targetId: string; label?: string }
	| { type: "session_info"; name?: string }
	| { type: "ttsr_injection"; injectedRules: string[] };

/** An entry of the file. `parentId` is null for a root. Entries of unknown types are kept as they are. */
export type Entry = EntryBody & { id: string; parentId: string | null; timestamp: string };

export type EntryOf<Type extends Entry["type"]> = Extract<Entry, { type: Type }>;

/** The type of an entry, for messages with the role: `message:user`. */
export function kindOf(entry: Entry): string {
	return entry.type === "message" && entry.message ? messageKind(entry.message.role) : entry.type;
}

/** Newer versions of pi store messages of role `system`, which are in no context: they have a kind of their own. */
export function messageKind(role: string): string {
	return role === "system" ? "system_message" : `message:${role}`;
}

/** Whether an entry of this kind is in the context. */
export function isSpoken(kind: string): boolean {
	return kind.startsWith("message:") || kind === "custom_message" || kind === "branch_summary";
}

/** The `customType` of an entry that takes a reply out of the context: it was asked for again, or is to be forgotten. */
export const droppedReply = "dropped_reply";
