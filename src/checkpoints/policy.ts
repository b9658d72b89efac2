/** Takes the state of the files before a turn that may change them, and at its end. */
import type { Policy } from "../agent/policy.ts";
import type { CheckpointData } from "./history.ts";
import { CannotTake, type State, type TreeStore } from "./tree-store.ts";

export interface CheckpointPolicyParts {
	open: () => Promise<TreeStore>;
	/** Notes a checkpoint in the session file. */
	note: (checkpoint: Omit<CheckpointData, "id">, store: TreeStore) => void;
	warn: (text: string) => void;
}

/** Tools that change no file. */
const reading = new Set(["read", "grep", "find", "ls", "todo_write", "submit_result"]);

/** A tool call does not wait longer than this. */
const patienceMs = 10_000;

export class Checkpoints {
	#parts: CheckpointPolicyParts;
	#store: Promise<TreeStore> | undefined;
	/** Everything is taken in turn. */
	#work: Promise<unknown> = Promise.resolve();
	/** The checkpoint before the current turn's changes. */
	#before: Promise<void> | undefined;
	#off: string | undefined;

	constructor(parts: CheckpointPolicyParts) {
		this.#parts = parts;
	}

	/** Why nothing is taken; nothing when it is. */
	get off(): string | undefined {
		return this.#off;
	}

	/** The store, when everything that was begun has been taken. Throws a CannotTake with the reason when checkpoints are off. */
	async settled(): Promise<TreeStore> {
		await this.#work;
		if (this.#off !== undefined) throw new CannotTake(this.#off);
		this.#store ??= this.#parts.open();
		return this.#store;
	}

	readonly policy: Policy = {
		name: "checkpoints",
		observe: ({ type }) => {
			// The first look at the files takes longest. It can be over when the model has answered.
			if (type === "agent_start") this.#enqueue((store) => store.take(), false);
			else if (type === "turn_start") this.#before = undefined;
			else if (type === "turn_end" && this.#before) this.#enqueue((store) => store.take().then((state) => this.#note(store, "after", state)));
		},
		beforeTool: async ({ toolName }, signal) => {
			if (this.#off !== undefined || reading.has(toolName)) return undefined;
			this.#before ??= this.#inTime(this.#enqueue((store) => store.take(signal).then((state) => this.#note(store, "before", state))));
			await this.#before;
			return undefined;
		},
		// The host may change files as soon as it reads that the run has settled.
		settle: async () => {
			await this.#work;
			return undefined;
		},
	};

	#note(store: TreeStore, phase: CheckpointData["phase"], state: State): void {
		this.#parts.note({ phase, cause: "turn", state }, store);
	}

	#enqueue(take: (store: TreeStore) => Promise<unknown>, mayFail = true): Promise<void> {
		const done = this.#work.then(async () => {
			if (this.#off !== undefined) return;
			try {
				this.#store ??= this.#parts.open();
				await take(await this.#store);
			} catch (error) {
				if (error instanceof CannotTake) this.#turnOff(error.message);
				// A file that changed while it was read, a full disk: the next turn tries again.
				else if (mayFail && (error as Error).name !== "AbortError") this.#parts.warn(`A checkpoint could not be taken: ${(error as Error).message}`);
			}
		});
		this.#work = done;
		return done;
	}

	async #inTime(work: Promise<void>): Promise<void> {
		let timer: NodeJS.Timeout | undefined;
		const late = new Promise<void>((resolve) => {
			timer = setTimeout(() => {
				this.#turnOff(`the state of the files could not be taken within ${patienceMs / 1000} s`);
				resolve();
			}, patienceMs);
		});
		await Promise.race([work, late]);
		clearTimeout(timer);
	}

	#turnOff(reason: string): void {
		if (this.#off !== undefined) return;
		this.#off = reason;
		this.#parts.warn(`Checkpoints are off: ${reason}`);
	}
}
