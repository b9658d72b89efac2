/** The registrations of one extension. */
import type {
	CommandInfo,
	CommandRegistration,
	FlagRegistration,
	Handler,
	ProviderRegistration,
	RegisteredMcpServer,
	SourceInfo,
	ToolRegistration,
} from "./api.ts";
import type { ExtensionEventName } from "./events.ts";
import { FactLine } from "./facts.ts";
import type { Link } from "./link.ts";

// biome-ignore lint/suspicious/noExplicitAny: handlers of all events are in one table
export type AnyHandler = Handler<any>;

export class Registrations {
	readonly path: string;
	readonly sourceInfo: SourceInfo;
	readonly handlers = new Map<ExtensionEventName, AnyHandler[]>();
	readonly tools = new Map<string, ToolRegistration>();
	readonly commands = new Map<string, CommandRegistration>();
	readonly flags = new Map<string, FlagRegistration>();
	readonly providers = new Map<string, ProviderRegistration>();
	/** Entries of MCP servers by name. */
	readonly mcpServers = new Map<string, object>();
	readonly facts: FactLine;
	/** It did not load: its further actions have no effect. */
	isDropped = false;

	constructor(sourceInfo: SourceInfo, link: Link) {
		this.path = sourceInfo.path;
		this.sourceInfo = sourceInfo;
		this.facts = new FactLine(this.path, link);
	}

	clear(): void {
		for (const table of [this.handlers, this.tools, this.commands, this.flags, this.providers, this.mcpServers]) table.clear();
		this.facts.clear();
	}
}

export type Registered<T> = [name: string, value: T, by: Registrations];

/** All of a kind in load order, the first one of each name. */
export function firstOfEach<T>(
	extensions: readonly Registrations[],
	table: (own: Registrations) => ReadonlyMap<string, T>,
	onConflict?: (name: string, own: Registrations, first: Registrations) => void,
): Registered<T>[] {
	const found = new Map<string, Registered<T>>();
	for (const own of extensions) {
		for (const [name, value] of table(own)) {
			const first = found.get(name);
			if (first) onConflict?.(name, own, first[2]);
			else found.set(name, [name, value, own]);
		}
	}
	return [...found.values()];
}

export function mcpServersOf(extensions: readonly Registrations[]): RegisteredMcpServer[] {
	return firstOfEach(extensions, ({ mcpServers }) => mcpServers).map(([name, config, { path }]) => ({
		name,
		config: structuredClone(config) as Record<string, unknown>,
		extensionPath: path,
	}));
}

export function commandsOf(extensions: readonly Registrations[]): CommandInfo[] {
	return firstOfEach(extensions, ({ commands }) => commands).map(([name, { description }, { sourceInfo }]) => ({
		name,
		...(description === undefined ? {} : { description }),
		source: "extension",
		sourceInfo,
	}));
}
