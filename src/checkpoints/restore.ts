/**
 * Puts the files of a state back: all of them or none, whenever the process is killed. What it is about to do is written down first; a
 * later process undoes what a killed one began, unless the session file says that it was completed.
 */

import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { CommandError } from "../protocol/command-error.ts";
import { isAbandoned, isUnfinished, makeOwned } from "../snapshots/owner.ts";
import { type RepositoryPath, toText } from "../snapshots/paths.ts";
import { type ChangeInput, type PreparedChanges, prepareChanges, undoChanges } from "../snapshots/put-back.ts";
import type { Change } from "../snapshots/shadow.ts";
import type { HistoryPlan, RestoreRequest } from "./commit-history.ts";
import { applyCommits, type CommitSteps, undoCommits } from "./commit-steps.ts";
import type { ReturningFile } from "./ignored.ts";
import type { State, TreeStore } from "./tree-store.ts";

interface Journal {
	sessionFile: string | undefined;
	changes: Change[];
	ignored: ReturningFile[];
	commits: CommitSteps[];
}

export interface Restore {
	/** Names the rewind in the session file. */
	id: string;
	/** Files that are put back, removed or created, for people. */
	paths: string[];
	/** Of what is ignored: names that are gone and do not come back. */
	lost: string[];
	/** What comes back of repositories. */
	history: HistoryPlan | undefined;
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
	/** The name of what was ignored, and the pairs between which only others worked. */
	ignored?: { target: string; others: readonly (readonly [string | undefined, string | undefined])[] };
	/** What commits, branches and the like were, and are. Without it they stay as they are. */
	history?: Omit<RestoreRequest, "id" | "staging" | "found">;
	sessionFile: string | undefined;
}

/** Gets everything ready. Throws a CommandError when a file changes meanwhile. */
export async function prepareRestore({ store, current, target, except, ignored, history, sessionFile }: RestoreInput): Promise<Restore> {
	const id = randomBytes(8).toString("hex");
	const directory = join(rewindsOf(store), id);
	const changes = (await store.fileChanges(current, target)).filter(({ path }) => !except.has(path));
	const { back, lost } = ignored ? store.ignored.missing(ignored.target, ignored.others) : { back: [], lost: [] };
	makeOwned(directory);
	const finish = () => rm(directory, { recursive: true, force: true });
	const input = inputOf(store, directory);
	const git = (top: string) => store.commits.git(top);
	let plan: HistoryPlan | undefined;
	let prepared: PreparedChanges;
	try {
		const ready = await prepareChanges(input, changes);
		if ("conflicts" in ready) {
			const names = ready.conflicts.slice(0, 5).map(toText).join(", ");
			throw new CommandError("conflict", `Files change at this moment: ${names}. Nothing was rewound; try again.`);
		}
		prepared = ready;
		plan = history && (await store.commits.plan({ ...history, found: await store.repositoriesIn(current), id, staging: directory }));
		writeJournal(directory, { sessionFile, changes, ignored: back, commits: plan?.steps ?? [] });
	} catch (error) {
		await finish();
		throw error;
	}
	const undo = async () => {
		store.ignored.undo(back);
		await undoChanges(input, changes);
		for (const steps of plan?.steps.toReversed() ?? []) await undoCommits(git, steps);
	};
	return {
		id,
		paths: [...changes, ...back].map(({ path }) => toText(path)).sort(),
		lost: lost.map(toText),
		history: plan,
		async apply() {
			try {
				// A folder goes with its last file, so a repository in it goes first.
				for (const steps of plan?.steps ?? []) await applyCommits(git, steps);
				await prepared.apply();
				store.ignored.putBack(back);
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
			store.ignored.undo(journal.ignored);
			await undoChanges(inputOf(store, directory), journal.changes);
			for (const steps of journal.commits.toReversed()) await undoCommits((top) => store.commits.git(top), steps);
		}
		await rm(directory, { recursive: true, force: true });
	}
}

const rewindsOf = (store: TreeStore) => join(store.directory, "rewinds");

function inputOf(store: TreeStore, directory: string): ChangeInput {
	return { shadow: store.shadow, top: store.top, staging: join(directory, "0"), keep: "", movesAside: true };
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
