/** The extensions of a session, from finding them to telling them that it ends. Loaded only where there are any. */
import { resolve, sep } from "node:path";
import type { Tool } from "../agent/tool.ts";
import type { ExtensionHost } from "../extensions/index.ts";
import type { Log } from "../lib/log.ts";
import { UsageError } from "../lib/usage-error.ts";
import type { SlashCommand } from "../prompting/index.ts";
import type { AgentEvent } from "../protocol/events.ts";
import { flags as ownFlags } from "../protocol/flags.ts";
import type { ThinkingLevel } from "../protocol/levels.ts";
import type { CustomMessage } from "../protocol/messages.ts";
import type { UnknownFlag } from "./arguments.ts";
import type { Assembly } from "./assemble.ts";
import type { ExtensionCommand } from "./commands/prompting.ts";
import { type ActionParts, extensionActions } from "./extension-actions.ts";
import { type LoadedHost, loadHost } from "./extension-loading.ts";
import { ExtensionModels } from "./extension-models.ts";
import { extensionPolicy, Questions } from "./extension-policy.ts";
import type { LiveSession } from "./live-session.ts";
import type { ToolSource } from "./tool-sources.ts";
import type { Workspace } from "./workspace.ts";

export interface ExtensionParts extends Pick<ActionParts, "front"> {
	live: Pick<LiveSession, "commands" | "lanes">;
	assembly: Assembly;
	/** Resolves when the program ends and no longer waits for extensions. */
	leaving: Promise<void>;
}

export class Extensions {
	#workspace: Workspace;
	#warn: (text: string) => void;
	#loaded!: LoadedHost;
	#flags: Record<string, string | boolean> = {};
	#tools = new ExtensionTools(() => this.#host);
	/** Why they were loaded last. */
	#reason: "startup" | "reload" = "startup";
	#questions = new Questions();
	/** Messages that go with the next prompt. */
	#prefaces: CustomMessage[] = [];
	/** A run has ended, and the session has not settled yet. */
	#isBetweenRuns = false;
	#slashCommands: SlashCommand[] = [];
	/** The thinking level that they were told last. */
	#level: ThinkingLevel = "off";
	/** Absent until the session is there. */
	#session: { emit: (event: AgentEvent) => void; log: Log } | undefined;

	/** Never rejects for what an extension does. */
	static async load(workspace: Workspace, warn: (text: string) => void): Promise<Extensions> {
		const extensions = new Extensions(workspace, warn);
		await extensions.#load();
		return extensions;
	}

	private constructor(workspace: Workspace, warn: (text: string) => void) {
		this.#workspace = workspace;
		this.#warn = warn;
	}

	/** Those that are loaded now. */
	get #host(): ExtensionHost {
		return this.#loaded.host;
	}

	async #load(): Promise<void> {
		this.#loaded = await loadHost({
			...this.#workspace,
			warn: this.#warn,
			onError: (error, cause) => {
				this.#session?.log.error(`extension ${error.extensionPath} failed in ${error.event}`, cause);
				this.#session?.emit({ type: "extension_error", ...error });
			},
		});
		this.#host.setFlags(this.#flags);
	}

	/** The tools that extensions have registered so far. */
	toolNames(): string[] {
		return this.#host.tools().map(({ name }) => name);
	}

	/** Whether all that were named on the command line are there. */
	get hasThoseNamed(): boolean {
		const { options, cwd } = this.#workspace;
		const named = (options.extension ?? []).map((path) => resolve(cwd, path));
		const isNamed = (file: string) => named.some((path) => file === path || file.startsWith(path + sep));
		return !this.#loaded.problems.some(({ extensionPath }) => isNamed(extensionPath));
	}

	/** Gives extensions their flags. Returns those that no extension has registered, and those whose following word is not their value. */
	setFlags(given: readonly UnknownFlag[]): { unknown: UnknownFlag[]; strays: UnknownFlag[] } {
		const flags = new Map(this.#host.flags().map((flag) => [flag.name, flag]));
		const strays: UnknownFlag[] = [];
		const values = given.flatMap((each): [string, string | boolean][] => {
			const { name, value, following } = each;
			const flag = flags.get(name);
			if (!flag) return [];
			if (flag.type === "string") {
				const text = value ?? following;
				if (text === undefined) throw new UsageError(`--${name} needs a value: --${name}=<value>.`);
				return [[name, text]];
			}
			if (value !== undefined) throw new UsageError(`--${name} takes no value.`);
			if (following !== undefined) strays.push(each);
			return [[name, true]];
		});
		this.#flags = Object.fromEntries(values);
		this.#host.setFlags(this.#flags);
		return { unknown: given.filter(({ name }) => !flags.has(name)), strays };
	}

	/** From now on they receive events, are asked and can act. Resolves when all have been notified of the session's start. */
	async start(parts: ExtensionParts): Promise<void> {
		const { assembly, live, front } = parts;
		const { session, prompting, builtIn, sources, models, mcp, log } = assembly;
		this.#session = { emit: (event) => session.emit(event), log };
		// Also one without tools runs outside.
		this.#workspace.sandbox?.listUncovered(() => this.#host.paths.map((path) => `extension ${path}`));
		const known = new ExtensionModels(models, () => this.#host.providers());
		const takeProviders = async () => {
			const providers = this.#host.providers();
			await models.setProviders(Object.fromEntries(providers));
			return providers.size > 0;
		};
		// Models that extensions add are known before one is chosen.
		await assembly.chooseModel(this.#host.providers().size > 0 && (await takeProviders()));
		await builtIn.load();
		sources.put(this.#tools);
		const { cwd } = this.#workspace;
		prompting.lookIn(async () => {
			const { signal } = this.#questions;
			return this.#host.wants("resources_discover")
				? this.#host.discoverResources({ cwd, reason: this.#reason }, signal)
				: { skillPaths: [], promptPaths: [] };
		});
		const takeMcpServers = () => mcp.setOfExtensions(Object.fromEntries(this.#host.mcpServers().map(({ name, config }) => [name, config])));
		const takePart = () =>
			session.doors.put(
				extensionPolicy({
					host: this.#host,
					cwd,
					prefaces: this.#prefaces,
					questions: this.#questions,
					observe: this.#observe,
					now: session.edges.now,
				}),
			);
		const actions = extensionActions({
			commands: live.commands,
			assembly,
			known,
			workspace: this.#workspace,
			front,
			prefaces: this.#prefaces,
			slashCommands: () => this.#slashCommands,
			isBetweenRuns: () => this.#isBetweenRuns,
			reload: () => reload(this.#host),
		});
		actions.changed = (what) => {
			if (what === "handlers") takePart();
			if (what === "tools") this.#tools.forget();
			if (what === "mcpServers") {
				takeMcpServers().catch((error) => log.error("MCP servers of extensions could not be read", error));
				if (this.#host.wants("mcp_servers_change")) this.#host.notify({ type: "mcp_servers_change", servers: this.#host.mcpServers() });
			}
			const takeAndRead = async () => {
				await takeProviders();
				if (this.#host.usesModels) await known.read();
			};
			if (what === "providers") takeAndRead().catch((error) => log.error("providers of extensions could not be read", error));
		};
		const begin = async () => {
			takePart();
			for (const problem of this.#loaded.problems) session.emit({ type: "extension_error", ...problem });
			// Extensions read the models without waiting.
			await Promise.all([this.#host.usesModels && known.read(), takeMcpServers()]);
			this.#level = session.choice.level;
			this.#host.bind(actions);
			// Warn about names that are taken before anyone misses something.
			this.#host.commands();
			for (const { name, extensionPath } of this.#host.flags())
				if (Object.hasOwn(ownFlags, name)) this.#warn(`The flag ${name} of extension ${extensionPath} is never set: the name is taken.`);
			await this.#host.sessionStart(this.#reason, this.#questions.signal);
			// Extensions read these synchronously, so they are looked up before an extension can ask.
			this.#slashCommands = await prompting.commands();
			session.briefing.systemPrompt = await prompting.systemPrompt(sources.active());
		};
		const loadAgain = async () => {
			this.#reason = "reload";
			const hadProviders = this.#host.providers().size > 0;
			await this.shutdown();
			await this.#load();
			this.#tools.forget();
			if (hadProviders || this.#host.providers().size > 0) await takeProviders();
			prompting.forget();
			await begin();
		};
		/** Loads everything again, between two runs and two commands. Another reload may have come first. */
		const reload = async (former: ExtensionHost): Promise<void> => {
			const inTurn = async () => {
				if (session.isBusy) return false;
				if (this.#host === former) await Promise.race([loadAgain(), parts.leaving]);
				return true;
			};
			do await session.settled();
			while (!(await live.lanes.inTurn(inTurn)));
		};
		await begin();
	}

	#observe = (event: AgentEvent): void => {
		if (event.type === "agent_end") this.#isBetweenRuns = true;
		else if (event.type === "agent_start" || event.type === "agent_settled") this.#isBetweenRuns = false;
		else if (event.type === "ready" || event.type === "extension_error") return;
		else if (event.type === "thinking_level_changed") {
			const previousLevel = this.#level;
			this.#level = event.level;
			if (this.#host.wants("thinking_level_select")) this.#host.notify({ type: "thinking_level_select", level: event.level, previousLevel });
		}
		if (this.#host.wants(event.type)) this.#host.notify(event);
	};

	/** The extension command that a text invokes. */
	findCommand(text: string): ExtensionCommand | undefined {
		if (!text.startsWith("/")) return undefined;
		const end = text.search(/\s/);
		const name = text.slice(1, end < 0 ? undefined : end);
		const args = end < 0 ? "" : text.slice(end + 1);
		if (!this.#host.hasCommand(name)) return undefined;
		const queueRefusal = `Extension command "/${name}" cannot be queued. Use prompt() or execute the command when not streaming.`;
		return { run: () => this.#host.runCommand(name, args), queueRefusal };
	}

	/** The last word, with a limit. No extension is called after it. */
	async shutdown(): Promise<void> {
		await this.#host.sessionShutdown();
		this.#host.dispose();
	}

	/** The extensions that the session is waiting for, and where. */
	get waits(): ExtensionHost["waits"] {
		return this.#host.waits;
	}

	/** What they add to `get_commands`. */
	commands(): ReturnType<ExtensionHost["commands"]> {
		return this.#host.commands();
	}
}

/** The tools of extensions are the same objects from call to call. */
class ExtensionTools implements ToolSource {
	readonly name = "extension";
	#host: () => ExtensionHost;
	#tools: ReturnType<ExtensionHost["tools"]> | undefined;

	constructor(host: () => ExtensionHost) {
		this.#host = host;
	}

	/** Extensions have others now. */
	forget(): void {
		this.#tools = undefined;
	}

	tools(): ReturnType<ExtensionHost["tools"]> {
		this.#tools ??= this.#host().tools();
		return this.#tools;
	}

	isOffered({ offered }: Tool): boolean {
		return offered === "default";
	}
}
