/** One server of a session: from its entry to its tools, and again after it has died. */
import type { HttpClient } from "../lib/http/client.ts";
import type { Redactor } from "../lib/redact.ts";
import type { Program } from "../lib/shell/index.ts";
import { sleep } from "../lib/sleep.ts";
import type { McpServer, McpStatus } from "../protocol/mcp.ts";
import { isObject, legacyVersions, modernVersion, type ServerConfig } from "./config.ts";
import { Connection, type Era, type Greeting, mayBeModern, UnknownRevision } from "./connection.ts";
import type { Asked } from "./elicitation.ts";
import { serverEnvironment } from "./environment.ts";
import { type ExpandInput, expand, type Target } from "./expand.ts";
import { openHttp } from "./http-connection.ts";
import { Aborted, Clock, type Json, type RequestOptions, RpcError, TimedOut } from "./peer.ts";
import { ServerLog } from "./server-log.ts";
import { Ended, stdioTransport } from "./stdio.ts";
import { readTools, type ServerTool } from "./tool-list.ts";

export interface ServerParts extends ExpandInput {
	/** Our own version. */
	version: string;
	/** Names of variables that servers may see as well. */
	allowedVariables: readonly string[];
	startProgram: (file: string, args: readonly string[], cwd: string, environment: Record<string, string>) => Promise<Program>;
	/** The connections of this session. */
	http: () => HttpClient;
	/** Where the logs of servers go; nowhere when absent. */
	logDirectory: string | undefined;
	redactor: Redactor;
	/** These values must not leave the process. */
	addSecrets: (values: readonly string[]) => void;
	roots: () => { uri: string; name: string }[];
	/** Asks a person, where one can answer. */
	elicit?: (asked: Asked) => Promise<Json>;
	/** The status or the lists of a server are different now. */
	onChange: (server: Server, isStatus: boolean) => void;
	warn: (text: string) => void;
}

export interface ServerPrompt {
	name: string;
	description: string;
	arguments: { name: string; isRequired: boolean }[];
}

export interface ServerRequest extends Omit<RequestOptions, "clock"> {
	/** The whole time it may take. */
	timeoutMs?: number;
	/** The call of the model that it belongs to. */
	toolCallId?: string;
}

export const defaultStartMs = 60_000;
const callSilenceMs = 300_000;
const callTotalMs = 3_600_000;
/** List changes often come in groups. */
const quietMs = 100;
/** Waits before a server that died is started again. */
const restartWaits = [1000, 2000, 4000];
const restartWindowMs = 60_000;

export class Server {
	readonly config: ServerConfig;
	#parts: ServerParts;
	status: McpStatus;
	error: string | undefined;
	tools: ServerTool[] = [];
	prompts: ServerPrompt[] = [];
	#connection: Connection | undefined;
	#log: ServerLog | undefined;
	#starting: Promise<void> | undefined;
	/** How it wants to be greeted, once that is known. */
	#era: Era | undefined;
	#wasReady = false;
	#restarts: number[] = [];
	#diedAt = 0;
	#stop = new AbortController();
	#relist: NodeJS.Timeout | undefined;
	#problems = new Set<string>();
	/** Calls of the model under way. */
	#calls = new Set<string>();

	constructor(config: ServerConfig, parts: ServerParts) {
		this.config = config;
		this.#parts = parts;
		this.status = config.isDisabled ? "disabled" : "waiting";
	}

	get name(): string {
		return this.config.name;
	}

	get greeting(): Greeting | undefined {
		return this.status === "ready" ? this.#connection?.greeting : undefined;
	}

	get logFile(): string | undefined {
		return this.#log?.path;
	}

	get hasResources(): boolean {
		return this.greeting?.capabilities.resources !== undefined;
	}

	/** Starts it unless that was done before. Resolves when it is ready or has failed. */
	start(): Promise<void> {
		if (this.status === "waiting") return this.#begin(() => this.#connect());
		return this.#starting ?? Promise.resolve();
	}

	/** Starts it again if it died, as often as that is sensible. Resolves when it is ready, or with the reason when it is not. */
	async revive(): Promise<string | undefined> {
		await this.#starting;
		if (this.status === "failed" && this.#wasReady && !this.#stop.signal.aborted) await this.#begin(() => this.#restart());
		return this.status === "ready" ? undefined : `MCP server ${this.#called} is not running: ${this.error ?? this.status}`;
	}

	/** Ends it and starts it from the beginning. */
	async restart(): Promise<void> {
		await this.#starting;
		await this.#disconnect();
		this.#restarts = [];
		await this.#begin(() => this.#connect());
	}

	/** One start at a time. */
	#begin(start: () => Promise<void>): Promise<void> {
		this.#starting ??= start().finally(() => {
			this.#starting = undefined;
		});
		return this.#starting;
	}

	/** Ends it for good. Calls under way fail. */
	async close(): Promise<void> {
		this.#stop.abort();
		clearTimeout(this.#relist);
		await this.#disconnect();
	}

	/** A request with the words of a failed call. `what` names it for a person. */
	async request(method: string, params: Json, what: string, options: ServerRequest): Promise<Json> {
		const gone = await this.revive();
		if (gone !== undefined) throw new Error(gone);
		const connection = this.#connection;
		if (!connection) throw new Error(`MCP server ${this.#called} is not running: it was ended`);
		const { timeoutMs, toolCallId, ...rest } = options;
		const idle = timeoutMs ?? this.config.timeoutMs ?? callSilenceMs;
		const clock = new Clock(idle, timeoutMs ?? Math.max(idle, callTotalMs));
		if (toolCallId !== undefined) this.#calls.add(toolCallId);
		try {
			return await connection.request(method, params, { ...rest, clock });
		} catch (error) {
			throw new Error(this.#failedCall(error as Error, what), { cause: error });
		} finally {
			if (toolCallId !== undefined) this.#calls.delete(toolCallId);
		}
	}

	/** Facts for a host. `names`: of its tools and prompts, as the model and the user call them. */
	describe(names: { tools: string[]; prompts: string[] }): McpServer {
		const { name, source, transport } = this.config;
		const { greeting, error, logFile } = this;
		return {
			name,
			source,
			transport,
			status: this.status,
			...(greeting && { protocolVersion: greeting.version }),
			...names,
			...(error === undefined ? {} : { error }),
			...(logFile === undefined ? {} : { logFile }),
		};
	}

	get #called(): string {
		return JSON.stringify(this.name);
	}

	#set(status: McpStatus, error?: string): void {
		this.status = status;
		this.error = error;
		this.#parts.onChange(this, true);
	}

	async #restart(): Promise<void> {
		const now = performance.now();
		this.#restarts = this.#restarts.filter((at) => now - at < restartWindowMs);
		const wait = restartWaits[this.#restarts.length];
		if (wait === undefined) return;
		await sleep(Math.max(0, this.#diedAt + wait - now), this.#stop.signal);
		if (this.#stop.signal.aborted) return;
		this.#restarts.push(performance.now());
		await this.#connect();
	}

	async #connect(): Promise<void> {
		this.#set("starting");
		const target = expand(this.config, this.#parts);
		if ("problem" in target) return this.#set("failed", target.problem);
		this.#parts.addSecrets(target.secrets);
		const filter = this.#parts.redactor.stream();
		this.#log?.close();
		this.#log = new ServerLog({ directory: this.#parts.logDirectory, name: this.name, filter });
		const timeLimit = this.config.startTimeoutMs ?? defaultStartMs;
		const deadline = new Clock(timeLimit);
		try {
			await this.#open(target, deadline);
			await this.#readLists(deadline);
			if (this.#stop.signal.aborted) return;
			this.#wasReady = true;
			this.#set("ready");
			this.#connection?.listen();
		} catch (error) {
			const words = this.#parts.redactor.text(this.#failedStart(error as Error));
			await this.#disconnect();
			if (this.#stop.signal.aborted) return;
			this.#diedAt = performance.now();
			this.#set("failed", words);
		}
	}

	/** Opens the transport and agrees on the protocol. */
	async #open(target: Target, clock: Clock): Promise<void> {
		const { signal } = this.#stop;
		if (this.config.transport === "stdio") {
			const connection = await this.#spawn(target);
			const { protocol } = this.config;
			if (protocol === modernVersion || this.#era === "modern") await connection.discover(clock, signal);
			else await this.#initialize(connection, protocol, clock, signal);
		} else {
			this.#connection = await openHttp({
				config: this.config,
				target,
				era: this.#era,
				client: this.#parts.http(),
				clock,
				signal,
				connection: () => this.#newConnection(),
			});
		}
		this.#era = this.#connection?.era;
	}

	async #initialize(connection: Connection, protocol: string, clock: Clock, signal: AbortSignal): Promise<void> {
		try {
			const greeting = await connection.initialize(protocol === "auto" ? legacyVersions[0] : protocol, clock, signal);
			if (protocol !== "auto" && greeting.version !== protocol) throw new UnknownRevision(greeting.version);
		} catch (error) {
			if (protocol !== "auto" || this.#era || !mayBeModern(error as Error)) throw error;
			await connection.discover(clock, signal);
		}
	}

	async #spawn({ command, args, cwd, env }: Target): Promise<Connection> {
		const environment = serverEnvironment(this.#parts.env, this.#parts.allowedVariables, env);
		const isShim = process.platform === "win32" && !/\.exe$/i.test(command);
		const [file, words] = isShim ? ["cmd", ["/c", command, ...args]] : [command, args];
		const program = await this.#parts.startProgram(file, words, cwd, environment);
		const connection = this.#newConnection();
		connection.use(stdioTransport(program, connection.peer, this.#log as ServerLog));
		this.#connection = connection;
		return connection;
	}

	#newConnection(): Connection {
		const { version, roots, elicit } = this.#parts;
		const connection: Connection = new Connection({
			version,
			roots,
			...(elicit && { elicit: (params: Json, signal: AbortSignal) => elicit({ server: this.name, params, signal, ...this.#onlyCall }) }),
			onListChanged: () => this.#listAgain(),
			onMessage: (text) => this.#log?.push(Buffer.from(`${text}\n`)),
			onClosed: (error) => this.#died(connection, error),
		});
		return connection;
	}

	/** The call that a server asks about, where there is only one. */
	get #onlyCall(): { toolCallId?: string } {
		const [toolCallId, ...others] = this.#calls;
		return toolCallId === undefined || others.length > 0 ? {} : { toolCallId };
	}

	/** A connection that was in use is over. */
	#died(connection: Connection, error: Error): void {
		if (this.#connection !== connection || this.status !== "ready") return;
		this.#diedAt = performance.now();
		clearTimeout(this.#relist);
		const words = `MCP server ${this.#called} ${error.message}.${this.#lastWords()}`;
		void this.#disconnect();
		this.#set("failed", this.#parts.redactor.text(words));
	}

	async #disconnect(): Promise<void> {
		const connection = this.#connection;
		this.#connection = undefined;
		clearTimeout(this.#relist);
		this.#relist = undefined;
		if (!connection) return;
		// The end of its process is ours from here on.
		connection.peer.closed(new Ended("was ended"));
		await connection.close();
	}

	async #readLists(clock: Clock): Promise<void> {
		const connection = this.#connection as Connection;
		const { capabilities } = connection.greeting;
		const options = () => ({ clock, signal: this.#stop.signal });
		// Some old servers announce nothing and have tools all the same.
		const isSilent = Object.keys(capabilities).length === 0;
		const tools = capabilities.tools !== undefined || isSilent ? await listed(connection, "tools", options) : [];
		const prompts = capabilities.prompts !== undefined ? await listed(connection, "prompts", options) : [];
		const read = readTools(tools, this.config);
		this.tools = read.tools;
		this.prompts = prompts.flatMap(readPrompt);
		for (const problem of read.problems) {
			if (!this.#problems.has(problem)) this.#parts.warn(this.#parts.redactor.text(problem));
			this.#problems.add(problem);
		}
	}

	/** What is wrong with some of its tools. */
	get problems(): readonly string[] {
		return [...this.#problems];
	}

	#listAgain(): void {
		if (this.status !== "ready") return;
		clearTimeout(this.#relist);
		this.#relist = setTimeout(() => void this.listAgain(), quietMs);
	}

	/** Asks for the lists again. A server that does not answer keeps the old ones. */
	async listAgain(): Promise<void> {
		try {
			await this.#readLists(new Clock(defaultStartMs));
		} catch (error) {
			this.#log?.note(`the lists could not be read again: ${(error as Error).message}`);
			return;
		}
		this.#parts.onChange(this, false);
	}

	#lastWords(): string {
		const said = this.#log?.lastWords;
		return said ? ` It said: ${said}` : "";
	}

	#failedStart(error: Error): string {
		const server = `MCP server ${this.#called}`;
		const { code } = error as NodeJS.ErrnoException;
		if (error instanceof TimedOut) return `${server} has not answered for ${seconds(error.afterMs)} s.`;
		if (error instanceof Ended) return `${server} ${error.message} before it answered.${this.#lastWords()}`;
		if (error instanceof UnknownRevision) return `${server} ${error.message}.`;
		if (error instanceof RpcError) return `${server}: ${error.message} (${error.code})`;
		if (this.config.transport !== "stdio") return error.message.startsWith("MCP server") ? error.message : `${server}: ${error.message}`;
		if (code === "ENOENT") return `${server} could not be started: ${this.config.command} was not found.`;
		return `${server} could not be started: ${code === "EACCES" ? `${this.config.command} may not be run` : error.message}${error.message.endsWith(".") ? "" : "."}`;
	}

	#failedCall(error: Error, what: string): string {
		if (error instanceof TimedOut) return `MCP ${what} of ${this.#called} has not answered for ${seconds(error.afterMs)} s.`;
		if (error instanceof Aborted) return `MCP ${what} of ${this.#called} was aborted`;
		const server = `MCP server ${this.#called}`;
		const name = what.replace(/^tool /, "");
		if (error instanceof Ended) return `${server} ${error.message} during ${name}.${this.#parts.redactor.text(this.#lastWords())}`;
		if (error instanceof RpcError) return `${server}: ${error.message}${error.code === 0 ? "" : ` (${error.code})`}`;
		return error.message.startsWith("MCP server") ? error.message : `${server}: ${error.message}`;
	}
}

const seconds = (ms: number) => Math.max(1, Math.round(ms / 1000));

/** The list; empty when the server does not know the method it announces. */
async function listed(connection: Connection, list: "tools" | "prompts", options: () => RequestOptions): Promise<unknown[]> {
	try {
		return await connection.list(`${list}/list`, list, options);
	} catch (error) {
		if (error instanceof RpcError && error.code === -32601) return [];
		throw error;
	}
}

function readPrompt(prompt: unknown): ServerPrompt[] {
	if (!isObject(prompt) || typeof prompt.name !== "string" || prompt.name === "") return [];
	const { name, description, title } = prompt;
	const given = Array.isArray(prompt.arguments) ? prompt.arguments.filter(isObject) : [];
	const text = [description, title].find((each) => typeof each === "string" && each !== "") as string | undefined;
	return [
		{
			name,
			description: (text ?? "").slice(0, 500),
			arguments: given.flatMap((argument) =>
				typeof argument.name === "string" ? [{ name: argument.name, isRequired: argument.required === true }] : [],
			),
		},
	];
}
