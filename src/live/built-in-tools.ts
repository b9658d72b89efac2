/** The built-in tools of a session, as a source of tools. Loaded before the first run. */
import type { Files } from "../agent/files.ts";
import type { Tool } from "../agent/tool.ts";
import { remembered } from "../lib/remembered.ts";
import type { ModelChoice } from "../session/model-choice.ts";
import type { TodoList } from "../session/todo-list.ts";
import type { ToolOptions } from "../tools/index.ts";
import { repairMerges } from "./interrupted-merges.ts";
import type { Secrets } from "./secrets.ts";
import type { Shells } from "./shells.ts";
import { addedTools, builtInNames, toolNames } from "./tool-names.ts";
import type { ToolSource } from "./tool-sources.ts";
import type { Workspace } from "./workspace.ts";

export interface BuiltInToolsParts {
	workspace: Workspace;
	secrets: Secrets;
	shells: Shells;
	todos: TodoList;
	choice: ModelChoice;
	files: Files | undefined;
	/** The paths that rules close to a tool. */
	closedTo: ToolOptions["closedTo"];
	/** Whether a person can be asked to let a command run outside the sandbox. */
	mayEscalate: () => boolean;
	warn: (text: string) => void;
	/** The tool that sends subagents, where there is one. */
	taskTool: () => Promise<Tool | undefined>;
}

export class BuiltInTools implements ToolSource {
	readonly name = "built-in";
	#parts: BuiltInToolsParts;
	#loading: Promise<void> | undefined;
	#tools: readonly Tool[] = [];

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

	isOffered({ name, offered }: Tool): boolean {
		const { options } = this.#parts.workspace;
		return toolNames(options)?.includes(name) ?? (offered === "default" || addedTools(options).includes(name));
	}

	reserved(): readonly string[] {
		return builtInNames;
	}

	/** What keeps tools inside the sandbox, where there is one. */
	async #confined(): Promise<Partial<ToolOptions>> {
		const { workspace, shells, files } = this.#parts;
		const { sandbox } = workspace;
		if (!sandbox?.state.active) return {};
		const confined = { confined: sandbox.files, files: diskOnly(files), isTrustedProgram: (path: string) => sandbox.isTrustedProgram(path) };
		if (!sandbox.confinement) return confined;
		const outside = { isPossible: this.#parts.mayEscalate, shell: () => shells.outsideShell() };
		return { ...confined, sandbox, outside, searchShell: await shells.searchShell() };
	}

	async #load(): Promise<void> {
		const { workspace, closedTo, secrets, shells, todos, choice, files, warn, taskTool } = this.#parts;
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
			closedTo,
			settings: { autoResizeImages: () => settings.get("images.autoResize") },
			files,
			...(await this.#confined()),
			acceptsImages: () => choice.model?.input.includes("image") ?? false,
			todos: settings.get("todo.enabled")
				? { read: () => todos.read(), replace: (phases) => todos.replace(phases), storage: () => (options["no-session"] ? "memory" : "session") }
				: undefined,
		});
		const task = await taskTool();
		this.#tools = task ? [...made, task] : made;
	}
}

/** In a sandbox the disk alone counts; the editor still learns what has changed. */
function diskOnly(files: Files | undefined): Files | undefined {
	return files && { read: async () => undefined, write: async () => false, changed: (...change) => files.changed(...change) };
}
