/** The extensions of a process, from finding them to telling them that it ends. Loaded only where there are any. */
import { join } from "node:path";
import { findExtensions } from "../extensions/discover.ts";
import { ExtensionHost, type LoadError, loadExtensions } from "../extensions/index.ts";
import type { SlashCommand } from "../prompting/index.ts";
import type { AgentEvent } from "../protocol/events.ts";
import type { UnknownFlag } from "./args.ts";
import { type ActionParts, extensionActions } from "./extension-actions.ts";
import { installHooks } from "./extension-hooks.ts";
import { directoriesOf, type PlacesInput } from "./extension-places.ts";
import type { Prompting } from "./prompting.ts";
import { ToolSelection } from "./tool-selection.ts";
import { UsageError } from "./usage-error.ts";

export interface ExtensionParts extends Omit<ActionParts, "selection" | "isBetweenRuns" | "slashCommands" | "beforeTree"> {
	prompting: Prompting;
	/** Chooses the model to start with, if it has to be looked up. */
	chooseModel: (hasMoreProviders: boolean) => Promise<void> | undefined;
}

export class Extensions {
	#host: ExtensionHost;
	#problems: Omit<LoadError, "cause">[];
	#selection: ToolSelection;
	/** A run has ended, and the session has not settled yet. */
	#isBetweenRuns = false;
	#slashCommands: SlashCommand[] = [];
	#emit: (event: AgentEvent) => void = () => undefined;

	/** Never rejects for what an extension does. */
	static async load(input: PlacesInput, warn: (text: string) => void): Promise<Extensions> {
		const { options, settings, cwd, userDirectory } = input;
		const { found, errors, untrusted } = findExtensions({
			cwd,
			directories: directoriesOf(input),
			settingsPaths: settings.get("extensions"),
			paths: options.extension ?? [],
			noExtensions: options["no-extensions"] ?? false,
		});
		if (untrusted.length) warn(`Extensions of this project were not loaded, because it is not trusted (see --approve): ${untrusted.join(", ")}.`);
		const cache = options.hermetic || options["no-session"] ? {} : { cacheDirectory: join(userDirectory, "cache", "extensions") };
		const loaded = await loadExtensions(found, { warn, ...cache });
		const problems = [...errors, ...loaded.errors];
		for (const { extensionPath, error } of problems) warn(`Extension ${extensionPath} could not be loaded: ${error}.`);
		return new Extensions(loaded, problems);
	}

	private constructor(loaded: Awaited<ReturnType<typeof loadExtensions>>, problems: Omit<LoadError, "cause">[]) {
		this.#problems = problems;
		this.#host = new ExtensionHost(loaded, {
			onError: (error, cause) => {
				console.error(`bowline: extension ${error.extensionPath} failed in ${error.event}:`, cause);
				this.#emit({ type: "extension_error", ...error });
			},
		});
		this.#selection = new ToolSelection(() => this.#host.tools());
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
		this.#host.setFlags(Object.fromEntries(values));
		return { unknown: given.filter(({ name }) => !flags.has(name)), strays };
	}

	/** From now on they hear, are asked and can act. Resolves when all have been told that the session is there. */
	async start(parts: ExtensionParts): Promise<void> {
		const { session, hooks, toolbox, models } = parts;
		this.#emit = (event) => session.emit(event);
		for (const problem of this.#problems) this.#emit({ type: "extension_error", ...problem });
		const setProviders = () => models.setProviders(Object.fromEntries(this.#host.providers()));
		// Models that they bring must be known before one is chosen.
		const hasProviders = this.#host.providers().size > 0;
		if (hasProviders) await setProviders();
		await parts.chooseModel(hasProviders);
		this.#selection.builtIn = await toolbox.tools();
		const actions = extensionActions({
			...parts,
			selection: this.#selection,
			isBetweenRuns: () => this.#isBetweenRuns,
			slashCommands: () => this.#slashCommands,
			beforeTree: (given) => this.#host.beforeTree(given),
		});
		actions.changed = (what) => {
			if (what === "tools") this.#selection.forget();
			if (what === "providers") setProviders().catch((error) => console.error("bowline: providers of extensions could not be read:", error));
		};
		this.#host.bind(actions);
		const questions = installHooks(hooks, this.#host, { cwd: actions.cwd, selection: this.#selection, now: parts.now });
		await this.#host.sessionStart(questions());
		// What is asked for without waiting is looked up before anybody can ask.
		this.#slashCommands = await parts.prompting.commands();
		session.systemPrompt = await parts.prompting.systemPrompt(this.#selection.active(parts.hostTools.tools));
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

	/** What they add to `get_commands`. */
	commands(): ReturnType<ExtensionHost["commands"]> {
		return this.#host.commands();
	}
}
