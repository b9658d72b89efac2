/**
 * Puts the files of a state back: all of them or none, whenever the process is killed. What it is about to do is written down first; a
 * later process undoes what a killed one began, unless the session file says that it was completed.
 */

import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { CommandError } from "../lib/command-error.ts";
import { isAbandoned, isUnfinished, makeOwned } from "../snapshots/owner.ts";
import { below, onDisk, type RepositoryPath, toText } from "../snapshots/paths.ts";
import { type ChangeInput, type PreparedChanges, prepareChanges, undoChanges } from "../snapshots/put-back.ts";
import type { Change } from "../snapshots/shadow.ts";
import type { State, TreeStore } from "./tree-store.ts";

interface Journal {
	sessionFile: string | undefined;
	parts: { at: RepositoryPath; changes: Change[] }[];
}

export interface Restore {
	/** Names the rewind in the session file. */
	id: string;
	/** Files that are put back, removed or created, for people. */
	paths: string[];
	/** Changes the files. After a failure all are as before. */
	apply(): Promise<void>;
	/** Undoes it. */
	undo(): Promise<void>;
	/** It is completed, or will not happen. */
	finish(): Promise<void>;
}

export interface RestoreInput {
	store: TreeStore;
	/** The state of the files now. */
	current: State;
	target: State;
	/** Files that stay as they are. */
	except: ReadonlySet<RepositoryPath>;
	sessionFile: string | undefined;
}

/** Gets everything ready. Throws a CommandError when a file changes meanwhile. */
export async function prepareRestore({ store, current, target, except, sessionFile }: RestoreInput): Promise<Restore> {
	const id = randomBytes(8).toString("hex");
	const directory = join(rewindsOf(store), id);
	const found = await store.changes(current, target);
	const parts = found
		.map(({ at, changes }) => ({ at, changes: changes.filter(({ path }) => !except.has(below(at, path))) }))
		.filter(({ changes }) => changes.length > 0);
	makeOwned(directory);
	const finish = () => rm(directory, { recursive: true, force: true });
	const inputs = parts.map((part, number) => ({ ...part, input: inputOf(store, part.at, directory, number) }));
	const prepared: PreparedChanges[] = [];
	try {
		for (const { input, changes } of inputs) {
			const ready = await prepareChanges(input, changes);
			if ("conflicts" in ready) {
				const names = ready.conflicts.slice(0, 5).map(toText).join(", ");
				throw new CommandError(`Files change at this moment: ${names}. Nothing was rewound; try again.`);
			}
			prepared.push(ready);
		}
		writeJournal(directory, { sessionFile, parts });
	} catch (error) {
		await finish();
		throw error;
	}
	const undo = async () => {
		for (const { input, changes } of inputs) await undoChanges(input, changes);
	};
	return {
		id,
		paths: parts.flatMap(({ at, changes }) => changes.map(({ path }) => toText(below(at, path)))).sort(),
		async apply() {
			try {
				for (const each of prepared) await each.apply();
			} catch (error) {
				await undo();
				await finish();
				throw error;
			}
		},
		undo,
		finish,
	};
}

/** Undoes rewinds that killed processes left half done. */
export async function repairRewinds(store: TreeStore, now: number): Promise<void> {
	const root = rewindsOf(store);
	if (!existsSync(root)) return;
	for (const name of readdirSync(root)) {
		const directory = join(root, name);
		if (!isAbandoned(directory, now)) continue;
		const journal = isUnfinished(directory) ? undefined : readJournal(directory);
		if (journal && !isCompleted(journal, name)) {
			for (const [number, { at, changes }] of journal.parts.entries()) await undoChanges(inputOf(store, at, directory, number), changes);
		}
		await rm(directory, { recursive: true, force: true });
	}
}

const rewindsOf = (store: TreeStore) => join(store.directory, "rewinds");

function inputOf(store: TreeStore, at: RepositoryPath, directory: string, number: number): ChangeInput {
	return { shadow: store.shadow, top: onDisk(store.top, at).toString(), staging: join(directory, String(number)), keep: "" };
}

function writeJournal(directory: string, journal: Journal): void {
	const file = join(directory, "journal.json");
	writeFileSync(`${file}.partial`, JSON.stringify(journal), { mode: 0o600 });
	renameSync(`${file}.partial`, file);
}

function readJournal(directory: string): Journal | undefined {
	try {
		return JSON.parse(readFileSync(join(directory, "journal.json"), "utf8")) as Journal;
	} catch {
		// It was killed before it touched a file.
		return undefined;
	}
}

/** The session file's own line is the moment at which a rewind has happened. */
function isCompleted({ sessionFile }: Journal, id: string): boolean {
	try {
		return sessionFile !== undefined && readFileSync(sessionFile, "utf8").includes(`"rewind":"${id}"`);
	} catch {
		return false;
	}
}
