/** Runs code that may never end, such as an untrusted regular expression, under a time limit. */
import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";
import { type Context, createContext, Script } from "node:vm";

/** Up to 32 times the limit by the clock. */
const mostTries = 6;
/** The system counts processor time in steps. */
const nearly = 0.9;

export class TimeLimit {
	#limitMs: number;
	#context: (Context & { work: () => void }) | undefined;
	#script: Script | undefined;

	constructor(limitMs: number) {
		this.#limitMs = limitMs;
	}

	/**
	 * Returns false when it was stopped. Synchronous work only; errors are rethrown. The limit is one of processor time: on a busy machine the
	 * work begins again, with more of the clock.
	 */
	run(work: () => void): boolean {
		requireDescriptors();
		for (let timeout = this.#limitMs, tries = 0; tries < mostTries; timeout *= 2, tries += 1) {
			const before = process.cpuUsage();
			if (this.#isDoneIn(work, timeout)) return true;
			const { user, system } = process.cpuUsage(before);
			if ((user + system) / 1000 >= nearly * this.#limitMs) return false;
		}
		return false;
	}

	#isDoneIn(work: () => void, timeout: number): boolean {
		this.#context ??= createContext({ work }) as Context & { work: () => void };
		this.#script ??= new Script("work()");
		this.#context.work = work;
		try {
			this.#script.runInContext(this.#context, { timeout });
			return true;
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return false;
			throw error;
		}
	}
}

/** The time limit needs some file descriptors; without them Node ends the whole process. */
const neededDescriptors = 8;

function requireDescriptors(): void {
	const open: number[] = [];
	try {
		while (open.length < neededDescriptors) open.push(openSync(devNull, "r"));
	} finally {
		for (const descriptor of open) closeSync(descriptor);
	}
}
