/** The history of all repositories of a working tree: kept with each state of the files, and brought back with them. */
import { createHash } from "node:crypto";
import { existsSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type Git, GitError } from "../snapshots/git.ts";
import { fromText, onDisk, type RepositoryPath, toText } from "../snapshots/paths.ts";
import { type RefMove, wantedSince } from "./commit-plan.ts";
import type { CommitRecord } from "./commit-record.ts";
import { type CommitPlan, lostCommits, planCommits, planWhole, wholeName } from "./commit-restore.ts";
import { type CommitSteps, isStraight, noSteps } from "./commit-steps.ts";
import { CannotKeep, CommitStore } from "./commit-store.ts";
import { gitPlaceAt, linkIn } from "./git-place.ts";

/** By where a repository is in the working tree; empty for that of the tree itself. A directory without one is in neither. */
export interface History {
	/** The record that a repository had. */
	kept: Readonly<Record<RepositoryPath, string>>;
	/** Why there is none. */
	lost?: Readonly<Record<RepositoryPath, string>>;
}

/** A checkpoint must not make an agent slow. */
const patienceMs = 7_000;

export interface CommitHistoryInput {
	/** `<store>/commits`. */
	directory: string;
	/** The working tree. */
	top: string;
	git: Git;
	/** The most bytes of objects of one repository. */
	mostBytes: number;
}

export interface RestoreRequest {
	/** What is gone back to, and when it was noted. */
	target: { history: History; time: number };
	current: History;
	/** The pairs between which only others worked. */
	others: readonly (readonly [History | undefined, History | undefined])[];
	/** What the rewind that this one takes back has moved. */
	undo?: RewoundHistory;
	/** Repositories that are in no state, because files were there before them. */
	found: readonly RepositoryPath[];
	id: string;
	staging: string;
}

/** What a rewind did to repositories, for the one that takes it back. */
export interface RewoundHistory {
	id: string;
	moved: Record<RepositoryPath, RefMove[]>;
}

export interface HistoryPlan {
	rewound: RewoundHistory;
	steps: CommitSteps[];
	restored: (RefMove & { at: RepositoryPath })[];
	/** Where commits are that were made since. */
	kept: string[];
	problems: string[];
}

export class CommitHistory {
	readonly #input: CommitHistoryInput;
	readonly #stores = new Map<RepositoryPath, CommitStore>();
	/** What will not be tried again. */
	readonly #off = new Map<RepositoryPath, string>();

	constructor(input: CommitHistoryInput) {
		this.#input = input;
	}

	/** Whether a history was ever kept for a working tree. */
	static isIn(directory: string): boolean {
		return existsSync(join(directory, "top"));
	}

	/** Keeps the history of the repositories at these places. Those `unlisted` are there, too. */
	async take(places: readonly RepositoryPath[], unlisted: ReadonlySet<RepositoryPath>, signal?: AbortSignal): Promise<History> {
		const kept: Record<RepositoryPath, string> = {};
		const lost: Record<RepositoryPath, string> = {};
		for (const at of unlisted) lost[at] = "there are too many repositories in the working tree";
		const late = AbortSignal.timeout(patienceMs);
		for (const at of places) {
			const found = await this.#takeOne(at, late, signal);
			if (found && "id" in found) kept[at] = found.id;
			else if (found) lost[at] = found.reason;
		}
		return { kept, ...(Object.keys(lost).length > 0 ? { lost } : {}) };
	}

	async #takeOne(at: RepositoryPath, late: AbortSignal, signal: AbortSignal | undefined): Promise<{ id: string } | { reason: string } | undefined> {
		const off = this.#off.get(at);
		if (off !== undefined) return { reason: off };
		try {
			const place = this.#placeAt(at);
			if (!place) return undefined;
			if ("problem" in place) return { reason: place.problem };
			return { id: await this.#storeOf(at).take(place, signal ? AbortSignal.any([signal, late]) : late) };
		} catch (error) {
			signal?.throwIfAborted();
			if (late.aborted || error instanceof CannotKeep) {
				const reason = late.aborted ? `the commits could not be read within ${patienceMs / 1000} s` : (error as Error).message;
				this.#off.set(at, reason);
				return { reason };
			}
			// It may have changed while it was read.
			if (error instanceof GitError || typeof (error as NodeJS.ErrnoException).code === "string") return { reason: (error as Error).message };
			throw error;
		}
	}

	/** The records that a state has are kept as long as the state. */
	touch({ kept }: History): void {
		for (const [at, id] of Object.entries(kept)) this.#storeOf(at).touch(id);
	}

	async collect(isOld: (path: string) => boolean): Promise<void> {
		const { directory, git, mostBytes } = this.#input;
		if (!existsSync(directory)) return;
		for (const name of readdirSync(directory)) await new CommitStore({ directory: join(directory, name), git, mostBytes }).collect(isOld);
	}

	/** Returns what a rewind would bring back of commits, branches and other names. */
	async lost(target: History, current: History, others: RestoreRequest["others"]): Promise<(RefMove & { at: RepositoryPath })[]> {
		const found: (RefMove & { at: RepositoryPath })[] = [];
		for (const [at, id] of Object.entries(target.kept)) {
			const record = this.#storeOf(at).read(id);
			const now = this.#recordOf(at, current);
			if (!record || current.lost?.[at] !== undefined) continue;
			const moves = now ? await lostCommits(this.#storeOf(at), wantedSince(record, this.#pairsOf(at, others)), now) : [{ name: wholeName }];
			found.push(...moves.map((move) => ({ at, ...move })));
		}
		return found;
	}

	/** Gets everything ready; nothing is changed. */
	async plan(request: RestoreRequest): Promise<HistoryPlan> {
		const { target, current, found, undo } = request;
		const all: HistoryPlan = { steps: [], restored: [], kept: [], problems: [], rewound: { id: request.id, moved: {} } };
		const places = new Set([
			...Object.keys(target.history.kept),
			...Object.keys(target.history.lost ?? {}),
			...Object.keys(current.kept),
			...found,
			...Object.keys(undo?.moved ?? {}),
		]);
		// Outer ones first: what an inner one needs may be in them.
		for (const at of [...places].sort((one, two) => one.length - two.length)) {
			const plan = await this.#planOne(at, request);
			if (!plan) continue;
			const name = at === "" ? "" : `${toText(at)}: `;
			all.problems.push(...plan.problems.map((text) => `${name}${text}`));
			if (plan.steps) all.steps.push(plan.steps);
			all.restored.push(...plan.restored.map((move) => ({ at, ...move })));
			all.kept.push(...plan.kept.map((each) => `${fromText(name)}${each}`));
			if (plan.steps) all.rewound.moved[at] = plan.restored;
		}
		return all;
	}

	async #planOne(at: RepositoryPath, request: RestoreRequest): Promise<(Omit<CommitPlan, "steps"> & { steps?: CommitSteps }) | undefined> {
		const { target, current, others, undo } = request;
		const nothing = { restored: [], kept: [] };
		// A session file may come from anywhere.
		if (at.split("/").includes("..") || !isStraight(this.#topOf(at))) return undefined;
		const reason = target.history.lost?.[at] ?? current.lost?.[at];
		if (reason !== undefined) return { ...nothing, problems: [`the commits are not kept: ${reason}`] };
		const id = target.history.kept[at];
		if (id === undefined) return this.#planRemoval(at, request);
		const store = this.#storeOf(at);
		const record = store.read(id);
		if (!record) return { ...nothing, problems: ["the commits of that point are no longer kept"] };
		const input = {
			at,
			top: this.#topOf(at),
			store,
			id: request.id,
			staging: join(request.staging, `commits-${Object.keys(target.history.kept).indexOf(at)}`),
		};
		const now = this.#recordOf(at, current);
		const wanted = wantedSince(record, this.#pairsOf(at, others));
		if (now) {
			const place = this.#placeAt(at);
			if (!place || "problem" in place) return { ...nothing, problems: ["the repository changes at this moment"] };
			const link = linkIn(place);
			if (link !== undefined) return { ...nothing, problems: [`${link} is a link`] };
			return planCommits(input, place, {
				wanted,
				target: record,
				current: now,
				exactly: new Map(undo?.moved[at]?.map(({ name, to }) => [name, to])),
			});
		}
		// Others removed it.
		if (others.some(([one, two]) => one && two && one.kept[at] !== undefined && two.kept[at] === undefined)) return undefined;
		return this.#planReturn(at, undo) ?? planWhole(input, { wanted, target: record });
	}

	/** Of what an earlier rewind moved away, as it was. */
	#planReturn(at: RepositoryPath, undo: RewoundHistory | undefined): CommitPlan | undefined {
		const whole = undo && this.#asideOf(undo.id, at);
		if (whole === undefined || !existsSync(whole)) return undefined;
		const top = this.#topOf(at);
		const gitDir = join(top, ".git");
		const steps = { ...noSteps({ at, top, gitDir, commonDir: gitDir }), whole };
		return { steps, restored: [{ name: wholeName }], kept: [], problems: [] };
	}

	/** A repository that was made since goes to where it can be found. One that was moved here, or that only others made, stays. */
	#planRemoval(at: RepositoryPath, { target, others, undo, id }: RestoreRequest): CommitPlan | undefined {
		const top = this.#topOf(at);
		const gitDir = join(top, ".git");
		const stats = lstatSync(gitDir, { throwIfNoEntry: false });
		const isOurs = undo?.moved[at]?.some(({ name }) => name === wholeName) ?? false;
		const isNew = stats !== undefined && stats.birthtimeMs > target.time;
		const isOthers = others.some(([one, two]) => one && two && one.kept[at] === undefined && two.kept[at] !== undefined);
		if (!stats && isOurs) return this.#planReturn(at, undo);
		if (!stats || isOthers || !(isOurs || isNew)) return undefined;
		const place = this.#placeAt(at);
		const commonDir = place && !("problem" in place) ? place.commonDir : gitDir;
		const aside = this.#asideOf(id, at) as string;
		const steps = { ...noSteps({ at, top, gitDir, commonDir }), aside };
		return { steps, restored: [{ name: wholeName }], kept: [fromText(aside)], problems: [] };
	}

	/** Git in the repository at a directory. */
	git(top: string): Git {
		return this.#input.git.with({ cwd: top });
	}

	/** Where a rewind puts a `.git`. */
	#asideOf(id: string, at: RepositoryPath): string | undefined {
		return /^[0-9a-f]+$/.test(id) ? join(this.#input.directory, "../removed", id, nameOf(at)) : undefined;
	}

	#recordOf(at: RepositoryPath, { kept }: History): CommitRecord | undefined {
		const id = kept[at];
		return id === undefined ? undefined : this.#storeOf(at).read(id);
	}

	#pairsOf(at: RepositoryPath, others: RestoreRequest["others"]): [CommitRecord, CommitRecord][] {
		return others.flatMap(([one, two]): [CommitRecord, CommitRecord][] => {
			const [before, after] = [one && this.#recordOf(at, one), two && this.#recordOf(at, two)];
			return before && after ? [[before, after]] : [];
		});
	}

	#topOf(at: RepositoryPath): string {
		return onDisk(this.#input.top, at).toString();
	}

	#placeAt(at: RepositoryPath) {
		const { top } = this.#input;
		return gitPlaceAt(this.#topOf(at), (path) => `${path}/`.startsWith(`${top}/`));
	}

	#storeOf(at: RepositoryPath): CommitStore {
		const { directory, git, mostBytes } = this.#input;
		const known = this.#stores.get(at) ?? new CommitStore({ directory: join(directory, nameOf(at)), git, mostBytes });
		this.#stores.set(at, known);
		return known;
	}
}

const nameOf = (at: RepositoryPath) => (at === "" ? "top" : createHash("sha256").update(at).digest("hex").slice(0, 12));
