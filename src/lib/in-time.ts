/** Runs code that may never end, such as an untrusted regular expression, under a time limit. */
import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";
import { type Context, createContext, Script } from "node:vm";

export class TimeLimit {
	#limitMs: number;
	#context: (Context & { work: () => void }) | undefined;
	#script: Script | undefined;

	constructor(limitMs: number) {
		this.#limitMs = limitMs;
	}

	/** False when it was stopped. Synchronous work only; errors are rethrown. */
	run(work: () => void): boolean {
		requireDescriptors();
		this.#context ??= createContext({ work }) as Context & { work: () => void };
		this.#script ??= new Script("work()");
		this.#context.work = work;
		try {
			this.#script.runInContext(this.#context, { timeout: this.#limitMs });
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
