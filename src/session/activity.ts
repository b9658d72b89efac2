/** What the session is doing. `isStreaming` and the like are read from here; there are no other flags. */
import { deferred } from "../lib/deferred.ts";
import type { AcceptedPrompt } from "./accepted-prompt.ts";
import { aborted } from "./refusal.ts";

/** From the acceptance of a prompt until nothing automatic will follow; or one piece of exclusive work. */
export interface BusyPeriod {
	controller: AbortController;
	/** Resolves when the session is idle again. */
	done: Promise<void>;
	finish: () => void;
	/** The prompt whose run has not begun. */
	prompt: AcceptedPrompt | undefined;
	/** A prompt that came while the period was being aborted; it opens the next one. */
	successor: AcceptedPrompt | undefined;
	/** A prompt was accepted for a run, and an abort came before the run began. */
	hasLostPrompt: boolean;
	hadRun: boolean;
	/** The conversation is being compacted, by a command or automatically. */
	isCompacting: boolean;
}

export type Phase =
	| { name: "idle" }
	/** A run is active or about to start: a prompt must be queued. */
	| { name: "running"; period: BusyPeriod }
	/** Exclusive work, such as a compaction: a prompt waits for its end. */
	| { name: "exclusive"; period: BusyPeriod }
	/** Between the end of a run and what may follow it automatically: a prompt takes over. `gap` ends the wait. */
	| { name: "settling"; period: BusyPeriod; gap: AbortController };

export class Activity {
	#phase: Phase = { name: "idle" };

	get phase(): Phase {
		return this.#phase;
	}

	get isBusy(): boolean {
		return this.#phase.name !== "idle";
	}

	get period(): BusyPeriod | undefined {
		return this.#phase.name === "idle" ? undefined : this.#phase.period;
	}

	/** A prompt that waits for exclusive work counts as streaming: its host has been told that it started. */
	get isStreaming(): boolean {
		return this.#phase.name === "exclusive" ? this.#phase.period.successor !== undefined : this.isBusy;
	}

	/** While exclusive work is in progress: resolves when it has ended. */
	get exclusiveUntil(): Promise<void> | undefined {
		return this.#phase.name === "exclusive" ? this.#phase.period.done : undefined;
	}

	/** The session is busy from now on. */
	open(name: "running" | "exclusive", prompt?: AcceptedPrompt): BusyPeriod {
		const { promise: done, resolve: finish } = deferred();
		const period: BusyPeriod = {
			controller: new AbortController(),
			done,
			finish,
			prompt,
			successor: undefined,
			hasLostPrompt: false,
			hadRun: false,
			isCompacting: false,
		};
		this.#phase = { name, period };
		return period;
	}

	/** Not when exclusive work that aborted the run has already taken its place. */
	enter(period: BusyPeriod, phase: Phase): void {
		if (this.period === period) this.#phase = phase;
	}

	/** Stops what a period does. Resolves when it has ended. */
	async stop(period = this.period): Promise<void> {
		if (!period) return;
		period.controller.abort();
		if (period.successor) {
			period.successor.refuse(aborted);
			period.hasLostPrompt = true;
		}
		period.successor = undefined;
		await period.done;
	}

	/** Resolves when nothing runs and nothing automatic will follow. */
	async settled(): Promise<void> {
		while (this.period) await this.period.done;
	}
}
