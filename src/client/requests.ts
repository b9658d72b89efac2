/** Which answer belongs to which request. */
import { toLine } from "../lib/jsonl.ts";
import type { Response } from "../protocol/types.generated.ts";
import type { Exit } from "./channel.ts";
import { ExitError, RequestError, TimeoutError } from "./errors.ts";
import { after } from "./timer.ts";

export interface RequestOptions {
	/** How long to wait for the answer; 0 waits as long as it takes. The agent is not informed when we stop waiting. */
	timeoutMs?: number;
	/** Stops waiting. */
	signal?: AbortSignal;
}

interface Pending {
	command: string;
	resolve: (data: unknown) => void;
	reject: (error: unknown) => void;
}

export class Requests {
	#send: (line: string) => void;
	#newId: () => string;
	/** In the order they were sent. */
	#pending = new Map<string, Pending>();

	constructor(send: (line: string) => void, newId: () => string) {
		this.#send = send;
		this.#newId = newId;
	}

	/** Rejects when the agent refuses, dies, or takes too long. */
	ask(command: string, params: object | undefined, { timeoutMs = 0, signal }: RequestOptions): { id: string; answer: Promise<unknown> } {
		const id = this.#newId();
		const answer = new Promise<unknown>((resolve, reject) => {
			signal?.throwIfAborted();
			const line = toLine({ ...params, id, type: command });
			const settle =
				<T>(then: (value: T) => void) =>
				(value: T) => {
					this.#pending.delete(id);
					clearTimeout(timer);
					signal?.removeEventListener("abort", onAbort);
					then(value);
				};
			const pending: Pending = { command, resolve: settle(resolve), reject: settle(reject) };
			const onAbort = () => pending.reject(signal?.reason);
			const timer = after(timeoutMs, () => pending.reject(tooLate(command, timeoutMs)));
			signal?.addEventListener("abort", onAbort, { once: true });
			this.#pending.set(id, pending);
			this.#send(line);
		});
		return { id, answer };
	}

	/** Whether the answer belongs to one of our requests. */
	receive(response: Response): boolean {
		const pending = this.#find(response);
		if (!pending) return false;
		if (response.success) pending.resolve(response.data);
		else pending.reject(new RequestError(pending.command, response.error, response.code, response.hint));
		return true;
	}

	fail(error: (command: string) => Error): void {
		for (const { command, reject } of [...this.#pending.values()]) reject(error(command));
	}

	end(exit: Exit): void {
		this.fail((command) => new ExitError(exit, `while ${command} was pending`));
	}

	/**
	 * By id. Agents of the family omit it from failures of unknown commands, and from unforeseen failures (`parse`): then the name
	 * decides, and a failure goes to the only pending request.
	 */
	#find({ id, command, success }: Response): Pending | undefined {
		if (id !== undefined && id !== null) return this.#pending.get(String(id));
		if (success) return undefined;
		const all = [...this.#pending.values()];
		if (command === "parse") return all.length === 1 ? all[0] : undefined;
		return all.find((pending) => pending.command === command);
	}
}

function tooLate(command: string, timeoutMs: number): TimeoutError {
	return new TimeoutError(`${command} was not answered within ${timeoutMs} ms; pass a larger timeoutMs if it may take longer`);
}
