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
		let answer: PermissionAnswer;
		let failure: { error: unknown } | undefined;
		try {
			answer = membersOf(await handler(request, controller.signal));
		} catch (error) {
			answer = { decision: "deny", message: `The host's handler failed: ${reasonOf(error)}` };
			if (!controller.signal.aborted) failure = { error };
		}
		// The answer first: what receives the error may end the program.
		if (this.#open.delete(id)) this.#send({ type: "permission_response", id, digest, ...answer });
		if (failure) this.#report(failure.error);
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

const scopes: readonly unknown[] = ["once", "session", "always"];

/** Only what belongs into an answer. Throws where it is not one: the agent would refuse it, and the question would stay open. */
function membersOf(answer: PermissionAnswer | undefined): PermissionAnswer {
	const { decision, scope, rule, message, by } = answer ?? ({} as Partial<PermissionAnswer>);
	if (decision !== "allow" && decision !== "deny") throw new TypeError('onPermission: decision must be "allow" or "deny"');
	if (scope !== undefined && !scopes.includes(scope)) throw new TypeError('onPermission: scope must be "once", "session" or "always"');
	if (message !== undefined && typeof message !== "string") throw new TypeError("onPermission: message must be a string");
	if (rule !== undefined && (typeof rule !== "object" || rule === null)) throw new TypeError("onPermission: rule must be an object");
	return {
		decision,
		...(scope !== undefined && { scope }),
		...(rule !== undefined && { rule: JSON.parse(JSON.stringify(rule)) as typeof rule }),
		...(message !== undefined && { message }),
		...(by !== undefined && { by }),
	};
}

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
