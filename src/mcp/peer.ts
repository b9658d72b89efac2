/** Requests, answers and notifications of JSON-RPC over any transport. */
import { onAbort } from "../lib/abort.ts";
import { isObject } from "./config.ts";

export type Json = Record<string, unknown>;

export interface Message extends Json {
	jsonrpc: "2.0";
}

/** Carries messages. What it receives it hands to the peer. */
export interface Transport {
	/** `headers` are for transports that have any. */
	send(message: Message, headers?: Record<string, string>): void;
	/** No answer to this request is wanted any more. */
	abandon?(id: number): void;
	/** Whether abandoning a request tells the server, so that no notification is needed. */
	readonly abandonCancels?: boolean;
	/** Both sides agreed on this revision. */
	agreed?(version: string): void;
	close(): Promise<void>;
}

/** What a transport reports. */
export interface TransportEvents {
	message(message: unknown): void;
	/** The request gets no answer. */
	failed(id: number, error: Error): void;
	/** The connection is over, for this reason. */
	closed(error: Error): void;
}

/** The server answered with an error. */
export class RpcError extends Error {
	readonly code: number;
	readonly data: unknown;

	constructor(code: number, message: string, data?: unknown) {
		super(message);
		this.code = code;
		this.data = data;
	}
}

export interface PeerHandlers {
	/** Answers a request of the server. */
	request(method: string, params: Json, signal: AbortSignal): Promise<Json>;
	notification(method: string, params: Json): void;
	/** The connection is over. */
	closed(error: Error): void;
}

export interface RequestOptions {
	/** Ends the request when it runs out. */
	clock: Clock;
	signal?: AbortSignal;
	/** Receives `notifications/progress` of the request. */
	onProgress?: (params: Json) => void;
	headers?: Record<string, string>;
	/** A request that must not be cancelled. */
	isGreeting?: true;
}

interface Pending {
	resolve(result: Json): void;
	reject(error: Error): void;
	clock: Clock;
	onProgress: ((params: Json) => void) | undefined;
}

const methodNotFound = -32601;
const internalError = -32603;

export class Peer implements TransportEvents {
	transport!: Transport;
	#handlers: PeerHandlers;
	#pending = new Map<number, Pending>();
	/** Requests of the server that are being answered. */
	#answering = new Map<unknown, AbortController>();
	#nextId = 1;
	#end: Error | undefined;

	constructor(handlers: PeerHandlers) {
		this.#handlers = handlers;
	}

	/** The reason of the end, once it is over. */
	get end(): Error | undefined {
		return this.#end;
	}

	request(method: string, params: Json, { clock, signal, onProgress, headers, isGreeting }: RequestOptions): Promise<Json> {
		if (this.#end) return Promise.reject(this.#end);
		const id = this.#nextId++;
		const sent = onProgress ? { ...params, _meta: { ...(params._meta as Json | undefined), progressToken: id } } : params;
		return new Promise<Json>((resolve, reject) => {
			const stop = (error: Error, reason: string) => {
				if (!this.#pending.has(id)) return;
				finish();
				if (!isGreeting && !this.transport.abandonCancels) this.notify("notifications/cancelled", { requestId: id, reason });
				this.transport.abandon?.(id);
				reject(error);
			};
			const release = signal ? onAbort(signal, () => queueMicrotask(() => stop(new Aborted(), "aborted"))) : () => undefined;
			const finish = () => {
				this.#pending.delete(id);
				clock.leave(expired);
				release();
			};
			const expired = (ms: number) => stop(new TimedOut(ms), "timed out");
			const settle =
				<T>(then: (value: T) => void) =>
				(value: T) => {
					finish();
					then(value);
				};
			this.#pending.set(id, { resolve: settle(resolve), reject: settle(reject), clock, onProgress });
			clock.enter(expired);
			this.transport.send({ jsonrpc: "2.0", id, method, params: sent }, headers);
		});
	}

	notify(method: string, params: Json = {}): void {
		if (!this.#end) this.transport.send({ jsonrpc: "2.0", method, ...(Object.keys(params).length > 0 && { params }) });
	}

	/** The clocks of all requests pause while a person is asked. */
	pause(isPaused: boolean): void {
		for (const { clock } of this.#pending.values()) isPaused ? clock.pause() : clock.resume();
	}

	message(message: unknown): void {
		if (Array.isArray(message)) {
			for (const each of message) this.message(each);
			return;
		}
		if (!isObject(message)) return;
		const { id, method, result, error } = message;
		const params = isObject(message.params) ? message.params : {};
		if (typeof method === "string") {
			if (id === undefined || id === null) this.#notified(method, params);
			else void this.#asked(id, method, params);
			return;
		}
		const pending = this.#pending.get(typeof id === "string" ? Number(id) : (id as number));
		// A late answer, or one that was never asked for.
		if (!pending) return;
		if (isObject(error)) pending.reject(new RpcError(Number(error.code ?? 0), String(error.message ?? "unknown error"), error.data));
		else pending.resolve(isObject(result) ? result : {});
	}

	failed(id: number, error: Error): void {
		this.#pending.get(id)?.reject(error);
	}

	closed(error: Error): void {
		if (this.#end) return;
		this.#end = error;
		for (const controller of this.#answering.values()) controller.abort();
		for (const pending of [...this.#pending.values()]) pending.reject(error);
		this.#handlers.closed(error);
	}

	#notified(method: string, params: Json): void {
		if (method === "notifications/progress") {
			const pending = this.#pending.get(Number(params.progressToken));
			pending?.clock.touch();
			pending?.onProgress?.(params);
			return;
		}
		if (method === "notifications/cancelled") this.#answering.get(params.requestId)?.abort();
		this.#handlers.notification(method, params);
	}

	async #asked(id: unknown, method: string, params: Json): Promise<void> {
		const controller = new AbortController();
		this.#answering.set(id, controller);
		const answer = await this.#handlers.request(method, params, controller.signal).then(
			(result) => ({ result }),
			(error: Error) => ({
				error: {
					code: error instanceof RpcError ? error.code : internalError,
					message: error instanceof RpcError ? error.message : "internal error",
				},
			}),
		);
		this.#answering.delete(id);
		if (!this.#end && !controller.signal.aborted) this.transport.send({ jsonrpc: "2.0", id, ...answer });
	}
}

export const notFound = (method: string) => new RpcError(methodNotFound, `Method not found: ${method}`);

export class Aborted extends Error {}

export class TimedOut extends Error {
	readonly afterMs: number;

	constructor(afterMs: number) {
		super(`no answer for ${Math.round(afterMs / 1000)} s`);
		this.afterMs = afterMs;
	}
}

const longestTimer = 2 ** 31 - 1;

/** Measures silence and the whole time of a call, which may be several requests. Both pause while a person is asked. */
export class Clock {
	readonly #idleMs: number;
	readonly #totalMs: number;
	#idle: NodeJS.Timeout | undefined;
	#total: NodeJS.Timeout | undefined;
	/** What is left of the whole time, and since when it runs. */
	#left: number;
	#since = 0;
	#pauses = 0;
	#expired: ((ms: number) => void) | undefined;

	constructor(idleMs: number, totalMs = idleMs) {
		this.#idleMs = Math.min(idleMs, longestTimer);
		this.#totalMs = Math.min(Math.max(totalMs, idleMs), longestTimer);
		this.#left = this.#totalMs;
	}

	/** A request begins. */
	enter(expired: (ms: number) => void): void {
		this.#expired = expired;
		this.#run();
	}

	/** Its answer is in. */
	leave(expired: (ms: number) => void): void {
		if (this.#expired !== expired) return;
		this.#halt();
		this.#expired = undefined;
	}

	/** A sign of life. */
	touch(): void {
		this.#idle?.refresh();
	}

	pause(): void {
		this.#pauses += 1;
		this.#halt();
	}

	resume(): void {
		this.#pauses = Math.max(0, this.#pauses - 1);
		this.#run();
	}

	#run(): void {
		if (this.#pauses > 0 || !this.#expired || this.#idle) return;
		this.#since = performance.now();
		this.#idle = setTimeout(() => this.#expired?.(this.#idleMs), Math.min(this.#idleMs, this.#left));
		if (this.#totalMs > this.#idleMs) this.#total = setTimeout(() => this.#expired?.(this.#totalMs), this.#left);
	}

	#halt(): void {
		if (!this.#idle) return;
		clearTimeout(this.#idle);
		clearTimeout(this.#total);
		this.#idle = undefined;
		this.#total = undefined;
		this.#left = Math.max(1, this.#left - (performance.now() - this.#since));
	}
}
