/** When the next delta may go out. */
import type { Sleep, StreamOptions } from "../../agent/contracts.ts";
import { onAbort } from "../../lib/abort.ts";

const deltasPerBreath = 256;
const deltasPerLookAtClock = 16;
const breathAfterMs = 4;

export class Pace {
	#signal: AbortSignal;
	#flow: StreamOptions["flow"];
	#sleep: Sleep;
	#pieceDelayMs: number;
	#deltas = 0;
	#restedAt = performance.now();

	constructor({ signal, flow }: StreamOptions, sleep: Sleep, pieceDelayMs = 0) {
		this.#signal = signal;
		this.#flow = flow;
		this.#sleep = sleep;
		this.#pieceDelayMs = pieceDelayMs;
	}

	/** A wait before the next delta; nothing when it may go out at once, so that a fast stream makes no promise per delta. */
	next(): Promise<unknown> | undefined {
		const delta = this.#deltas++;
		if (this.#pieceDelayMs > 0 && delta > 0) return this.#rest(this.#sleep(this.#pieceDelayMs, this.#signal));
		if (!this.#flow.isOpen) return this.#flow.whenOpen(this.#signal);
		if (delta % deltasPerLookAtClock !== 0 || delta === 0) return undefined;
		const isDue = delta % deltasPerBreath === 0 || performance.now() - this.#restedAt > breathAfterMs;
		return isDue ? this.#rest(new Promise((resolve) => setImmediate(resolve))) : undefined;
	}

	silence(milliseconds: number): Promise<unknown> {
		return this.#sleep(milliseconds, this.#signal);
	}

	untilAborted(): Promise<void> {
		// A provider that says nothing keeps its connection open, and with it the process. Here a timer does.
		const open = setInterval(() => undefined, 2 ** 30);
		return new Promise<void>((resolve) => onAbort(this.#signal, resolve)).finally(() => clearInterval(open));
	}

	async #rest(wait: Promise<unknown>): Promise<void> {
		await wait;
		this.#restedAt = performance.now();
		if (!this.#flow.isOpen) await this.#flow.whenOpen(this.#signal);
	}
}
