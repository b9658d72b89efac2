import Type, { type Static } from "typebox";
import { ack, command, flag, integer, jsonObject, list, number, optional, orNull, shape, text } from "../define.ts";
import { AgentMessage } from "../messages.ts";

const cancelled = flag({ description: "True when an extension prevented it; nothing changed then." });

export const ContextUsage = shape("ContextUsage", "How full the context window is. `null` until the first reply after a compaction.", {
	tokens: orNull(integer()),
	contextWindow: integer(),
	percent: orNull(number()),
});

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
});
export type SessionStats = Static<typeof SessionStats>;

const Forked = shape("Forked", "The text of the message that was forked at.", { text: text(), cancelled });
const ForkPoints = Type.Object({ messages: list(shape("ForkPoint", "A user message.", { entryId: text(), text: text() })) });

const fork = command({
	doc: "Continue from just before a user message, in a new session. `branch` is the same.",
	lane: "serial",
	params: { entryId: text() },
	result: Forked,
});
const getForkMessages = command({
	doc: "Every user message of the session file that can be forked at. `get_branch_messages` is the same.",
	lane: "serial",
	params: {},
	result: ForkPoints,
});

export const sessionCommands = {
	new_session: command({
		doc: "Start over with an empty conversation. Model, thinking level, modes and host tools stay.",
		lane: "serial",
		params: { parentSession: optional(text()) },
		result: Type.Object({ cancelled }),
	}),
	switch_session: command({
		doc: "Open another session file. A path that does not exist starts a session there.",
		lane: "serial",
		params: { sessionPath: text() },
		result: Type.Object({ cancelled }),
	}),
	fork,
	branch: { ...fork, doc: "Another name for `fork`." },
	get_fork_messages: getForkMessages,
	get_branch_messages: { ...getForkMessages, doc: "Another name for `get_fork_messages`." },
	set_session_name: command({ doc: "Name the session. An empty name is refused.", lane: "serial", params: { name: text() }, result: ack }),
	get_session_stats: command({ doc: "Messages, tokens and cost.", lane: "serial", params: {}, result: SessionStats }),
	export_html: command({
		doc: "Write the session as one HTML page.",
		lane: "background",
		params: { outputPath: optional(text()) },
		result: Type.Object({ path: text() }),
	}),
	clone: command({
		doc: "Continue in a new session that is a copy of the active branch.",
		lane: "serial",
		params: {},
		result: Type.Object({ cancelled }),
	}),
	get_entries: command({
		doc: "The entries of the session file in the order they were written, after `since` if given.",
		lane: "serial",
		params: { since: optional(text()) },
		result: Type.Object({ entries: list(jsonObject), leafId: orNull(text()) }),
	}),
	get_tree: command({
		doc: "The entries as a tree of `{entry, children, label?, labelTimestamp?}`.",
		lane: "serial",
		params: {},
		result: Type.Object({ tree: list(jsonObject), leafId: orNull(text()) }),
	}),
	get_messages_page: command({
		doc: "The context in pages of 1 to 256 messages (100 by default).",
		lane: "serial",
		params: { cursor: optional(text()), limit: optional(integer()) },
		result: Type.Object({ messages: list(AgentMessage), nextCursor: optional(text()), totalMessages: integer() }),
	}),
	open_session: command({
		doc: "Resume the latest session of a directory, or start one there.",
		lane: "serial",
		params: { sessionDir: text() },
		result: Type.Object({ cancelled, resumed: flag(), sessionId: text(), sessionFile: optional(text()) }),
	}),
};
