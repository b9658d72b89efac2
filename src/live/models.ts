/** All models of a process: scripts and providers. Providers are loaded on first use. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type {
	Credentials,
	ModelCatalogue,
	ModelProblem,
	ModelRequest,
	ModelWithLevel,
	RequestDoors,
	SessionModels,
	StreamEvent,
	StreamFunction,
} from "../agent/contracts.ts";
import type { Log } from "../lib/log.ts";
import { remembered } from "../lib/remembered.ts";
import type { ModelRegistry } from "../models/index.ts";
import { unknownTypes } from "../models/known-blocks.ts";
import { scriptedAccess } from "../models/scripted/access.ts";
import { scriptedModel } from "../models/scripted/model.ts";
import type { Model } from "../protocol/model.ts";
import type { ModelChoice } from "../session/model-choice.ts";
import type { Workspace } from "./workspace.ts";

const scripted = "scripted";

/** How this process plays records. The ids of their tasks distinguish subagents. */
export function replayOptions({ cwd, options, subagent }: Workspace, warn: (text: string) => void) {
	return {
		agent: subagent?.inheritance.artifacts.id ?? "main",
		cwd,
		isStrict: options.replay !== "loose",
		playsTools: options["replay-tools"] === true,
		isPaced: options["replay-speed"] === "recorded",
		warn,
	};
}

/** A variable that may give access to a provider; the providers themselves know exactly, but loading them costs. */
const keyLike =
	/_(API_KEY|AUTH_TOKEN|TOKEN)$|^AWS_(BEARER_TOKEN_BEDROCK|PROFILE|ACCESS_KEY_ID|ROLE_ARN|CONTAINER_CREDENTIALS_)|^GOOGLE_(APPLICATION_CREDENTIALS|CLOUD_PROJECT)$|^(GCLOUD_PROJECT|ANTHROPIC_VERTEX_PROJECT_ID)$|^AZURE_OPENAI_(BASE_URL|ENDPOINT|RESOURCE_NAME)$/;
const remedy = "Pass --provider and --model, or set a provider's key such as ANTHROPIC_API_KEY. To try without: --provider scripted --model echo.";

export class Models implements SessionModels, ModelCatalogue {
	#workspace: Workspace;
	#doors: RequestDoors;
	#warn: (problem: string) => void;
	#scripts: ReturnType<typeof scriptedAccess>;
	#registry: Promise<ModelRegistry> | undefined;
	#loaded: ModelRegistry | undefined;
	/** Scripts that were named; only these are ever listed. */
	#named: Model[] = [];
	/** Sessions whose content of unknown kinds was mentioned, and models whose price is not known. */
	#warned = new Set<string>();
	/** Why the model of the command line was not found, or how to choose one. */
	#problem: ModelProblem = { problem: remedy };

	constructor(workspace: Workspace, doors: RequestDoors, warn: (problem: string) => void) {
		this.#workspace = workspace;
		this.#doors = doors;
		this.#warn = warn;
		const { agent, depth } = workspace.subagent?.inheritance ?? { agent: "main", depth: 0 };
		this.#scripts = scriptedAccess(this.scriptDirectory, { agent, depth }, replayOptions(workspace, warn));
	}

	/** Where the names of scripts begin; a subagent may work elsewhere. */
	get scriptDirectory(): string {
		return this.#workspace.subagent?.inheritance.scriptDirectory ?? this.#workspace.cwd;
	}

	/** The key that was given for this process. */
	get apiKey(): { provider: string; key: string } | undefined {
		const { options, subagent } = this.#workspace;
		if (subagent) return subagent.inheritance.credentials.apiKey;
		const provider = options.provider ?? options.model?.split("/")[0];
		const key = options["api-key"];
		return key && provider ? { provider, key } : undefined;
	}

	/** The script that was chosen on the command line, which needs no looking up. */
	startScript(): ModelWithLevel | undefined {
		const { options, settings } = this.#workspace;
		const id = options.model ?? settings.get("defaultModel");
		const provider = options.provider ?? (options.model === undefined ? settings.get("defaultProvider") : undefined);
		return provider === scripted && id !== undefined ? { model: this.#script(this.#scriptName(id)) } : undefined;
	}

	/** `--provider scripted --model scripted/echo` names the provider twice, unless there is such a file. */
	#scriptName(id: string): string {
		const isTwice = id.startsWith(`${scripted}/`) && !existsSync(resolve(this.scriptDirectory, id));
		return isTwice ? id.slice(scripted.length + 1) : id;
	}

	/** Whether there is anything to look up for a start. */
	get mayHaveStart(): boolean {
		const { options, settings, env, userDirectory } = this.#workspace;
		if (options.model ?? options.provider ?? options.models ?? settings.get("defaultModel") ?? settings.get("defaultProvider")) return true;
		return Object.keys(env).some((name) => keyLike.test(name)) || (!options.hermetic && existsSync(join(userDirectory, "models.jsonc")));
	}

	/** The model a session starts with, among the providers. */
	async start(): Promise<ModelWithLevel | undefined> {
		const found = await this.#firstModel();
		if (found) this.#warnOfPrice(found.model);
		return found;
	}

	/** Says once that the price of a model is not known. A ceiling in dollars refuses it, with the same remedy. */
	#warnOfPrice({ provider, id, cost }: Model): void {
		const name = `${provider}/${id}`;
		const { settings, userDirectory } = this.#workspace;
		if (!cost.unknown || this.#warned.has(name) || settings.get("task.budget.maxCostUsd") !== undefined) return;
		this.#warned.add(name);
		const path = join(userDirectory, "models.jsonc");
		this.#warn(`${name} is not listed, so its price is not known: costs and budgets in dollars count it as 0. Give it a "cost" in ${path}.`);
	}

	async #firstModel(): Promise<ModelWithLevel | undefined> {
		const { options, settings } = this.#workspace;
		const [{ initialModel, providerName }, registry] = await Promise.all([import("../models/index.ts"), this.registry()]);
		if (options.model !== undefined) {
			const found = await registry.resolve(options.provider ? `${options.provider}/${options.model}` : options.model);
			if (!("problem" in found)) return found;
			this.#problem = found;
			return undefined;
		}
		if (options.provider !== undefined && options.provider !== scripted) {
			const problem = await registry.unknownProvider(options.provider);
			if (problem) {
				this.#problem = { problem: `${problem} See \`bowline models\` for what can be used.`, code: "unknown_provider" };
				return undefined;
			}
		}
		const wishes = { provider: options.provider ?? settings.get("defaultProvider"), id: options.provider ? undefined : settings.get("defaultModel") };
		const scope = await this.scope();
		if (options.models !== undefined) await this.#checkScope(options.models.split(","));
		if (!scope?.length && wishes.provider && wishes.id) {
			// The settings may name an id that no list has, as --model may.
			const named = await registry.resolve(`${wishes.provider}/${wishes.id}`);
			const refusal = "problem" in named ? named : await registry.refusal(named.model);
			// The prompt says why; another model is not asked in its place.
			if (!("problem" in named) && (!refusal || refusal.code === "price_unknown")) return named;
		}
		const available = await registry.available();
		if (options.provider === undefined || scope?.length) {
			const first = initialModel({ scope, settings: wishes }, available);
			if (!first) this.#explainUnlisted([...(await registry.unlisted()).values()][0]);
			return first;
		}
		// The user named the provider, so no other one is asked in its place.
		const named = providerName(options.provider);
		const found = initialModel(
			{ settings: wishes },
			available.filter(({ provider }) => provider === named),
		);
		if (found) return found;
		// The provider is known, so the reason is its key or its address, and that is what the user can change.
		const one = (await registry.all()).find(({ provider }) => provider === named);
		this.#problem = (one && (await registry.refusal(one))) ?? this.#problem;
		this.#explainUnlisted((await registry.unlisted()).get(named));
		return undefined;
	}

	/** There is a key, and the catalogue lists no model for it. */
	#explainUnlisted(problem: string | undefined): void {
		if (problem !== undefined) this.#problem = { problem };
	}

	/** Looks up the model to start with and takes it. A failure only means that there is none. */
	async startWith(choice: ModelChoice, log: Log): Promise<void> {
		try {
			const start = await this.start();
			if (start) choice.take(start);
		} catch (error) {
			log.error("the model could not be looked up", error);
		}
	}

	/** The models that `cycle_model` goes through, when the user named some. */
	async scope(): Promise<readonly ModelWithLevel[] | undefined> {
		const { options, settings } = this.#workspace;
		const patterns = options.models?.split(",") ?? settings.get("enabledModels");
		if (!patterns) return undefined;
		const { scopeModels } = await import("../models/index.ts");
		return scopeModels(patterns, await this.available());
	}

	/** Warns about patterns of `--models` that mean no model. */
	async #checkScope(patterns: readonly string[]): Promise<void> {
		const [{ scopeModels }, available, registry] = await Promise.all([import("../models/index.ts"), this.available(), this.registry()]);
		for (const pattern of patterns) {
			if (pattern.trim() === "" || scopeModels([pattern], available).length) continue;
			const guess = await registry.guess(pattern.trim());
			this.#warn(`--models: no model that can be used matches ${pattern.trim()}.${guess && ` ${guess}`}`);
		}
	}

	/** The first of several patterns that means a model that can be asked, else why the last one cannot be. */
	async firstOf(patterns: readonly string[]): Promise<ModelWithLevel | ModelProblem> {
		let problem: ModelProblem = { problem: "No model is named." };
		for (const pattern of patterns) {
			if (pattern.startsWith(`${scripted}/`)) return { model: this.#script(pattern.slice(scripted.length + 1)) };
			const registry = await this.registry();
			const found = await registry.resolve(pattern);
			const refusal = "problem" in found ? found : await registry.refusal(found.model);
			if (!("problem" in found) && !refusal) {
				this.#warnOfPrice(found.model);
				return found;
			}
			problem = refusal ?? problem;
		}
		return problem;
	}

	/** The answer to a prompt when there is no model. */
	get noModelText(): string {
		const { problem, code } = this.#problem;
		return code === "no_key" ? problem : `No model selected. ${problem}`;
	}

	stream: StreamFunction = (request, options) => {
		this.#warnOfUnknown(request);
		this.#warnOfPrice(request.model);
		return this.#ask(request, options);
	};

	/** Says once in a session that requests leave out content that cannot be sent. */
	#warnOfUnknown({ messages, sessionId }: ModelRequest): void {
		if (this.#warned.has(sessionId)) return;
		const types = unknownTypes(messages);
		if (types.length === 0) return;
		this.#warned.add(sessionId);
		const kinds = types.slice(0, 5).map((type) => JSON.stringify(type.slice(0, 40)));
		this.#warn(
			`The conversation holds content of a kind that cannot be sent to a model (${kinds.join(", ")}). Requests leave it out; it stays in the session.`,
		);
	}

	/** From now on the requests go through another function. */
	wrap(wrapped: (stream: StreamFunction) => StreamFunction): void {
		this.#ask = wrapped(this.#ask);
	}

	#ask: StreamFunction = async (request, options) => {
		const access = request.model.provider === scripted ? this.#scripts : await this.registry();
		return access.stream(request, { ...options, onEvent: (event) => options.onEvent(event.type === "error" ? this.#explain(event) : event) });
	};

	/** Reports a wait that is too long to be retried to the user. */
	#explain(event: StreamEvent): StreamEvent {
		if (event.type !== "error" || event.failure.retryAfterMs === undefined) return event;
		const { retryAfterMs } = event.failure;
		const limit = this.#workspace.settings.get("retry.maxDelayMs");
		if (retryAfterMs <= limit) return event;
		const reason = `the requested retry delay of ${Math.ceil(retryAfterMs / 1000)} s exceeds retry.maxDelayMs (${limit / 1000} s)`;
		return { ...event, error: { ...event.error, errorMessage: `${event.error.errorMessage} (${reason})` } };
	}

	async prepare(model: Model): Promise<{ model: Model } | ModelProblem> {
		return (model.provider === scripted ? this.#scripts : await this.registry()).prepare(model);
	}

	async available(): Promise<Model[]> {
		return [...this.#named, ...(await (await this.registry()).available())];
	}

	async find(provider: string, id: string): Promise<Model | undefined> {
		return provider === scripted ? this.#script(id) : (await this.registry()).find(provider, id);
	}

	async findListed(provider: string, id: string): Promise<Model | undefined> {
		return provider === scripted ? this.#script(id) : (await this.registry()).findListed(provider, id);
	}

	async guess(provider: string, id: string): Promise<string> {
		return (await this.registry()).guess(`${provider}/${id}`);
	}

	/** Built-in scripts are part of the program. A script by path plays only when it was chosen in this process. */
	async findStored(provider: string, id: string): Promise<Model | undefined> {
		if (provider === scripted) {
			const { builtInScripts } = await import("../models/scripted/index.ts");
			return Object.hasOwn(builtInScripts, id) ? this.#script(id) : this.#named.find((model) => model.id === id);
		}
		const { options, settings } = this.#workspace;
		const registry = await this.registry();
		const isChosen = provider === (options.provider ?? settings.get("defaultProvider"));
		return isChosen || !(await registry.isUnnamedLocal(provider)) ? registry.find(provider, id) : undefined;
	}

	async problem(model: Model): Promise<ModelProblem | undefined> {
		return model.provider === scripted ? undefined : (await this.registry()).refusal(model);
	}

	/** Every model that is known, with a key or without. */
	async all(): Promise<Model[]> {
		return [...this.#named, ...(await (await this.registry()).all())];
	}

	/** What a request to a model of this provider needs, or why there is none. */
	async credentials(provider: string, model: Model | undefined, signal: AbortSignal): Promise<Credentials | ModelProblem> {
		return provider === scripted ? { headers: {} } : (await this.registry()).credentials(provider, model, signal);
	}

	/** Providers that extensions add. */
	async setProviders(providers: Readonly<Record<string, unknown>>): Promise<void> {
		await (await this.registry()).setProviders(providers);
	}

	/** The credentials, without looking for them: nothing until they have been looked up. */
	knownSecrets = (): readonly string[] | undefined => this.#loaded?.secrets();

	registry(): Promise<ModelRegistry> {
		this.#registry ??= remembered(this.#load(), () => {
			this.#registry = undefined;
		});
		return this.#registry;
	}

	async close(): Promise<void> {
		await (await this.#registry)?.close();
	}

	async #load(): Promise<ModelRegistry> {
		const { ModelRegistry } = await import("../models/index.ts");
		const { options, settings, env, userDirectory } = this.#workspace;
		this.#loaded = new ModelRegistry({
			env,
			userDir: userDirectory,
			isHermetic: options.hermetic,
			apiKey: this.apiKey,
			setting: (name) => settings.get(name),
			doors: this.#doors,
			now: Date.now,
			warn: this.#warn,
		});
		return this.#loaded;
	}

	#script(id: string): Model {
		const known = this.#named.find((model) => model.id === id);
		if (known) return known;
		const model = scriptedModel(id);
		this.#named.push(model);
		return model;
	}
}
