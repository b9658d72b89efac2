/** All models, which of them can be asked, and the one function that asks. There is one per process. Credentials leave it only for extensions that ask. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Credentials, ModelAccess, ModelProblem, RequestDoors, StreamFunction } from "../agent/contracts.ts";
import { readRegularSync } from "../lib/bounded-file-sync.ts";
import { HttpClient } from "../lib/http/client.ts";
import { didYouMean } from "../lib/nearest.ts";
import { redactor } from "../lib/redact.ts";
import { remembered } from "../lib/remembered.ts";
import type { Model, ThinkingLevel } from "../protocol/model.ts";
import type { SettingName, SettingValue } from "../protocol/settings.ts";
import { cloudHint, cloudOrigin } from "./clouds/configured.ts";
import type { CloudAccess, CloudProblem, Clouds } from "./clouds/index.ts";
import { largestModelsFile } from "./custom.ts";
import { shortestSecret } from "./errors.ts";
import type { FileProblem } from "./problems.ts";
import { type Entry, Providers } from "./providers.ts";
import { type Auth, authHeaders, azureDetails, type Environment, loadApi, providerName, routes } from "./routes.ts";
import { addressesIn, headersIn, holdsSecret, namesIn, namesInText, secretsInAddress } from "./secrets.ts";
import { matchModel, splitLevel, unknownId } from "./select.ts";
import { type Access, type NoAccess, streamFunction } from "./stream.ts";
import { hasValue, plainValue, resolveValue, variablesIn } from "./values.ts";

export interface RegistryOptions {
	env: Environment;
	/** The directory of `models.jsonc`. */
	userDir: string;
	/** Do not read the file. */
	isHermetic?: boolean;
	/** `--api-key`, for this process. */
	apiKey?: { provider: string; key: string };
	setting: <Name extends SettingName>(name: Name) => SettingValue<Name>;
	doors?: RequestDoors;
	now: () => number;
	/** Called once for each problem of `models.jsonc`. */
	warn?: (problem: string) => void;
	/** For tests. */
	client?: HttpClient;
}

/** Names of the variables in which credentials may be. */
const variables = {
	keys: [...routes.values()].flatMap((route) => route.keys),
	shared: [...routes.values()].flatMap((route) => route.sharedSecrets ?? []),
	addresses: [...routes.values()].map((route) => route.baseUrlVariable),
	proxies: ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].flatMap((name) => [name, name.toLowerCase()]),
};

/** The credentials as they were found with a version of `models.jsonc`. */
interface KnownCredentials {
	names: readonly string[];
	values: readonly string[];
	file: unknown;
}

export class ModelRegistry implements ModelAccess {
	readonly stream: StreamFunction;
	#options: RegistryOptions;
	#client: HttpClient;
	#providers: Providers;
	#path: string;
	#hasWarned = false;
	/** Values that commands and headers gave, which texts must not show. */
	#held = new Set<string>();
	/** Stops the commands that run for a key. */
	#closing = new AbortController();
	/** Loaded when a cloud is first asked. */
	#clouds: Promise<Clouds> | undefined;
	/** Providers that were asked, or chosen to be. */
	#asked = new Set<string>();
	/** Undefined when a credential may have changed since it was made. */
	#known: KnownCredentials | undefined;
	/** Models that no list has, and that the user named. */
	#named = new Map<string, Model>();

	constructor(options: RegistryOptions) {
		this.#options = options;
		this.#path = join(options.userDir, "models.jsonc");
		this.#providers = new Providers(options.env, options.isHermetic ? undefined : this.#path);
		this.#client = options.client ?? new HttpClient({ env: options.env });
		this.stream = streamFunction({
			access: (model, signal) => this.#access(model, signal),
			client: this.#client,
			setting: options.setting,
			env: options.env,
			doors: options.doors,
			now: options.now,
			clean: redactor(() => this.secrets()).text,
		});
	}

	/** Every model that could be asked now, without running any command for a key. */
	async available(): Promise<Model[]> {
		await this.#report();
		const models: Model[] = [];
		for (const provider of await this.#providers.names()) {
			if (!(await this.#isConfigured(provider))) continue;
			for (const { model, missing } of await this.#providers.of(provider)) if (missing.length === 0) models.push(model);
			for (const model of this.#named.values()) if (model.provider === provider) models.push(model);
		}
		return models;
	}

	/** Providers that extensions add, in the shape of `models.jsonc`; the user's own file wins over them. */
	async setProviders(providers: Readonly<Record<string, unknown>>): Promise<void> {
		for (const { text } of await this.#providers.add(providers)) this.#options.warn?.(text);
	}

	/** Every model that is known, with a key or without. */
	async all(): Promise<Model[]> {
		const names = await this.#providers.names();
		return (await Promise.all(names.map((name) => this.#providers.of(name)))).flat().map((entry) => entry.model);
	}

	/** A model by provider and id, whether or not there is a key for it. Unlisted ids of known providers get defaults. */
	async find(provider: string, id: string): Promise<Model | undefined> {
		return (await this.#providers.find(provider, id))?.model;
	}

	/** The same without defaults: a model that is on the list, or that a local server has now. */
	async findListed(provider: string, id: string): Promise<Model | undefined> {
		const name = providerName(provider);
		const found = await this.find(name, id);
		if (!found) return undefined;
		const isListed = (await this.#providers.of(name)).some(({ model }) => model.id === found.id);
		if (isListed || this.#named.has(`${name}/${found.id}`)) return found;
		const isThere = routes.get(name)?.isLocal && (await this.local()).some((model) => model.provider === name && model.id === found.id);
		return isThere ? found : undefined;
	}

	/** The model that a pattern of `--model` means: among those that can be asked, else among all. It is on the list from now on. */
	async resolve(pattern: string): Promise<{ model: Model; level?: ThinkingLevel } | ModelProblem> {
		const found = await this.#resolve(pattern);
		if ("problem" in found) return found;
		const { provider, id } = found.model;
		this.#use(provider);
		const isListed = (await this.#providers.of(provider)).some(({ model }) => model.id === id);
		if (!isListed) this.#named.set(`${provider}/${id}`, found.model);
		return found;
	}

	async #resolve(pattern: string): Promise<{ model: Model; level?: ThinkingLevel } | ModelProblem> {
		const available = await this.available();
		const own = await this.#ownProvider(pattern);
		if (own !== undefined) return this.#resolveOwn(own, pattern);
		const choice = matchModel(pattern, available);
		if (choice) return choice;
		const named = unknownId(pattern, available);
		if (named) {
			const own = (await this.#providers.of(named.provider)).map((entry) => entry.model);
			const model = matchModel(`${named.provider}/${named.id}`, own)?.model ?? (await this.find(named.provider, named.id));
			if (model) return { model, ...(named.level ? { level: named.level } : {}) };
		}
		const unavailable = matchModel(pattern, await this.all());
		const reason = unavailable && (await this.refusal(unavailable.model));
		if (reason) return reason;
		const guess = await this.guess(pattern);
		return { problem: `Model not found: ${pattern}.${guess && ` ${guess}`} See \`bowline models\` for what can be used.`, code: "unknown_model" };
	}

	/** A sentence about the provider or model that was probably meant. Those that can be asked are guessed first. */
	async guess(pattern: string): Promise<string> {
		const { pattern: rest } = splitLevel(pattern);
		const slash = rest.indexOf("/");
		const provider = rest.slice(0, Math.max(0, slash));
		const wrong = provider === "" ? "" : await this.unknownProvider(provider);
		if (wrong) return wrong;
		for (const models of [await this.available(), await this.all()]) {
			const guess = didYouMean(
				rest,
				models.map((model) => (slash < 0 ? model.id : `${model.provider}/${model.id}`)),
			);
			if (guess) return guess.trim();
		}
		return "";
	}

	/** A sentence about a provider that does not exist; empty for one that does. */
	async unknownProvider(provider: string): Promise<string> {
		const names = [...(await this.#providers.names()), ...(await this.#providers.file()).names];
		return names.includes(providerName(provider)) ? "" : `There is no provider ${provider}.${didYouMean(provider, [...names, "scripted"])}`;
	}

	/** The provider that a pattern begins with, if the file has it and the table does not. */
	async #ownProvider(pattern: string): Promise<string | undefined> {
		const { names } = await this.#providers.file();
		return names.find((name) => !routes.has(name) && pattern.toLowerCase().startsWith(`${name.toLowerCase()}/`));
	}

	/** Looks only at the provider that the user named. */
	async #resolveOwn(provider: string, pattern: string): Promise<{ model: Model; level?: ThinkingLevel } | ModelProblem> {
		const own = (await this.#providers.of(provider)).map((entry) => entry.model);
		const choice = matchModel(pattern, own);
		if (choice) return choice;
		const { pattern: rest, level } = splitLevel(pattern);
		const model = await this.find(provider, rest.slice(provider.length + 1));
		if (model) return { model, ...(level ? { level } : {}) };
		const { problems } = await this.#providers.file();
		const reasons = problems.filter((problem) => problem.provider !== undefined && providerName(problem.provider) === provider);
		return { problem: `Model not found: ${pattern}.${sentences(reasons)}`, code: "unknown_model" };
	}

	/** Makes sure that the model can be asked: gives it with the facts of this registry, or the reason why not. */
	async prepare(model: Model): Promise<{ model: Model } | ModelProblem> {
		const refusal = await this.refusal(model);
		this.#use(providerName(model.provider));
		return refusal ?? { model: (await this.find(model.provider, model.id)) ?? model };
	}

	/** Why this model cannot be asked now, as a sentence; nothing when it can. */
	async problem(model: Model): Promise<string | undefined> {
		return (await this.refusal(model))?.problem;
	}

	/** Why this model cannot be asked now, with a code that callers can compare; nothing when it can. */
	async refusal(model: Model): Promise<ModelProblem | undefined> {
		await this.#report();
		const provider = providerName(model.provider);
		const entry = await this.#providers.find(provider, model.id);
		if (!entry) {
			const problem = this.#noKey(provider, `Bowline does not know this provider; describe it in ${this.#path}`);
			return { problem, code: "unknown_provider" };
		}
		if (entry.missing.length > 0) return { problem: `No address for ${provider}: set ${entry.missing.join(" and ")}.`, code: "no_address" };
		// To find the credentials of a cloud may take asking the network: that is done when the model is asked.
		if (routes.get(provider)?.cloud || (await this.#isConfigured(provider))) return this.#unknownPrice(entry.model);
		const written = (await this.#providers.custom(provider))?.apiKey;
		const { env } = this.#options;
		const unset = written === undefined ? [] : variablesIn(written, env).filter((name) => !env[name]);
		const remedy = unset.length
			? `Set ${unset.join(" and ")}, which its apiKey in ${this.#path} names, or pass --api-key`
			: `Set ${this.#keyNames(provider)}, pass --api-key, or give it an apiKey in ${this.#path}`;
		return { problem: this.#noKey(provider, remedy), code: "no_key" };
	}

	/** A ceiling in dollars cannot hold a model whose price is not known. */
	#unknownPrice({ provider, id, cost }: Model): ModelProblem | undefined {
		if (!cost.unknown || this.#options.setting("task.budget.maxCostUsd") === undefined) return undefined;
		const remedy = `Give it a "cost" in ${this.#path}, choose a listed model, or take the ceiling away`;
		return { problem: `The price of ${provider}/${id} is not known, so task.budget.maxCostUsd cannot be kept. ${remedy}.`, code: "price_unknown" };
	}

	/** The values of all credentials, so that callers can keep them out of what they show. */
	secrets(): readonly string[] {
		return this.#credentials().values;
	}

	/**
	 * The variables that hold credentials: those of all providers, and those that `models.jsonc` names. Secrets of a whole cloud account are
	 * what commands such as `aws` and `terraform` work with, so they count only once Bowline uses them for a model.
	 */
	secretNames(): readonly string[] {
		return this.#credentials().names;
	}

	#credentials(): KnownCredentials {
		const file = this.#providers.loaded;
		if (!this.#known || this.#known.file !== file) {
			const names = this.#readNames();
			this.#known = { names, values: this.#readSecrets(names), file };
		}
		return this.#known;
	}

	#hold(secret: string): void {
		this.#held.add(secret);
		this.#known = undefined;
	}

	#use(provider: string): void {
		this.#asked.add(provider);
		this.#known = undefined;
	}

	#readSecrets(names: readonly string[]): string[] {
		const { env, apiKey } = this.#options;
		const found = new Set<string>(this.#held);
		const add = (value: string | undefined) => {
			if (value !== undefined && value.length >= shortestSecret) found.add(value);
		};
		const addAddress = (address: string | undefined) => {
			if (address === undefined) return;
			for (const secret of secretsInAddress(address)) add(secret);
		};
		add(apiKey?.key);
		for (const name of names) add(env[name]);
		for (const name of variables.shared) add(env[name]);
		for (const name of variables.proxies) addAddress(env[name]);
		const custom = [...(this.#providers.loaded?.providers.values() ?? [])];
		for (const address of [...variables.addresses.map((name) => env[name]), ...custom.flatMap(addressesIn)]) {
			addAddress(address);
			addAddress(address?.replace(/\{(\w+)\}/g, (_, name: string) => env[name] ?? ""));
		}
		for (const { apiKey: value } of custom) if (value) add(plainValue(value, env));
		for (const [name, value] of custom.flatMap(headersIn)) if (holdsSecret(name)) add(plainValue(value, env));
		return [...found].filter((secret) => secret.length >= shortestSecret).sort((a, b) => b.length - a.length);
	}

	#readNames(): string[] {
		const names = new Set(variables.keys);
		for (const provider of this.#asked) for (const name of routes.get(provider)?.sharedSecrets ?? []) names.add(name);
		for (const name of this.#namesInFile()) names.add(name);
		return [...names];
	}

	/** The models of the local servers that answer now. Asks the network, briefly. */
	async local(): Promise<Model[]> {
		const { localModels } = await import("./local.ts");
		return localModels(this.#options.env);
	}

	/** Loads what a first request to this model needs. */
	async warm(model: Model): Promise<void> {
		const cloud = routes.get(model.provider)?.cloud;
		await Promise.all([loadApi(model.api), this.#client.warm(model.baseUrl), cloud && this.#cloudsLoaded()]);
	}

	/** Closes idle connections and stops running commands. */
	async close(): Promise<void> {
		this.#closing.abort();
		await Promise.all([this.#client.close(), this.#clouds?.then((clouds) => clouds.close())]);
	}

	/** Says of each provider with a key and without a listed model how to name one. */
	async unlisted(): Promise<Map<string, string>> {
		const said = new Map<string, string>();
		for (const [provider, { isLocal }] of routes) {
			const origin = isLocal ? undefined : await this.origin(provider);
			if (origin === undefined || (await this.#providers.of(provider)).length > 0) continue;
			said.set(provider, `${origin} is set, and the models of ${provider} are not listed: name one with --model ${provider}/<id>.`);
		}
		return said;
	}

	/** Files that would serve a cloud, though it is not set up: by provider. */
	hints(): Map<string, string> {
		const found = [...routes].map(([name, { cloud }]) => [name, cloud && cloudHint(cloud, this.#options.env)] as const);
		return new Map(found.filter((pair): pair is [string, string] => pair[1] !== undefined));
	}

	#namesInFile(): string[] {
		const { env } = this.#options;
		const { loaded } = this.#providers;
		if (loaded) return [...loaded.providers.values()].flatMap((custom) => namesIn(custom, env));
		// Asked often, and an error for a file that is not there costs many times more than a look.
		if (!existsSync(this.#path)) return [];
		try {
			return namesInText(readRegularSync(this.#path, largestModelsFile).toString("utf8"));
		} catch {
			return []; // `#report` names its trouble.
		}
	}

	#noKey(provider: string, remedy: string): string {
		// What is wrong with other providers does not explain this one.
		const own = ({ provider: name, code }: FileProblem) => code !== "unknown_member" && (name === undefined || providerName(name) === provider);
		const problems = (this.#providers.loaded?.problems ?? []).filter((problem) => own(problem));
		return `No API key found for ${provider}. ${remedy}.${sentences(problems)}`;
	}

	#keyNames(provider: string): string {
		return routes.get(provider)?.keys.toReversed().join(" or ") ?? "its key";
	}

	async #report(): Promise<void> {
		const { problems } = await this.#providers.file();
		if (this.#hasWarned) return;
		this.#hasWarned = true;
		const { warn, apiKey } = this.#options;
		for (const { text, provider, code } of problems) {
			const isGiven = code === "no_key" && apiKey !== undefined && provider === apiKey.provider;
			if (!isGiven) warn?.(text);
		}
	}

	/** Where the credentials of a provider come from: a flag, a variable, a file. Nothing when there are none. */
	async origin(provider: string): Promise<string | undefined> {
		const { env, apiKey } = this.#options;
		if (apiKey && providerName(apiKey.provider) === provider) return "--api-key";
		const route = routes.get(provider);
		const name = route?.keys.find((key) => env[key]);
		if (name) return name;
		if (hasValue((await this.#providers.custom(provider))?.apiKey, env)) return this.#path;
		if (route?.cloud) return cloudOrigin(route.cloud, env);
		// A local server needs no key.
		return route?.isLocal ? "no key needed" : undefined;
	}

	/** A local server can be asked without a key, also one that the user has named nowhere. */
	async isUnnamedLocal(provider: string): Promise<boolean> {
		const name = providerName(provider);
		const route = routes.get(name);
		if (!route?.isLocal) return false;
		const { env, apiKey } = this.#options;
		const isNamed = [route.baseUrlVariable, ...route.keys].some((variable) => env[variable]) || (apiKey && providerName(apiKey.provider) === name);
		return !isNamed && (await this.#providers.custom(name)) === undefined;
	}

	async #isConfigured(provider: string): Promise<boolean> {
		return (await this.origin(provider)) !== undefined;
	}

	async #access(model: Model, asked: AbortSignal): Promise<Access | NoAccess> {
		const refusal = await this.refusal(model);
		if (refusal) return refusal;
		const provider = providerName(model.provider);
		const entry = (await this.#providers.find(provider, model.id)) as Entry;
		const { env } = this.#options;
		const signal = AbortSignal.any([asked, this.#closing.signal]);
		// Variables may have got other values since the last request.
		this.#known = undefined;
		try {
			const key = await this.#key(provider, signal);
			const extra = await this.#resolved(entry.headers, signal);
			const { api } = entry.model;
			const { modelId, url } = provider === "azure" ? azureDetails(model.id, api, entry.baseUrl, env) : { modelId: model.id, url: entry.baseUrl };
			const place = await this.#place(provider, { api, id: modelId, url, key, signal });
			if ("problem" in place) {
				const problem = `${provider} cannot be asked: ${place.problem.replace(/\.$/, "")}.`;
				return { problem, code: "key_failed", isTransient: place.isTransient };
			}
			const compat = await this.#providers.compat(entry.model);
			const limit = entry.hasOwnLimit ? { defaultMaxTokens: undefined } : {};
			return { ...place, model: entry.model, modelId, compat: { ...compat, ...limit }, headers: { ...place.headers, ...extra } };
		} catch (error) {
			return { problem: this.#noKey(provider, `A value of ${this.#path} could not be read: ${(error as Error).message}`), code: "key_failed" };
		}
	}

	/** The address and what proves who asks. */
	async #place(
		provider: string,
		{ api, id, url, key, signal }: { api: string; id: string; url: string; key?: { value: string; auth?: Auth }; signal: AbortSignal },
	): Promise<CloudAccess | CloudProblem> {
		const route = routes.get(provider);
		if (!route?.cloud) return { baseUrl: url, headers: key ? authHeaders(key.value, api, key.auth) : {} };
		this.#use(provider);
		const isDefaultUrl = url === route.baseUrl;
		return (await this.#cloudsLoaded()).access(route.cloud, { api, id, baseUrl: url, isDefaultUrl, key: key?.value, auth: key?.auth, signal });
	}

	#cloudsLoaded(): Promise<Clouds> {
		this.#clouds ??= remembered(this.#loadClouds(), () => {
			this.#clouds = undefined;
		});
		return this.#clouds;
	}

	async #loadClouds(): Promise<Clouds> {
		const { Clouds } = await import("./clouds/index.ts");
		const { env, now } = this.#options;
		return new Clouds({ env, now, client: this.#client, hold: (secret) => this.#hold(secret), signal: this.#closing.signal });
	}

	/** What proves who asks, for code that the user trusts with it. Clouds that sign requests have nothing that could be given. */
	async credentials(provider: string, model: Model | undefined, asked: AbortSignal): Promise<Credentials | ModelProblem> {
		const name = providerName(provider);
		const [first] = model ? [] : await this.#providers.of(name);
		const one = model ?? first?.model;
		const refusal = one && (await this.refusal(one));
		if (refusal) return refusal;
		const entry = one ? await this.#providers.find(name, one.id) : undefined;
		const signal = AbortSignal.any([asked, this.#closing.signal]);
		this.#use(name);
		try {
			const key = await this.#key(name, signal);
			const cloud = routes.get(name)?.cloud;
			if (!key && cloud)
				return { problem: `${name} has no key that can be given: its requests are signed, or have tokens of a short life.`, code: "no_key" };
			const headers = entry ? await this.#resolved(entry.headers, signal) : {};
			return { headers, ...(key && { apiKey: key.value }), ...(entry && { baseUrl: entry.baseUrl }) };
		} catch (error) {
			return { problem: this.#noKey(name, `A value of ${this.#path} could not be read: ${(error as Error).message}`), code: "key_failed" };
		}
	}

	/** Resolved at each call: a key may have been rotated. */
	async #key(provider: string, signal: AbortSignal): Promise<{ value: string; auth?: Auth } | undefined> {
		const { env, apiKey } = this.#options;
		const route = routes.get(provider);
		const custom = await this.#providers.custom(provider);
		const auth = custom?.authHeader ? "bearer" : route?.auth;
		if (apiKey && providerName(apiKey.provider) === provider) return { value: apiKey.key, auth };
		const name = route?.keys.find((key) => env[key]);
		if (name) return { value: env[name] as string, auth: route?.bearerKeys?.includes(name) ? "bearer" : auth };
		if (custom?.apiKey === undefined) return undefined;
		const value = await resolveValue(custom.apiKey, env, signal);
		if (value === undefined) throw new Error("apiKey is empty");
		this.#hold(value);
		return { value, auth };
	}

	async #resolved(headers: Record<string, string>, signal: AbortSignal): Promise<Record<string, string>> {
		const resolved: Record<string, string> = {};
		for (const [name, value] of Object.entries(headers)) {
			const content = await resolveValue(value, this.#options.env, signal);
			if (content === undefined) continue;
			if (content !== value || holdsSecret(name)) this.#hold(content);
			resolved[name.toLowerCase()] = content;
		}
		return resolved;
	}
}

function sentences(problems: readonly FileProblem[]): string {
	return problems.map(({ text }) => ` ${text}${text.endsWith("?") ? "" : "."}`).join("");
}
