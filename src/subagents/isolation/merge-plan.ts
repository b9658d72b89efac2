/** Merges the work on one repository into the user's tree: planned first, then applied, and undone when a later repository fails. */
import { existsSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { mergeTrees } from "../../snapshots/compare.ts";
import type { Git } from "../../snapshots/git.ts";
import { below, type RepositoryPath } from "../../snapshots/paths.ts";
import { withoutHooks } from "../../snapshots/programs.ts";
import { appliedChanges, prepareChanges, undoChanges } from "../../snapshots/put-back.ts";
import { type Change, copyIndex, Shadow } from "../../snapshots/shadow.ts";
import { type Part, takeTree } from "../../snapshots/take.ts";
import { type Conflict, commitOnto, indexAfter, publish, type Step } from "./commit.ts";
import { heldLock, isOwnLock, lockIndex, unlockIndex } from "./index-lock.ts";

export interface Work {
	part: Part;
	/** Trees of the shadow. */
	before: string;
	after: string;
	message: string;
	/** Whether the filters that the configuration names may run. */
	runsFilters: boolean;
	/** For our own files. */
	scratch: string;
	/** For files on their way into the tree: in the git directory, which is usually on the same disk. */
	staging: string;
}

/** A merge without conflicts that can be applied now. */
export interface PlannedMerge {
	record: MergeRecord;
	/** After a failure everything is as before. */
	apply(): Promise<void>;
	/** Removes the extracted files. */
	discard(): Promise<void>;
}

/** All that another process needs to undo the merge. */
export interface MergeRecord {
	top: string;
	/** The git directory of the shadow. */
	shadow: string;
	staging: string;
	keep: RepositoryPath;
	changes: Change[];
	/** HEAD before; none in a repository without commits. */
	head?: string;
	commit?: CommitRecord;
}

/** The step of HEAD, and copies of the user's index before and after it. */
interface CommitRecord extends Step {
	/** Milliseconds since 1970. */
	startedAt: number;
	index: string;
	before: string;
	after: string;
}

/** Only files: the index and HEAD stay as they are. */
export async function planFiles({ part, before, after, scratch, staging }: Work): Promise<PlannedMerge | Conflict> {
	const { shadow, repository, at } = part;
	await mkdir(scratch, { recursive: true, mode: 0o700 });
	const index = join(scratch, "live");
	await copyIndex(part.index, index);
	const { tree, absent } = await takeTree(part, { top: repository.top, index });
	const { changes, conflicts } = await mergeTrees(shadow.git(), { base: before, ours: tree, theirs: after }, join(scratch, "lines"));
	if (conflicts.length > 0) return { conflicts: conflicts.map((path) => below(at, path)) };
	const onDisk = changes.flatMap(({ from, ...change }): Change[] =>
		absent.has(change.path) ? (change.to ? [change] : []) : [{ ...change, ...(from ? { from } : {}) }],
	);
	const head = await headOf(repository.git);
	const place = { top: repository.top, staging, keep: repository.prefix, ...(head === undefined ? {} : { head }) };
	const prepared = await prepareChanges({ shadow, ...place }, onDisk);
	if ("conflicts" in prepared) return { conflicts: prepared.conflicts.map((path) => below(at, path)) };
	return { record: { ...place, shadow: shadow.directory, changes: onDisk }, apply: prepared.apply, discard: prepared.discard };
}

/** Files, and a commit on HEAD. */
export async function planCommit(work: Work, made: Step, current: string): Promise<PlannedMerge | Conflict> {
	const { part, scratch } = work;
	const { repository, at } = part;
	const step = await commitOnto(part, current, made, work);
	if ("conflicts" in step) return { conflicts: step.conflicts.map((path) => below(at, path)) };
	const copy = join(scratch, "index-before");
	const next = join(scratch, "index-after");
	const staged = await indexAfter(part, step, { copy, next, scratch });
	if ("conflicts" in staged) return { conflicts: staged.conflicts.map((path) => below(at, path)) };
	const files = await planFiles(work);
	if ("conflicts" in files) return files;
	const commit = { ...step, index: join(repository.gitDir, "index"), before: copy, after: next, startedAt: Date.now() };
	return {
		record: { ...files.record, commit },
		discard: files.discard,
		async apply() {
			await publish(part, [step.new, staged.tree], [step.old], scratch);
			await replaceIndex(commit, work.staging, async () => {
				await moveHead(repository.git, step.old, step.new);
				try {
					await files.apply();
				} catch (error) {
					await moveHead(repository.git, step.new, step.old);
					throw error;
				}
			});
		},
	};
}

async function moveHead(git: Git, from: string, to: string): Promise<void> {
	await (await withoutHooks(git)).run(["update-ref", "-m", "bowline: task", "HEAD", to, from]);
}

/** As git does it: under `index.lock`, and only if no other git has written since. */
async function replaceIndex({ index, before, after }: CommitRecord, staging: string, work: () => Promise<void>): Promise<void> {
	lockIndex(index, after, staging);
	try {
		if (existsSync(index) && !isSameFile(index, before)) throw new Error("The index was changed in the meantime.");
		await work();
		renameSync(heldLock(index), index);
	} finally {
		unlockIndex(index, staging);
	}
}

const isSameFile = (one: string, other: string) => existsSync(one) && existsSync(other) && readFileSync(one).equals(readFileSync(other));

/**
 * Undoes a merge, however far it came; also one whose undoing was cut short. False when the user has worked there since, so that nothing
 * is touched. Throws when another git is at work there.
 */
export async function undoMerge(git: Git, record: MergeRecord): Promise<boolean> {
	const { top, staging, keep, changes, commit } = record;
	if (!existsSync(top)) return true;
	const files = { shadow: new Shadow(git, record.shadow), top, staging, keep };
	if (!commit) {
		if ((await headOf(git)) !== record.head) return (await appliedChanges(files, changes)).length === 0;
		await undoChanges(files, changes);
		return true;
	}
	const { index, before, after } = commit;
	if (!isOwnLock(index, staging)) lockIndex(index, before, staging);
	try {
		await removeOwnRefLocks(git, commit);
		const head = await headOf(git);
		const isIndexKnown = !existsSync(index) || isSameFile(index, before) || isSameFile(index, after);
		if (!isIndexKnown || (head !== commit.old && head !== commit.new))
			return head !== commit.new && (await appliedChanges(files, changes)).length === 0;
		await undoChanges(files, changes);
		if (head === commit.new) await moveHead(git, commit.new, commit.old);
		if (!isSameFile(index, before)) {
			const restored = join(staging, "index-before");
			await copyIndex(before, restored);
			renameSync(restored, index);
		}
		return true;
	} finally {
		unlockIndex(index, staging);
	}
}

/** A lock that is not ours is gone, or a different one, after this long. */
const refLockMs = 1000;

/** Git that was killed while it moved HEAD leaves locks, empty or with the new commit, and the user's git can no longer commit. */
async function removeOwnRefLocks(git: Git, { old, new: next, startedAt }: CommitRecord): Promise<void> {
	const { code, output: branch } = await git.ask(["symbolic-ref", "-q", "HEAD"], { codes: [0, 1] });
	for (const ref of ["HEAD", ...(code === 0 ? [branch.trim()] : [])]) {
		const path = resolve(git.cwd, Buffer.from(await git.line(["rev-parse", "--git-path", `${ref}.lock`]), "latin1").toString());
		const found = statSync(path, { throwIfNoEntry: false });
		// Clocks of file systems are coarse.
		if (!found || found.mtimeMs < startedAt - 2000 || !["", `${next}\n`, `${old}\n`].includes(readFileSync(path, "utf8"))) continue;
		await sleep(refLockMs);
		const later = statSync(path, { throwIfNoEntry: false });
		if (later?.ino === found.ino && later.mtimeMs === found.mtimeMs) rmSync(path, { force: true });
	}
}

export async function headOf(git: Git): Promise<string | undefined> {
	const { code, output } = await git.ask(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], { codes: [0, 1, 128] });
	return code === 0 ? output.trim() : undefined;
}

/** Git is in the middle of something that a commit would disturb. */
export function inProgress(gitDir: string): string | undefined {
	const signs = {
		"rebase-merge": "rebase",
		"rebase-apply": "rebase",
		MERGE_HEAD: "merge",
		CHERRY_PICK_HEAD: "cherry-pick",
		REVERT_HEAD: "revert",
		BISECT_LOG: "bisect",
	};
	return Object.entries(signs).find(([name]) => existsSync(join(gitDir, name)))?.[1];
}
