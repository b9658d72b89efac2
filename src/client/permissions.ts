/** Questions about tool calls: the host's handler answers them. A handler that fails denies, and so does silence. */
import type { PermissionRequest, PermissionResponse } from "../protocol/types.generated.ts";

/** What the host says to a question. `message` is for the model, on deny. */
export type PermissionAnswer = Pick<PermissionResponse, "decision" | "scope" | "rule" | "message" | "by">;

/** Decides about a tool call. The signal fires when the answer is no longer wanted. */
export type PermissionHandler = (request: PermissionRequest, signal: AbortSignal) => PermissionAnswer | Promise<PermissionAnswer>;

export class Permissions {
	#send: (frame: object) => void;
	#report: (error: unknown) => void;
	#open = new Map<string, AbortController>();

	constructor(send: (frame: object) => void, report: (error: unknown) => void) {
		this.#send = send;
		this.#report = report;
	}

	/** Never rejects. Without a handler nothing is sent: a listener may answer by other means. */
	async receive(request: PermissionRequest, handler: PermissionHandler | undefined): Promise<void> {
		if (!handler) return;
		const { id, digest } = request;
		const controller = new AbortController();
		this.#open.set(id, controller);
		let answer: PermissionAnswer = { decision: "deny" };
		try {
			answer = await handler(request, controller.signal);
		} catch (error) {
			if (!controller.signal.aborted) this.#report(error);
		}
		if (!this.#open.delete(id)) return;
		const isAnswer = answer?.decision === "allow" || answer?.decision === "deny";
		this.#send({ type: "permission_response", id, digest, ...(isAnswer ? answer : { decision: "deny" }) });
	}

	/** The question is closed, whoever closed it. */
	close(id: string, reason?: "gone"): void {
		const controller = this.#open.get(id);
		this.#open.delete(id);
		controller?.abort(reason);
	}

	/** `gone`: the agent has ended. */
	closeAll(reason?: "gone"): void {
		for (const id of [...this.#open.keys()]) this.close(id, reason);
	}
}
