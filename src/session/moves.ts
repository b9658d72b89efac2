/** From one session to another: switch, fork, clone; and questions about a session's file. Loaded when a host asks. */
import { CommandError } from "../lib/command-error.ts";
import type { SessionStats } from "../protocol/commands/session.ts";
import type { AgentMessage, UserMessage } from "../protocol/messages.ts";
import type { Entry, EntryOf } from "../transcript/entries.ts";
import { forkOf } from "../transcript/fork.ts";
import { contextTokens, countMessages, totalsOf } from "../transcript/stats.ts";
import type { Transcript } from "../transcript/transcript.ts";
import { type TreeNode, treeOf } from "../transcript/tree.ts";
import { type QueueTexts, textOf } from "./inbox.ts";
import { noteChoice, restoreChoice } from "./restore.ts";
import type { Session } from "./session.ts";

/** Goes on with the session in a file, or with a new one that will be stored there. */
export async function switchSession(session: Session, path: string): Promise<QueueTexts> {
	// What cannot be opened must leave the run alone; a file that is opened again must have all of it.
	if (session.transcripts.isOpenAs(session.transcript, path)) await session.abort();
	const next = session.transcripts.open(path);
	return moveTo(session, next);
}

/** Goes on with the latest session of a directory, or begins one there. */
export async function openDirectory(session: Session, directory: string): Promise<{ queues: QueueTexts; resumed: boolean }> {
	const { transcripts } = session;
	const latest = transcripts.latest(directory);
	if (latest !== undefined && transcripts.isOpenAs(session.transcript, latest)) await session.abort();
	const before = transcripts.directory;
	if (before !== undefined) transcripts.directory = directory;
	try {
		const next = latest === undefined ? transcripts.create() : transcripts.open(latest);
		return { queues: await moveTo(session, next), resumed: latest !== undefined };
	} catch (error) {
		transcripts.directory = before;
		throw error;
	}
}

/** The user message from which a fork may go on, or a refusal. */
export function forkPoint({ transcript }: Session, entryId: string, refusal: string): { text: string; parentId: string | null } {
	const entry = transcript.find(entryId);
	if (entry?.type !== "message" || entry.message?.role !== "user") throw new CommandError(refusal);
	return { text: textOf(entry.message), parentId: entry.parentId };
}

/** Goes on from just before a user message, in a new session; with the whole conversation when it is kept. */
export async function forkAt(session: Session, entryId: string, refusal: string, keepsAll = false): Promise<{ queues: QueueTexts }> {
	const { parentId } = forkPoint(session, entryId, refusal);
	await session.abort();
	const { transcript } = session;
	return { queues: await moveTo(session, forkOf(session.transcripts, transcript, keepsAll ? transcript.leafId : parentId)) };
}

/** Goes on in a new session that is a copy of this branch. */
export async function cloneBranch(session: Session): Promise<QueueTexts> {
	if (session.transcript.leafId === null) throw new CommandError("Cannot clone session: no current entry selected");
	await session.abort();
	return moveTo(session, forkOf(session.transcripts, session.transcript, session.transcript.leafId));
}

async function moveTo(session: Session, next: Transcript): Promise<QueueTexts> {
	await session.abort();
	const queues = session.adopt(next);
	const problem = await restoreChoice(session, { model: true, level: true });
	if (problem) console.error(`Warning: ${problem}. The session goes on with ${session.choice.model?.id ?? "no model"}.`);
	noteChoice(session);
	return queues;
}

/** Every user message of the file, on whatever branch, that has a text. */
export function forkPoints({ transcript }: Session): { entryId: string; text: string }[] {
	const { everything } = transcript;
	const points: { entryId: string; text: string }[] = [];
	for (let place = 0; place < everything.length; place++) {
		if (everything.kind(place) !== "message:user") continue;
		const text = textOf((everything.entry(place) as EntryOf<"message">).message as UserMessage);
		if (text !== "") points.push({ entryId: everything.id(place), text });
	}
	return points;
}

export function entriesSince({ transcript }: Session, since: string | undefined): { entries: Entry[]; leafId: string | null } {
	const { entries, leafId } = transcript;
	const from = since === undefined ? -1 : entries.findLastIndex((entry) => entry.id === since);
	if (since !== undefined && from < 0) throw new CommandError(`Entry not found: ${since}`, "unknown_since");
	return { entries: entries.slice(from + 1), leafId };
}

export function treeOfSession({ transcript }: Session): { tree: TreeNode[]; leafId: string | null } {
	return { tree: treeOf(transcript.entries), leafId: transcript.leafId };
}

export function statsOf(session: Session): SessionStats {
	const { sessionId, file, entries } = session.transcript;
	const contextUsage = contextUsageOf(session);
	return {
		sessionFile: file,
		sessionId,
		...countMessages(session.messages),
		...totalsOf(entries),
		premiumRequests: 0,
		...(contextUsage ? { contextUsage } : {}),
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

/** A part of the context. A cursor holds as long as nothing is added. */
export function messagesPage(session: Session, cursor: string | undefined, limit: number = pageSize.default): Page {
	if (limit < 1 || limit > pageSize.max) throw new CommandError(`get_messages_page: limit must be from 1 to ${pageSize.max}`);
	if (session.isBusy) throw new CommandError("Messages are being added; ask again after agent_settled", "session_busy");
	const { messages, transcript } = session;
	const state = `${transcript.sessionId}:${transcript.leafId}`;
	const at = cursor === undefined ? 0 : Number(cursor.startsWith(`${state}:`) ? cursor.slice(state.length + 1) : Number.NaN);
	if (!Number.isSafeInteger(at)) throw new CommandError("The conversation has changed; begin again without a cursor", "stale_cursor");
	const end = Math.min(at + limit, messages.length);
	return { messages: messages.slice(at, end), totalMessages: messages.length, ...(end < messages.length ? { nextCursor: `${state}:${end}` } : {}) };
}
