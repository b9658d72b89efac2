/**
 * The record of captured work, kept until the result of its merge was reported. After a kill, the next process reads it: no work is
 * forgotten, and no merge stays half done.
 */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
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
	/** Holds the work until it is merged. */
	branch?: { top: string; name: string; commit: string };
	/** The merges into the live tree that were begun; written before the first change. */
	merges?: MergeRecord[];
	/** All of them are complete. */
	isMerged?: true;
	/** A later process has undone what was begun, and reported where the work is. */
	isSettled?: true;
}

export class WorkFile {
	readonly #path: string;
	#record: WorkRecord;

	private constructor(path: string, record: WorkRecord) {
		this.#path = path;
		this.#record = record;
	}

	static create(path: string, record: WorkRecord): WorkFile {
		const file = new WorkFile(path, record);
		file.note({});
		return file;
	}

	/** Of a process that is gone; nothing when the file cannot be read. */
	static read(path: string): WorkFile | undefined {
		try {
			return new WorkFile(path, JSON.parse(readFileSync(path, "utf8")) as WorkRecord);
		} catch {
			return undefined;
		}
	}

	get record(): WorkRecord {
		return this.#record;
	}

	/** The file on disk contains all of the change or none of it. */
	note(change: Partial<WorkRecord>): void {
		this.#record = { ...this.#record, ...change };
		writeFileSync(`${this.#path}.new`, JSON.stringify(this.#record), { mode: 0o600 });
		renameSync(`${this.#path}.new`, this.#path);
	}

	/** Everything was reported. */
	remove(): void {
		rmSync(this.#path, { force: true });
	}
}

/** Undoes the merges of a killed process that are not complete. Returns what there is to report, once. */
export async function settleWork(options: GitOptions, file: WorkFile, signal?: AbortSignal): Promise<string | undefined> {
	const { id, patches, repositories = [], staging = [], branch, merges = [], isMerged, isSettled } = file.record;
	if (isSettled) return undefined;
	const isUndone = await aloneIn(
		repositories.filter(existsSync),
		async () => {
			let isWhole = true;
			if (!isMerged) for (const merge of merges.toReversed()) isWhole = (await undoMerge(new Git(options, merge.top), merge)) && isWhole;
			for (const directory of staging) await rm(directory, { recursive: true, force: true });
			if (isMerged && branch && existsSync(branch.top)) await deleteBranch(new Git(options, branch.top), branch);
			return isWhole;
		},
		signal,
	);
	file.note({ isSettled: true, merges: [] });
	if (isMerged) return undefined;
	const where = [...patches.filter(existsSync), ...(branch ? [`the branch ${branch.name}`] : [])].join(", ");
	const report = where === "" ? "" : `A crashed process did not merge the work of ${id}: it is in ${where}.`;
	const half = `The changes that it had begun to make in ${merges.map(({ top }) => top).join(", ")} could not be undone: see git status there.`;
	return isUndone ? report || undefined : `${report} ${half}`.trim();
}

export async function deleteBranch(git: Git, { name, commit }: { name: string; commit: string }): Promise<boolean> {
	try {
		await (await withoutHooks(git)).run(["update-ref", "-d", `refs/heads/${name}`, commit]);
		return true;
	} catch {
		// The work is merged, which is what counts.
		return false;
	}
}
