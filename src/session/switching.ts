/** From one session to another: switch, fork, clone. Loaded when a host asks. */
import { asSentence } from "../lib/as-sentence.ts";
import { CommandError } from "../protocol/command-error.ts";
import { forkOf } from "../transcript/fork.ts";
import type { Transcript } from "../transcript/transcript.ts";
import { type QueueTexts, textOf } from "./inbox.ts";
import { noteChoice, restoreChoice, unknownEntries } from "./restore.ts";
import type { Session } from "./session.ts";

/** Goes on with the session in a file, or with a new one that will be stored there. */
export async function switchSession(session: Session, path: string): Promise<QueueTexts> {
	// A file that cannot be opened must not end the run; a file that is opened again must hold all of it.
	if (session.store.isOpenAs(session.transcript, path)) await session.abort();
	const next = session.store.open(path);
	return moveTo(session, next);
}

/** Goes on with the latest session of a directory, or begins one there. */
export async function openDirectory(session: Session, directory: string): Promise<{ queues: QueueTexts; resumed: boolean }> {
	const { store } = session;
	const latest = store.latest(directory);
	if (latest !== undefined && store.isOpenAs(session.transcript, latest)) await session.abort();
	const { directory: before, beside } = store;
	if (before !== undefined) store.directory = directory;
	store.beside = undefined;
	try {
		const next = latest === undefined ? store.create() : store.open(latest);
		return { queues: await moveTo(session, next), resumed: latest !== undefined };
	} catch (error) {
		store.directory = before;
		store.beside = beside;
		throw error;
	}
}

/** The user message from which a fork may go on, or a refusal. */
export function forkPoint({ transcript }: Session, entryId: string, refusal: string): { text: string; parentId: string | null } {
	const entry = transcript.find(entryId);
	if (entry?.type !== "message" || entry.message?.role !== "user") throw new CommandError("not_found", refusal);
	return { text: textOf(entry.message), parentId: entry.parentId };
}

/** Goes on from just before a user message, in a new session; with the whole conversation when it is kept. */
export async function forkAt(session: Session, entryId: string, refusal: string, keepsAll = false): Promise<{ queues: QueueTexts }> {
	const { parentId } = forkPoint(session, entryId, refusal);
	await session.abort();
	const { transcript } = session;
	return { queues: await moveTo(session, forkOf(session.store, transcript, keepsAll ? transcript.leafId : parentId)) };
}

/** Goes on in a new session that is a copy of this branch. */
export async function cloneBranch(session: Session): Promise<QueueTexts> {
	if (session.transcript.leafId === null) throw new CommandError("nothing_to_do", "Cannot clone session: no current entry selected");
	await session.abort();
	return moveTo(session, forkOf(session.store, session.transcript, session.transcript.leafId));
}

async function moveTo(session: Session, next: Transcript): Promise<QueueTexts> {
	await session.abort();
	const queues = session.adopt(next);
	const problem = await restoreChoice(session, { model: true, level: true });
	if (problem) session.edges.warn(`${asSentence(problem)} The session goes on with ${session.choice.model?.id ?? "no model"}.`);
	const unknown = unknownEntries(session);
	if (unknown) session.edges.warn(unknown);
	noteChoice(session);
	return queues;
}
