/** A repository as it was when a call began: makes copies for its tasks, and merges their work. */

import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { asSentence } from "../../lib/as-sentence.ts";
import type { GitOptions } from "../../snapshots/git.ts";
import { asFileName, firstFree, onDisk } from "../../snapshots/paths.ts";
import { removeEmpty, removeTree } from "../../snapshots/remove.ts";
import { isDiskFull } from "../../snapshots/repository.ts";
import type { Part } from "../../snapshots/take.ts";
import type { CapturedWork, Delta, Frozen, Merged, Workspace } from "../contracts.ts";
import { type Captured, type CopyRecord, capture } from "./capture.ts";
import { claimDirectory, makeCopy, planCopy, removeCopy } from "./copies.ts";
import { type KeptWork, mergeTask } from "./merge.ts";
import { WorkFile } from "./work-record.ts";

export interface FrozenInput extends GitOptions {
	parts: readonly Part[];
	/** The directory with copies of this repository. */
	project: string;
	session: string;
	/** What belongs to the frozen state: shadows, indexes, records of copies. */
	directory: string;
	artifact: (id: string, suffix: string) => string;
	isTrusted: boolean;
}

interface Copy {
	record: CopyRecord;
	file: string;
	/** What it contained at the last check; nothing before the first check, and after a check that failed. */
	captured?: Captured;
}

export class FrozenRepository implements Frozen {
	readonly #input: FrozenInput;
	readonly #copies = new Set<Copy>();
	/** The last state of each task's work, also when its copy is gone. */
	readonly #work = new Map<string, KeptWork>();
	#count = 0;

	constructor(input: FrozenInput) {
		this.#input = input;
	}

	async checkOut(id: string, signal: AbortSignal): Promise<Workspace> {
		const { parts, project, session, directory, shell } = this.#input;
		signal.throwIfAborted();
		const [main] = parts as [Part];
		const file = join(directory, `copy-${this.#count++}.json`);
		const path = await firstFree(join(project, asFileName(`${session}-${id}`)), claimDirectory);
		const record = planCopy(parts, { id, path, file });
		try {
			await makeCopy(parts, record, file, signal);
			const cwd = onDisk(path, main.repository.prefix).toString();
			await mkdir(cwd, { recursive: true });
			const copy: Copy = { record, file };
			this.#copies.add(copy);
			const tops = { copy: path, original: main.repository.top };
			return { cwd, tops, capture: () => this.#capture(copy), remove: () => this.#remove(copy) };
		} catch (error) {
			await removeCopy(shell, record, file);
			signal.throwIfAborted();
			if (isDiskFull(error))
				throw new Error(`The disk is full: no copy of the repository could be made at ${path}. Make room first.`, { cause: error });
			throw error;
		}
	}

	async merge(work: readonly CapturedWork[], mode: "patch" | "branch"): Promise<Merged[]> {
		const merged: Merged[] = [];
		for (const each of work) merged.push(await mergeTask(this.#input, each, this.#work.get(each.id), mode));
		return merged;
	}

	async release(): Promise<void> {
		const { directory, project, shell } = this.#input;
		for (const { file } of this.#work.values()) file.remove();
		for (const copy of [...this.#copies]) {
			if (copy.captured || !existsSync(copy.record.path)) await this.#remove(copy);
		}
		if (this.#copies.size > 0) return;
		await removeTree(shell, directory);
		removeEmpty(project);
	}

	async #capture(copy: Copy): Promise<Delta> {
		const { parts, artifact, directory } = this.#input;
		const { id, path } = copy.record;
		delete copy.captured;
		try {
			copy.captured = await capture((parts[0] as Part).repository.git, copy.record, (suffix) => artifact(id, suffix));
		} catch (error) {
			const why = isDiskFull(error) ? "the disk is full" : (error as Error).message;
			throw new Error(`No patch could be made of ${path}: ${asSentence(why)}`, { cause: error });
		}
		const { delta, paths } = copy.captured;
		const patches = [delta.patchPath, ...delta.nested.map(({ patchPath }) => patchPath)].filter((patch) => patch !== undefined);
		const known = this.#work.get(id)?.file;
		known?.note({ patches });
		const file = known ?? WorkFile.create(join(directory, `work-${this.#work.size}.json`), { id, patches });
		this.#work.set(id, { captured: copy.captured, file });
		const { top } = (parts[0] as Part).repository;
		return { ...delta, paths: paths.map((each) => onDisk(top, each).toString()) };
	}

	async #remove(copy: Copy): Promise<void> {
		await removeCopy(this.#input.shell, copy.record, copy.file);
		this.#copies.delete(copy);
	}
}
