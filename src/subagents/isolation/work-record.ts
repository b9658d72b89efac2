/**
 * What is written down about captured work until its fate is told. A process that is killed in between is followed by one that reads it:
 * nothing is forgotten, nothing stays half done.
 */
import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { Git, type GitOptions } from "../../snapshots/git.ts";
import { withoutHooks } from "../../snapshots/programs.ts";
import { aloneIn } from "../../snapshots/repository-lock.ts";
import { type MergeRecord, undoMerge } from "./merge-plan.ts";

export interface WorkRecord {
	id: string;
	patches: string[];
	/** Common directories of the repositories that it is merged into. */
	repositories?: string[];
	/** Directories for files on their way. */
	staging?: string[];
	/** Holds the work until it has arrived. */
	branch?: { top: string; name: string; commit: string };
	/** What is being done to the live tree, from before the first change on. */
	merges?: MergeRecord[];
	/** All of it is done. */
	isMerged?: true;
}

export class WorkFile {
	readonly #path: string;
	#record: WorkRecord;

	constructor(path: string, record: WorkRecord) {
		this.#path = path;
		this.#record = record;
		this.note({});
	}

	/** Complete or as before. */
	note(change: Partial<WorkRecord>): void {
		this.#record = { ...this.#record, ...change };
		writeFileSync(`${this.#path}.new`, JSON.stringify(this.#record), { mode: 0o600 });
		renameSync(`${this.#path}.new`, this.#path);
	}

	/** Everything was told. */
	remove(): void {
		rmSync(this.#path, { force: true });
	}
}

/** Ends what a killed process was about: work that had not arrived as a whole is taken out of the tree. Gives what there is to tell. */
export async function settleWork(options: GitOptions, record: WorkRecord): Promise<string | undefined> {
	const { id, repositories = [], staging = [], branch, merges = [], isMerged } = record;
	const isUndone = await aloneIn(repositories.filter(existsSync), async () => {
		let isWhole = true;
		if (!isMerged) for (const merge of merges.toReversed()) isWhole = (await undoMerge(new Git(options, merge.top), merge)) && isWhole;
		for (const directory of staging) await rm(directory, { recursive: true, force: true });
		if (isMerged && branch && existsSync(branch.top)) await deleteBranch(new Git(options, branch.top), branch);
		return isWhole;
	});
	if (isMerged) return undefined;
	const places = record.patches.filter(existsSync);
	const where = [...places, ...(branch ? [`the branch ${branch.name}`] : [])].join(", ");
	const told = where === "" ? "" : `A crashed process did not merge the work of ${id}: it is in ${where}.`;
	const half = `What it had begun to change in ${merges.map(({ top }) => top).join(", ")} could not be taken back: see git status there.`;
	return isUndone ? told || undefined : `${told} ${half}`.trim();
}

export async function deleteBranch(git: Git, { name, commit }: { name: string; commit: string }): Promise<boolean> {
	try {
		await (await withoutHooks(git)).run(["update-ref", "-d", `refs/heads/${name}`, commit]);
		return true;
	} catch {
		// The work has arrived; that is what counts.
		return false;
	}
}
