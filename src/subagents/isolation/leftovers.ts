/** Clears away what crashed processes left: their copies, after the work in them was saved, and their states. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { claim, holderOf, unclaim } from "../../lib/claim.ts";
import { Git, type GitOptions } from "../../snapshots/git.ts";
import { isAbandoned } from "../../snapshots/owner.ts";
import { removeEmpty, removeTree } from "../../snapshots/remove.ts";
import { type CopyRecord, capture } from "./capture.ts";
import { removeCopy } from "./copies.ts";
import { settleWork, type WorkRecord } from "./work-record.ts";

export interface LeftOversInput extends GitOptions {
	/** `<user dir>/worktrees`. */
	root: string;
	now: () => number;
	/** Where rescued work is, or what could not be cleared away. */
	warn: (text: string) => void;
}

/** To be called before the first isolation of a process. Never throws. */
export async function collectLeftOvers(input: LeftOversInput): Promise<void> {
	for (const project of directoriesIn(input.root)) {
		for (const directory of directoriesIn(project)) {
			try {
				if (!/\.frozen-[0-9a-f]+$/.test(directory)) removeEmpty(directory);
				else if (isAbandoned(directory, input.now())) await collect(input, directory);
			} catch (error) {
				input.warn(`What a crashed process left could not be cleared away: ${directory}: ${(error as Error).message}`);
			}
		}
		removeEmpty(project);
	}
}

async function collect(input: LeftOversInput, directory: string): Promise<void> {
	const lock = join(directory, "collect.lock");
	const own = JSON.stringify(holderOf(process.pid));
	// Another process is at it.
	if (claim(lock, own)) return;
	try {
		const files = (kind: RegExp) =>
			readdirSync(directory)
				.sort()
				.flatMap((name) => (kind.test(name) ? [join(directory, name)] : []));
		const captured = new Set<string>();
		for (const file of files(/^work-\d+\.json$/)) {
			const work = readJson<WorkRecord>(file);
			if (!work) continue;
			const told = await settleWork(input, work);
			if (told) input.warn(told);
			captured.add(work.id);
		}
		for (const file of files(/^copy-\d+\.json$/)) await rescue(input, directory, file, captured);
		await removeTree(input.shell, directory);
	} finally {
		unclaim(lock, own);
	}
}

async function rescue(input: LeftOversInput, directory: string, file: string, captured: ReadonlySet<string>): Promise<void> {
	const record = readJson<CopyRecord>(file);
	// Written before anything else: without it there is no copy.
	if (!record) return;
	// What was captured already may have been half removed since.
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
