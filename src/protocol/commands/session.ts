import Type, { type Static } from "typebox";
import { BudgetCeiling } from "../budget.ts";
import { ack, command, flag, integer, jsonObject, list, number, optional, orNull, shape, text, words } from "../define.ts";
import { samples } from "../examples.ts";
import { AgentMessage } from "../messages.ts";

const cancelled = flag({ description: "True when an extension prevented it; nothing changed then." });

export const ContextUsage = shape("ContextUsage", "How full the context window is. `null` until the first reply after a compaction.", {
	tokens: orNull(integer()),
	contextWindow: integer(),
	percent: orNull(number()),
});

const CacheBreak = shape("CacheBreak", "A part of a request that the provider had kept and had to read again.", {
	at: integer({ description: "Unix time in milliseconds." }),
	segment: { ...words("tools", "system", "messages"), description: "Where the lost part begins. A request is tools, system prompt, messages." },
	cause: text({ description: "What changed, or why nothing was found, for a person." }),
	costUsd: optional(number({ description: "What it cost more than to read it from the cache. Absent where the price is not known." })),
});

export const CacheUse = shape(
	"CacheUse",
	"What requests should have found in the provider's cache, and what they did, over the whole session. Absent without requests that mark what the provider shall keep.",
	{
		requests: integer({ description: "Those that mark something." }),
		predictedReadTokens: integer({ description: "By what the requests before had in all, within the lifetime of the cache." }),
		reportedReadTokens: integer({ description: "As the provider counted." }),
		breaks: list(CacheBreak),
	},
);
export type CacheUse = Static<typeof CacheUse>;

export const SessionStats = shape("SessionStats", "Counts over the current context; tokens and cost over the whole session.", {
	sessionFile: optional(text()),
	sessionId: text(),
	userMessages: integer(),
	assistantMessages: integer(),
	toolCalls: integer(),
	toolResults: integer(),
	totalMessages: integer(),
	tokens: Type.Object({ input: integer(), output: integer(), cacheRead: integer(), cacheWrite: integer(), total: integer() }),
	cost: number({ description: "USD" }),
	premiumRequests: optional(integer()),
	contextUsage: optional(ContextUsage),
	cache: optional(CacheUse),
	budget: optional({ ...list(BudgetCeiling), description: "The ceilings that are set. Absent without any." }),
});
export type SessionStats = Static<typeof SessionStats>;

const Forked = shape("Forked", "The text of the message that was forked at.", { text: text(), cancelled });
const ForkPoints = Type.Object({ messages: list(shape("ForkPoint", "A user message.", { entryId: text(), text: text() })) });

/** An entry of a session file, in examples. */
const entry = { type: "message", id: "5f0c1e2b", parentId: "5f0c1e2a", timestamp: "2026-01-01T00:00:00.000Z", message: samples.assistant };

const fork = command({
	doc: "Continue from just before a user message, in a new session. `branch` is the same.",
	lane: "serial",
	access: "seat",
	params: { entryId: text() },
	result: Forked,
	example: { send: { entryId: "5f0c1e2a" }, data: { text: "What is this?", cancelled: false } },
});
const getForkMessages = command({
	doc: "Every user message of the session file that can be forked at. `get_branch_messages` is the same.",
	lane: "serial",
	access: "read",
	params: {},
	result: ForkPoints,
	example: { send: {}, data: { messages: [{ entryId: "5f0c1e2a", text: "What is this?" }] } },
});

export const sessionCommands = {
	new_session: command({
		doc: "Start over with an empty conversation. Model, thinking level, modes and host tools stay.",
		lane: "serial",
		access: "seat",
		params: { parentSession: optional(text()) },
		result: Type.Object({ cancelled }),
		example: { send: {}, data: { cancelled: false } },
	}),
	switch_session: command({
		doc: "Open another session file. A path that does not exist starts a session there.",
		lane: "serial",
		access: "seat",
		params: { sessionPath: text() },
		result: Type.Object({ cancelled }),
		example: { send: { sessionPath: samples.sessionFile }, data: { cancelled: false } },
	}),
	fork,
	branch: { ...fork, doc: "Another name for `fork`." },
	get_fork_messages: getForkMessages,
	get_branch_messages: { ...getForkMessages, doc: "Another name for `get_fork_messages`." },
	set_session_name: command({
		doc: "Name the session. An empty name is refused.",
		lane: "serial",
		access: "seat",
		params: { name: text() },
		result: ack,
		example: { send: { name: "repair the search" } },
	}),
	get_session_stats: command({
		doc: "Messages, tokens and cost.",
		lane: "serial",
		access: "read",
		params: {},
		result: SessionStats,
		example: {
			send: {},
			data: {
				sessionFile: samples.sessionFile,
				sessionId: samples.sessionId,
				userMessages: 1,
				assistantMessages: 2,
				toolCalls: 1,
				toolResults: 1,
				totalMessages: 4,
				tokens: { input: 1650, output: 31, cacheRead: 0, cacheWrite: 0, total: 1681 },
				cost: 0.005415,
				contextUsage: { tokens: 850, contextWindow: 200000, percent: 0.425 },
			},
		},
	}),
	export_html: command({
		doc: "Write the session as one HTML page.",
		lane: "background",
		access: "seat",
		params: { outputPath: optional(text()) },
		result: Type.Object({ path: text() }),
		example: { send: { outputPath: "session.html" }, data: { path: "/home/ada/shop/session.html" } },
	}),
	clone: command({
		doc: "Continue in a new session that is a copy of the active branch.",
		lane: "serial",
		access: "seat",
		params: {},
		result: Type.Object({ cancelled }),
		example: { send: {}, data: { cancelled: false } },
	}),
	get_entries: command({
		doc: "The entries of the session file in the order they were written, after `since` if given. `docs/sessions.md` describes them.",
		lane: "serial",
		access: "read",
		params: { since: optional(text()) },
		result: Type.Object({ entries: list(jsonObject), leafId: orNull(text()) }),
		example: { send: { since: "5f0c1e2a" }, data: { entries: [entry], leafId: entry.id } },
	}),
	get_tree: command({
		doc: "The entries as a tree of `{entry, children, label?, labelTimestamp?}`.",
		lane: "serial",
		access: "read",
		params: {},
		result: Type.Object({ tree: list(jsonObject), leafId: orNull(text()) }),
		example: { send: {}, data: { tree: [{ entry, children: [] }], leafId: entry.id } },
	}),
	get_messages_page: command({
		doc: "The context in pages of 1 to 256 messages (100 by default).",
		lane: "serial",
		access: "read",
		params: { cursor: optional(text()), limit: optional(integer()) },
		result: Type.Object({ messages: list(AgentMessage), nextCursor: optional(text()), totalMessages: integer() }),
		example: { send: { limit: 1 }, data: { messages: [samples.user], nextCursor: "1", totalMessages: 2 } },
	}),
	open_session: command({
		doc: "Resume the latest session of a directory, or start one there.",
		lane: "serial",
		access: "seat",
		params: { sessionDir: text() },
		result: Type.Object({ cancelled, resumed: flag(), sessionId: text(), sessionFile: optional(text()) }),
		example: {
			send: { sessionDir: "/home/ada/.bowline/sessions/shop" },
			data: { cancelled: false, resumed: true, sessionId: samples.sessionId, sessionFile: samples.sessionFile },
		},
	}),
};
