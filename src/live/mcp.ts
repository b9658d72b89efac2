/** The MCP servers of a session, as a source of tools. What reads entries and speaks the protocol is loaded where there are any. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Tool } from "../agent/tool.ts";
import { remembered } from "../lib/remembered.ts";
import type { Registry } from "../mcp/index.ts";
import { CommandError } from "../protocol/command-error.ts";
import type { UserContent } from "../protocol/content.ts";
import type { McpServer, McpServers } from "../protocol/mcp.ts";
import type { Model } from "../protocol/model.ts";
import type { McpParts } from "./mcp-servers.ts";
import type { ToolSource } from "./tool-sources.ts";

export class Mcp implements ToolSource {
	readonly name = "mcp";
	#parts: McpParts & { guard: () => Promise<unknown> | undefined };
	#loading: Promise<Registry> | undefined;
	#registry: Registry | undefined;
	/** The tools and instructions that the model has. A late server joins with the next prompt, because new tools cost the cache. */
	#joined: Pick<Registry, "tools" | "instructions"> | undefined;
	#isClosed = false;
	/** By name. */
	#ofExtensions: Readonly<Record<string, unknown>> = {};

	/** `guard` resolves when calls of tools are judged, where they must be. */
	constructor(parts: McpParts & { guard: () => Promise<unknown> | undefined }) {
		this.#parts = parts;
	}

	tools(): readonly Tool[] {
		return (this.#joined ?? this.#registry)?.tools() ?? [];
	}

	isOffered({ name }: Tool): boolean {
		return this.#registry?.isOffered(name) ?? false;
	}

	/** Before the first model call of a run: starts servers and waits for them, but not for long. */
	async prepare(signal: AbortSignal): Promise<void> {
		if (this.#isPlayed) return;
		if (!this.#loading && !this.#mayHaveServers()) return;
		const registry = await this.#load();
		await registry.prepare(signal);
		const [tools, instructions] = [registry.tools(), registry.instructions()];
		this.#joined = { tools: () => tools, instructions: () => instructions };
	}

	/** The tools that this model can have, of those that it would be offered. */
	fit(tools: readonly Tool[], model: Model | undefined): readonly Tool[] {
		return this.#registry && model ? this.#registry.fit(tools, model) : tools;
	}

	/** The servers that run here, or may be started. */
	names(): string[] {
		return (this.#registry?.servers ?? []).flatMap(({ name, status }) => (status === "disabled" ? [] : [name]));
	}

	/** The server that a call leads to. */
	serverOf(tool: string, args: Record<string, unknown>): ReturnType<Registry["serverOf"]> {
		return this.#registry?.serverOf(tool, args);
	}

	/** What servers say about their tools, for the system prompt. */
	instructions(): string {
		return (this.#joined ?? this.#registry)?.instructions() ?? "";
	}

	/** What prompts of servers add to `get_commands`. */
	commands(): ReturnType<Registry["commands"]> {
		return this.#registry?.commands() ?? [];
	}

	/** The content of the prompt of a server that a text names; nothing when it names none. */
	async expand(text: string, signal: AbortSignal): Promise<UserContent | undefined> {
		if (!this.#loading && !this.#mayHaveServers()) return undefined;
		return (await this.#load()).expand(text, signal);
	}

	/** For subagents: the entries of this session, as they were written. */
	async entries(): Promise<readonly object[]> {
		const { subagent } = this.#parts.workspace;
		if (subagent) return subagent.inheritance.mcpServers ?? [];
		return this.#loading || this.#mayHaveServers() ? (await this.#load()).entries : [];
	}

	/** Replaces the host's servers. They start in the background, once `then` lets them. */
	async set(servers: McpServers, then: (start: () => void) => void): Promise<string[]> {
		const registry = await this.#load();
		const names = await registry.setHost(servers);
		if (!this.#isPlayed) then(() => registry.startHost());
		return names;
	}

	/** Replaces the servers of extensions. They start with the next prompt, as others do. A subagent has those that its sender gave it. */
	async setOfExtensions(servers: Readonly<Record<string, unknown>>): Promise<void> {
		const { options, settings, subagent } = this.#parts.workspace;
		if (subagent || options["no-mcp"] || !settings.get("mcp.enabled")) return;
		this.#ofExtensions = servers;
		if (this.#loading) this.#takeExtensions(await this.#loading);
	}

	#takeExtensions(registry: Registry): void {
		for (const problem of registry.setExtensions(this.#ofExtensions)) this.#parts.warn(`An extension: ${problem}.`);
	}

	async describe(): Promise<McpServer[]> {
		if (!this.#loading && !this.#mayHaveServers()) return [];
		return (await this.#load()).describe();
	}

	async restart(name: string): Promise<McpServer> {
		const registry = await this.#load();
		await registry.restart(name);
		return registry.describe().find((server) => server.name === name) as McpServer;
	}

	async close(): Promise<void> {
		this.#isClosed = true;
		await (await this.#loading)?.close();
	}

	/** A record has the results of their tools: they are not started, and need not be there. */
	get #isPlayed(): boolean {
		return this.#parts.workspace.options["replay-tools"] === true;
	}

	#mayHaveServers(): boolean {
		const { workspace } = this.#parts;
		const { options, settings, cwd, subagent } = workspace;
		if (subagent)
			return (subagent.inheritance.mcpServers ?? []).length > 0 && (subagent.inheritance.tools ?? []).some((name) => name.startsWith("mcp"));
		const isNamed = options["mcp-config"] !== undefined || settings.layers("mcpServers").length + settings.refused("mcpServers").length > 0;
		return isNamed || Object.keys(this.#ofExtensions).length > 0 || (!options.hermetic && existsSync(join(cwd, ".mcp.json")));
	}

	async #load(): Promise<Registry> {
		this.#loading ??= remembered(
			import("./mcp-servers.ts").then(async ({ makeRegistry }) => {
				const registry = await makeRegistry(this.#parts);
				if (Object.keys(this.#ofExtensions).length > 0) this.#takeExtensions(registry);
				return registry;
			}),
			() => {
				this.#loading = undefined;
			},
		);
		const [registry] = await Promise.all([this.#loading, this.#parts.guard()]);
		this.#registry = registry;
		if (this.#isClosed) throw new CommandError("aborted", "The session is over");
		return registry;
	}
}
