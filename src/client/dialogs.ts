/** Dialogs of extensions: the host's handler answers them, and the agent always gets an answer. */
import type { ExtensionUiRequest } from "../protocol/types.generated.ts";
import { after } from "./timer.ts";

/** A request that waits for an answer. */
export type Dialog = Extract<ExtensionUiRequest, { method: "select" | "confirm" | "input" | "editor" }>;

/**
 * Answers a dialog: the chosen option, the text, or for `confirm` yes or no; nothing when the user gives no answer.
 * The signal fires when the answer is no longer wanted.
 */
export type DialogHandler = (dialog: Dialog, signal: AbortSignal) => DialogAnswer | Promise<DialogAnswer>;
export type DialogAnswer = string | boolean | undefined;

export class Dialogs {
	#send: (frame: object) => void;
	#report: (error: unknown) => void;
	#open = new Map<string, AbortController>();

	constructor(send: (frame: object) => void, report: (error: unknown) => void) {
		this.#send = send;
		this.#report = report;
	}

	/** Never rejects. Without a handler the dialog is cancelled, so that the agent does not wait for a user who is not asked. */
	async receive(request: ExtensionUiRequest, handler: DialogHandler | undefined): Promise<void> {
		if (request.method === "cancel") return this.#close(request.targetId);
		if (!isDialog(request)) return;
		const { id } = request;
		const controller = new AbortController();
		this.#open.set(id, controller);
		// The agent then continues without an answer, and does not say so.
		const timer = "timeout" in request ? after(request.timeout ?? 0, () => this.#close(id)) : undefined;
		let answer: DialogAnswer;
		let failure: { error: unknown } | undefined;
		try {
			answer = await handler?.(request, controller.signal);
		} catch (error) {
			failure = { error };
		}
		clearTimeout(timer);
		// The answer first: what receives the error may end the program.
		if (this.#open.delete(id)) this.#send({ type: "extension_ui_response", id, ...members(request, answer) });
		if (failure) this.#report(failure.error);
	}

	closeAll(): void {
		for (const id of [...this.#open.keys()]) this.#close(id);
	}

	#close(id: string): void {
		const controller = this.#open.get(id);
		this.#open.delete(id);
		controller?.abort();
	}
}

function isDialog(request: ExtensionUiRequest): request is Dialog {
	const { method } = request;
	return method === "select" || method === "confirm" || method === "input" || method === "editor";
}

function members({ method }: Dialog, answer: DialogAnswer): object {
	if (method === "confirm" && typeof answer === "boolean") return { confirmed: answer };
	return typeof answer === "string" && method !== "confirm" ? { value: answer } : { cancelled: true };
}
