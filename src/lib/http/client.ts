/** Posts a body and streams the answer: keep-alive, proxies, deadlines, abort. Never retries and never rejects. */
import type { ClientRequest, Agent as HttpAgent, IncomingHttpHeaders, IncomingMessage, RequestOptions } from "node:http";
import type { Duplex } from "node:stream";
import { type Environment, proxyAuthorization, proxyFor, tunnel } from "./proxy.ts";

/** Whether the consumer keeps up. */
interface Gate {
	readonly isOpen: boolean;
	whenOpen(signal?: AbortSignal): Promise<void>;
}

export interface Post {
	/** `POST` unless said otherwise. */
	method?: "GET" | "POST" | "PUT" | "DELETE";
	url: string;
	headers: Record<string, string>;
	/** Sent as it is, piece by piece. */
	body: string;
	signal: AbortSignal;
	/** Reading pauses while it is closed, and so do the clocks. */
	flow?: Gate;
	/** Silence allowed until `onData` first answers anything but `waiting`; 0 means no limit. Any byte restarts the wait. */
	firstEventTimeoutMs: number;
	/** Silence allowed afterwards; 0 means no limit. */
	idleTimeoutMs: number;
	/**
	 * Takes a piece of a 2xx answer. Answers `waiting` while only keep-alive bytes came, `reading` once the reply began, `enough` when
	 * nothing more is wanted: the outcome is then `ended` at once and the rest is drained in the background.
	 */
	onData: (chunk: Buffer) => "waiting" | "reading" | "enough";
	/** Receives the head of a 2xx answer before its first byte. */
	onHead?: (status: number, headers: IncomingHttpHeaders) => void;
}

export type Outcome =
	| { type: "ended"; status: number; headers: IncomingHttpHeaders }
	/** Not 2xx. `body` is at most 64 KB of text. */
	| { type: "refused"; status: number; headers: IncomingHttpHeaders; body: string }
	| { type: "timedOut"; phase: "first" | "idle"; afterMs: number }
	| { type: "aborted" }
	/** The connection failed, or broke in the middle of the answer. */
	| { type: "failed"; message: string; code?: string; status?: number }
	/** `onData` threw. */
	| { type: "broken"; error: unknown };

const errorBodyLimit = 64 * 1024;
/** Silence allowed in the body of a refusal: its status is the most important part. */
const errorSilenceMs = 2_000;
/** Limit for the whole body, however slowly it arrives. */
const errorBodyMs = 5_000;
/** Below what servers and load balancers usually allow an idle connection. */
const idleSocketMs = 50_000;
/** How long an answer that is no longer needed may continue, so that its connection can be kept. */
const drainMs = 1_000;

/** What a request passes to the agent that connects for it: Node abandons a request, but not the tunnel being opened for it. */
type Cancellable = { cancel?: AbortSignal };

type Scheme = { request: (options: RequestOptions, onAnswer: (answer: IncomingMessage) => void) => ClientRequest; agent: HttpAgent };

export interface ClientOptions {
	env: Environment;
	/** Certificates to trust in addition to Node's own; for tests. */
	ca?: string;
}

/** Holds the connections. One per process is enough. */
export class HttpClient {
	#env: Environment;
	#ca: string | undefined;
	#schemes = new Map<string, Promise<Scheme>>();

	constructor(options: ClientOptions) {
		this.#env = options.env;
		this.#ca = options.ca;
	}

	/** Loads what a first request to this address needs. */
	async warm(url: string): Promise<void> {
		if (!URL.canParse(url)) return;
		const target = new URL(url);
		await this.#scheme(target, proxyFor(target, this.#env));
	}

	/** Closes idle connections; those in use end with their requests. */
	async close(): Promise<void> {
		const schemes = await Promise.all(this.#schemes.values());
		this.#schemes.clear();
		for (const { agent } of schemes) agent.destroy();
	}

	async post(post: Post): Promise<Outcome> {
		if (post.signal.aborted) return { type: "aborted" };
		let scheme: Scheme;
		let options: RequestOptions;
		try {
			if (!URL.canParse(post.url)) throw new Error(`Not a valid address: ${post.url}`);
			const target = new URL(post.url);
			const proxy = proxyFor(target, this.#env);
			scheme = await this.#scheme(target, proxy);
			options = { ...address(target, proxy), method: post.method ?? "POST", agent: scheme.agent };
		} catch (error) {
			return failed(error);
		}
		const body = Buffer.from(post.body);
		const auth = options.headers as Record<string, string> | undefined;
		options.headers = { ...auth, "accept-encoding": "identity", ...post.headers, "content-length": String(body.length) };
		return new Exchange(post).run(scheme, options, body);
	}

	#scheme(target: URL, proxy: URL | undefined): Promise<Scheme> {
		const isTunnel = proxy !== undefined && target.protocol === "https:";
		const key = isTunnel ? `tunnel ${proxy.href}` : (proxy?.protocol ?? target.protocol);
		let scheme = this.#schemes.get(key);
		if (!scheme) {
			scheme = this.#load(key.startsWith("http:") ? "http:" : "https:", isTunnel ? proxy : undefined);
			this.#schemes.set(key, scheme);
		}
		return scheme;
	}

	async #load(protocol: "http:" | "https:", proxy: URL | undefined): Promise<Scheme> {
		const settings = { keepAlive: true, timeout: idleSocketMs, scheduling: "lifo" as const, maxSockets: Number.POSITIVE_INFINITY };
		if (protocol === "http:") {
			const http = await import("node:http");
			return { request: http.request, agent: new http.Agent(settings) };
		}
		const https = await import("node:https");
		const secure = this.#ca === undefined ? settings : { ...settings, ca: this.#ca };
		return { request: https.request, agent: proxy ? await tunnelAgent(proxy, secure) : new https.Agent(secure) };
	}
}

/** Where to connect to and what to ask for: with a proxy, a plain address is asked for in its absolute form. */
function address(target: URL, proxy: URL | undefined): RequestOptions {
	if (target.protocol !== "http:" && target.protocol !== "https:") throw new Error(`Not an http address: ${target.protocol}`);
	const path = `${target.pathname}${target.search}`;
	const basic = target.username === "" ? {} : { auth: `${decodeURIComponent(target.username)}:${decodeURIComponent(target.password)}` };
	if (!proxy || target.protocol === "https:") return { protocol: target.protocol, ...place(target), path, ...basic };
	const headers = { host: target.host, ...proxyAuthorization(proxy) };
	return { protocol: proxy.protocol, ...place(proxy), path: `http://${target.host}${path}`, headers, ...basic };
}

function place(url: URL): { hostname: string; port?: string } {
	return { hostname: url.hostname.replace(/^\[|\]$/g, ""), ...(url.port === "" ? {} : { port: url.port }) };
}

/** An agent whose connections go through a CONNECT tunnel before they are encrypted. */
async function tunnelAgent(proxy: URL, settings: object): Promise<HttpAgent> {
	const { Agent } = await import("node:https");
	const { connect } = await import("node:tls");
	const agent = new Agent(settings);
	agent.createConnection = (options, done) => {
		const host = options.host ?? "";
		const { servername } = options as { servername?: string };
		tunnel(proxy, host, Number(options.port), (options as Cancellable).cancel).then(
			(socket) => done?.(null, connect({ ...(options as object), socket, servername: servername || host })),
			(error: Error) => done?.(error, undefined as unknown as Duplex),
		);
		// Nothing returned: Node's agent takes the socket from the callback.
		return undefined;
	};
	return agent;
}

function failed(error: unknown, status?: number): Outcome {
	const { message, code } = error as NodeJS.ErrnoException;
	// Several addresses failed: Node puts them into an error without a message of its own.
	const parts = error instanceof AggregateError ? error.errors.map((part: Error) => part.message).join("; ") : "";
	const facts = { ...(typeof code === "string" ? { code } : {}), ...(status === undefined ? {} : { status }) };
	return { type: "failed", message: message || parts || code || "Connection error", ...facts };
}

/** One request and its answer. */
class Exchange {
	#post: Post;
	#request: ClientRequest | undefined;
	#answer: IncomingMessage | undefined;
	#timer: NodeJS.Timeout | undefined;
	#refusalTimer: NodeJS.Timeout | undefined;
	#hasBegun = false;
	#isSettled = false;
	/** The body of a refusal so far. */
	#refusal: (() => Outcome) | undefined;
	#ended = new AbortController();
	#resolve: (outcome: Outcome) => void = () => undefined;
	#onAbort = () => this.#stop({ type: "aborted" });

	constructor(post: Post) {
		this.#post = post;
	}

	run(scheme: Scheme, options: RequestOptions, body: Buffer): Promise<Outcome> {
		return new Promise((resolve) => {
			this.#resolve = resolve;
			this.#post.signal.addEventListener("abort", this.#onAbort, { once: true });
			this.#watch();
			try {
				this.#request = scheme.request({ ...options, cancel: this.#ended.signal } as RequestOptions & Cancellable, (answer) =>
					this.#onAnswer(answer),
				);
			} catch (error) {
				// A header with characters that HTTP does not allow; its value must not be revealed.
				const code = (error as NodeJS.ErrnoException).code;
				const told = code === "ERR_INVALID_CHAR" ? new Error("A header or the API key contains characters that HTTP does not allow") : error;
				this.#settle(failed(told));
				return;
			}
			this.#request.on("error", (error) => this.#stop(this.#post.signal.aborted ? { type: "aborted" } : failed(error, this.#answer?.statusCode)));
			this.#request.end(body);
		});
	}

	#onAnswer(answer: IncomingMessage): void {
		this.#answer = answer;
		if (this.#isSettled) {
			answer.destroy();
			return;
		}
		const status = answer.statusCode ?? 0;
		this.#watch();
		answer.on("error", (error) => this.#stop(failed(error, status)));
		answer.on("aborted", () => this.#stop(failed(Object.assign(new Error("The connection broke off"), { code: "ECONNRESET" }), status)));
		answer.on("close", () => this.#stop(failed(new Error("The connection closed too early"), status)));
		if (status < 200 || status > 299) {
			this.#collect(answer, status);
			return;
		}
		this.#post.onHead?.(status, answer.headers);
		answer.on("data", (chunk: Buffer) => this.#onData(answer, chunk));
		answer.on("end", () => this.#settle({ type: "ended", status, headers: answer.headers }));
	}

	#onData(answer: IncomingMessage, chunk: Buffer): void {
		if (this.#isSettled) return;
		let state: ReturnType<Post["onData"]>;
		try {
			state = this.#post.onData(chunk);
		} catch (error) {
			this.#stop({ type: "broken", error });
			return;
		}
		if (state !== "waiting" && !this.#hasBegun) {
			this.#hasBegun = true;
			this.#watch();
		} else this.#timer?.refresh();
		if (state === "enough") this.#drain(answer);
		else this.#pauseWhileClosed(answer);
	}

	#pauseWhileClosed(answer: IncomingMessage): void {
		const { flow, signal } = this.#post;
		if (!flow || flow.isOpen) return;
		answer.pause();
		clearTimeout(this.#timer);
		void flow.whenOpen(signal).then(() => {
			if (this.#isSettled) return;
			this.#watch();
			answer.resume();
		});
	}

	#collect(answer: IncomingMessage, status: number): void {
		const chunks: Buffer[] = [];
		let size = 0;
		this.#refusal = () => {
			const body = Buffer.concat(chunks).subarray(0, errorBodyLimit).toString("utf8");
			return { type: "refused", status, headers: answer.headers, body };
		};
		this.#watch();
		const finish = () => this.#settle((this.#refusal as () => Outcome)());
		this.#refusalTimer = setTimeout(() => {
			finish();
			answer.destroy();
		}, errorBodyMs);
		answer.on("data", (chunk: Buffer) => {
			chunks.push(chunk);
			size += chunk.length;
			this.#timer?.refresh();
			if (size < errorBodyLimit) return;
			finish();
			answer.destroy();
		});
		answer.on("end", finish);
	}

	/** Settles now; the connection is kept if the answer ends soon. */
	#drain(answer: IncomingMessage): void {
		this.#settle({ type: "ended", status: answer.statusCode ?? 0, headers: answer.headers });
		const timer = setTimeout(() => answer.destroy(), drainMs);
		timer.unref();
		answer.once("close", () => clearTimeout(timer));
		answer.socket?.unref();
		answer.resume();
	}

	#watch(): void {
		clearTimeout(this.#timer);
		const phase = this.#hasBegun ? "idle" : "first";
		const afterMs = this.#refusal ? errorSilenceMs : this.#hasBegun ? this.#post.idleTimeoutMs : this.#post.firstEventTimeoutMs;
		if (afterMs > 0) this.#timer = setTimeout(() => this.#stop({ type: "timedOut", phase, afterMs }), Math.min(afterMs, 2 ** 31 - 1));
	}

	#stop(outcome: Outcome): void {
		if (this.#isSettled) return;
		// A refusal whose body stalls or breaks off is still a refusal.
		this.#settle(this.#refusal && outcome.type !== "aborted" ? this.#refusal() : outcome);
		this.#request?.destroy();
		this.#ended.abort();
	}

	#settle(outcome: Outcome): void {
		if (this.#isSettled) return;
		this.#isSettled = true;
		clearTimeout(this.#timer);
		clearTimeout(this.#refusalTimer);
		this.#post.signal.removeEventListener("abort", this.#onAbort);
		this.#resolve(outcome);
	}
}
