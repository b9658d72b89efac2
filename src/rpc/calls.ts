/** Questions to the host that wait for a reply. Shared by dialogs and host tools. */
import { onAbort } from "../lib/abort.ts";

interface Waiting<Reply> {
	settle: (reply: Reply) => void;
}

export interface AskOptions<Reply> {
	signal?: AbortSignal;
	/** Makes the reply to use when the signal fires. Called once, before the question is removed. */
	onAbort: () => Reply;
}

export class Calls<Reply> {
	#newId: () => string;
	#waiting = new Map<string, Waiting<Reply>>();

	constructor(newId: () => string) {
		this.#newId = newId;
	}

	/** Sends a question under a fresh id and waits for its reply. Never hangs: an abort or `settleAll` ends it. */
	ask(send: (id: string) => void, { signal, onAbort: aborted }: AskOptions<Reply>): Promise<Reply> {
		return new Promise((resolve) => {
			const id = this.#newId();
			let release: () => void = () => undefined;
			const settle = (reply: Reply) => {
				if (!this.#waiting.delete(id)) return;
				release();
				resolve(reply);
			};
			this.#waiting.set(id, { settle });
			send(id);
			if (signal) release = onAbort(signal, () => settle(aborted()));
		});
	}

	/** A reply came. Unknown and settled ids are ignored. */
	reply(id: string, reply: Reply): void {
		this.#waiting.get(id)?.settle(reply);
	}

	isWaiting(id: string): boolean {
		return this.#waiting.has(id);
	}

	/** No more replies will arrive. */
	settleAll(reply: Reply): void {
		for (const { settle } of [...this.#waiting.values()]) settle(reply);
	}
}
