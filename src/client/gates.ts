/** Questions before each step: the host's handler answers them. A handler that fails ends the run. */
import type { GateRequest, GateResponse } from "../protocol/types.generated.ts";

export type GateAnswer = Omit<GateResponse, "type" | "id">;

/** Decides about a step. The signal fires when the agent has ended. */
export type GateHandler = (request: GateRequest, signal: AbortSignal) => GateAnswer | Promise<GateAnswer>;

export class Gates {
	#send: (frame: object) => void;
	#report: (error: unknown) => void;
	#open = new AbortController();

	constructor(send: (frame: object) => void, report: (error: unknown) => void) {
		this.#send = send;
		this.#report = report;
	}

	/** Never rejects. Without a handler nothing is sent: a listener may answer by other means. */
	async receive(request: GateRequest, handler: GateHandler | undefined): Promise<void> {
		if (!handler) return;
		const { signal } = this.#open;
		let answer: GateAnswer;
		let failure: { error: unknown } | undefined;
		try {
			answer = await handler(request, signal);
		} catch (error) {
			failure = { error };
			answer = { allow: false, reason: "The host could not decide about this step.", end: true };
		}
		if (signal.aborted) return;
		// The answer first: what receives the error may end the program.
		this.#send({ ...answer, type: "gate_response", id: request.id });
		if (failure) this.#report(failure.error);
	}

	closeAll(): void {
		this.#open.abort();
	}
}
