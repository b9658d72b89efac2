/** Where a server is, and one request to it. */

import type { IncomingMessage, RequestOptions as NodeRequest } from "node:http";
import type { ErrorCode } from "../protocol/types.generated.ts";

export interface ServerOptions {
	/** `http://127.0.0.1:7717`, `https://…`, or `unix:/path/to/the.socket`. */
	url: string;
	/** Without it: for a unix socket that asks for none. */
	token?: string;
}

/** The server refused, or cannot be reached. */
export class ServerError extends Error {
	override readonly name = "ServerError";
	/** The HTTP status; 0 when there was no answer. */
	readonly status: number;
	/** For a `switch`: docs/errors.md says what to do about each. */
	readonly code: ErrorCode;
	readonly details: Readonly<Record<string, unknown>> | undefined;

	constructor(status: number, code: ErrorCode, message: string, details?: Record<string, unknown>) {
		super(message);
		this.status = status;
		this.code = code;
		this.details = details;
	}
}

export class ServerAddress {
	readonly #url: URL | undefined;
	readonly #socketPath: string | undefined;
	readonly #token: string | undefined;
	/** For people. */
	readonly text: string;

	constructor({ url, token }: ServerOptions) {
		this.#token = token;
		this.text = url;
		if (url.startsWith("unix:")) {
			this.#socketPath = url.slice("unix:".length);
			return;
		}
		const parsed = URL.canParse(url) ? new URL(url) : undefined;
		if (!parsed || !/^https?:$/.test(parsed.protocol))
			throw new TypeError(`url must be like http://127.0.0.1:7717, https://… or unix:/path, not ${JSON.stringify(url)}`);
		if (parsed.username || parsed.password || parsed.search)
			throw new TypeError("A token is not part of the url, where logs would show it: pass it as `token`.");
		this.#url = parsed;
	}

	get isUnixSocket(): boolean {
		return this.#socketPath !== undefined;
	}

	get headers(): Record<string, string> {
		return this.#token === undefined ? {} : { Authorization: `Bearer ${this.#token}` };
	}

	/** For a WebSocket. */
	socketUrl(path: string): string {
		if (this.#url) return `${this.#url.protocol === "https:" ? "wss:" : "ws:"}//${this.#url.host}${this.#prefix}${path}`;
		return `ws+unix:${this.#socketPath}:${path}`;
	}

	/** A proxy may have the server under a path of its own. */
	get #prefix(): string {
		return this.#url?.pathname.replace(/\/$/, "") ?? "";
	}

	/** Rejects with a ServerError. The answer's body is not read. */
	async open(method: string, path: string, body?: unknown, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<IncomingMessage> {
		const { request } = this.#url?.protocol === "https:" ? await import("node:https") : await import("node:http");
		const text = body === undefined ? undefined : JSON.stringify(body);
		const where: NodeRequest = this.#url
			? { hostname: this.#url.hostname.replace(/^\[|\]$/g, ""), port: this.#url.port || undefined, path: `${this.#prefix}${path}` }
			: { socketPath: this.#socketPath, path };
		const all = { ...this.headers, ...(text !== undefined && { "Content-Type": "application/json" }), ...headers };
		const response = await new Promise<IncomingMessage>((resolve, reject) => {
			const sent = request({ ...where, method, headers: all, signal }, resolve);
			sent.on("error", (error) => reject(signal?.aborted ? signal.reason : this.unreachable(error)));
			sent.end(text);
		});
		const { statusCode = 0 } = response;
		if (statusCode >= 400) throw refusalOf(statusCode, await textOf(response));
		return response;
	}

	async ask(method: string, path: string, body?: unknown, headers?: Record<string, string>, signal?: AbortSignal): Promise<unknown> {
		const response = await this.open(method, path, body, headers, signal);
		const text = await textOf(response);
		return response.headers["content-type"]?.startsWith("application/json") ? JSON.parse(text) : text;
	}

	unreachable(error: Error): ServerError {
		const why = (error as NodeJS.ErrnoException).code ?? error.message;
		return new ServerError(0, "unreachable", `There is no server at ${this.text} (${why}). Start one with bowline serve.`);
	}
}

/** The refusal that an answer is. */
export function refusalOf(status: number, text: string): ServerError {
	try {
		const { code, message, details } = (JSON.parse(text) as { error: { code: ErrorCode; message: string; details?: Record<string, unknown> } }).error;
		return new ServerError(status, code, message, details);
	} catch {
		// A proxy in between has words of its own.
		return new ServerError(status, "http", `The server answered ${status}: ${text.slice(0, 200)}`);
	}
}

export async function textOf(response: IncomingMessage): Promise<string> {
	const chunks: Buffer[] = [];
	for await (const chunk of response) chunks.push(chunk as Buffer);
	return Buffer.concat(chunks).toString("utf8");
}
