/** The end of a served session: because its host is done, because a signal ends the process, or because an extension asks. */
import { stderrLog } from "../lib/log.ts";
import { sleep } from "../lib/sleep.ts";
import type { LiveSession } from "../live/live-session.ts";
import type { EventWriter } from "./event-writer.ts";
import type { FrameWriter } from "./stdio.ts";

/** How long a host may read nothing before we stop waiting for it at the end. */
const flushPatienceMs = 2000;
/** The same when a signal ends the process. */
const lastFramesMs = 200;

export interface Served {
	live: LiveSession;
	events: EventWriter;
	writer: FrameWriter;
}

export class Ending {
	#exit: (code: number) => void;
	/** Absent until the session is open. */
	#served: Served | undefined;
	#hasBegun = false;

	constructor(exit: (code: number) => void) {
		this.#exit = exit;
	}

	attach(served: Served): void {
		this.#served = served;
	}

	/** Kills what runs, and answers nothing. What was already said still reaches a host that reads, such as the end of a question to it. */
	kill(code: number): Promise<void> {
		return this.#end(code, async ({ live, events, writer }) => {
			const closed = live.close("kill");
			events.flush();
			await Promise.all([closed, Promise.race([writer.drained(), sleep(lastFramesMs)])]);
		});
	}

	/** Answers all commands that were read, as long as the host reads. */
	finish(): Promise<void> {
		return this.#end(0, async ({ live, events, writer }) => {
			let isOver = false;
			const answered = live.close("finish").then(() => {
				events.flush();
				return writer.drained();
			});
			const stuck = writer.stuck(flushPatienceMs, () => isOver);
			const ended = Promise.race([answered, stuck]).finally(() => {
				isOver = true;
			});
			await Promise.all([live.killProcesses(), ended]);
		});
	}

	/** Answers all commands that were read, and lets the current run end without an abort. */
	async atRest(): Promise<void> {
		const { live } = this.#served as Served;
		await live.lanes.inTurn(async () => undefined);
		await live.session.settled();
		await this.finish();
	}

	/** Whatever happens, it ends. */
	async #end(code: number, close: (served: Served) => Promise<void>): Promise<void> {
		if (this.#hasBegun) return;
		this.#hasBegun = true;
		const served = this.#served;
		try {
			if (served) await close(served);
		} catch (error) {
			(served?.live.assembly.log ?? stderrLog()).error("could not end cleanly", error);
		}
		this.#exit(code);
	}
}
