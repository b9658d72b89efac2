/** The end of the process: its own, by a signal, or because nobody reads any more. */

import { exitCodes } from "../lib/exit-codes.ts";
import { sleep } from "../lib/sleep.ts";

/** How long it may take when somebody else asked for it. */
const lastWordsMs = 3000;

export class Ending {
	/** Leaves nothing behind. Before there is a session there is nothing to leave. */
	finish: () => Promise<void> = async () => undefined;
	hasBegun = false;
	/** What the work waits for, should everything stand still. */
	waits: () => { extensionPath: string; what: string }[] = () => [];

	/** Ends with the signal's code; should everything stand still without an end, that is no success either, and the reason is told. */
	prepare(): void {
		process.exitCode = exitCodes.failed;
		process.once("beforeExit", () => {
			if (this.hasBegun) return;
			const names = this.waits().map(({ extensionPath, what }) => ` Extension ${extensionPath} never ends ${what}.`);
			console.error(`Error: Nothing happens any more, and the work is not done.${names.join("")}`);
			void this.cut(exitCodes.failed);
		});
		for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => void this.cut(exitCodes[signal]));
	}

	/** Everything that was written is read first, however long that takes. */
	async regular(code: number): Promise<void> {
		if (!this.hasBegun) await this.#end(code, this.finish);
	}

	/** In a few seconds at most. Asked twice, somebody is in a hurry: what is left of children ends with us. */
	async cut(code: number): Promise<void> {
		if (this.hasBegun) process.exit(code);
		await this.#end(code, () => Promise.race([this.finish(), sleep(lastWordsMs)]));
	}

	async #end(code: number, clean: () => Promise<unknown>): Promise<void> {
		this.hasBegun = true;
		try {
			await clean();
		} catch (error) {
			console.error("bowline: could not end cleanly:", error);
		}
		process.exit(code);
	}
}
