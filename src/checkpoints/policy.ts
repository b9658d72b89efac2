/** Takes the state of the files before a turn that may change them, and at its end. */
import type { Policy } from "../agent/policy.ts";
import type { RunsLater } from "../lib/runs-later.ts";
import { type RepositoryPath, toText } from "../snapshots/paths.ts";
import type { CheckpointData } from "./history.ts";
import { runsLaterBetween } from "./runs-later.ts";
import { CannotTake, type State, type Taken, type TreeStore } from "./tree-store.ts";

export interface CheckpointPolicyParts {
	open: () => Promise<TreeStore>;
	/** Notes a checkpoint in the session file. */
	note: (checkpoint: Omit<CheckpointData, "id">, store: TreeStore) => void;
	/** Returns whether calls of a tool may change files. */
	mayChange: (toolName: string) => boolean;
	warn: (text: string) => void;
	/** The session may change nothing that cannot be put back. */
	isRequired: boolean;
}

const refusal = (reason: string) =>
	`There are no checkpoints here: ${reason.replace(/\.$/, "")}. This session is contained, so nothing is changed that cannot be put back. Mend it, or set checkpoints.enabled to false: then safety in get_state names it.`;

/** A tool call does not wait longer than this. */
const patienceMs = 10_000;

export class Checkpoints {
	#parts: CheckpointPolicyParts;
	#store: Promise<TreeStore> | undefined;
	/** Everything is taken in turn. */
	#work: Promise<unknown> = Promise.resolve();
	/** The checkpoint before the current turn's changes. */
	#before: Promise<boolean> | undefined;
	#off: string | undefined;
	/** The first and the last state from the first run until everything is settled. */
	#span: { first?: Taken; last?: State } = {};
	#isOver = true;
	/** There is a state to go back to, also when checkpoints have been switched off since. */
	#hasTaken = false;
	/** What was said of repositories whose commits are not kept. */
	#told = new Set<string>();
	/** What was changed in it that runs later. */
	runsLater: readonly RunsLater[] = [];
	readonly policy: Policy;

	constructor(parts: CheckpointPolicyParts) {
		this.#parts = parts;
		this.policy = { ...this.#policy, ...(parts.isRequired && { admit: () => this.#admit() }) };
	}

	/** Why nothing is taken; nothing when it is. */
	get off(): string | undefined {
		return this.#off;
	}

	/** The store, when everything that was begun has been taken. Throws a CannotTake with the reason when nothing was taken at all. */
	async settled(): Promise<TreeStore> {
		await this.#work;
		if (this.#off !== undefined && !this.#hasTaken) throw new CannotTake(this.#off);
		this.#store ??= this.#parts.open();
		return this.#store;
	}

	readonly #policy: Policy = {
		name: "checkpoints",
		observe: ({ type }) => {
			if (type === "agent_start") {
				if (this.#isOver) this.#begin();
				// The first look at the files takes longest. It can be over when the model has answered.
				this.#enqueue((store) => store.takeAll(), false);
			} else if (type === "agent_settled") this.#isOver = true;
			else if (type === "turn_start") this.#before = undefined;
			else if (type === "turn_end" && this.#before) this.#enqueue((store) => store.takeAll().then((taken) => this.#note(store, "after", taken)));
		},
		beforeTool: async ({ toolName }, signal) => {
			const { isRequired, mayChange } = this.#parts;
			if (!mayChange(toolName) || (this.#off !== undefined && !isRequired)) return undefined;
			this.#before ??= this.#inTime(this.#enqueue((store) => store.takeAll(signal, true, false).then((taken) => this.#note(store, "before", taken))));
			const isTaken = await this.#before;
			return isTaken || !isRequired ? undefined : { denied: refusal(this.#off ?? "the state of the files could not be taken this time") };
		},
		// The host may change files as soon as it reads that the run has settled.
		settle: async () => {
			await this.#work;
			await this.#look();
			return undefined;
		},
	};

	/** Refuses prompts where no state can be taken. */
	async #admit(): Promise<{ refused: string; code: "refused" } | undefined> {
		await this.#enqueue(async () => undefined, false);
		return this.#off === undefined ? undefined : { refused: refusal(this.#off), code: "refused" };
	}

	#begin(): void {
		this.#isOver = false;
		this.#span = {};
		this.runsLater = [];
	}

	#note(store: TreeStore, phase: CheckpointData["phase"], taken: Taken): void {
		const { state, history } = taken;
		this.#parts.note({ phase, cause: "turn", ...taken }, store);
		for (const [at, reason] of Object.entries(history.lost ?? {})) this.#tell(at, reason);
		this.#hasTaken = true;
		if (phase === "before") this.#span.first ??= taken;
		else this.#span.last = state;
	}

	/** Once for each repository and reason. */
	#tell(at: RepositoryPath, reason: string): void {
		const text = `Checkpoints have no commits${at === "" ? "" : ` of ${toText(at)}`}: ${reason}`;
		if (this.#told.has(text)) return;
		this.#told.add(text);
		this.#parts.warn(text);
	}

	async #look(): Promise<void> {
		const { first, last } = this.#span;
		if (!first || !last) return;
		try {
			this.runsLater = await runsLaterBetween(await this.settled(), first.state, last, first.ignored);
		} catch (error) {
			this.#parts.warn(`Changed files that run later are not reported: ${(error as Error).message}`);
		}
	}

	/** Resolves with false where it was not taken. */
	#enqueue(take: (store: TreeStore) => Promise<unknown>, mayFail = true): Promise<boolean> {
		const done = this.#work.then(async () => {
			if (this.#off !== undefined) return false;
			try {
				this.#store ??= this.#parts.open();
				await take(await this.#store);
				return true;
			} catch (error) {
				if (error instanceof CannotTake) this.#turnOff(error.message);
				// A file that changed while it was read, a full disk: the next turn tries again.
				else if (mayFail && (error as Error).name !== "AbortError") this.#parts.warn(`A checkpoint could not be taken: ${(error as Error).message}`);
				return false;
			}
		});
		this.#work = done;
		return done;
	}

	async #inTime(work: Promise<boolean>): Promise<boolean> {
		let timer: NodeJS.Timeout | undefined;
		const late = new Promise<boolean>((resolve) => {
			timer = setTimeout(() => {
				this.#turnOff(`the state of the files could not be taken within ${patienceMs / 1000} s`);
				resolve(false);
			}, patienceMs);
		});
		const isTaken = await Promise.race([work, late]);
		clearTimeout(timer);
		return isTaken;
	}

	#turnOff(reason: string): void {
		if (this.#off !== undefined) return;
		this.#off = reason;
		this.#parts.warn(`Checkpoints are off: ${reason}`);
	}
}
