/** Brings the work on one part into the user's tree: planned first, then made in one go, and undone when a later part fails. */
import { constants, copyFileSync, existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { mergeTrees } from "../../snapshots/compare.ts";
import type { Git } from "../../snapshots/git.ts";
import { below, type RepositoryPath } from "../../snapshots/paths.ts";
import { withoutHooks } from "../../snapshots/programs.ts";
import { prepareChanges, undoChanges } from "../../snapshots/put-back.ts";
import { type Change, copyIndex, Shadow } from "../../snapshots/shadow.ts";
import { type Part, takeTree } from "../../snapshots/take.ts";
import { type Conflict, commitOnto, indexAfter, publish, type Step } from "./commit.ts";

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

/** Something that can be done now. */
export interface PlannedMerge {
	record: MergeRecord;
	/** After a failure everything is as before. */
	apply(): Promise<void>;
	/** Removes what was put ready. */
	discard(): Promise<void>;
}

/** What is done, in full: enough to undo it, also for another process. */
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
	const commit = { ...step, index: join(repository.gitDir, "index"), before: copy, after: next };
	return {
		record: { ...files.record, commit },
		discard: files.discard,
		async apply() {
			await publish(part, [step.new, staged.tree], [step.old], scratch);
			await replaceIndex(commit.index, copy, next, work.staging, async () => {
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

/** As git does it: under `index.lock`, so that no git of the user writes in between, and only if nobody has written since. */
async function replaceIndex(index: string, expected: string, next: string, staging: string, work: () => Promise<void>): Promise<void> {
	const lock = `${index}.lock`;
	// A link: the lock is there with all it holds, or not at all. Who is killed with it is recognized by that.
	const ready = join(staging, "next-index");
	mkdirSync(staging, { recursive: true, mode: 0o700 });
	await copyFile(next, ready);
	try {
		place(ready, lock);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
		throw new Error(`Another git process is at work in the repository. If there is none, remove ${lock}.`);
	} finally {
		rmSync(ready, { force: true });
	}
	try {
		if (existsSync(index) && !isSameFile(index, expected)) throw new Error("The index was changed in the meantime.");
		await work();
		renameSync(lock, index);
	} catch (error) {
		rmSync(lock, { force: true });
		throw error;
	}
}

function place(file: string, at: string): void {
	try {
		linkSync(file, at);
	} catch (error) {
		// Not every file system has links.
		if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
		copyFileSync(file, at, constants.COPYFILE_EXCL);
	}
}

const isSameFile = (one: string, other: string) => existsSync(one) && existsSync(other) && readFileSync(one).equals(readFileSync(other));

/** Undoes a merge, however far it came. False when somebody has been at work there since, so that it is better left alone. */
export async function undoMerge(git: Git, record: MergeRecord): Promise<boolean> {
	const { top, staging, keep, changes, commit } = record;
	if (!existsSync(top)) return true;
	const head = await headOf(git);
	const isKnown = head === record.head || (commit && head === commit.new);
	const back = async () => {
		await undoChanges({ shadow: new Shadow(git, record.shadow), top, staging, keep }, changes);
		if (commit && head === commit.new) await moveHead(git, commit.new, commit.old);
	};
	if (!commit) {
		if (isKnown) await back();
		return isKnown === true;
	}
	const { index, before, after } = commit;
	const lock = `${index}.lock`;
	if (isSameFile(lock, after)) {
		if (isKnown) await back();
		rmSync(lock);
		return isKnown === true;
	}
	// Without our lock it had not begun, or all of it was done.
	if (head !== commit.new || !isSameFile(index, after)) return head === commit.old;
	await replaceIndex(index, after, before, staging, back);
	return true;
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
