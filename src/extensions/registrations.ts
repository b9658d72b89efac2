/** What one extension has registered. */
import type { CommandRegistration, FlagRegistration, Handler, ProviderRegistration, SourceInfo, ToolRegistration } from "./api.ts";
import type { ExtensionEventName } from "./events.ts";
import { FactLine } from "./facts.ts";
import type { Link } from "./link.ts";

// biome-ignore lint/suspicious/noExplicitAny: handlers of all events stand in one table
export type AnyHandler = Handler<any>;

export class Registrations {
	readonly path: string;
	readonly sourceInfo: SourceInfo;
	readonly handlers = new Map<ExtensionEventName, AnyHandler[]>();
	readonly tools = new Map<string, ToolRegistration>();
	readonly commands = new Map<string, CommandRegistration>();
	readonly flags = new Map<string, FlagRegistration>();
	readonly providers = new Map<string, ProviderRegistration>();
	readonly facts: FactLine;
	/** It did not load: whatever it still does has no effect. */
	isDropped = false;

	constructor(sourceInfo: SourceInfo, link: Link) {
		this.path = sourceInfo.path;
		this.sourceInfo = sourceInfo;
		this.facts = new FactLine(this.path, link);
	}

	clear(): void {
		for (const table of [this.handlers, this.tools, this.commands, this.flags, this.providers]) table.clear();
		this.facts.clear();
	}
}
