/** Messages over HTTP: each is a POST, answered by JSON or by a stream of events. */
import type { IncomingHttpHeaders } from "node:http";
import type { HttpClient, Outcome, Post } from "../lib/http/client.ts";
import { toLine } from "../lib/jsonl.ts";
import { sleep } from "../lib/sleep.ts";
import { SseReader } from "../lib/sse.ts";
import { isObject, modernVersion } from "./config.ts";
import type { Era } from "./connection.ts";
import { headerValue } from "./http-headers.ts";
import { type Json, type Message, RpcError, type Transport, type TransportEvents } from "./peer.ts";

export interface HttpParts {
	url: string;
	/** Of the entry. They go to its origin only. */
	headers: Record<string, string>;
	client: HttpClient;
	events: TransportEvents;
	era: Era;
	/** Greets the server again when it has forgotten the session. */
	greetAgain?: () => Promise<unknown>;
}

/** The server refused with a status and no words of the protocol. */
export class HttpRefused extends Error {
	readonly status: number;

	constructor(status: number, body: string) {
		const words = body
			.replace(/<[^>]*>/g, " ")
			.replace(/\s+/g, " ")
			.trim()
			.slice(0, 200);
		super(`the server answered with status ${status}${words && `: ${words}`}`);
		this.status = status;
	}
}

/** 401 or 403. */
export class LoginWanted extends HttpRefused {}

const largestAnswer = 32 * 1024 * 1024;
const mostRedirects = 3;
const mostResumptions = 5;
const defaultRetryMs = 1000;
const endMs = 1000;
const accept = "application/json, text/event-stream";

/** What an exchange with the server gave. */
interface Exchanged {
	outcome: Outcome;
	/** The last id of its events, and how long to wait before asking for more. */
	lastId: string | undefined;
	retryMs: number | undefined;
}

export class HttpTransport implements Transport {
	#parts: HttpParts;
	#url: string;
	#running = new Map<number, AbortController>();
	#stop = new AbortController();
	#sessionId: string | undefined;
	#version: string | undefined;
	#renewing: Promise<unknown> | undefined;

	constructor(parts: HttpParts) {
		this.#parts = parts;
		this.#url = parts.url;
	}

	get abandonCancels(): boolean {
		return this.#parts.era === "modern";
	}

	agreed(version: string): void {
		this.#version = version;
	}

	send(message: Message, headers: Record<string, string> = {}): void {
		void this.#deliver(message, headers);
	}

	abandon(id: number): void {
		this.#running.get(id)?.abort();
	}

	async close(): Promise<void> {
		const sessionId = this.#sessionId;
		this.#stop.abort();
		for (const controller of this.#running.values()) controller.abort();
		if (sessionId === undefined) return;
		const signal = AbortSignal.timeout(endMs);
		await this.#exchange({ method: "DELETE", headers: this.#legacyHeaders(sessionId), body: "", signal }, () => undefined);
	}

	/** Listens for notifications. A server that has no such stream refuses it, which is fine. */
	async listen(): Promise<void> {
		let lastId: string | undefined;
		const { signal } = this.#stop;
		for (let wait = defaultRetryMs; !signal.aborted; wait = Math.min(wait * 2, 60_000)) {
			const headers = {
				accept: "text/event-stream",
				...this.#legacyHeaders(this.#sessionId),
				...(lastId === undefined ? {} : { "last-event-id": lastId }),
			};
			const {
				outcome,
				lastId: newest,
				retryMs,
			} = await this.#exchange({ method: "GET", headers, body: "", signal }, (message) => this.#parts.events.message(message));
			lastId = newest ?? lastId;
			if (outcome.type === "refused" || outcome.type === "aborted") return;
			if (outcome.type === "ended") wait = retryMs ?? defaultRetryMs;
			await sleep(wait, signal);
		}
	}

	async #deliver(message: Message, more: Record<string, string>): Promise<void> {
		const { events } = this.#parts;
		const id = typeof message.id === "number" && typeof message.method === "string" ? message.id : undefined;
		const controller = new AbortController();
		if (id !== undefined) this.#running.set(id, controller);
		try {
			const problem = await this.#ask(message, id, more, controller.signal);
			if (problem && id !== undefined) events.failed(id, problem);
		} finally {
			if (id !== undefined) this.#running.delete(id);
		}
	}

	/** Why the request has no answer; nothing when the answer was handed on. */
	async #ask(
		message: Message,
		id: number | undefined,
		more: Record<string, string>,
		signal: AbortSignal,
		isSecond = false,
	): Promise<Error | undefined> {
		const { era, events } = this.#parts;
		let isAnswered = id === undefined;
		const take = (each: unknown) => {
			if (isObject(each) && each.id === id && each.method === undefined) isAnswered = true;
			events.message(each);
		};
		const sessionId = message.method === "initialize" ? undefined : this.#sessionId;
		const own = era === "modern" ? modernHeaders(message) : this.#legacyHeaders(sessionId);
		const headers = { "content-type": "application/json", accept, ...own, ...more };
		let { outcome, lastId, retryMs } = await this.#exchange({ headers, body: toLine(message), signal }, take, message.method === "initialize");
		for (let attempt = 0; !isAnswered && era === "legacy" && lastId !== undefined && isOver(outcome) && attempt < mostResumptions; attempt += 1) {
			await sleep(retryMs ?? defaultRetryMs, signal);
			const again = { accept: "text/event-stream", ...this.#legacyHeaders(this.#sessionId), "last-event-id": lastId };
			const next = await this.#exchange({ method: "GET", headers: again, body: "", signal }, take);
			outcome = next.outcome;
			lastId = next.lastId ?? lastId;
			retryMs = next.retryMs ?? retryMs;
		}
		if (isAnswered || outcome.type === "aborted") return undefined;
		if (outcome.type === "refused" && outcome.status === 404 && sessionId !== undefined && !isSecond && this.#parts.greetAgain) {
			const failed = await this.#renew(sessionId);
			return failed ?? this.#ask(message, id, more, signal, true);
		}
		return problemOf(outcome, this.#url);
	}

	/** One new session, however many requests found the old one gone. */
	async #renew(lost: string): Promise<Error | undefined> {
		if (this.#sessionId !== lost) return undefined;
		this.#renewing ??= (this.#parts.greetAgain as () => Promise<unknown>)().finally(() => {
			this.#renewing = undefined;
		});
		try {
			await this.#renewing;
			return undefined;
		} catch (error) {
			return error as Error;
		}
	}

	#legacyHeaders(sessionId: string | undefined): Record<string, string> {
		const headers: Record<string, string> = {};
		if (sessionId !== undefined) headers["mcp-session-id"] = sessionId;
		if (this.#version !== undefined) headers["mcp-protocol-version"] = this.#version;
		return headers;
	}

	/** Sends one request, follows redirects within the origin, and hands on the messages of its answer. */
	async #exchange(
		post: Pick<Post, "method" | "headers" | "body" | "signal">,
		take: (message: unknown) => void,
		takesSession = false,
	): Promise<Exchanged> {
		for (let redirects = 0; ; redirects += 1) {
			const answer = new Answer(take);
			const outcome = await this.#parts.client.post({
				...post,
				url: this.#url,
				headers: { ...lowerCase(this.#parts.headers), ...post.headers },
				firstEventTimeoutMs: 0,
				idleTimeoutMs: 0,
				onHead: (_, headers) => {
					const id = headers["mcp-session-id"];
					if (takesSession && this.#parts.era === "legacy") this.#sessionId = typeof id === "string" ? id : undefined;
					answer.begin(headers);
				},
				onData: (chunk) => answer.push(chunk),
			});
			if (outcome.type === "ended") answer.end();
			const next = outcome.type === "refused" && redirects < mostRedirects ? redirectOf(outcome, this.#url) : undefined;
			if (next === undefined) return { outcome, lastId: answer.lastId, retryMs: answer.retryMs };
			this.#url = next;
		}
	}
}

/** The body of an answer, in either form. */
class Answer {
	#take: (message: unknown) => void;
	#events: SseReader | undefined;
	#parts: Buffer[] = [];
	#size = 0;

	constructor(take: (message: unknown) => void) {
		this.#take = take;
	}

	get lastId(): string | undefined {
		return this.#events?.lastId;
	}

	get retryMs(): number | undefined {
		return this.#events?.retryMs;
	}

	begin(headers: IncomingHttpHeaders): void {
		const isStream = (headers["content-type"] ?? "").startsWith("text/event-stream");
		if (isStream) this.#events = new SseReader((data, name) => (name === "" || name === "message") && this.#message(data), largestAnswer);
	}

	push(chunk: Buffer): "reading" {
		if (this.#events) this.#events.push(chunk);
		else {
			this.#size += chunk.length;
			if (this.#size > largestAnswer) throw new RangeError("the answer is larger than 32 MiB");
			this.#parts.push(chunk);
		}
		return "reading";
	}

	end(): void {
		if (this.#events) this.#events.end();
		else if (this.#size > 0) this.#message(Buffer.concat(this.#parts).toString("utf8"));
	}

	#message(text: string): void {
		const message = parsed(text);
		if (message !== undefined) this.#take(message);
	}
}

/** A stream that was whole or broke off. */
const isOver = ({ type }: Outcome) => type === "ended" || type === "failed";

function problemOf(outcome: Outcome, url: string): Error {
	const { host } = new URL(url);
	switch (outcome.type) {
		case "refused": {
			const { status, body } = outcome;
			if (status === 401 || status === 403) return new LoginWanted(status, "");
			const message = parsed(body);
			if (isObject(message) && isObject(message.error)) {
				const { code, message: text, data } = message.error;
				return new RpcError(Number(code ?? 0), String(text ?? `status ${status}`), data);
			}
			return new HttpRefused(status, body);
		}
		case "failed": {
			const { code = "", message } = outcome;
			const isTls = /CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code);
			if (isTls) return new Error(`the certificate of ${host} cannot be trusted: ${message}. NODE_EXTRA_CA_CERTS names further ones.`);
			return new Error(`${host} could not be reached: ${message}`);
		}
		case "broken":
			return new Error((outcome.error as Error).message);
		default:
			return new Error(`${host} ended its answer before it was complete`);
	}
}

/** Where a redirect leads, if that is within the origin and keeps the method. */
function redirectOf({ status, headers }: { status: number; headers: IncomingHttpHeaders }, from: string): string | undefined {
	if ((status !== 307 && status !== 308) || headers.location === undefined || !URL.canParse(headers.location, from)) return undefined;
	const target = new URL(headers.location, from);
	return target.origin === new URL(from).origin ? target.href : undefined;
}

function modernHeaders({ method, params }: Message): Record<string, string> {
	if (typeof method !== "string") return { "mcp-protocol-version": modernVersion };
	const { name, uri } = (params ?? {}) as Json;
	const named = method === "tools/call" || method === "prompts/get" ? name : method === "resources/read" ? uri : undefined;
	return {
		"mcp-protocol-version": modernVersion,
		"mcp-method": method,
		...(typeof named === "string" ? { "mcp-name": headerValue(named) } : {}),
	};
}

function lowerCase(headers: Record<string, string>): Record<string, string> {
	return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

export function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

/** The transport of 2024: one stream for everything the server says, and an address to post to. */
export class OldSseTransport implements Transport {
	#parts: HttpParts;
	#endpoint: string | undefined;
	#stop = new AbortController();

	constructor(parts: HttpParts) {
		this.#parts = parts;
	}

	/** Resolves when the server has named its address. */
	open(): Promise<void> {
		const { url, headers, client, events } = this.#parts;
		return new Promise((resolve, reject) => {
			const onEvent = (data: string, name: string) => {
				if (name === "endpoint") {
					const target = URL.canParse(data, url) ? new URL(data, url) : undefined;
					if (!target || target.origin !== new URL(url).origin) return reject(new Error("the server names an address of another origin"));
					this.#endpoint = target.href;
					resolve();
				} else if (name === "" || name === "message") {
					const message = parsed(data);
					if (message !== undefined) events.message(message);
				}
			};
			const reader = new SseReader(onEvent, largestAnswer);
			const reading = client.post({
				method: "GET",
				url,
				headers: { ...lowerCase(headers), accept: "text/event-stream" },
				body: "",
				signal: this.#stop.signal,
				firstEventTimeoutMs: 0,
				idleTimeoutMs: 0,
				onData(chunk) {
					reader.push(chunk);
					return "reading";
				},
			});
			void reading.then((outcome) => {
				const problem = outcome.type === "ended" ? new Error("closed its connection") : problemOf(outcome, url);
				reject(problem);
				if (outcome.type !== "aborted") events.closed(problem);
			});
		});
	}

	send(message: Message): void {
		const { headers, client, events } = this.#parts;
		const post = client.post({
			url: this.#endpoint as string,
			headers: { ...lowerCase(headers), "content-type": "application/json", accept },
			body: toLine(message),
			signal: this.#stop.signal,
			firstEventTimeoutMs: 0,
			idleTimeoutMs: 0,
			onData: () => "reading",
		});
		void post.then((outcome) => {
			if (outcome.type === "ended" || outcome.type === "aborted" || typeof message.id !== "number" || message.method === undefined) return;
			events.failed(message.id, problemOf(outcome, this.#endpoint as string));
		});
	}

	async close(): Promise<void> {
		this.#stop.abort();
	}
}
