/** The built-in tools of a session and the shell behind them, loaded with their first use. */
import type { BuiltInTools, Tool } from "../agent/contracts.ts";
import { childEnvironment, type EnvironmentPolicy, withheldEnvironment } from "../lib/environment.ts";
import { type Redactor, redactor } from "../lib/redact.ts";
import { remembered } from "../lib/remembered.ts";
import type { Shell } from "../lib/shell/index.ts";
import type { TodoList } from "../session/todo-list.ts";
import type { SettingsView } from "../settings/settings.ts";
import type { todoTool } from "../tools/index.ts";
import type { Options } from "./arguments.ts";
import { todoToolName, toolNames } from "./tool-names.ts";

export interface ToolboxInput {
	options: Options;
	settings: SettingsView;
	cwd: string;
	environment: NodeJS.ProcessEnv;
	/** What commands are told about the session. */
	facts: () => Record<string, string | undefined>;
	credentials: () => Promise<Credentials>;
	/** The values of credentials that are known before the first run. */
	secrets?: () => readonly string[];
	acceptsImages: () => boolean;
	todos: TodoList;
	/** Whether the session outlives the process. */
	isStored: boolean;
	/** The tool that sends subagents, where there is one. */
	task: () => Promise<Tool | undefined>;
}

/** What commands must not see. */
export interface Credentials {
	/** The variables that hold them. */
	secretNames(): readonly string[];
	/** Their values. */
	secrets(): readonly string[];
}

export class Toolbox {
	#input: ToolboxInput;
	#shell: Promise<Shell> | undefined;
	#plumbing: Promise<Shell> | undefined;
	#tools: Promise<BuiltInTools> | undefined;
	#credentials: Credentials | undefined;
	#isClosed = false;
	#redactor: Redactor = redactor(() => this.#credentials?.secrets() ?? this.#input.secrets?.() ?? []);

	constructor(input: ToolboxInput) {
		this.#input = input;
	}

	/** The built-in tools, in a stable order. */
	tools(): Promise<BuiltInTools> {
		this.#tools ??= remembered(this.#loadTools(), () => {
			this.#tools = undefined;
		});
		return this.#tools;
	}

	shell(): Promise<Shell> {
		this.#shell ??= remembered(this.#loadShell(), () => {
			this.#shell = undefined;
		});
		return this.#shell;
	}

	/** For subagents, and for what has to be cleared away behind them, when no command may be started any more. */
	plumbing(): Promise<Shell> {
		this.#plumbing ??= remembered(this.#loadShell(), () => {
			this.#plumbing = undefined;
		});
		return this.#plumbing;
	}

	/** Takes the values of credentials out of a text. All of them are known from the first run on. */
	redact = (text: string): string => this.#redactor.text(text);

	/** Tells what commands see, at any time. */
	async commandEnvironment(): Promise<() => Record<string, string | undefined>> {
		const credentials = await this.#learnCredentials();
		return () => this.#environment(credentials);
	}

	/** What commands do not see, and subagents need. */
	async withheld(): Promise<Record<string, string>> {
		const credentials = await this.#learnCredentials();
		return withheldEnvironment(this.#input.environment, this.#policy(credentials));
	}

	/** Kills every process that was started here; the plumbing, where there is some, behind the end of what runs. */
	async close(stop: () => Promise<void>): Promise<void> {
		this.#isClosed = true;
		await (await this.#shell)?.close();
		if (!this.#plumbing) return;
		await stop();
		await (await this.#plumbing).close();
	}

	async #loadShell(): Promise<Shell> {
		const { settings, cwd } = this.#input;
		const [{ Shell }, credentials] = await Promise.all([import("../lib/shell/index.ts"), this.#learnCredentials()]);
		const shell = new Shell({
			cwd,
			shellPath: settings.get("shellPath"),
			prefix: settings.get("shellCommandPrefix"),
			environment: () => this.#environment(credentials),
			redact: this.#redactor,
		});
		// What is asked for behind the end is refused by the shell itself.
		if (this.#isClosed) await shell.close();
		return shell;
	}

	async #loadTools(): Promise<BuiltInTools> {
		const { options, settings, cwd, acceptsImages } = this.#input;
		const credentials = await this.#learnCredentials();
		if (options["no-tools"]) return { all: [], active: [] };
		const [{ builtInTools, defaultToolNames, todoTool }, shell] = await Promise.all([import("../tools/index.ts"), this.shell()]);
		const wanted = toolNames(options) ?? defaultToolNames;
		const all = builtInTools({
			cwd,
			shell,
			settings: { autoResizeImages: () => settings.get("images.autoResize") },
			environment: () => this.#environment(credentials),
			acceptsImages,
		});
		const active = all.filter((tool) => wanted.includes(tool.name));
		const isWanted = (name: string) => options.tools === undefined || wanted.includes(name);
		const task = await this.#input.task();
		const more = [...(settings.get("todo.enabled") && isWanted(todoToolName) ? [this.#todoTool(todoTool)] : []), ...(task ? [task] : [])];
		return { all: [...all, ...more], active: [...active, ...more.filter(({ name }) => isWanted(name))] };
	}

	#todoTool(make: typeof todoTool): Tool {
		const { todos, isStored } = this.#input;
		return make({
			read: () => todos.read(),
			replace: (phases) => todos.replace(phases),
			storage: () => (isStored ? "session" : "memory"),
		});
	}

	async #learnCredentials(): Promise<Credentials> {
		this.#credentials = await this.#input.credentials();
		return this.#credentials;
	}

	#environment(credentials: Credentials): Record<string, string | undefined> {
		const { environment, facts } = this.#input;
		return { ...childEnvironment(environment, this.#policy(credentials)), ...facts() };
	}

	#policy(credentials: Credentials): EnvironmentPolicy {
		return { secretNames: credentials.secretNames(), allow: this.#input.settings.get("bash.env.allow") };
	}
}
