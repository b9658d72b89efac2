/** Dialogs and notices of extensions, as frames. A dialog always ends: by an answer, a timeout, an abort, or the host's going. */
import type { DialogOptions, Ui } from "../agent/contracts.ts";
import { uuid } from "../lib/ids.ts";
import type { ExtensionUiRequest, ExtensionUiResponse } from "../protocol/extension-ui.ts";
import { Calls } from "./calls.ts";

type Answer = Partial<ExtensionUiResponse>;
type WithoutId<Request> = Request extends { id: string } ? Omit<Request, "id" | "type"> : never;
type Body = WithoutId<ExtensionUiRequest>;

export interface DialogsParts {
	send: (frame: ExtensionUiRequest) => void;
	/** `setTitle` is only for hosts that asked for it. */
	emitsTitle: boolean;
	/** `open_url` is only for hosts that know it. */
	opensUrls?: boolean;
	/** Whether the host hears that the time of a dialog is over. */
	withdrawsLateDialogs?: boolean;
	now: () => number;
}

const cancelled: Answer = { cancelled: true };

export class Dialogs implements Ui {
	#parts: DialogsParts;
	#calls: Calls<Answer>;
	#isClosed = false;
	#hasAnswered = false;
	/** Hears of dialogs that have ended. */
	onClosed: ((id: string) => void) | undefined;

	constructor(parts: DialogsParts) {
		this.#parts = parts;
		this.#calls = new Calls(() => uuid(parts.now()));
	}

	async select(title: string, options: string[], { timeout, signal, descriptions }: DialogOptions = {}): Promise<string | undefined> {
		const chosen = textOf(await this.#ask({ method: "select", title, options, ...detailsOf(descriptions), ...limit(timeout) }, signal));
		return chosen !== undefined && options.includes(chosen) ? chosen : undefined;
	}

	/** The same, for callers that must know why nothing was chosen. */
	async choose(title: string, options: string[], { timeout, signal }: { timeout: number; signal: AbortSignal }) {
		const answer = await this.#ask({ method: "select", title, options, ...limit(timeout) }, signal);
		const chosen = textOf(answer);
		return { ...(chosen !== undefined && options.includes(chosen) && { chosen }), hasTimedOut: answer.timedOut === true };
	}

	/** Whether the host has ever answered, in time or late. */
	hasAnswered(): boolean {
		return this.#hasAnswered;
	}

	async confirm(title: string, message: string, { timeout, signal }: DialogOptions = {}): Promise<boolean> {
		const { confirmed, cancelled: isCancelled } = await this.#ask({ method: "confirm", title, message, ...limit(timeout) }, signal);
		return confirmed === true && isCancelled !== true;
	}

	async input(title: string, placeholder?: string, { timeout, signal }: DialogOptions = {}): Promise<string | undefined> {
		return textOf(await this.#ask({ method: "input", title, placeholder, ...limit(timeout) }, signal));
	}

	async editor(title: string, prefill?: string, { signal }: DialogOptions = {}): Promise<string | undefined> {
		return textOf(await this.#ask({ method: "editor", title, prefill }, signal));
	}

	notify(message: string, notifyType?: "info" | "warning" | "error"): void {
		this.#tell({ method: "notify", message, notifyType });
	}

	setStatus(statusKey: string, statusText?: string): void {
		this.#tell({ method: "setStatus", statusKey, statusText });
	}

	setWidget(widgetKey: string, widgetLines?: string[], { placement }: { placement?: "aboveEditor" | "belowEditor" } = {}): void {
		this.#tell({ method: "setWidget", widgetKey, widgetLines, widgetPlacement: placement });
	}

	setTitle(title: string): void {
		if (this.#parts.emitsTitle) this.#tell({ method: "setTitle", title });
	}

	setEditorText(text: string): void {
		this.#tell({ method: "set_editor_text", text });
	}

	openUrl(url: string, instructions: string): void {
		if (this.#parts.opensUrls) this.#tell({ method: "open_url", url, instructions });
	}

	receive(response: ExtensionUiResponse): void {
		this.#hasAnswered = true;
		this.#calls.reply(response.id, response);
	}

	/** The host is gone: open dialogs get their default, and new ones are not asked. */
	close(): void {
		this.#isClosed = true;
		this.#calls.settleAll(cancelled);
	}

	async #ask(body: Body, signal: AbortSignal | undefined): Promise<Answer> {
		if (this.#isClosed || signal?.aborted) return cancelled;
		let id = "";
		const timeout = "timeout" in body ? body.timeout : undefined;
		const onTimeout = () => {
			if (this.#parts.withdrawsLateDialogs) this.#tell({ method: "cancel", targetId: id });
			this.#calls.reply(id, { ...cancelled, timedOut: true });
		};
		const handle = timeout === undefined ? undefined : setTimeout(onTimeout, timeout);
		const answer = await this.#calls.ask(
			(fresh) => {
				id = fresh;
				this.#send(id, body);
			},
			{
				signal,
				onAbort: () => {
					this.#tell({ method: "cancel", targetId: id });
					return cancelled;
				},
			},
		);
		clearTimeout(handle);
		this.onClosed?.(id);
		return answer;
	}

	#tell(body: Body): void {
		if (!this.#isClosed) this.#send(uuid(this.#parts.now()), body);
	}

	#send(id: string, body: Body): void {
		this.#parts.send({ type: "extension_ui_request", id, ...body } as ExtensionUiRequest);
	}
}

/** The longest wait that a timer can do. */
const longestMs = 2 ** 31 - 1;

/** A whole number of milliseconds, as strict clients want it. Infinity, and any value that is not a number, means no limit. */
function limit(timeout: unknown): { timeout?: number } {
	if (typeof timeout !== "number" || !(timeout < Number.POSITIVE_INFINITY)) return {};
	return { timeout: Math.max(0, Math.min(Math.round(timeout), longestMs)) };
}

/** One for each option, if any is described. */
function detailsOf(descriptions: DialogOptions["descriptions"]): { optionDetails?: { description?: string }[] } {
	if (!descriptions?.some((each) => each !== undefined)) return {};
	return { optionDetails: descriptions.map((description) => (description === undefined ? {} : { description })) };
}

/** An answer that lacks the member its dialog needs counts as cancelled. */
function textOf({ value, cancelled: isCancelled }: Answer): string | undefined {
	return typeof value === "string" && isCancelled !== true ? value : undefined;
}
