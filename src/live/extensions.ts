/** The extensions of a process, from finding them to telling them that it ends. Loaded only where there are any. */
import { resolve, sep } from "node:path";
import type { ExtensionHost } from "../extensions/index.ts";
import { UsageError } from "../lib/usage-error.ts";
import type { SlashCommand } from "../prompting/index.ts";
import type { AgentEvent } from "../protocol/events.ts";
import { flags as ownFlags } from "../protocol/flags.ts";
import type { UnknownFlag } from "./arguments.ts";
import { type ActionParts, extensionActions } from "./extension-actions.ts";
import { type LoadedHost, loadHost } from "./extension-loading.ts";
import type { PlacesInput } from "./extension-places.ts";
import { installHooks } from "./extension-policy.ts";
import type { Prompting } from "./prompting.ts";
import { ToolSelection } from "./tool-selection.ts";

export interface ExtensionParts extends Omit<ActionParts, "selection" | "isBetweenRuns" | "slashCommands" | "beforeTree" | "reload"> {
	prompting: Prompting;
	/** Chooses the model to start with, if it has to be looked up. */
	chooseModel: (hasMoreProviders: boolean) => Promise<void> | undefined;
	/** Resolves when the program ends and waits for nobody any more; without it nothing ends before its work is done. */
	leaving?: Promise<void>;
}

export class Extensions {
	#input: PlacesInput;
	#warn: (text: string) => void;
	#loaded!: LoadedHost;
	#flags: Record<string, string | boolean> = {};
	#selection = new ToolSelection(() => this.#host.tools());
	/** A run has ended, and the session has not settled yet. */
	#isBetweenRuns = false;
	#slashCommands: SlashCommand[] = [];
	#emit: (event: AgentEvent) => void = () => undefined;

	/** Never rejects for what an extension does. */
	static async load(input: PlacesInput, warn: (text: string) => void): Promise<Extensions> {
		const extensions = new Extensions(input, warn);
		await extensions.#load();
		return extensions;
	}

	private constructor(input: PlacesInput, warn: (text: string) => void) {
		this.#input = input;
		this.#warn = warn;
	}

	/** Those that are loaded now. */
	get #host(): ExtensionHost {
		return this.#loaded.host;
	}

	async #load(): Promise<void> {
		this.#loaded = await loadHost({
			...this.#input,
			warn: this.#warn,
			onError: (error, cause) => {
				console.error(`bowline: extension ${error.extensionPath} failed in ${error.event}:`, cause);
				this.#emit({ type: "extension_error", ...error });
			},
		});
		this.#host.setFlags(this.#flags);
	}

	/** Whether all that were named on the command line are there. */
	get hasThoseNamed(): boolean {
		const { options, cwd } = this.#input;
		const named = (options.extension ?? []).map((path) => resolve(cwd, path));
		const isNamed = (file: string) => named.some((path) => file === path || file.startsWith(path + sep));
		return !this.#loaded.problems.some(({ extensionPath }) => isNamed(extensionPath));
	}

	/** Gives extensions their flags. Gives back those that nobody has registered, and those whose following word is not their value. */
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

	/** From now on they hear, are asked and can act. Resolves when all have been told that the session is there. */
	async start(parts: ExtensionParts): Promise<void> {
		const { session, hooks, toolbox, prompting } = parts;
		this.#emit = (event) => session.emit(event);
		const setProviders = () => parts.models.setProviders(Object.fromEntries(this.#host.providers()));
		let hadProviders = false;
		/** Models that they bring are known before one is chosen. */
		const takeProviders = async () => {
			const hasProviders = this.#host.providers().size > 0;
			if (hasProviders || hadProviders) await setProviders();
			hadProviders = hasProviders;
			return hasProviders;
		};
		await parts.chooseModel(await takeProviders());
		this.#selection.builtIn = await toolbox.tools();
		let reason: "startup" | "reload" = "startup";
		const actions = extensionActions({
			...parts,
			selection: this.#selection,
			isBetweenRuns: () => this.#isBetweenRuns,
			slashCommands: () => this.#slashCommands,
			beforeTree: (given) => this.#host.beforeTree(given),
			reload: () => again(this.#host),
		});
		actions.changed = (what) => {
			if (what === "tools") this.#selection.forget();
			if (what === "providers") setProviders().catch((error) => console.error("bowline: providers of extensions could not be read:", error));
		};
		const questions = installHooks(hooks, () => this.#host, {
			cwd: actions.cwd,
			selection: this.#selection,
			reason: () => reason,
			now: parts.now,
		});
		const begin = async () => {
			for (const problem of this.#loaded.problems) this.#emit({ type: "extension_error", ...problem });
			this.#host.bind(actions);
			// Names that are taken are pointed out before anybody misses something.
			this.#host.commands();
			for (const { name, extensionPath } of this.#host.flags())
				if (Object.hasOwn(ownFlags, name)) this.#warn(`The flag ${name} of extension ${extensionPath} is never set: the name is taken.`);
			await this.#host.sessionStart(reason, questions());
			// What is asked for without waiting is looked up before anybody can ask.
			this.#slashCommands = await prompting.commands();
			session.systemPrompt = await prompting.systemPrompt(this.#selection.active(parts.hostTools.tools));
		};
		const renew = async () => {
			reason = "reload";
			await this.shutdown();
			await this.#load();
			this.#selection.forget();
			await takeProviders();
			prompting.forget();
			await begin();
		};
		/** Loads everything anew, between two runs and two commands. Somebody else may have done so meanwhile. */
		const again = async (former: ExtensionHost): Promise<void> => {
			const inTurn = async () => {
				if (session.isBusy) return false;
				if (this.#host === former) await Promise.race([renew(), ...(parts.leaving ? [parts.leaving] : [])]);
				return true;
			};
			do await session.settled();
			while (!(await parts.server.inTurn(inTurn)));
		};
		await begin();
	}

	/** Passes on what happens. */
	hear = (event: AgentEvent): void => {
		if (event.type === "agent_end") this.#isBetweenRuns = true;
		else if (event.type === "agent_start" || event.type === "agent_settled") this.#isBetweenRuns = false;
		else if (event.type === "ready" || event.type === "extension_error") return;
		if (this.#host.wants(event.type)) this.#host.notify(event);
	};

	/** The last word, with a limit. Nothing of theirs is called behind it. */
	async shutdown(): Promise<void> {
		await this.#host.sessionShutdown();
		this.#host.dispose();
	}

	/** Who is waited for at the moment, and where. */
	get waits(): ExtensionHost["waits"] {
		return this.#host.waits;
	}

	/** The names of their tools, offered or not. */
	get toolNames(): string[] {
		return this.#selection.names;
	}

	/** What they add to `get_commands`. */
	commands(): ReturnType<ExtensionHost["commands"]> {
		return this.#host.commands();
	}
}
