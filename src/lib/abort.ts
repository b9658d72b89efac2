/** Helpers for abort signals that leave no listeners attached. */
import { setMaxListeners } from "node:events";

/** Calls `then` once when the signal fires (at once if it has). The returned function removes the listener. */
export function onAbort(signal: AbortSignal, then: () => void): () => void {
	if (signal.aborted) {
		then();
		return () => undefined;
	}
	expectManyListeners(signal);
	signal.addEventListener("abort", then, { once: true });
	return () => signal.removeEventListener("abort", then);
}

/** Node warns on stderr about more than ten listeners. A batch of subagents adds more than that. */
function expectManyListeners(signal: AbortSignal): void {
	setMaxListeners(0, signal);
}

/** A controller that also aborts when an outer signal does, until it is released. */
export function linkedController(...outer: AbortSignal[]): { controller: AbortController; release: () => void } {
	const controller = new AbortController();
	expectManyListeners(controller.signal);
	const releases = outer.map((signal) => onAbort(signal, () => controller.abort()));
	const release = () => {
		for (const each of releases) each();
	};
	return { controller, release };
}

/** The work's result; if it has not ended `graceMs` after the signal fired, the result of `giveUp`. Leaves no timer and no listener. */
export function settleWithin<T>(work: Promise<T>, signal: AbortSignal, graceMs: number, giveUp: () => T | Promise<T>): Promise<T> {
	return new Promise<T>((resolve, reject) => {
		let timer: NodeJS.Timeout | undefined;
		const release = onAbort(signal, () => {
			timer = setTimeout(() => finish(() => Promise.resolve().then(giveUp).then(resolve, reject)), graceMs);
		});
		const finish = (settle: () => void) => {
			release();
			clearTimeout(timer);
			settle();
		};
		work.then(
			(value) => finish(() => resolve(value)),
			(error) => finish(() => reject(error)),
		);
	});
}
