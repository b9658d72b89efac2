/** The server: listens, checks requests, hands them to their routes, and ends in order. */

import { chmodSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { ServerOptions as SecureServerOptions } from "node:https";
import { connect } from "node:net";
import { availableParallelism, totalmem } from "node:os";
import { dirname, join } from "node:path";
import type { Duplex } from "node:stream";
import { claim, holderOf, unclaim } from "../lib/claim.ts";
import { uuid } from "../lib/ids.ts";
import { version } from "../lib/version.ts";
import { isCommandError } from "../protocol/command-error.ts";
import type { HttpErrorCode } from "../protocol/errors.ts";
import { dialectNames } from "../protocol/flags.ts";
import type { Scope } from "../protocol/routes.ts";
import { type Admitted, admit, type Gate, type RequestHead } from "./checks.ts";
import { Connections, Rates, usualLimits } from "./connections.ts";
import { DiskProbe } from "./disk.ts";
import type { FleetRoutes } from "./fleet/handlers.ts";
import type { Fleet } from "./fleet/source.ts";
import { handlers } from "./handlers.ts";
import { answerRefusal, commonHeaders, cursorOf, mostBodyBytes } from "./http.ts";
import { Hub } from "./hub.ts";
import { IndexFile } from "./index-file.ts";
import { openManySocket } from "./many-socket.ts";
import { Metrics } from "./metrics.ts";
import type { PageAssets } from "./page-assets.ts";
import { isRefusal, Refusal } from "./refusal.ts";
import { Roots } from "./roots.ts";
import { drainingRefusal, type Session } from "./session.ts";
import { openSessionSocket } from "./session-socket.ts";
import { Sessions } from "./sessions.ts";
import { settledWithin } from "./settled.ts";
import { Sockets } from "./sockets.ts";
import { type Bearer, mayUse, Tokens, writeWhole } from "./tokens.ts";

export interface ServeConfig {
	/** The server's own directory. */
	directory: string;
	name: string;
	host: string;
	port: number;
	/** A unix socket instead of a port. */
	socket?: string;
	needsNoToken: boolean;
	tls?: { cert: Buffer; key: Buffer };
	allowedHosts: readonly string[];
	/** Where browsers reach it, without a path. */
	publicUrl?: string;
	roots: readonly string[];
	/** Makes the repository of the demo, and gives its directory and the prompt to begin with. */
	makeDemo?: () => Promise<{ directory: string; prompt: string }>;
	/** Whether a model could be asked: a key or another way in is configured. */
	hasModel?: () => Promise<boolean>;
	/** The fleet's queue; absent without `--fleet`. */
	fleet?: Fleet;
	sessionsDirectory: string;
	/** The program that agents are, and flags of every session. */
	program: readonly string[];
	defaults: readonly string[];
	env: NodeJS.ProcessEnv;
	idleMs: number;
	/** 0: by the machine's memory. */
	maxAwake: number;
	maxStarting: number;
	drainMs: number;
	mayApprove: boolean;
	sandbox: string;
	/** One line of the log. */
	log: (line: Record<string, unknown>) => void;
}

/** A server that listens, as routes see it. */
export type Running = BowlineServer;

const megabyte = 1024 * 1024;
/** Those without a token included; they are closed when their head does not come. */
const mostOpenSockets = 4096;
const headersMs = 60_000;
const requestMs = 300_000;
const goodbyeMs = 2500;
const hurriedGoodbyeMs = 500;
/** The longest time from the end of `drainMs`, and from the second request to end, until the process is gone. */
const mostEndMs = 20_000;
const mostHurriedMs = 7000;

export class BowlineServer {
	readonly config: ServeConfig;
	readonly instance = uuid(Date.now());
	readonly tokens: Tokens;
	readonly sessions: Sessions;
	readonly hub = new Hub();
	readonly connections = new Connections();
	readonly metrics = new Metrics();
	/** Loaded with its first request. */
	page: PageAssets | undefined;
	/** Resolves when everything has ended. */
	readonly ended: Promise<void>;
	#end: () => void = () => undefined;
	#http: Server | undefined;
	#gate: Gate;
	#rates = new Rates();
	#sockets = new Sockets();
	#index: IndexFile;
	#roots: Roots;
	#disk: DiskProbe;
	#lock: { path: string; own: string };
	#draining: { deadline: number } | undefined;
	#drained: Promise<void> | undefined;
	#isEnded = false;
	#fleetRoutes: Promise<FleetRoutes> | undefined;
	#hurry: () => void = () => undefined;
	/** Resolves with the second request to end. */
	#hurried: Promise<void>;
	#expiry: NodeJS.Timeout;
	#maxAwake: number;

	/** Throws when another server uses the directory. */
	constructor(config: ServeConfig) {
		this.config = config;
		mkdirSync(config.directory, { recursive: true, mode: 0o700 });
		chmodSync(config.directory, 0o700);
		this.#lock = takeLock(join(config.directory, "lock"));
		this.ended = new Promise((resolve) => (this.#end = resolve));
		this.#hurried = new Promise((resolve) => (this.#hurry = resolve));
		try {
			this.tokens = new Tokens(config.directory);
			this.#roots = new Roots(config.roots);
			this.#index = new IndexFile(join(config.directory, "index.jsonl"));
		} catch (error) {
			unclaim(this.#lock.path, this.#lock.own);
			throw error;
		}
		this.#disk = new DiskProbe({ "the sessions directory": config.sessionsDirectory, "the server's directory": config.directory });
		this.tokens.onRevoked = (sha256) => this.connections.closeOf(sha256);
		this.#maxAwake = config.maxAwake || Math.min(200, Math.max(2, Math.floor(totalmem() / (64 * megabyte))));
		this.sessions = new Sessions({
			index: this.#index,
			roots: this.#roots,
			sessionsDirectory: config.sessionsDirectory,
			program: config.program,
			defaults: config.defaults,
			env: config.env,
			limits: { maxAwake: this.#maxAwake, maxStarting: config.maxStarting, idleMs: config.idleMs },
			announce: (frame) => this.hub.announce(frame),
			log: config.log,
			counts: this.metrics.feed,
			meters: this.metrics.meters,
			isDraining: () => this.#draining !== undefined,
		});
		this.#gate = {
			scheme: config.tls ? "https" : "http",
			port: config.socket === undefined ? config.port : undefined,
			allowed: config.allowedHosts,
			tokens: this.tokens,
			needsNoToken: config.needsNoToken,
			admits: ({ sha256 }) => this.#rates.admits(sha256),
			onAuthFailure: (why) => this.metrics.onAuthFailure(why),
			onExposed: (name) =>
				config.log({
					event: "token_in_url",
					text: name === undefined ? "an unknown token was in an address" : `the token ${name} was in an address and is revoked`,
				}),
		};
		this.#expiry = setInterval(() => this.connections.closeExpired((sha256) => this.tokens.isValid(sha256)), 30_000);
		this.#expiry.unref();
	}

	/** Resolves with the address. Rejects when it cannot listen. */
	async listen(): Promise<string> {
		const { config } = this;
		const listener: RequestListener = (request, response) => void this.#handle(request, response);
		const options = { headersTimeout: headersMs, requestTimeout: requestMs, maxHeaderSize: 16 * 1024 };
		const server = config.tls ? await this.#secureServer({ ...options, ...config.tls }, listener) : createServer(options, listener);
		this.#http = server;
		// The checks come first: a body that is refused is not asked for.
		server.on("checkContinue", listener);
		server.maxConnections = mostOpenSockets;
		server.on("upgrade", (request: IncomingMessage, stream: Duplex, head: Buffer) => this.#upgrade(request, stream, head));
		server.on("clientError", (_error, stream) => {
			if (stream.writable) stream.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
			else stream.destroy();
		});
		try {
			if (config.socket === undefined) await listening(server, { port: config.port, host: config.host });
			else await listenOnSocket(server, config.socket);
		} catch (error) {
			this.#release();
			throw error;
		}
		const address = server.address();
		if (typeof address === "object" && address) this.#gate = { ...this.#gate, port: address.port };
		const url = this.url;
		writeWhole(
			join(config.directory, "server.json"),
			`${JSON.stringify({ pid: process.pid, url, ...(config.socket === undefined ? { port: this.#gate.port } : { socket: config.socket }), instance: this.instance })}\n`,
		);
		return url;
	}

	async #secureServer(options: SecureServerOptions, listener: RequestListener): Promise<Server> {
		const { createServer } = await import("node:https");
		try {
			return createServer(options, listener) as unknown as Server;
		} catch (error) {
			this.#release();
			throw new Error(`--tls-cert and --tls-key must be a certificate and its own private key, both as PEM files (${(error as Error).message})`);
		}
	}

	get url(): string {
		const { socket, host } = this.config;
		if (socket !== undefined) return `unix:${socket}`;
		const name = host.includes(":") ? `[${host}]` : host === "0.0.0.0" ? "127.0.0.1" : host;
		return `${this.#gate.scheme}://${host === "::" ? "[::1]" : name}:${this.#gate.port}`;
	}

	/** A link that signs a browser in, once and soon. `base`: the address under which that browser reaches the server. */
	newLink(scope: Scope = "drive", base = this.#publicUrl): string {
		return `${base}/#code=${this.tokens.newCode(scope)}`;
	}

	get #publicUrl(): string {
		const { publicUrl, allowedHosts, host } = this.config;
		if (publicUrl !== undefined) return publicUrl;
		const isLocal = (name: string) => /^(127\.|\[?::1\]?(:|$)|localhost(:|$))/.test(name);
		const allowed = allowedHosts.find((name) => !isLocal(name)) ?? allowedHosts[0];
		if (allowed === undefined) return this.url;
		if (!isLocal(host)) return `${this.#gate.scheme}://${allowed}${/:\d+$/.test(allowed) ? "" : `:${this.#gate.port}`}`;
		// A name that leads to this machine alone is that of a proxy, which speaks TLS.
		if (isLocal(allowed)) return this.url;
		return `${/:(?!443$)\d+$/.test(allowed) ? this.#gate.scheme : "https"}://${allowed}`;
	}

	/** The first word says it to programs, the rest to people. */
	async readiness(): Promise<{ isReady: boolean; text: string }> {
		if (this.#draining) return { isReady: false, text: "draining" };
		const problem = await this.#disk.problem();
		return { isReady: problem === undefined, text: problem === undefined ? "ready" : `disk: ${problem}` };
	}

	metricsText(): string {
		let lag = 0;
		for (const { feed } of this.sessions.open) for (const reader of feed.readers) lag = Math.max(lag, reader.lag);
		return this.metrics.text({ sessions: this.sessions.states(), connections: this.connections.kinds(), lag });
	}

	/** A session for a first look: it needs no key, and works in a directory of its own. */
	async createDemo(): Promise<{ session: Session; prompt: string }> {
		const { makeDemo } = this.config;
		if (!makeDemo) throw new Refusal("not_found", "This server offers no demo.");
		const { directory, prompt } = await makeDemo();
		this.#roots.add(directory);
		const settings = { "task.isolation.mode": "worktree" };
		const body = { cwd: directory, name: "Demo: repair a cart", provider: "scripted", model: "demo", settings };
		const { session } = await this.sessions.create(body, undefined);
		return { session, prompt };
	}

	async info(scope: Scope): Promise<object> {
		const { config } = this;
		return {
			version,
			protocol: 1,
			instance: this.instance,
			name: config.name,
			scope,
			roots: this.#roots.paths,
			limits: {
				maxAwake: this.#maxAwake,
				maxStarting: config.maxStarting,
				idleMs: config.idleMs,
				drainMs: config.drainMs,
				bodyBytes: mostBodyBytes,
				connections: usualLimits.all,
				connectionsPerToken: usualLimits.perToken,
				readersPerSession: usualLimits.perSession,
				cores: availableParallelism(),
			},
			dialects: dialectNames.filter((name) => name !== "strict"),
			sandbox: config.sandbox,
			demo: config.makeDemo !== undefined,
			hasModel: (await config.hasModel?.()) ?? false,
			fleet: config.fleet !== undefined,
			draining: this.#draining !== undefined,
		};
	}

	/** What answers the routes of runs and workers. */
	fleetRoutes(): Promise<FleetRoutes> {
		const { fleet } = this.config;
		if (!fleet) throw new Refusal("no_fleet", "This server does not show the fleet. Start it with bowline serve --fleet.");
		this.#fleetRoutes ??= import("./fleet/handlers.ts").then((module) => new module.FleetRoutes(fleet));
		return this.#fleetRoutes;
	}

	status(): object {
		const states = Object.fromEntries(this.sessions.states());
		return {
			pid: process.pid,
			url: this.url,
			version,
			instance: this.instance,
			name: this.config.name,
			sessions: states,
			connections: this.connections.size,
			awake: this.sessions.awake.length,
			draining: this.#draining !== undefined,
			tokenFile: this.tokens.file,
		};
	}

	// ─── Requests ───

	async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
		const begin = Date.now();
		let path = "-";
		response.on("close", () => {
			this.metrics.onRequest(path, response.statusCode);
			this.config.log({ event: "request", method: request.method, route: path, status: response.statusCode, ms: Date.now() - begin });
		});
		try {
			const admitted = admit(headOfRequest(request), this.#gate);
			path = admitted.route.path;
			if (admitted.route.isWork && this.#draining) throw drainingRefusal();
			if (admitted.name === "socket" || admitted.name === "manySocket")
				throw new Refusal("upgrade", "Open a WebSocket here.", { headers: { Upgrade: "websocket", Connection: "Upgrade" } });
			await handlers[admitted.name]({ ...admitted, request, response, server: this });
		} catch (error) {
			// A client that disconnects in the middle of its body is not a fault.
			if (request.destroyed && !request.complete) return;
			if (!isRefusal(error)) this.config.log({ event: "fault", route: path, error: (error as Error).stack ?? String(error) });
			const refusal = isRefusal(error) ? error : internal(error);
			if (response.headersSent) response.destroy();
			else answerRefusal(response, refusal);
			// What was not read of a body that is refused is not waited for.
			if (!request.complete) request.resume();
		}
	}

	#upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void {
		stream.on("error", () => undefined); // The other end is gone; `close` follows.
		let path = "-";
		const refuse = (error: unknown) => {
			const refusal = isRefusal(error) ? error : internal(error);
			if (!isRefusal(error)) this.config.log({ event: "fault", route: path, error: (error as Error).stack ?? String(error) });
			this.metrics.onRequest(path, refusal.status);
			this.config.log({ event: "upgrade", route: path, status: refusal.status });
			refuseUpgrade(stream, refusal);
		};
		try {
			const admitted = admit(headOfRequest(request), this.#gate);
			path = admitted.route.path;
			const open = () => {
				this.#openSocket(admitted, request, stream, head);
				this.metrics.onRequest(path, 101);
				this.config.log({ event: "upgrade", route: path, status: 101 });
			};
			const loading = this.#sockets.load();
			if (loading) loading.then(open).catch(refuse);
			else open();
		} catch (error) {
			refuse(error);
		}
	}

	#openSocket({ name, params, query, bearer }: Admitted, request: IncomingMessage, stream: Duplex, head: Buffer): void {
		if (name !== "socket" && name !== "manySocket")
			throw new Refusal("bad_field", "There is no WebSocket at this path. See docs/serve.md for the routes.");
		const holder = bearer as Bearer;
		if (this.#draining) throw drainingRefusal();
		const client = query.get("client") ?? uuid(Date.now());
		if (client.length > 200) throw new Refusal("bad_field", "client has at most 200 characters.");
		const label = (query.get("name") ?? holder.name).slice(0, 200);
		if (name === "manySocket") {
			this.connections.check(holder, 0);
			return this.#sockets.accept(request, stream, head, (socket) => openManySocket(socket, stream, { bearer: holder, client, name: label }, this));
		}
		const session = this.sessions.get(params.id as string);
		const mode = query.get("mode") ?? "read";
		if (mode !== "read" && mode !== "write") throw new Refusal("bad_field", `mode must be read or write, not ${JSON.stringify(mode.slice(0, 20))}.`);
		const wantsSeat = mode === "write";
		if (wantsSeat && !mayUse(holder.scope, "drive")) throw new Refusal("scope", "mode=write needs a token of scope drive; this one may only read.");
		const after = cursorOf(query.get("after"));
		session.beforeReader(after);
		this.connections.check(holder, session.feed.readers.size);
		if (wantsSeat) session.checkSeat(client, query.get("takeover") === "1");
		const updates = query.get("updates") ?? "delta";
		if (updates !== "delta" && updates !== "full")
			throw new Refusal("bad_field", `updates must be delta or full, not ${JSON.stringify(updates.slice(0, 20))}.`);
		this.#sockets.accept(request, stream, head, (socket) =>
			openSessionSocket(
				socket,
				stream,
				session,
				{ bearer: holder, client, name: label, wantsSeat, after, isFull: updates === "full", events: query.get("events")?.split(",") },
				this.connections,
			),
		);
	}

	// ─── The end ───

	drainState(): object {
		return { draining: this.#draining !== undefined, ...(this.#draining && { deadlineMs: Math.max(0, this.#draining.deadline - Date.now()) }) };
	}

	/**
	 * Lets runs end, then everything else. A second call does not wait for runs, and gives agents and sockets a few seconds.
	 * Whatever hangs or fails, the end comes: each step has its time, and a last timer does not trust the steps.
	 */
	drain(isHurried = false): Promise<void> {
		if (this.#drained || isHurried) this.#hurry();
		this.#drained ??= this.#drainNow(isHurried).catch((error: Error) => {
			this.config.log({ event: "fault", error: error.stack ?? String(error) });
			this.#endByForce();
		});
		return this.#drained;
	}

	/** Kills what is left, and ends without a word to anyone. */
	#endByForce(): void {
		if (this.#isEnded) return;
		this.#isEnded = true;
		this.config.log({ event: "ended_by_force" });
		for (const session of this.sessions.open) session.kill("the server ends");
		this.#http?.closeAllConnections();
		try {
			this.#release();
		} finally {
			this.#end();
		}
	}

	async #drainNow(isHurried: boolean): Promise<void> {
		const { drainMs, log } = this.config;
		setTimeout(() => this.#endByForce(), drainMs + mostEndMs).unref();
		void this.#hurried.then(() => setTimeout(() => this.#endByForce(), mostHurriedMs).unref());
		this.#draining = { deadline: Date.now() + drainMs };
		const frame = { type: "draining", deadlineMs: drainMs };
		this.hub.announce(frame);
		for (const { feed } of this.sessions.open) feed.announce(frame);
		log({ event: "draining", deadlineMs: drainMs });
		if (!isHurried) await this.#whenQuiet(drainMs);
		await Promise.all(this.sessions.awake.map((session) => session.end(this.#hurried)));
		this.connections.closeAll(1012, "the server restarts");
		await this.#close();
	}

	/** Until no session is busy, or the time is over. */
	#whenQuiet(ms: number): Promise<void> {
		return new Promise((resolve) => {
			const done = () => {
				clearInterval(poll);
				clearTimeout(timer);
				resolve();
			};
			const poll = setInterval(() => (this.sessions.awake.some(({ isBusy }) => isBusy) ? undefined : done()), 50);
			const timer = setTimeout(done, ms);
			void this.#hurried.then(done);
			if (!this.sessions.awake.some(({ isBusy }) => isBusy)) done();
		});
	}

	async #close(): Promise<void> {
		const server = this.#http;
		this.sessions.close();
		this.metrics.close();
		this.#sockets.close();
		(await this.#fleetRoutes)?.close();
		await settledWithin(goodbyeMs, this.config.fleet?.close() ?? Promise.resolve());
		clearInterval(this.#expiry);
		if (server?.listening) {
			const closed = new Promise<void>((resolve) => server.close(() => resolve()));
			server.closeIdleConnections();
			// Sockets have two seconds to say goodbye, in a hurry half a second.
			await Promise.race([settledWithin(goodbyeMs, closed), this.#hurried.then(() => settledWithin(hurriedGoodbyeMs, closed))]);
			server.closeAllConnections();
			await settledWithin(hurriedGoodbyeMs, closed);
		}
		if (this.#isEnded) return;
		this.#isEnded = true;
		this.#release();
		this.#end();
	}

	#release(): void {
		const { directory, socket } = this.config;
		clearInterval(this.#expiry);
		this.sessions.close();
		this.metrics.close();
		this.#index.close();
		try {
			this.tokens.settle();
		} catch (error) {
			this.config.log({ event: "save_failed", error: (error as Error).message }); // A full disk. The next start makes another token.
		}
		if (socket !== undefined) rmSync(socket, { force: true });
		rmSync(join(directory, "server.json"), { force: true });
		unclaim(this.#lock.path, this.#lock.own);
	}
}

/** Headers that decide something. */
const decisive = [
	"host",
	"origin",
	"authorization",
	"sec-fetch-site",
	"content-length",
	"content-type",
	"content-encoding",
	"transfer-encoding",
	"expect",
	"idempotency-key",
	"last-event-id",
];

const framing: ReadonlySet<string> = new Set(["host", "content-length", "transfer-encoding"]);

function headOfRequest({ method, url, headers, headersDistinct, socket }: IncomingMessage): RequestHead {
	// Of two values a proxy and this server might each believe another one. Twice the same is one, but for what frames a message.
	const twice = decisive.find((name) => (framing.has(name) ? (headersDistinct[name] ?? []) : [...new Set(headersDistinct[name])]).length > 1);
	if (twice !== undefined) throw new Refusal("bad_field", `The header ${twice} may have one value.`, { headers: { Connection: "close" } });
	return { method: method ?? "", url: url ?? "/", headers, address: socket.remoteAddress ?? "" };
}

const internal = (error: unknown) => {
	// What a command of ours refused has a text for people.
	if (isCommandError(error)) return new Refusal(error.code as HttpErrorCode, error.message);
	return new Refusal("internal", "The server failed at this request. Its log says more.");
};

function refuseUpgrade(stream: Duplex, { status, headers, body }: Refusal): void {
	const text = JSON.stringify(body);
	const all = {
		...commonHeaders,
		...headers,
		"Content-Type": "application/json",
		"Content-Length": String(Buffer.byteLength(text)),
		Connection: "close",
	};
	const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
	stream.end(`HTTP/1.1 ${status} Refused\r\n${lines.join("\r\n")}\r\n\r\n${text}`);
}

function takeLock(path: string): { path: string; own: string } {
	const own = JSON.stringify(holderOf(process.pid));
	const other = claim(path, own);
	if (!other) return { path, own };
	throw new Error(
		`A server of this name runs already, as process ${other.holder?.pid ?? "unknown"}. Stop it with bowline serve stop, or start another one with --name <name>.`,
	);
}

function listening(server: Server, where: { port: number; host: string } | { path: string }): Promise<void> {
	return new Promise((resolve, reject) => {
		server.once("error", reject);
		server.listen(where, () => {
			server.off("error", reject);
			resolve();
		});
	});
}

/** A socket file that no process listens on is replaced. */
async function listenOnSocket(server: Server, path: string): Promise<void> {
	mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
	if (existsSync(path)) {
		if (await hasListener(path)) throw Object.assign(new Error(`Another process listens on ${path}.`), { code: "EADDRINUSE" });
		rmSync(path, { force: true });
	}
	const before = process.umask(0o177);
	try {
		await listening(server, { path });
	} finally {
		process.umask(before);
	}
	chmodSync(path, 0o600);
}

function hasListener(path: string): Promise<boolean> {
	return new Promise((resolve) => {
		const socket = connect(path);
		socket.once("connect", () => {
			socket.destroy();
			resolve(true);
		});
		socket.once("error", () => resolve(false));
	});
}
