/** What the three clouds share: small requests for tokens, and a memory of credentials until shortly before they expire. */
import type { HttpClient } from "../../lib/http/client.ts";
import type { Environment } from "../routes.ts";

/** Why there are no credentials, in words for the user. */
export class CloudError extends Error {
	override name = "CloudError";
	/** A later try may go better. */
	readonly isTransient: boolean;

	constructor(message: string, isTransient = false) {
		super(message);
		this.isTransient = isTransient;
	}
}

/** What finding credentials takes. */
export interface CloudTools {
	env: Environment;
	/** Honours proxies. */
	client: HttpClient;
	/** Goes directly: no proxy reaches this machine's own metadata server. */
	direct: HttpClient;
	now: () => number;
	/** Keeps a value out of everything that is shown. */
	hold: (secret: string) => void;
	/** Ends with the process. */
	signal: AbortSignal;
}

export interface Asked {
	method?: "GET" | "POST" | "PUT";
	url: string;
	headers?: Record<string, string>;
	body?: string;
	timeoutMs?: number;
}

export interface Answered {
	status: number;
	body: string;
}

const patienceMs = 15_000;
/** A metadata server is on this machine or nowhere. */
export const metadataPatienceMs = 1_000;
const answerLimit = 1024 * 1024;

/** One small exchange. Throws a CloudError when the server does not answer; any status counts as an answer. */
export async function ask(client: HttpClient, signal: AbortSignal, asked: Asked): Promise<Answered> {
	const chunks: Buffer[] = [];
	let size = 0;
	const timeoutMs = asked.timeoutMs ?? patienceMs;
	const outcome = await client.post({
		method: asked.method ?? (asked.body === undefined ? "GET" : "POST"),
		url: asked.url,
		headers: { accept: "application/json", "user-agent": "bowline", ...asked.headers },
		body: asked.body ?? "",
		signal,
		firstEventTimeoutMs: timeoutMs,
		idleTimeoutMs: timeoutMs,
		onData: (chunk) => {
			chunks.push(chunk);
			size += chunk.length;
			if (size > answerLimit) throw new Error("the answer is too large");
			return "reading";
		},
	});
	const { host } = new URL(asked.url);
	switch (outcome.type) {
		case "ended":
			return { status: outcome.status, body: Buffer.concat(chunks).toString("utf8") };
		case "refused":
			return { status: outcome.status, body: outcome.body };
		case "timedOut":
			throw new CloudError(`${host} did not answer within ${timeoutMs / 1000} s`, true);
		case "aborted":
			throw new CloudError("the request was stopped");
		case "failed":
			throw new CloudError(`${host} could not be reached: ${outcome.message}`, true);
		case "broken":
			throw new CloudError(`the answer of ${host} could not be read: ${(outcome.error as Error).message}`);
	}
}

/** As `ask`, for an endpoint that is sent a secret: plain http is fine on this machine only. */
export function askSecurely({ client, direct, signal }: CloudTools, asked: Asked): Promise<Answered> {
	const url = URL.canParse(asked.url) ? new URL(asked.url) : undefined;
	if (!url) throw new CloudError(`not a valid address: ${asked.url}`);
	if (url.protocol === "https:") return ask(client, signal, asked);
	if (!isLocal(url.hostname)) throw new CloudError(`credentials are not sent to ${url.origin}: the address must begin with https`);
	return ask(direct, signal, asked);
}

/** Loopback and link-local hosts, where metadata servers are. */
export function isLocal(host: string): boolean {
	return /^(?:localhost|127\.\d+\.\d+\.\d+|169\.254\.\d+\.\d+|\[::1\]|\[fd00:ec2::[0-9a-f]+\]|metadata\.google\.internal)$/i.test(host);
}

export type Json = Record<string, unknown>;

export function parsed(text: string, what: string): Json {
	try {
		const value = JSON.parse(text) as unknown;
		if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Json;
	} catch {
		// Reported below without the text, which may hold a secret.
	}
	throw new CloudError(`${what} is not a JSON object`);
}

export const string = (value: unknown) => (typeof value === "string" ? value : "");

/** Whether the endpoint is busy or broken, and not of another opinion. */
export const isBusy = ({ status }: Answered) => status === 429 || status >= 500;

/** What a token endpoint says when it refuses, in one line. */
export function refusalOf({ status, body }: Answered): string {
	try {
		const said = JSON.parse(body) as Json;
		const error = typeof said.error === "object" && said.error !== null ? string((said.error as Json).message) : string(said.error);
		const words = [error, string(said.error_description) || string(said.message) || string(said.Message)].filter(Boolean).join(": ");
		if (words !== "") return `${status} ${words.split(/\r?\n/)[0]?.slice(0, 300)}`;
	} catch {
		// Another format.
	}
	const xml = /<Message>([^<]*)<\/Message>/.exec(body)?.[1];
	return `${status} ${(xml ?? body)
		.replace(/<[^>]*>/g, " ")
		.replace(/\s+/g, " ")
		.trim()
		.slice(0, 300)}`.trim();
}

export interface Expiring {
	/** In milliseconds. */
	expiresAt?: number;
}

/** Credentials are renewed this long before they end, or earlier when they are short-lived. */
const marginMs = 5 * 60_000;
/** Those that do not say when they end are read again after this time: another tool may have replaced them. */
const trustMs = 5 * 60_000;

/** Makes credentials when they are first needed, and again before they expire. Callers at the same time share one attempt. */
export class Renewed<T extends Expiring> {
	#make: () => Promise<T>;
	#now: () => number;
	#current: { value: T; madeAt: number } | undefined;
	#making: Promise<T> | undefined;

	constructor(make: () => Promise<T>, now: () => number) {
		this.#make = make;
		this.#now = now;
	}

	/** Rejects when the signal comes first; the attempt continues for the other callers. */
	async get(signal: AbortSignal): Promise<T> {
		if (this.#current && !this.#isDue(this.#current)) return this.#current.value;
		this.#making ??= this.#renew().finally(() => {
			this.#making = undefined;
		});
		return orAborted(this.#making, signal);
	}

	/** The provider refused them. Returns whether others can be had: those that were only just made are not worth a second try. */
	drop(value: T): boolean {
		if (this.#current?.value !== value) return false;
		const isFresh = this.#now() - this.#current.madeAt < 10_000;
		this.#current = undefined;
		return !isFresh;
	}

	async #renew(): Promise<T> {
		const old = this.#current;
		try {
			const value = await this.#make();
			this.#current = { value, madeAt: this.#now() };
			return value;
		} catch (error) {
			// The old ones are used until they expire.
			if (old && (old.value.expiresAt ?? 0) > this.#now()) return old.value;
			throw error;
		}
	}

	#isDue({ value: { expiresAt }, madeAt }: { value: T; madeAt: number }): boolean {
		if (expiresAt === undefined) return this.#now() >= madeAt + trustMs;
		return this.#now() >= expiresAt - Math.min(marginMs, (expiresAt - madeAt) / 5);
	}
}

function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
	if (signal.aborted) return Promise.reject(new CloudError("the request was stopped"));
	return new Promise((resolve, reject) => {
		const onAbort = () => reject(new CloudError("the request was stopped"));
		signal.addEventListener("abort", onAbort, { once: true });
		promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
	});
}
