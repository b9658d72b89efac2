/** What the checkpoints of a session file mean: which state belongs to an entry, and what was changed by others in between. Pure. */
import type { Entry } from "../protocol/entries.ts";
import type { History, RewoundHistory } from "./commit-history.ts";
import type { State } from "./tree-store.ts";

/** The `customType` of the entries. */
export const checkpointType = "checkpoint";

export interface CheckpointData {
	/** Under which the store keeps the state. */
	id: string;
	/** `before`: the agent is about to change files. `after`: it has. */
	phase: "before" | "after";
	cause: "turn" | "rewind";
	state: State;
	/** Absent in files of before it was kept. */
	history?: History;
	/** What was ignored, by the name of its record. */
	ignored?: string;
	/** Who could do what with the directory. */
	mode?: number;
	/** What the rewind that begins here does to repositories. */
	rewound?: RewoundHistory;
	/** The rewind that this entry completes. */
	rewind?: string;
}

export interface Checkpoint extends CheckpointData {
	entryId: string;
	timestamp: string;
}

/** All of a file, in the order in which they were written. */
export function checkpointsIn(entries: readonly Entry[]): Checkpoint[] {
	return entries.flatMap((entry) => {
		const data = entry.type === "custom" && entry.customType === checkpointType ? dataOf(entry.data) : undefined;
		return data ? [{ ...data, entryId: entry.id, timestamp: entry.timestamp }] : [];
	});
}

/** A file may have been edited. */
function dataOf(data: unknown): CheckpointData | undefined {
	const { id, phase, state, history } = (data ?? {}) as Partial<CheckpointData>;
	const isState = typeof state === "object" && state !== null && Object.values(state).every((tree) => /^[0-9a-f]{40,64}$/.test(String(tree)));
	const isHistory = history === undefined || [history?.kept, history?.lost ?? {}].every((each) => typeof each === "object" && each !== null);
	return isHistory && typeof id === "string" && (phase === "before" || phase === "after") && isState ? (data as CheckpointData) : undefined;
}

/**
 * The checkpoint that has the files as they were when an entry was the last of the conversation. That is the first one taken after it on its
 * branch, before anything was changed. Nothing was changed after an entry without one, so the last one that was taken before it has them.
 */
export function checkpointAt(entries: readonly Entry[], entryId: string): Checkpoint | undefined {
	const all = checkpointsIn(entries);
	const own = all.find((checkpoint) => checkpoint.entryId === entryId);
	if (own) return own;
	const place = entries.findIndex(({ id }) => id === entryId);
	const below = new Set([entryId]);
	for (const { id, parentId } of entries.slice(place + 1)) if (parentId !== null && below.has(parentId)) below.add(id);
	const isEarlier = new Set(entries.slice(0, place).map(({ id }) => id));
	return (
		all.find((checkpoint) => checkpoint.phase === "before" && below.has(checkpoint.entryId)) ??
		all.findLast((checkpoint) => isEarlier.has(checkpoint.entryId)) ??
		all[0]
	);
}

/** The pairs of states between which others may have changed files: after each change of the agent, until the next one begins. `now` ends the last. */
export function changedByOthers(all: readonly Checkpoint[], since: Checkpoint, now: Since): [Since, Since][] {
	const later = all.slice(all.findIndex(({ entryId }) => entryId === since.entryId));
	return later.flatMap((checkpoint, place): [Since, Since][] => {
		// A turn that has no end was cut short by a crash: what is different then is its work.
		if (checkpoint.phase === "before") return [];
		return [[checkpoint, later[place + 1] ?? now]];
	});
}

export type Since = Pick<CheckpointData, "state" | "history" | "ignored" | "mode">;
