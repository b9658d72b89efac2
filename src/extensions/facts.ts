/** Reports events to one extension: in order, one handler after another, and without a caller waiting for it. */
import { contextOf } from "./context.ts";
import { eventKinds, type Fact } from "./events.ts";
import { type Link, settle, slowAfterMs } from "./link.ts";
import type { AnyHandler } from "./registrations.ts";

interface Told {
	fact: Fact;
	/** The listeners at the time of the event. */
	handlers: readonly AnyHandler[];
}

export class FactLine {
	#path: string;
	#link: Link;
	#waiting: Told[] = [];
	#isBusy = false;

	constructor(path: string, link: Link) {
		this.#path = path;
		this.#link = link;
	}

	/** The handlers are called before this returns, unless one of them is still busy with an earlier fact. */
	tell(told: Told): void {
		if (!this.#isBusy) void this.#work(told);
		else if (eventKinds[told.fact.type] === "update" && this.#waiting.at(-1)?.fact.type === told.fact.type) {
			// An update contains everything from the previous one; keeping each for a slow handler would fill the memory.
			this.#waiting[this.#waiting.length - 1] = told;
		} else this.#waiting.push(told);
	}

	clear(): void {
		this.#waiting.length = 0;
	}

	async #work(told: Told): Promise<void> {
		this.#isBusy = true;
		for (let next: Told | undefined = told; next; next = this.#waiting.shift()) {
			for (const handler of next.handlers) {
				const { fact } = next;
				const context = contextOf(this.#link, this.#path, this.#link.ended);
				const settling = settle(
					() => handler(fact, context),
					this.#link.ended,
					() => this.#isSlow(fact.type),
				);
				// A synchronous handler is not awaited: it receives the next fact when that happens.
				const settled = settling instanceof Promise ? await settling : settling;
				if ("failure" in settled) this.#link.report(this.#path, fact.type, settled.failure);
				if (this.#link.ended.aborted) return;
			}
		}
		this.#isBusy = false;
	}

	#isSlow(event: string): true {
		this.#link.warn(`Extension ${this.#path} is busy with ${event} for ${slowAfterMs / 1000} s. Later events are sent to it all the same.`);
		return true;
	}
}
