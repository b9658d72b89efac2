/** The built-in tools of a session, as a source of tools. Loaded before the first run. */
import type { Files } from "../agent/files.ts";
import type { Tool } from "../agent/tool.ts";
import { remembered } from "../lib/remembered.ts";
import type { ModelChoice } from "../session/model-choice.ts";
import type { TodoList } from "../session/todo-list.ts";
import { repairMerges } from "./interrupted-merges.ts";
import type { Secrets } from "./secrets.ts";
import type { Shells } from "./shells.ts";
import { builtInNames, defaultToolNames, toolNames } from "./tool-names.ts";
import type { ToolSource } from "./tool-sources.ts";
import type { Workspace } from "./workspace.ts";

export interface BuiltInToolsParts {
	workspace: Workspace;
	secrets: Secrets;
	shells: Shells;
	todos: TodoList;
	choice: ModelChoice;
	files: Files | undefined;
	warn: (text: string) => void;
	/** The tool that sends subagents, where there is one. */
	taskTool: () => Promise<Tool | undefined>;
}

export class BuiltInTools implements ToolSource {
	readonly name = "built-in";
	#parts: BuiltInToolsParts;
	#loading: Promise<void> | undefined;
	#tools: readonly Tool[] = [];
	#offered: readonly string[] = [];

	constructor(parts: BuiltInToolsParts) {
		this.#parts = parts;
	}

	load(): Promise<void> {
		this.#loading ??= remembered(this.#load(), () => {
			this.#loading = undefined;
		});
		return this.#loading;
	}

	tools(): readonly Tool[] {
		return this.#tools;
	}

	isOffered({ name }: Tool): boolean {
		return this.#offered.includes(name);
	}

	reserved(): readonly string[] {
		return builtInNames;
	}

	async #load(): Promise<void> {
		const { workspace, secrets, shells, todos, choice, files, warn, taskTool } = this.#parts;
		const { options, settings, cwd, userDirectory, subagent } = workspace;
		// The first prompt must not work on half a merge.
		if (!subagent) await repairMerges(userDirectory, shells, warn);
		await secrets.learn();
		if (options["no-tools"]) return;
		const [{ builtInTools }, shell, environment] = await Promise.all([import("../tools/index.ts"), shells.shell(), shells.commandEnvironment()]);
		const made = builtInTools({
			cwd,
			shell,
			environment,
			settings: { autoResizeImages: () => settings.get("images.autoResize") },
			files,
			acceptsImages: () => choice.model?.input.includes("image") ?? false,
			todos: settings.get("todo.enabled")
				? { read: () => todos.read(), replace: (phases) => todos.replace(phases), storage: () => (options["no-session"] ? "memory" : "session") }
				: undefined,
		});
		const task = await taskTool();
		this.#tools = task ? [...made, task] : made;
		this.#offered = toolNames(options) ?? defaultToolNames;
	}
}
