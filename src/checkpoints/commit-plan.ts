/** Decides what of a repository's history was lost since a checkpoint, and what would bring it back. Pure. */
import { type CommitRecord, headCommit } from "./commit-record.ts";

/** A name that gets another value; without `from` it is made, without `to` it is removed. */
export interface RefMove {
	name: string;
	from?: string;
	to?: string;
}

export interface Wanted {
	refs: Map<string, string | undefined>;
	head: string;
	stashes: string;
	/** What is staged belongs to the commit that HEAD is. */
	index: string | undefined;
}

/** The names that an earlier rewind moved, and what it moved them to. */
export type Exactly = ReadonlyMap<string, string | undefined>;

/**
 * What the names should stand for: as at the checkpoint, but for what others than the agent did since. `others` are the records between which
 * only others worked, in order.
 */
export function wantedSince(target: CommitRecord, others: readonly (readonly [CommitRecord, CommitRecord])[]): Wanted {
	const wanted: Wanted = { refs: new Map(Object.entries(target.refs)), head: target.head, stashes: target.stashes, index: target.index };
	for (const [before, after] of others) {
		for (const name of new Set([...Object.keys(before.refs), ...Object.keys(after.refs)]))
			if (before.refs[name] !== after.refs[name]) wanted.refs.set(name, after.refs[name]);
		if (before.stashes !== after.stashes) wanted.stashes = after.stashes;
		if (before.head !== after.head || headCommit(before) !== headCommit(after)) [wanted.head, wanted.index] = [after.head, after.index];
	}
	return wanted;
}

/**
 * The names that do not stand for what they should, and may have lost something by it. A branch of a server follows that server: it counts when
 * it is gone. `exactly` are those that an earlier rewind moved.
 */
export function movedRefs({ refs }: Wanted, current: CommitRecord, exactly: Exactly): RefMove[] {
	return [...refs].flatMap(([name, to]): RefMove[] => {
		const from = current.refs[name];
		if (from === to || name === stashRef) return [];
		if (to === undefined) return exactly.has(name) && from !== undefined ? [{ name, from }] : [];
		if (from === undefined) return [{ name, to }];
		return name.startsWith("refs/remotes/") && !exactly.has(name) ? [] : [{ name, from, to }];
	});
}

export const stashRef = "refs/stash";

/** Whether a name lost something when it went from one commit to a later one; a tag always did. */
export const needsAncestry = ({ name, from, to }: RefMove, exactly: Exactly) =>
	from !== undefined && to !== undefined && !name.startsWith("refs/tags/") && !exactly.has(name);

/** The stashes of both, those that were lost in front: the last line is the newest stash. Returns undefined where none was lost. */
export function joinedStashes(wanted: string, current: string): string | undefined {
	const lines = (text: string) => text.split("\n").filter((line) => line !== "");
	const there = new Set(lines(current).map(commitOf));
	const lost = lines(wanted).filter((line) => !there.has(commitOf(line)));
	if (lost.length === 0) return undefined;
	let before: string | undefined;
	return [...lost, ...lines(current)]
		.map((line) => {
			const first = before ?? "0".repeat(commitOf(line).length);
			before = commitOf(line);
			return `${first}${line.slice(first.length)}\n`;
		})
		.join("");
}

const commitOf = (line: string) => line.split(" ")[1] ?? "";
