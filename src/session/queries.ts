/** Questions about a session and its file. Loaded when a host asks. */
import { CommandError } from "../protocol/command-error.ts";
import type { SessionStats } from "../protocol/commands/session.ts";
import type { AgentMessage } from "../protocol/messages.ts";
import { cacheUseOf } from "../transcript/cache-use.ts";
import type { Entry } from "../transcript/entries.ts";
import { messageOf } from "../transcript/projection.ts";
import { contextTokens, countMessages, totalsOf } from "../transcript/stats.ts";
import { type TreeNode, treeOf } from "../transcript/tree.ts";
import { textOf } from "./inbox.ts";
import type { Session } from "./session.ts";

/** Every user message of the file, on whatever branch, that has a text. */
export function forkPoints({ transcript }: Session): { entryId: string; text: string }[] {
	const { everything } = transcript;
	const points: { entryId: string; text: string }[] = [];
	for (let place = 0; place < everything.length; place++) {
		if (everything.kind(place) !== "message:user") continue;
		const message = messageOf(everything.entry(place));
		if (message?.role !== "user") continue;
		const text = textOf(message);
		if (text !== "") points.push({ entryId: everything.id(place), text });
	}
	return points;
}

export function entriesSince({ transcript }: Session, since: string | undefined): { entries: Entry[]; leafId: string | null } {
	const { entries, leafId } = transcript;
	const from = since === undefined ? -1 : entries.findLastIndex((entry) => entry.id === since);
	if (since !== undefined && from < 0) throw new CommandError("unknown_since", `Entry not found: ${since}`);
	return { entries: entries.slice(from + 1), leafId };
}

export function treeOfSession({ transcript }: Session): { tree: TreeNode[]; leafId: string | null } {
	return { tree: treeOf(transcript.entries), leafId: transcript.leafId };
}

export function statsOf(session: Session): SessionStats {
	const { sessionId, file, entries } = session.transcript;
	const contextUsage = contextUsageOf(session);
	const { model } = session.choice;
	const cache = cacheUseOf(entries, model ? [model] : []);
	return {
		sessionFile: file,
		sessionId,
		...countMessages(session.messages),
		...totalsOf(entries),
		premiumRequests: 0,
		...(contextUsage ? { contextUsage } : {}),
		...(cache ? { cache } : {}),
	};
}

/** How full the model's window is; nothing where that is not known. */
export function contextUsageOf({ choice, messages, transcript }: Session): SessionStats["contextUsage"] {
	const contextWindow = choice.model?.contextWindow;
	if (!contextWindow) return undefined;
	const tokens = contextTokens(messages, transcript.branch);
	return { tokens, contextWindow, percent: tokens === null ? null : (tokens / contextWindow) * 100 };
}

const pageSize = { default: 100, max: 256 };

export interface Page {
	messages: AgentMessage[];
	nextCursor?: string;
	totalMessages: number;
}

/** A part of the context. A cursor is valid as long as nothing is added. */
export function messagesPage(session: Session, cursor: string | undefined, limit: number = pageSize.default): Page {
	if (limit < 1 || limit > pageSize.max) throw new CommandError("bad_field", `get_messages_page: limit must be from 1 to ${pageSize.max}`);
	if (session.isBusy) throw new CommandError("session_busy", "Messages are being added; ask again after agent_settled");
	const { messages, transcript } = session;
	const state = `${transcript.sessionId}:${transcript.leafId}`;
	const at = cursor === undefined ? 0 : Number(cursor.startsWith(`${state}:`) ? cursor.slice(state.length + 1) : Number.NaN);
	if (!Number.isSafeInteger(at)) throw new CommandError("stale_cursor", "The conversation has changed; begin again without a cursor");
	const end = Math.min(at + limit, messages.length);
	return { messages: messages.slice(at, end), totalMessages: messages.length, ...(end < messages.length ? { nextCursor: `${state}:${end}` } : {}) };
}
