/** Repairs and removes what killed processes left: undoes their merges, saves the work in their copies, then removes the copies. */

import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { asSentence } from "../../lib/as-sentence.ts";
import { claim, holderOf, unclaim } from "../../lib/claim.ts";
import { Git, type GitOptions } from "../../snapshots/git.ts";
import { isAbandoned, isUnfinished } from "../../snapshots/owner.ts";
import { removeEmpty, removeTree } from "../../snapshots/remove.ts";
import { type CopyRecord, capture } from "./capture.ts";
import { removeCopy } from "./copies.ts";
import { settleWork, WorkFile } from "./work-record.ts";

export interface LeftOversInput extends GitOptions {
	/** `<user dir>/worktrees`. */
	root: string;
	now: () => number;
	/** Reports where rescued work is, and what could not be removed. */
	warn: (text: string) => void;
}

const longestRepairMs = 30_000;

/**
 * Undoes merges that killed processes left half done, so that no prompt works on such a tree. Costs one look into a directory when there
 * is nothing. Waits for another process that is at it, and never longer than a prompt may wait. Never throws.
 */
export async function repairInterruptedMerges(input: LeftOversInput, withinMs = longestRepairMs): Promise<void> {
	const signal = AbortSignal.timeout(withinMs);
	for (const { directory } of frozenDirectories(input.root)) {
		try {
			if (!isAbandoned(directory, input.now()) || unsettled(directory).length === 0) continue;
			await withClaim(directory, () => settleAll(input, directory, signal), signal);
		} catch (error) {
			const why = signal.aborted ? `it took longer than ${withinMs / 1000} seconds` : (error as Error).message;
			input.warn(`A merge that a crashed process had begun could not be undone: ${asSentence(why)} See git status, and ${directory}.`);
		}
	}
}

/** Clears away what killed processes left. To be called before the first isolation of a process. Never throws. */
export async function collectLeftOvers(input: LeftOversInput): Promise<void> {
	await repairInterruptedMerges(input);
	for (const { directory, project } of frozenDirectories(input.root)) {
		try {
			if (isAbandoned(directory, input.now())) await withClaim(directory, () => collect(input, directory));
		} catch (error) {
			input.warn(`What a crashed process left could not be cleared away: ${directory}: ${(error as Error).message}`);
		}
		removeEmpty(project);
	}
	for (const project of directoriesIn(input.root)) {
		for (const directory of directoriesIn(project)) {
			if (isUnfinished(directory) && isAbandoned(directory, input.now())) await removeTree(input.shell, directory);
			else if (!isFrozen(directory)) removeEmpty(directory);
		}
		removeEmpty(project);
	}
}

const isFrozen = (directory: string) => /\.frozen-[0-9a-f]+$/.test(directory);

function frozenDirectories(root: string): { directory: string; project: string }[] {
	return directoriesIn(root).flatMap((project) =>
		directoriesIn(project).flatMap((directory) => (isFrozen(directory) ? [{ directory, project }] : [])),
	);
}

const filesIn = (directory: string, kind: RegExp) =>
	readdirSync(directory)
		.filter((name) => kind.test(name))
		.sort()
		.map((name) => join(directory, name));

const workFiles = (directory: string) => filesIn(directory, /^work-\d+\.json$/).flatMap((path) => WorkFile.read(path) ?? []);

const unsettled = (directory: string) => workFiles(directory).filter(({ record }) => !record.isSettled);

/** While another process works on the same directory, this waits as long as the signal allows, and without a signal not at all. */
async function withClaim(directory: string, work: () => Promise<void>, signal?: AbortSignal): Promise<void> {
	const lock = join(directory, "collect.lock");
	const own = JSON.stringify({ ...holderOf(process.pid), token: randomBytes(8).toString("hex") });
	while (claim(lock, own)) {
		if (!signal) return;
		await sleep(50, undefined, { signal });
		// The other one has cleared it away.
		if (!existsSync(directory)) return;
	}
	try {
		await work();
	} finally {
		unclaim(lock, own);
	}
}

async function settleAll(input: LeftOversInput, directory: string, signal?: AbortSignal): Promise<void> {
	for (const file of unsettled(directory)) {
		const report = await settleWork(input, file, signal);
		if (report) input.warn(report);
	}
}

async function collect(input: LeftOversInput, directory: string): Promise<void> {
	// A merge that could not be undone is left for the next process.
	if (unsettled(directory).length > 0) return;
	const captured = new Set(workFiles(directory).map(({ record }) => record.id));
	for (const file of filesIn(directory, /^copy-\d+\.json$/)) await rescue(input, directory, file, captured);
	await removeTree(input.shell, directory);
}

async function rescue(input: LeftOversInput, directory: string, file: string, captured: ReadonlySet<string>): Promise<void> {
	const record = readJson<CopyRecord>(file);
	// The record is written before the copy is made, so without it there is no copy.
	if (!record) return;
	// A copy whose work was captured may be partly removed.
	if (existsSync(record.path) && !captured.has(record.id)) {
		const saved = join(input.root, "rescued");
		// Names of copies are used again; nothing that was rescued before may be overwritten.
		const name = `${basename(record.path)}-${directory.split("-").at(-1)}`;
		if (!record.parts.every(({ commonDir }) => existsSync(commonDir))) return keepFiles(input, record, join(saved, name), file);
		const { delta } = await capture(new Git(input, directory), record, (suffix) => join(saved, `${name}.${suffix}`));
		const paths = [delta.patchPath, ...delta.nested.map(({ patchPath }) => patchPath)].filter((path) => path !== undefined);
		if (paths.length > 0) input.warn(`A crashed process left the work of ${record.id}: it is in ${paths.join(", ")}.`);
	}
	await removeCopy(input.shell, record, file);
}

/** The repository is gone, so that nothing can be compared: the copy itself is what was saved. */
async function keepFiles({ warn }: LeftOversInput, { id, path }: CopyRecord, saved: string, file: string): Promise<void> {
	await mkdir(dirname(saved), { recursive: true, mode: 0o700 });
	await rename(path, saved);
	// It leads nowhere.
	await rm(join(saved, ".git"), { recursive: true, force: true });
	await rm(file, { force: true });
	warn(`A crashed process left the work of ${id}, and its repository is gone: the files are in ${saved}.`);
}

function readJson<T>(path: string): T | undefined {
	try {
		return JSON.parse(readFileSync(path, "utf8")) as T;
	} catch {
		return undefined;
	}
}

function directoriesIn(directory: string): string[] {
	if (!existsSync(directory)) return [];
	return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [join(directory, entry.name)] : []));
}
