/** The end of the process: its own, by a signal, or because its output is no longer read. */
import { exitCodes } from "../lib/exit-codes.ts";
import { stderrLog } from "../lib/log.ts";
import { sleep } from "../lib/sleep.ts";

/** How long it may take when a signal or a reader asked for it. */
const lastWordsMs = 3000;

export class Ending {
	/** Leaves nothing running. Before there is a session there is nothing to end. */
	finish: () => Promise<void> = async () => undefined;
	hasBegun = false;
	/** An extension asked for the end: no further prompt is sent. */
	isLeaving = false;
	/** What the work is waiting for, reported if nothing happens any more. */
	waits: () => { extensionPath: string; what: string }[] = () => [];
	#log = stderrLog();

	/** Ends with the signal's code. A process that has nothing left to do without an end has failed too, and says why. */
	prepare(): void {
		process.exitCode = exitCodes.failed;
		process.once("beforeExit", () => {
			if (this.hasBegun) return;
			const names = this.waits().map(({ extensionPath, what }) => ` Extension ${extensionPath} never ends ${what}.`);
			console.error(`Error: Nothing happens any more, and the work is not done.${names.join("")}`);
			void this.cut(exitCodes.failed);
		});
		for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => void this.cut(exitCodes[signal]));
		process.on("uncaughtException", (error) => this.#log.error("unexpected error", error));
		process.on("unhandledRejection", (error) => this.#log.error("unexpected rejection", error));
	}

	leave(): void {
		this.isLeaving = true;
	}

	/** Waits until all output has been read, however long that takes. */
	async regular(code: number): Promise<void> {
		if (!this.hasBegun) await this.#end(code, this.finish);
	}

	/** Takes a few seconds at most. A second call ends at once: remaining children end with us. */
	async cut(code: number): Promise<void> {
		if (this.hasBegun) process.exit(code);
		await this.#end(code, () => Promise.race([this.finish(), sleep(lastWordsMs)]));
	}

	async #end(code: number, clean: () => Promise<unknown>): Promise<void> {
		this.hasBegun = true;
		try {
			await clean();
		} catch (error) {
			this.#log.error("could not end cleanly", error);
		}
		process.exit(code);
	}
}
