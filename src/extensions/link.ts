/** What the extensions of one process share: the session once it exists, the bus, the flags, and the error handler. */
import { onAbort } from "../lib/abort.ts";
import type { ExtensionActions } from "./actions.ts";
import type { EventBus } from "./api.ts";
import type { Fact, UiPromptEvent } from "./events.ts";

/** The form sent over the wire in `extension_error`. */
export interface ExtensionError {
	extensionPath: string;
	event: string;
	error: string;
}

export type OnError = (error: ExtensionError, cause: unknown) => void;

export class Link {
	onError: OnError;
	readonly warn: (text: string) => void;
	readonly flagValues = new Map<string, boolean | string>();
	#actions: ExtensionActions | undefined;
	#ended = new AbortController();
	#listeners = new Map<string, Set<Listener>>();
	#warned = new Set<string>();
	/** Reports a fact to all extensions. */
	notify: (fact: Fact) => void = () => undefined;
	/** Dialogs that are open. */
	#dialogs = 0;
	/** Descriptions of the current waits. */
	readonly waits = new Set<{ extensionPath: string; what: string }>();

	constructor(onError: OnError, warn: (text: string) => void) {
		this.onError = onError;
		this.warn = warn;
	}

	/** Fires when the extensions are released. */
	get ended(): AbortSignal {
		return this.#ended.signal;
	}

	get isBound(): boolean {
		return this.#actions !== undefined;
	}

	/** The session, for the action of this name. */
	actionsFor(what: string): ExtensionActions {
		if (this.ended.aborted) throw new Error(`${what} is not possible any more: the extension was unloaded.`);
		if (!this.#actions) throw new Error(`${what} is not possible while extensions are loading. Use it in a handler, such as that of session_start.`);
		return this.#actions;
	}

	bind(actions: ExtensionActions): void {
		this.#actions = actions;
	}

	/** Asks the user, and says so to extensions. Dialogs that overlap are one wait. */
	asking = async <T>(kind: UiPromptEvent["kind"], title: string, dialog: () => Promise<T>): Promise<T> => {
		const about = { reason: "ui_prompt", kind, title } as const;
		this.#dialogs += 1;
		if (this.#dialogs === 1) this.notify({ type: "ui_prompt_start", ...about });
		try {
			return await dialog();
		} finally {
			this.#dialogs -= 1;
			if (this.#dialogs === 0) this.notify({ type: "ui_prompt_end", ...about });
		}
	};

	report(extensionPath: string, event: string, cause: unknown): void {
		if (!this.ended.aborted) this.onError({ extensionPath, event, error: textOf(cause) }, cause);
	}

	warnOnce(text: string): void {
		if (!this.#warned.has(text)) this.warn(text);
		this.#warned.add(text);
	}

	/** Records a wait until it settles. */
	async waitingFor<T>(extensionPath: string, what: string, settling: T | Promise<T>): Promise<T> {
		const wait = { extensionPath, what };
		this.waits.add(wait);
		return Promise.resolve(settling).finally(() => this.waits.delete(wait));
	}

	end(): void {
		this.#ended.abort();
		this.#listeners.clear();
	}

	/** The bus, as one extension has it. */
	busOf(extensionPath: string): EventBus {
		return {
			on: (channel, handler) => {
				const listener = { extensionPath, handler };
				const listeners = this.#listeners.get(channel) ?? new Set();
				if (!this.ended.aborted) this.#listeners.set(channel, listeners.add(listener));
				return () => void listeners.delete(listener);
			},
			emit: (channel, data) => {
				for (const listener of [...(this.#listeners.get(channel) ?? [])]) this.#tell(listener, channel, data);
			},
		};
	}

	#tell({ extensionPath, handler }: Listener, channel: string, data: unknown): void {
		const failed = (cause: unknown) => this.report(extensionPath, `bus:${channel}`, cause);
		try {
			Promise.resolve(handler(data)).catch(failed);
		} catch (error) {
			failed(error);
		}
	}
}

interface Listener {
	extensionPath: string;
	handler: (data: unknown) => void | Promise<void>;
}

export function textOf(error: unknown): string {
	try {
		return error instanceof Error ? error.message || error.name : String(error);
	} catch {
		// An object without a prototype, or one that throws when it is read.
		return "An error that has no text";
	}
}

/** How long a hook may take before it is reported by name. */
export const slowAfterMs = 10_000;

export type Settled = { answer: unknown } | { failure: unknown } | { isAborted: true };

/** Calls a function of an extension. Never throws; returns a synchronous value directly. `onSlow` may end the wait by returning true. */
export function settle(call: () => unknown, signal: AbortSignal, onSlow: () => boolean): Settled | Promise<Settled> {
	let given: unknown;
	try {
		given = call();
		if (typeof (given as PromiseLike<unknown> | undefined)?.then !== "function") return { answer: given };
	} catch (failure) {
		return { failure };
	}
	return new Promise((resolve) => {
		const finish = (settled: Settled) => {
			clearTimeout(timer);
			release();
			resolve(settled);
		};
		const timer = setTimeout(() => onSlow() && finish({ isAborted: true }), slowAfterMs);
		timer.unref();
		const release = onAbort(signal, () => queueMicrotask(() => finish({ isAborted: true })));
		Promise.resolve(given).then(
			(answer) => finish({ answer }),
			(failure) => finish({ failure }),
		);
	});
}
