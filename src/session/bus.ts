/** Hands every event to the observers, in one list and one order. What an observer emits waits until all have seen the current event. */
import type { Log } from "../lib/log.ts";
import type { AgentEvent } from "../protocol/events.ts";

export type Observer = (event: AgentEvent) => void;

export class Bus {
	#log: Log;
	#observers: readonly Observer[] = [];
	#waiting: AgentEvent[] = [];
	#isBusy = false;

	constructor(log: Log) {
		this.#log = log;
	}

	/** Observers are called in the order in which they were added. The returned function removes the observer. */
	observe(observer: Observer): () => void {
		// A new list each time: an event on its way is not disturbed.
		this.#observers = [...this.#observers, observer];
		return () => {
			this.#observers = this.#observers.filter((each) => each !== observer);
		};
	}

	/** The same, ahead of all others. */
	precede(observer: Observer): () => void {
		this.#observers = [observer, ...this.#observers];
		return () => {
			this.#observers = this.#observers.filter((each) => each !== observer);
		};
	}

	emit = (event: AgentEvent): void => {
		if (this.#isBusy) {
			this.#waiting.push(event);
			return;
		}
		this.#isBusy = true;
		this.#show(event);
		while (this.#waiting.length > 0) this.#show(this.#waiting.shift() as AgentEvent);
		this.#isBusy = false;
	};

	#show(event: AgentEvent): void {
		const observers = this.#observers;
		// An index, not an iterator: a reply has thousands of events.
		for (let index = 0; index < observers.length; index += 1) {
			try {
				observers[index]?.(event);
			} catch (error) {
				// A bug in one observer must not cost the others an event, or the run its end.
				this.#log.error(`an observer of ${event.type} failed`, error);
			}
		}
	}
}
