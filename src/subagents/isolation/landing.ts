/** Brings the work on one part into the user's tree: planned first, then made in one go, and undone when a later part fails. */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type Conflict, commitOnto, indexAfter, publish, type Step } from "./commit.ts";
import { prepare } from "./live-tree.ts";
import { type Part, takeTree } from "./part.ts";
import { below } from "./paths.ts";
import { type Change, copyIndex } from "./shadow.ts";
import { mergeTrees } from "./trees.ts";

export interface Work {
	part: Part;
	/** Trees of the shadow. */
	before: string;
	after: string;
	message: string;
	/** For our own files. */
	scratch: string;
	/** For files on their way into the tree: in the git directory, which is usually on the same disk. */
	staging: string;
}

/** Something that can be done now. */
export interface Landing {
	/** The new commit, when there is one. */
	commit?: string;
	land(): Promise<void>;
	undo(): Promise<void>;
	/** Removes what was put ready. */
	discard(): Promise<void>;
}

/** Only files: the index and HEAD stay as they are. */
export async function planFiles({ part, before, after, scratch, staging }: Work): Promise<Landing | Conflict> {
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
	const prepared = await prepare({ shadow, top: repository.top, staging, keep: repository.prefix }, onDisk);
	if ("conflicts" in prepared) return { conflicts: prepared.conflicts.map((path) => below(at, path)) };
	return { land: prepared.commit, undo: prepared.undo, discard: prepared.discard };
}

/** Files, and a commit on HEAD. */
export async function planCommit(work: Work, made: Step, current: string): Promise<Landing | Conflict> {
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
	const index = join(repository.gitDir, "index");
	const moveHead = (from: string, to: string) => repository.git.run(["update-ref", "-m", "bowline: task", "HEAD", to, from]);
	return {
		commit: step.new,
		discard: files.discard,
		async land() {
			await publish(part, [step.new, staged.tree], [step.old], scratch);
			await replaceIndex(index, copy, next, async () => {
				await moveHead(step.old, step.new);
				try {
					await files.land();
				} catch (error) {
					await moveHead(step.new, step.old);
					throw error;
				}
			});
		},
		undo: () =>
			replaceIndex(index, next, copy, async () => {
				await files.undo();
				await moveHead(step.new, step.old);
			}),
	};
}

/** As git does it: under `index.lock`, so that no git of the user writes in between, and only if nobody has written since. */
async function replaceIndex(index: string, expected: string, next: string, work: () => Promise<void>): Promise<void> {
	const lock = `${index}.lock`;
	try {
		writeFileSync(lock, readFileSync(next), { flag: "wx" });
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
		throw new Error(`Another git process is at work in the repository. If there is none, remove ${lock}.`);
	}
	try {
		if (existsSync(index) && !readFileSync(index).equals(readFileSync(expected))) throw new Error("The index was changed in the meantime.");
		await work();
		renameSync(lock, index);
	} catch (error) {
		rmSync(lock, { force: true });
		throw error;
	}
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
