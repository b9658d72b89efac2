/** Hands every event to the observers, in one list and one order. What an observer emits waits until everyone has seen the current event. */
import type { AgentEvent } from "../protocol/events.ts";

export type Observer = (event: AgentEvent) => void;

export class Bus {
	#observers: Observer[] = [];
	#waiting: AgentEvent[] = [];
	#isBusy = false;

	/** Observers are called in the order in which they came. */
	observe(observer: Observer): void {
		this.#observers.push(observer);
	}

	emit = (event: AgentEvent): void => {
		if (this.#isBusy) {
			this.#waiting.push(event);
			return;
		}
		this.#isBusy = true;
		this.#show(event);
		for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) this.#show(next);
		this.#isBusy = false;
	};

	#show(event: AgentEvent): void {
		for (const observer of this.#observers) {
			try {
				observer(event);
			} catch (error) {
				// A bug in one observer must not cost the others an event, or the run its end.
				console.error(`bowline: an observer of ${event.type} failed:`, error);
			}
		}
	}
}
