/** The session as extensions see it: they can read everything and change nothing. */
import type { Entry, Header } from "../protocol/entries.ts";

/** A line of the session file. `appendEntry` writes those of type `custom`. */
export type SessionEntry = Entry;

/** The facts of a session. A transcript has this shape. */
export interface SessionFacts {
	readonly sessionId: string;
	/** Absent when nothing is stored. */
	readonly file: string | undefined;
	readonly name: string | undefined;
	readonly header: Pick<Header, "id" | "timestamp" | "cwd" | "parentSession">;
	/** In the order in which they were written. */
	readonly entries: readonly SessionEntry[];
	/** The current entry; null before the first. */
	readonly leafId: string | null;
	/** From the root to the current entry. */
	path(): readonly SessionEntry[];
}

export interface SessionManager {
	getCwd(): string;
	getSessionId(): string;
	/** Undefined when nothing is stored. */
	getSessionFile(): string | undefined;
	getSessionName(): string | undefined;
	getHeader(): SessionFacts["header"];
	/** All entries of all branches, in the order in which they were written. */
	getEntries(): readonly SessionEntry[];
	getEntry(id: string): SessionEntry | undefined;
	/** The entries from the root to the given one, or to the current one. */
	getBranch(fromId?: string): readonly SessionEntry[];
	/** The current entry; null before the first. */
	getLeafId(): string | null;
	getLeafEntry(): SessionEntry | undefined;
	getLabel(id: string): string | undefined;
}

export function sessionManager(facts: () => SessionFacts): SessionManager {
	const entry = (id: string | null) => facts().entries.findLast((each) => each.id === id);
	return {
		getCwd: () => facts().header.cwd,
		getSessionId: () => facts().sessionId,
		getSessionFile: () => facts().file,
		getSessionName: () => facts().name,
		getHeader: () => ({ ...facts().header }),
		getEntries: () => [...facts().entries],
		getEntry: entry,
		getBranch: (fromId) => (fromId === undefined ? [...facts().path()] : branchTo(facts().entries, fromId)),
		getLeafId: () => facts().leafId,
		getLeafEntry: () => entry(facts().leafId),
		getLabel: (id) => {
			const label = facts().entries.findLast((each) => each.type === "label" && each.targetId === id);
			return label?.type === "label" ? label.label : undefined;
		},
	};
}

function branchTo(entries: readonly SessionEntry[], id: string): SessionEntry[] {
	const byId = new Map(entries.map((entry) => [entry.id, entry]));
	const branch: SessionEntry[] = [];
	for (let entry = byId.get(id); entry; entry = byId.get(entry.parentId ?? "")) {
		branch.push(entry);
		// A damaged file may contain a cycle.
		byId.delete(entry.id);
	}
	return branch.reverse();
}
