/** JSON-RPC 2.0 over lines: requests in both directions, notifications, cancellation. Knows no method of the protocol. */
import { onAbort } from "../lib/abort.ts";
import { toLine } from "../lib/jsonl.ts";
import { isNestedDeeperThan, maxNesting } from "../protocol/nesting.ts";
import { asRpcError, codes, isBug, RpcError } from "./errors.ts";

export type Id = string | number | null;

/** A request of the client while it is being answered. */
export interface Incoming {
	readonly id: Id;
	/** Fires when the client cancels the request. */
	readonly signal: AbortSignal;
	/** Runs when the response has been written. */
	afterResponse(then: () => void): void;
}

export interface PeerParts {
	/** `alone`: in a write of its own. */
	send: (line: string, alone?: boolean) => void;
	request: (method: string, params: unknown, incoming: Incoming) => Promise<unknown>;
	notification: (method: string, params: unknown) => void;
	/** A request failed because of a bug. */
	onBug: (method: string, error: unknown) => void;
}

export interface RequestOptions {
	/** Withdraws the question. The promise is rejected with the code for cancelled requests. */
	signal?: AbortSignal;
	/** The question is withdrawn after this time. */
	timeoutMs?: number;
}

interface Asked {
	resolve: (result: unknown) => void;
	reject: (error: RpcError) => void;
}

export class Peer {
	#parts: PeerParts;
	/** Requests of the client that have no response yet, by their ids as JSON. */
	#open = new Map<string, AbortController>();
	#asked = new Map<number, Asked>();
	/** The same requests, each until its response is written. */
	#handling = new Set<Promise<void>>();
	#lastId = 0;
	#isClosed = false;

	constructor(parts: PeerParts) {
		this.#parts = parts;
	}

	receive(line: string): void {
		const message = this.#parsed(line);
		if (!message) return;
		const { id, method, params } = message;
		if (typeof method !== "string") {
			if (method === undefined && ("result" in message || "error" in message)) return this.#answered(message);
			return this.#fail(isId(id) ? id : null, new RpcError(codes.invalidRequest, "method must be a string"));
		}
		if (id === undefined && !("id" in message)) return this.#notified(method, params);
		if (!isId(id)) return this.#fail(null, new RpcError(codes.invalidRequest, "id must be an integer, a string or null"));
		const handling = this.#handle(id, method, params).finally(() => this.#handling.delete(handling));
		this.#handling.add(handling);
	}

	receiveTooLong(limit: number): void {
		this.#fail(null, new RpcError(codes.parse, `The line is longer than ${limit} bytes`));
	}

	notify(method: string, params: object, alone = false): void {
		this.#parts.send(toLine({ jsonrpc: "2.0", method, params }), alone);
	}

	/** Asks the client. Rejects with an RpcError: the client's own, or one that says that the question was withdrawn. */
	request<Result>(method: string, params: object, { signal, timeoutMs }: RequestOptions = {}): Promise<Result> {
		if (this.#isClosed || signal?.aborted) return Promise.reject(new RpcError(codes.cancelled, `${method} was not asked`));
		const id = ++this.#lastId;
		return new Promise<Result>((resolve, reject) => {
			const withdraw = (why: string) => {
				this.notify("$/cancel_request", { requestId: id });
				this.#asked.get(id)?.reject(new RpcError(codes.cancelled, `${method} ${why}`));
			};
			const timer = timeoutMs === undefined ? undefined : setTimeout(() => withdraw(`has not been answered for ${timeoutMs / 1000} s`), timeoutMs);
			let release: () => void = () => undefined;
			const end = <T>(then: (value: T) => void) => {
				return (value: T) => {
					this.#asked.delete(id);
					clearTimeout(timer);
					release();
					then(value);
				};
			};
			this.#asked.set(id, { resolve: end(resolve as (result: unknown) => void), reject: end(reject) });
			this.#parts.send(toLine({ jsonrpc: "2.0", id, method, params }));
			if (signal) release = onAbort(signal, () => withdraw("was withdrawn"));
		});
	}

	/** Resolves when every request of the client has its response. */
	async answered(): Promise<void> {
		while (this.#handling.size) await Promise.allSettled(this.#handling);
	}

	/** The client is gone: what was asked has no answer, and nothing more is asked. */
	close(): void {
		this.#isClosed = true;
		for (const { reject } of [...this.#asked.values()]) reject(new RpcError(codes.cancelled, "The client has gone"));
	}

	#parsed(line: string): Record<string, unknown> | undefined {
		const refuse = (code: number, text: string) => void this.#fail(null, new RpcError(code, text));
		if (isNestedDeeperThan(maxNesting, line)) return refuse(codes.parse, `The line is nested deeper than ${maxNesting}`);
		let value: unknown;
		try {
			value = JSON.parse(line);
		} catch (error) {
			return refuse(codes.parse, `The line is not JSON: ${(error as Error).message}`);
		}
		if (Array.isArray(value)) return refuse(codes.invalidRequest, "A message must be one object; batches are not part of the protocol");
		if (typeof value !== "object" || value === null) return refuse(codes.invalidRequest, "A message must be an object");
		return value as Record<string, unknown>;
	}

	#notified(method: string, params: unknown): void {
		if (method === "$/cancel_request") {
			const requestId = (params as { requestId?: unknown } | undefined)?.requestId;
			this.#open.get(JSON.stringify(requestId))?.abort();
			return;
		}
		this.#parts.notification(method, params);
	}

	#answered({ id, result, error }: Record<string, unknown>): void {
		const asked = typeof id === "number" ? this.#asked.get(id) : undefined;
		if (!asked) return;
		if (error === undefined || error === null) return asked.resolve(result);
		const { code, message } = error as { code?: unknown; message?: unknown };
		asked.reject(new RpcError(typeof code === "number" ? code : codes.internal, typeof message === "string" ? message : "The client failed"));
	}

	async #handle(id: Id, method: string, params: unknown): Promise<void> {
		const key = JSON.stringify(id);
		const controller = new AbortController();
		this.#open.set(key, controller);
		const afterwards: (() => void)[] = [];
		const incoming: Incoming = { id, signal: controller.signal, afterResponse: (then) => void afterwards.push(then) };
		try {
			const result = await this.#parts.request(method, params ?? {}, incoming);
			this.#parts.send(toLine({ jsonrpc: "2.0", id, result: result ?? {} }), afterwards.length > 0);
			for (const then of afterwards) then();
		} catch (error) {
			if (isBug(error)) this.#parts.onBug(method, error);
			this.#fail(id, asRpcError(error));
		} finally {
			if (this.#open.get(key) === controller) this.#open.delete(key);
		}
	}

	#fail(id: Id, { code, message, data }: RpcError): void {
		this.#parts.send(toLine({ jsonrpc: "2.0", id, error: { code, message, data } }));
	}
}

function isId(id: unknown): id is Id {
	return id === null || typeof id === "string" || Number.isSafeInteger(id);
}
