/** Compares trees, and merges what one side did since a common state into the other side. Touches no files. */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Git } from "./git.ts";
import { above, entries, type RepositoryPath } from "./paths.ts";
import type { Change, Entry } from "./shadow.ts";

/** A change, or a move with what it was moved from. */
export interface Difference extends Change {
	/** Where `from` was, if elsewhere. */
	movedFrom?: RepositoryPath;
}

export async function differences(git: Git, before: string, after: string, findMoves: boolean): Promise<Difference[]> {
	const fields = entries(await git.run(["diff-tree", "-r", "-z", "--raw", "--full-index", findMoves ? "-M" : "--no-renames", before, after]));
	const found: Difference[] = [];
	for (let at = 0; at < fields.length; ) {
		const [fromMode = "", toMode = "", fromOid = "", toOid = "", status = ""] = (fields[at++] ?? "").slice(1).split(" ");
		const path = fields[at++] ?? "";
		const from = entry(fromMode, fromOid);
		const to = entry(toMode, toOid);
		if (status.startsWith("R")) found.push({ path: fields[at++] ?? "", movedFrom: path, ...(from ? { from } : {}), ...(to ? { to } : {}) });
		else found.push({ path, ...(from ? { from } : {}), ...(to ? { to } : {}) });
	}
	return found;
}

const entry = (mode: string, oid: string): Entry | undefined => (mode === "000000" ? undefined : { mode, oid });

export interface TreeMerge {
	/** What to do to `ours`. */
	changes: Change[];
	/** Where both sides did different things. */
	conflicts: RepositoryPath[];
}

/** What `theirs` did to `base`, as changes of `ours`. `scratch` is a directory for files that are merged line by line. */
export async function mergeTrees(git: Git, trees: { base: string; ours: string; theirs: string }, scratch: string): Promise<TreeMerge> {
	const { base, ours, theirs } = trees;
	const [done, drift] = await Promise.all([differences(git, base, theirs, true), differences(git, base, ours, false)]);
	const ourChanges = new Map(drift.map((change) => [change.path, change]));
	const changes: Change[] = [];
	const conflicts = new Set<RepositoryPath>();
	const put = (path: RepositoryPath, from: Entry | undefined, to: Entry | undefined) => {
		if (!isSame(from, to)) changes.push({ path, ...(from ? { from } : {}), ...(to ? { to } : {}) });
	};
	for (const { path, movedFrom, from, to } of done) {
		const source = movedFrom ?? path;
		const found = ourChanges.get(source);
		const our = found ? found.to : from;
		const merged = await mergeEntries(git, from, our, to, scratch);
		if (movedFrom === undefined) {
			if (merged === "conflict") conflicts.add(path);
			else put(path, our, merged);
			continue;
		}
		const there = ourChanges.get(path)?.to;
		// Moved by both to the same place.
		if (!our && isSame(there, to)) continue;
		if (merged === "conflict" || there) conflicts.add(there ? path : source);
		else {
			put(source, our, undefined);
			put(path, undefined, merged);
		}
	}
	for (const path of clashes(changes, drift)) conflicts.add(path);
	return { changes, conflicts: [...conflicts] };
}

async function mergeEntries(git: Git, base: Entry | undefined, ours: Entry | undefined, theirs: Entry | undefined, scratch: string) {
	if (isSame(ours, base)) return theirs;
	if (isSame(ours, theirs)) return ours;
	if (!base || !ours || !theirs || ![base, ours, theirs].every(isFile)) return "conflict";
	const mode = ours.mode === base.mode ? theirs.mode : ours.mode;
	if (ours.oid === base.oid || ours.oid === theirs.oid) return { mode, oid: theirs.oid };
	if (theirs.oid === base.oid) return { mode, oid: ours.oid };
	const oid = await mergeContents(git, [ours.oid, base.oid, theirs.oid], scratch);
	return oid === undefined ? "conflict" : { mode, oid };
}

/** Line by line. Nothing when the same lines were changed, or when there are no lines. */
async function mergeContents(git: Git, oids: readonly string[], scratch: string): Promise<string | undefined> {
	await mkdir(scratch, { recursive: true, mode: 0o700 });
	try {
		const files = oids.map((_, number) => join(scratch, String(number)));
		for (const [number, oid] of oids.entries()) await writeFile(files[number] as string, await git.run(["cat-file", "blob", oid]), "latin1");
		// The number of conflicts, 127 for many; 255 for what is not text.
		const codes = [...Array(128).keys(), 255];
		const { code, output } = await git.ask(["merge-file", "-p", "-q", ...files], { codes });
		return code === 0 ? await git.line(["hash-object", "-w", "--stdin"], { input: output }) : undefined;
	} finally {
		await rm(scratch, { recursive: true, force: true });
	}
}

/** Files of one side where the other side has a directory. */
function clashes(changes: readonly Change[], drift: readonly Change[]): RepositoryPath[] {
	const removed = new Set(changes.filter(({ to }) => !to).map(({ path }) => path));
	const written = new Set(changes.filter(({ to }) => to).map(({ path }) => path));
	const ours = new Set(drift.filter(({ path, to }) => to && !removed.has(path)).map(({ path }) => path));
	const below = [...written].filter((path) => [...above(path)].some((directory) => ours.has(directory)));
	const over = [...ours].filter((path) => [...above(path)].some((directory) => written.has(directory)));
	return [...below, ...over];
}

const isFile = ({ mode }: Entry) => mode.startsWith("100");

export const isSame = (one: Entry | undefined, other: Entry | undefined) => one?.mode === other?.mode && one?.oid === other?.oid;
