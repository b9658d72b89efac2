/** Which tools the model is offered: built-in ones, those of extensions, which may take their place, and those of the host. */
import type { BuiltInTools, Tool } from "../agent/contracts.ts";

export class ToolSelection {
	/** Known once extensions may ask. */
	builtIn: BuiltInTools = { all: [], active: [] };
	/** The tools of extensions are the same objects from call to call. */
	#own: Tool[] | undefined;
	#load: () => Tool[];
	/** What extensions switched on and off; what comes later is on. */
	#on = new Set<string>();
	#off = new Set<string>();

	constructor(load: () => Tool[]) {
		this.#load = load;
	}

	/** Extensions have others now. */
	forget(): void {
		this.#own = undefined;
	}

	get names(): string[] {
		return this.#tools().map(({ name }) => name);
	}

	/** All there are, in a stable order. */
	all(host: readonly Tool[], builtIn: readonly Tool[] = this.builtIn.all): Tool[] {
		const own = new Map(this.#tools().map((tool) => [tool.name, tool]));
		const replaced = builtIn.map((tool) => own.get(tool.name) ?? tool);
		const names = new Set(builtIn.map(({ name }) => name));
		const added = [...own.values()].filter(({ name }) => !names.has(name));
		return [...replaced, ...added, ...host.filter(({ name }) => !own.has(name))];
	}

	active(host: readonly Tool[], builtIn: BuiltInTools = this.builtIn): Tool[] {
		const usual = new Set(this.all(host, builtIn.active).flatMap(({ name, isHidden }) => (isHidden ? [] : [name])));
		return this.all(host, builtIn.all).filter(({ name }) => this.#on.has(name) || (usual.has(name) && !this.#off.has(name)));
	}

	choose(names: readonly string[], host: readonly Tool[]): void {
		this.#on = new Set(names);
		this.#off = new Set(
			this.all(host)
				.map(({ name }) => name)
				.filter((name) => !this.#on.has(name)),
		);
	}

	#tools(): Tool[] {
		this.#own ??= this.#load();
		return this.#own;
	}
}
