/**
 * Where the tools of a session come from, and which of them the model is offered. One rule for names: the first source that has a name keeps
 * it, except that an extension's tool takes the place of a built-in tool.
 */
import type { Tool, ToolEffect } from "../agent/tool.ts";
import { starsPattern } from "../lib/stars.ts";
import { factsOf } from "../lib/tool-facts.ts";

export interface ToolSource {
	readonly name: "built-in" | "extension" | "host" | "mcp";
	/** All its tools, in a stable order. */
	tools(): readonly Tool[];
	/** Whether the model is offered a tool unless an extension switches it off. */
	isOffered(tool: Tool): boolean;
	/** Names that are taken although the tools are not loaded yet. */
	reserved?(): readonly string[];
}

interface Resolved {
	tool: Tool;
	source: ToolSource;
}

export class ToolSources {
	#sources: readonly ToolSource[];
	/** Names that extensions switched on and off. A tool that appears later is on. */
	#on = new Set<string>();
	#off = new Set<string>();

	/** What the model never gets. */
	#excluded: readonly ((name: string) => boolean)[];
	/** Changes how the tools that the model is offered run. */
	wrap: (tools: Tool[]) => Tool[] = (tools) => tools;

	/** In the order of precedence. `excluded`: names that the model never gets; those of MCP tools may have stars. */
	constructor(sources: readonly ToolSource[], excluded: readonly string[] = []) {
		this.#sources = sources;
		this.#excluded = excluded.map((name) => (name.startsWith("mcp__") ? starsPattern(name) : (tool) => tool === name));
	}

	/** Replaces all sources, in the order of precedence. */
	set(sources: readonly ToolSource[]): void {
		this.#sources = sources;
	}

	/** Replaces the source of the same name, or adds it directly after the built-in one: names of the others must not hide its own. */
	put(source: ToolSource): void {
		const [builtIn, ...rest] = this.#sources.filter(({ name }) => name !== source.name);
		this.#sources = [...(builtIn ? [builtIn] : []), source, ...rest];
	}

	/** All tools, each name once, in a stable order. */
	all(): Tool[] {
		return this.#resolve().map(({ tool }) => tool);
	}

	/** Tools that are not ours, in words: they run outside any sandbox. */
	foreign(): string[] {
		// Servers are named as a whole, also those without tools.
		const names = { "built-in": undefined, extension: "extension tool", host: "host tool", mcp: undefined };
		return this.#resolve().flatMap(({ tool, source }) => (names[source.name] === undefined ? [] : [`${names[source.name]} ${tool.name}`]));
	}

	/** A tool by its name, and who brings it. */
	find(name: string): { tool: Tool; source: ToolSource["name"] } | undefined {
		const found = this.#resolve().find(({ tool }) => tool.name === name);
		return found && { tool: found.tool, source: found.source.name };
	}

	/** Returns what a tool says that it does. One that no source brings is judged most strictly, unless the session itself brings it. */
	effectOf(name: string): ToolEffect {
		const found = this.find(name);
		if (found) return found.tool.effect;
		return factsOf(name)?.effect === "none" ? { kind: "none" } : { kind: "run" };
	}

	/** The tools that the model is offered. */
	active(): Tool[] {
		return this.wrap(this.#resolve().flatMap(({ tool, source }) => (this.#isOn(tool, source) ? [tool] : [])));
	}

	/** Offers these tools and no others of those that exist now. */
	choose(names: readonly string[]): void {
		this.#on = new Set(names);
		this.#off = new Set(
			this.all()
				.map(({ name }) => name)
				.filter((name) => !this.#on.has(name)),
		);
	}

	/** Names that a source must not use for its own tools. */
	takenFor(source: ToolSource["name"]): Set<string> {
		const others = this.#sources.filter(({ name }) => name !== source);
		return new Set(others.flatMap((each) => [...(each.reserved?.() ?? []), ...each.tools().map(({ name }) => name)]));
	}

	#isOn(tool: Tool, source: ToolSource): boolean {
		if (this.#excluded.some((fits) => fits(tool.name))) return false;
		return this.#on.has(tool.name) || (source.isOffered(tool) && !this.#off.has(tool.name));
	}

	#resolve(): Resolved[] {
		const found = new Map<string, Resolved>();
		for (const source of this.#sources) {
			for (const tool of source.tools()) {
				const holder = found.get(tool.name)?.source.name;
				// A map keeps the place of a name whose value is replaced.
				if (holder === undefined || (holder === "built-in" && source.name === "extension")) found.set(tool.name, { tool, source });
			}
		}
		return [...found.values()];
	}
}
