/**
 * Limits how many subagents are at work at once, in a session and all processes below it. Each of them needs a slot: a file in a directory
 * that the whole tree shares. A file whose process was killed counts as free.
 *
 * A subagent that starts others waits for them, so it lends them its own slot, to one at a time. An agent that waits for a subagent can therefore
 * always go on, and no tree can block itself.
 */

import { randomBytes } from "node:crypto";
import { mkdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { onAbort } from "../lib/abort.ts";
import { claim, holderOf, unclaim } from "../lib/claim.ts";
import { Semaphore } from "./semaphore.ts";

export interface SlotsOptions {
	/** 0 means no limit. */
	limit: () => number;
	/** Whether this process is a subagent, which has a slot to lend. */
	isSubagent: boolean;
}

/** Slots of other processes are checked this often. Those of this process are noticed at once. */
const firstLookMs = 20;
const longestLookMs = 250;

export class Slots {
	readonly #options: SlotsOptions;
	/** One waits for a slot, the others wait in line. */
	readonly #line = new Semaphore(() => 1);
	#isOwnFree: boolean;
	#inside = 0;
	#wake: (() => void) | undefined;

	constructor(options: SlotsOptions) {
		this.#options = options;
		this.#isOwnFree = options.isSubagent;
	}

	/** Resolves when there is a slot, with the function that gives it back; with nothing when the signal fired first. */
	async enter(directory: string, signal: AbortSignal): Promise<(() => void) | undefined> {
		if (!(await this.#line.enter(signal))) return undefined;
		try {
			for (let wait = firstLookMs; !signal.aborted; wait = Math.min(wait * 2, longestLookMs)) {
				const leave = this.#take(directory);
				if (leave) return leave;
				await this.#change(wait, signal);
			}
			return undefined;
		} finally {
			this.#line.leave();
		}
	}

	#take(directory: string): (() => void) | undefined {
		const giveBack = this.#takeOwn() ?? this.#takeShared(directory);
		if (!giveBack) return undefined;
		this.#inside += 1;
		return () => {
			this.#inside -= 1;
			giveBack();
			this.#wake?.();
		};
	}

	#takeOwn(): (() => void) | undefined {
		if (!this.#isOwnFree) return undefined;
		this.#isOwnFree = false;
		return () => {
			this.#isOwnFree = true;
		};
	}

	#takeShared(directory: string): (() => void) | undefined {
		const limit = this.#options.limit();
		if (limit <= 0) return () => undefined;
		const shared = join(directory, "slots");
		const own = JSON.stringify({ ...holderOf(process.pid), token: randomBytes(8).toString("hex") });
		try {
			for (let number = 0; number < limit; number++) {
				// Created again for each slot: the process that returns the last slot removes the directory.
				mkdirSync(shared, { recursive: true, mode: 0o700 });
				const path = join(shared, String(number));
				if (!claim(path, own)) return () => giveBack(shared, path, own);
			}
			return undefined;
		} catch (error) {
			// Another process has just removed it; it is checked again soon.
			if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
			// A full disk, for example. The limit then applies to this process alone.
			return this.#inside < limit ? () => undefined : undefined;
		}
	}

	/** Resolves when a slot of this process is returned, or after the time. */
	#change(milliseconds: number, signal: AbortSignal): Promise<void> {
		return new Promise((resolve) => {
			const done = () => {
				clearTimeout(timer);
				release();
				this.#wake = undefined;
				resolve();
			};
			const timer = setTimeout(done, milliseconds);
			this.#wake = done;
			const release = onAbort(signal, done);
		});
	}
}

function giveBack(shared: string, path: string, own: string): void {
	try {
		unclaim(path, own);
		rmdirSync(shared);
	} catch {
		// Others still have slots there.
	}
}
