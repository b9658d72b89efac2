/** Admits a limited number at once, in order of arrival. */
import { onAbort } from "../lib/abort.ts";

export class Semaphore {
	#limit: () => number;
	#inside = 0;
	#waiting: (() => void)[] = [];

	/** 0 means no limit. */
	constructor(limit: () => number) {
		this.#limit = limit;
	}

	/** Resolves when there is room: true, and `leave` is owed. False when the signal fired first. */
	async enter(signal: AbortSignal): Promise<boolean> {
		if (signal.aborted) return false;
		if (this.#hasRoom && this.#waiting.length === 0) {
			this.#inside += 1;
			return true;
		}
		return new Promise((resolve) => {
			const enter = () => {
				release();
				this.#inside += 1;
				resolve(true);
			};
			this.#waiting.push(enter);
			const release = onAbort(signal, () => {
				this.#waiting.splice(this.#waiting.indexOf(enter), 1);
				resolve(false);
			});
		});
	}

	leave(): void {
		this.#inside -= 1;
		while (this.#hasRoom && this.#waiting.length > 0) this.#waiting.shift()?.();
	}

	get #hasRoom(): boolean {
		const limit = this.#limit();
		return limit <= 0 || this.#inside < limit;
	}
}
