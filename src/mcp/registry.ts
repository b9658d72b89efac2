/** The servers of one session. A call is looked up here and nowhere else. */
import type { Tool } from "../agent/contracts.ts";
import { onAbort } from "../lib/abort.ts";
import { didYouMean } from "../lib/nearest.ts";
import { fitsStars } from "../lib/stars.ts";
import { CommandError } from "../protocol/command-error.ts";
import type { UserContent } from "../protocol/content.ts";
import type { EventOf } from "../protocol/events.ts";
import type { McpServer, McpServers } from "../protocol/mcp.ts";
import type { Model } from "../protocol/model.ts";
import { type Entry, isWrong, readEntries, type ServerConfig, type WrongEntry } from "./config.ts";
import { freeName, namePrefix, toolName, toolsOf } from "./names.ts";
import { expandPrompt, type PromptCommand, promptCommands } from "./prompts.ts";
import { Refusals } from "./refusals.ts";
import { Server, type ServerParts } from "./server.ts";
import { resourceTool, resourceToolName, serverTool } from "./tools.ts";

export interface RegistryParts extends Omit<ServerParts, "onChange"> {
	/** Entries of files and flags, the lowest place first. */
	entries: readonly Entry[];
	/** Servers that an untrusted project names. They are listed and never used. */
	untrusted: readonly { name: string; transport: McpServer["transport"] }[];
	emit: (event: EventOf<"mcp_server_update">) => void;
	/** How long the first model call waits for servers. */
	waitMs: number;
	/** Names that other tools have. */
	taken: () => Iterable<string>;
	/** Patterns of the tools that the model is offered: each list must have one that fits. */
	offered: readonly (readonly string[])[];
	/** Whether what servers say about their use goes into the system prompt. */
	hasInstructions: boolean;
	tempDir: string;
	redact: (text: string) => string;
	/** Closes what servers were started with. */
	closePrograms: () => Promise<void>;
}

/** Processes that start at a time. */
const mostStarting = 8;
const longestInstructions = 2000;
const longestAllInstructions = 8000;

export class Registry {
	#parts: RegistryParts;
	#serverParts: ServerParts;
	/** By name, in the order of their tools. */
	#servers = new Map<string, Server>();
	#wrong = new Map<string, WrongEntry>();
	/** Servers that the first model call has waited for. */
	#awaited = new WeakSet<Server>();
	#starting = 0;
	#queue: (() => void)[] = [];
	#tools: readonly Tool[] | undefined;
	/** Name for the model to the server's. */
	#names = new Map<Server, string[]>();
	#isClosed = false;
	#hasWarnedOfSize = false;
	/** The tools whose size was looked at last. */
	#sized: readonly Tool[] | undefined;
	/** Those of the host, and of extensions. */
	#host: readonly Entry[] = [];
	#ofExtensions: readonly Entry[] = [];
	readonly refusals: Refusals;

	constructor(parts: RegistryParts) {
		this.#parts = parts;
		this.#serverParts = { ...parts, onChange: (server, isStatus) => this.#changed(server, isStatus) };
		this.refusals = new Refusals(parts.warn);
		this.#adopt(parts.entries);
	}

	/** Begins to start every server that waits. Resolves when all are ready or have failed, when time is up, or at the signal. */
	async prepare(signal: AbortSignal): Promise<void> {
		const servers = [...this.#servers.values()];
		// A server that died is started again by a run, which does not wait for it.
		for (const server of servers) if (server.status === "failed") void server.revive();
		const fresh = servers.filter((server) => !this.#awaited.has(server));
		for (const server of fresh) this.#awaited.add(server);
		const started = Promise.all(fresh.map((server) => this.#start(server)));
		if (fresh.length === 0) return;
		let timer: NodeJS.Timeout | undefined;
		let release: () => void = () => undefined;
		const enough = new Promise<void>((resolve) => {
			timer = setTimeout(resolve, this.#parts.waitMs);
			release = onAbort(signal, resolve);
		});
		await Promise.race([started, enough]);
		clearTimeout(timer);
		release();
	}

	/** Replaces the host's servers, or refuses all of them and keeps the old ones. */
	async setHost(servers: McpServers): Promise<string[]> {
		const { entries, problems, warnings } = readEntries(servers, { source: "host", directory: this.#parts.cwd });
		const problem = problems[0] ?? entries.find(isWrong)?.problem;
		if (problem !== undefined) throw new CommandError("bad_field", problem);
		warnings.forEach(this.#parts.warn);
		this.#host = entries;
		this.#adoptAll();
		return entries.map(({ name }) => name);
	}

	/** Replaces the servers of extensions, which stand behind all others of their names. Gives what is wrong with them. */
	setExtensions(servers: McpServers): string[] {
		const { entries, problems, warnings } = readEntries(servers, { source: "extension", directory: this.#parts.cwd });
		warnings.forEach(this.#parts.warn);
		this.#ofExtensions = entries;
		this.#adoptAll();
		return [...problems, ...entries.filter(isWrong).map(({ problem }) => problem)];
	}

	/** Begins to start the host's servers, which wait for no prompt. */
	startHost(): void {
		for (const server of this.#servers.values()) if (server.config.source === "host") void this.#start(server);
	}

	async restart(name: string): Promise<void> {
		const server = this.#servers.get(name);
		if (!server) {
			const meant = didYouMean(name, [...this.#servers.keys()]).trim();
			throw new CommandError("not_found", `There is no MCP server ${JSON.stringify(name)}`, meant || undefined);
		}
		if (server.status === "disabled") throw new CommandError("unsupported", `MCP server ${JSON.stringify(name)} is disabled`);
		await server.restart();
	}

	/** The tools of servers that are ready, or that died and may be started again. */
	tools(): readonly Tool[] {
		this.#tools ??= this.#makeTools();
		return this.#tools;
	}

	/** The server that a call leads to, and the pattern of a rule about all such calls. */
	serverOf(tool: string, args: Record<string, unknown>): { name: string; tools: string } | undefined {
		if (tool === resourceToolName) {
			const named = this.#servers.get(String(args.server));
			return named && { name: named.name, tools: resourceToolName };
		}
		this.tools();
		const [server] = [...this.#names].find(([, names]) => names.includes(tool)) ?? [];
		return server && { name: server.name, tools: toolsOf(server.name) };
	}

	/** Whether the flags offer this tool to the model. */
	isOffered(name: string): boolean {
		const { offered } = this.#parts;
		return !name.startsWith(namePrefix) || offered.every((patterns) => patterns.some((pattern) => fitsStars(pattern, name)));
	}

	describe(): McpServer[] {
		this.tools();
		const known = [...this.#servers.values()].map((server) =>
			server.describe({
				tools: server.status === "ready" ? (this.#names.get(server) ?? []) : [],
				prompts: server.status === "ready" ? server.prompts.map((prompt) => toolName(server.name, prompt.name)) : [],
			}),
		);
		const nothing = { tools: [], prompts: [] };
		const wrong = [...this.#wrong.values()].map(
			({ name, source, transport, problem }): McpServer => ({ name, source, transport, status: "failed", ...nothing, error: problem }),
		);
		const untrusted = this.#parts.untrusted
			.filter(({ name }) => !this.#servers.has(name) && !this.#wrong.has(name))
			.map(({ name, transport }): McpServer => ({ name, source: "project", transport, status: "untrusted", ...nothing }));
		return [...known, ...wrong, ...untrusted];
	}

	/** The tools that this model can have, of those that it would be offered. Warns once when the definitions take much of its window. */
	fit(tools: readonly Tool[], model: Pick<Model, "api" | "provider" | "id" | "contextWindow">): readonly Tool[] {
		const fitting = this.refusals.fit(tools, model);
		// The list is the same from call to call.
		if (!this.#hasWarnedOfSize && this.#sized !== this.#tools) this.#checkSize(fitting, model.contextWindow);
		this.#sized = this.#tools;
		return fitting;
	}

	#checkSize(tools: readonly Tool[], window: number): void {
		const sizes = new Map<string, number>();
		const owners = new Map([...this.#names].flatMap(([{ name }, names]) => names.map((each) => [each, name] as const)));
		for (const { name, description, parameters } of tools) {
			const server = owners.get(name);
			if (server !== undefined) sizes.set(server, (sizes.get(server) ?? 0) + description.length + sizeOf(parameters));
		}
		const tokens = [...sizes.values()].reduce((sum, size) => sum + size, 0) / charactersPerToken;
		if (tokens === 0 || tokens <= window / 10) return;
		this.#hasWarnedOfSize = true;
		const largest = [...sizes].sort(([, a], [, b]) => b - a).slice(0, 3);
		const named = largest.map(([server, size]) => `${server} (about ${Math.round(size / charactersPerToken)} tokens)`).join(", ");
		this.#parts.warn(
			`The tools of MCP servers take about ${Math.round(tokens)} of ${window} tokens of every request. The largest: ${named}. The member tools of an entry chooses among them.`,
		);
	}

	/** What servers say about their use, for the system prompt. */
	instructions(): string {
		if (!this.#parts.hasInstructions) return "";
		let left = longestAllInstructions;
		const parts: string[] = [];
		for (const server of this.#servers.values()) {
			const text = (server.greeting?.instructions ?? "").trim().slice(0, Math.min(longestInstructions, left));
			if (text === "") continue;
			left -= text.length;
			parts.push(`## ${server.name}\n${text}`);
		}
		return parts.length === 0 ? "" : `# What the MCP servers of this session say about their tools\n\n${parts.join("\n\n")}`;
	}

	/** What prompts of servers add to `get_commands`. */
	commands(): PromptCommand[] {
		return promptCommands(this.servers);
	}

	/** The content of the prompt that a text names; nothing when it names none. Servers that wait are started for it. */
	async expand(text: string, signal: AbortSignal): Promise<UserContent | undefined> {
		await this.prepare(signal);
		return expandPrompt(text, this.servers, signal);
	}

	/** The entries that are used, as they were written. */
	get entries(): readonly ServerConfig[] {
		return this.servers.map(({ config }) => config);
	}

	get servers(): readonly Server[] {
		return [...this.#servers.values()];
	}

	async close(): Promise<void> {
		this.#isClosed = true;
		await Promise.all([...this.#servers.values()].map((server) => server.close()));
		await this.#parts.closePrograms();
	}

	/** Keeps the servers whose entries are equal, and ends the others. */
	#adoptAll(): void {
		this.#adopt([...this.#ofExtensions, ...this.#parts.entries, ...this.#host]);
	}

	#adopt(entries: readonly Entry[]): void {
		const latest = new Map<string, Entry>();
		for (const entry of entries) {
			latest.delete(entry.name);
			latest.set(entry.name, entry);
		}
		const before = this.#servers;
		this.#servers = new Map();
		this.#wrong = new Map();
		for (const entry of latest.values()) {
			if (isWrong(entry)) {
				this.#wrong.set(entry.name, entry);
				continue;
			}
			const kept = before.get(entry.name);
			const isSame = kept !== undefined && isEqual(kept.config, entry);
			this.#servers.set(entry.name, isSame ? kept : new Server(entry, this.#serverParts));
			if (isSame) before.delete(entry.name);
		}
		this.#tools = undefined;
		for (const server of before.values()) void server.close();
	}

	async #start(server: Server): Promise<void> {
		if (server.status !== "waiting" || this.#isClosed) return server.start();
		if (this.#starting >= mostStarting) await new Promise<void>((resolve) => this.#queue.push(resolve));
		this.#starting += 1;
		try {
			if (!this.#isClosed) await server.start();
		} finally {
			this.#starting -= 1;
			this.#queue.shift()?.();
		}
	}

	#changed(server: Server, isStatus: boolean): void {
		if (this.#servers.get(server.name) !== server || this.#isClosed) return;
		this.#tools = undefined;
		const { name, status, error, tools } = server;
		if (status === "failed" && isStatus && error !== undefined) this.#parts.warn(error);
		this.#parts.emit({
			type: "mcp_server_update",
			name,
			status,
			...(error === undefined ? {} : { error }),
			...(status === "ready" ? { toolCount: tools.length } : {}),
		});
	}

	#makeTools(): Tool[] {
		const taken = new Set(this.#parts.taken());
		const made: Tool[] = [];
		this.#names = new Map();
		for (const server of this.#servers.values()) {
			const names = server.tools.map((tool) => {
				const name = freeName(toolName(server.name, tool.name), taken);
				made.push(serverTool(name, tool, server, this.#parts));
				return name;
			});
			this.#names.set(server, names);
		}
		const withResources = () => this.servers.filter((server) => server.hasResources);
		return withResources().length > 0 ? [...made, resourceTool(withResources, this.#parts)] : made;
	}
}

const charactersPerToken = 4;
const sizes = new WeakMap<object, number>();

/** Schemas do not change, and counting them is not free. */
function sizeOf(parameters: object): number {
	const known = sizes.get(parameters) ?? JSON.stringify(parameters).length;
	sizes.set(parameters, known);
	return known;
}

function isEqual(one: ServerConfig, other: ServerConfig): boolean {
	return JSON.stringify(one) === JSON.stringify(other);
}
