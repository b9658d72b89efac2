/** Real servers in folders of their own, with scripted models. Ended and removed after each test. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { type IncomingHttpHeaders, type RequestOptions, request } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { WebSocket } from "ws";
import type { ServedSession } from "../../src/protocol/serve.ts";
import { later } from "../later.ts";

const program = join(import.meta.dirname, "../../dist/bowline.js");
/** Long enough for a machine that is busy with other things. */
const patience = 45_000;

/** Waits for a condition, never for a time. */
export async function until<T>(what: string, look: () => T | Promise<T>): Promise<NonNullable<Awaited<T>>> {
	const end = Date.now() + patience;
	for (;;) {
		const found = await look();
		if (found) return found as NonNullable<Awaited<T>>;
		if (Date.now() > end) throw new Error(`timed out: ${what}`);
		await new Promise((resolve) => setTimeout(resolve, 20));
	}
}

export interface Answer {
	status: number;
	headers: IncomingHttpHeaders;
	text: string;
	// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of all routes
	json: any;
}

export interface Place {
	/** Where the server was started, and sessions work. */
	cwd: string;
	user: string;
}

export function place(files: Record<string, string> = {}, isShared = false): Place {
	const directory = realpathSync(mkdtempSync(join(tmpdir(), "bowline-serve-")));
	if (!isShared) later(() => removePlace(directory));
	const cwd = join(directory, "work");
	mkdirSync(cwd);
	for (const [name, content] of Object.entries(files)) {
		mkdirSync(dirname(join(cwd, name)), { recursive: true });
		writeFileSync(join(cwd, name), content);
	}
	return { cwd, user: join(directory, "user") };
}

const removePlace = (directory: string) => rmSync(directory, { recursive: true, force: true, maxRetries: 5 });

export interface Start {
	at?: Place;
	/** What the model says, as replies of a script. */
	replies?: unknown[];
	files?: Record<string, string>;
	args?: string[];
	env?: Record<string, string>;
	/** The node that runs the server. */
	node?: string;
	/** For all tests of a file, which ends it itself. */
	isShared?: boolean;
}

export class TestServer {
	readonly child: ChildProcess;
	readonly at: Place;
	readonly isShared: boolean;
	url = "";
	token = "";
	out = "";
	err = "";
	readonly exited: Promise<number | NodeJS.Signals | null>;

	constructor(child: ChildProcess, at: Place, isShared = false) {
		this.child = child;
		this.at = at;
		this.isShared = isShared;
		child.stdout?.on("data", (chunk) => (this.out += chunk));
		child.stderr?.on("data", (chunk) => (this.err += chunk));
		this.exited = new Promise((resolve) => child.on("exit", (code, signal) => resolve(code ?? signal)));
	}

	get port(): number {
		return Number(new URL(this.url).port);
	}

	/** A request with the main token, unless headers say otherwise. */
	ask(method: string, path: string, body?: unknown, headers: Record<string, string | undefined> = {}): Promise<Answer> {
		const options: RequestOptions = { method, path, host: "127.0.0.1", port: this.port };
		return ask(options, body, { Authorization: `Bearer ${this.token}`, ...headers });
	}

	get(path: string): Promise<Answer> {
		return this.ask("GET", path);
	}

	post(path: string, body: unknown = {}, headers: Record<string, string> = {}): Promise<Answer> {
		return this.ask("POST", path, body, headers);
	}

	async create(body: Record<string, unknown> = {}): Promise<ServedSession> {
		const { status, text, json } = await this.post("/v1/sessions", { cwd: this.at.cwd, ...body });
		if (status !== 201) throw new Error(`create: ${status} ${text}\n${this.err}`);
		return json;
	}

	async session(id: string): Promise<ServedSession> {
		return (await this.get(`/v1/sessions/${id}`)).json;
	}

	/** A prompt, and the end of its run. */
	prompt(id: string, message: string, headers: Record<string, string> = {}): Promise<Answer> {
		return this.post(`/v1/sessions/${id}/prompts`, { message }, { Prefer: "wait=30", ...headers });
	}

	inState(id: string, state: string): Promise<ServedSession> {
		return until(`${id} is ${state}`, async () => {
			const session = await this.session(id);
			return session.state === state ? session : undefined;
		});
	}

	socket(path: string, headers: Record<string, string> = {}): Promise<TestSocket> {
		const socket = new WebSocket(`ws://127.0.0.1:${this.port}${path}`, {
			headers: { Authorization: `Bearer ${this.token}`, ...headers },
			perMessageDeflate: false,
		});
		return opened(socket);
	}

	attach(id: string, query = ""): Promise<TestSocket> {
		return this.socket(`/v1/sessions/${id}/socket${query}`);
	}

	/** The process of a session's agent. */
	agentPid(id: string): number {
		const lock = JSON.parse(readFileSync(`${this.fileOf(id)}.lock`, "utf8")) as { pid: number };
		return lock.pid;
	}

	#files = new Map<string, string>();
	fileOf(id: string): string {
		return this.#files.get(id) ?? "";
	}
	async learnFile(id: string): Promise<string> {
		const { file } = await this.session(id);
		if (file) this.#files.set(id, file);
		return file ?? "";
	}

	async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<number | NodeJS.Signals | null> {
		if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill(signal);
		return this.exited;
	}
}

export function ask(options: RequestOptions, body: unknown, headers: Record<string, string | undefined>): Promise<Answer> {
	const text = body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body);
	const given = Object.entries({ ...(text !== undefined && { "Content-Type": "application/json" }), ...headers }).filter(
		([, value]) => value !== undefined,
	);
	return new Promise((resolve, reject) => {
		const sent = request({ ...options, headers: Object.fromEntries(given) as Record<string, string> }, (response) => {
			let answer = "";
			response.setEncoding("utf8");
			response.on("data", (chunk) => (answer += chunk));
			response.on("end", () => {
				const isJson = /^application\/json(;|$)/.test(response.headers["content-type"] ?? "");
				resolve({ status: response.statusCode ?? 0, headers: response.headers, text: answer, json: isJson ? JSON.parse(answer) : undefined });
			});
			response.on("error", reject);
		});
		sent.on("error", reject);
		sent.end(text);
	});
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into frames of all kinds
export type Frame = any;

/** A socket that keeps what it got. */
export class TestSocket {
	readonly socket: WebSocket;
	readonly frames: Frame[] = [];
	closed: { code: number; reason: string } | undefined;
	#next = 1;

	constructor(socket: WebSocket) {
		this.socket = socket;
		socket.on("message", (data) => void this.frames.push(JSON.parse(data.toString())));
		socket.on("close", (code, reason) => (this.closed = { code, reason: reason.toString() }));
		socket.on("error", () => undefined);
	}

	send(frame: object): void {
		this.socket.send(JSON.stringify(frame));
	}

	/** Sends a command and waits for its response. */
	async ask(command: Record<string, unknown>): Promise<Frame> {
		const id = `t${this.#next++}`;
		this.send({ id, ...command });
		return this.find(`response to ${command.type}`, (frame) => frame.type === "response" && frame.id === (command.id ?? id));
	}

	/** The first frame that fits, now or later. */
	find(what: string, fits: (frame: Frame) => boolean): Promise<Frame> {
		return until(`${what} in ${JSON.stringify(this.frames.map(({ type }) => type)).slice(-400)}`, () => {
			const found = this.frames.find(fits);
			if (!found && this.closed) throw new Error(`closed ${this.closed.code} ${this.closed.reason} before: ${what}`);
			return found;
		});
	}

	type(type: string): Promise<Frame> {
		return this.find(type, (frame) => frame.type === type);
	}

	/** The kept frames that came with numbers. */
	get durable(): Frame[] {
		return this.frames.filter(({ seq, type }) => seq !== undefined && type !== "snapshot" && !/_update$|^subagent_progress$/.test(type));
	}

	async close(): Promise<void> {
		this.socket.close();
		await until("socket closes", () => this.closed);
	}

	/** Without a word, as a lost network. */
	async cut(): Promise<void> {
		this.socket.terminate();
		await until("socket is cut", () => this.closed);
	}
}

export async function opened(socket: WebSocket): Promise<TestSocket> {
	const test = new TestSocket(socket);
	later(() => socket.terminate());
	await new Promise<void>((resolve, reject) => {
		socket.on("open", () => resolve());
		socket.on("unexpected-response", (_request, response) => {
			let text = "";
			response.on("data", (chunk) => (text += chunk));
			response.on("end", () => reject(new Error(`${response.statusCode} ${text}`)));
		});
		socket.on("error", reject);
	});
	return test;
}

export function spawnServer({ at, replies, files, args = [], env = {}, node = process.execPath, isShared }: Start = {}): TestServer {
	const where = at ?? place(files, isShared);
	if (replies) writeFileSync(join(where.cwd, "script.json"), JSON.stringify({ replies }));
	const model = replies || at ? ["--provider", "scripted", "--model", join(where.cwd, "script.json")] : ["--provider", "scripted", "--model", "echo"];
	const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
	const child = spawn(node, [program, "serve", "--port", "0", ...model, ...args], {
		cwd: where.cwd,
		env: { ...inherited, HOME: where.user, BOWLINE_DIR: where.user, ...env },
		stdio: ["ignore", "pipe", "pipe"],
	});
	const server = new TestServer(child, where, isShared);
	running.add(child);
	if (!isShared) later(() => endServer(server));
	return server;
}

const running = new Set<ChildProcess>();
// A worker that is ended before its hooks run leaves no server; agents end when their server is gone.
process.on("exit", () => {
	for (const child of running) child.kill("SIGKILL");
});

/** Ends a server and what is left of its agents, also after a test that failed in the middle. */
export async function endServer({ child, exited, isShared, at }: TestServer): Promise<void> {
	const agents = childrenOf(child.pid as number);
	if (child.exitCode === null && child.signalCode === null) {
		// Two signals at once may arrive as one: the second is sent again until the end.
		child.kill("SIGTERM");
		const again = setInterval(() => child.kill("SIGTERM"), 200);
		const timer = setTimeout(() => child.kill("SIGKILL"), 20_000);
		await exited;
		clearInterval(again);
		clearTimeout(timer);
	}
	running.delete(child);
	for (const agent of agents) {
		try {
			process.kill(-agent, "SIGKILL");
		} catch {
			// It ended with its server.
		}
	}
	if (isShared) removePlace(dirname(at.cwd));
}

function childrenOf(pid: number): number[] {
	try {
		return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
	} catch {
		return []; // The server is gone, or the system has no such file.
	}
}

export async function serve(start: Start = {}): Promise<TestServer> {
	const server = spawnServer(start);
	await until("the server listens", () => {
		if (server.child.exitCode !== null) throw new Error(`the server ended: ${server.err}`);
		return server.out.includes("\n");
	});
	const { url, tokenFile } = JSON.parse(server.out.split("\n")[0] as string) as { url: string; tokenFile: string };
	server.url = url;
	server.token = readFileSync(tokenFile, "utf8").trim();
	return server;
}

export function isAlive(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch {
		return false;
	}
}
