/** The built-in tools of a session, loaded with the first run. */
import type { Tool } from "../agent/contracts.ts";
import type { Options } from "./args.ts";
import type { SettingsView } from "./settings.ts";

export interface ToolboxInput {
	options: Options;
	settings: SettingsView;
	cwd: string;
	environment: NodeJS.ProcessEnv;
}

export class Toolbox {
	#input: ToolboxInput;
	#tools: Promise<readonly Tool[]> | undefined;

	constructor(input: ToolboxInput) {
		this.#input = input;
	}

	active(): Promise<readonly Tool[]> {
		this.#tools ??= this.#load();
		return this.#tools;
	}

	async close(): Promise<void> {}

	async #load(): Promise<readonly Tool[]> {
		return [];
	}
}
