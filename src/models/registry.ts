/** All models, who may be asked, and the one function that asks. Made once per process. Credentials never leave it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ModelAccess, RequestDoors, StreamFunction } from "../agent/contracts.ts";
import { HttpClient } from "../lib/http/client.ts";
import { redactor } from "../lib/redact.ts";
import { remembered } from "../lib/remembered.ts";
import type { Model, ThinkingLevel } from "../protocol/model.ts";
import type { SettingName, SettingValue } from "../protocol/settings.ts";
import { cloudHint, cloudOrigin } from "./clouds/configured.ts";
import type { CloudAccess, CloudProblem, Clouds } from "./clouds/index.ts";
import { shortestSecret } from "./errors.ts";
import { type Entry, Providers } from "./providers.ts";
import { type Auth, authHeaders, azureDetails, type Environment, providerName, routes } from "./routes.ts";
import { addressesIn, headersIn, holdsSecret, namesIn, namesInText, secretsInAddress } from "./secrets.ts";
import { matchModel, splitLevel, unknownId } from "./select.ts";
import { type Access, loadApi, type NoAccess, streamFunction } from "./stream.ts";
import { hasValue, plainValue, resolveValue } from "./values.ts";

export interface RegistryOptions {
	env: Environment;
	/** Where `models.jsonc` lies. */
	userDir: string;
	/** The file is not read. */
	isHermetic?: boolean;
	/** `--api-key`, for this process. */
	apiKey?: { provider: string; key: string };
	setting: <Name extends SettingName>(name: Name) => SettingValue<Name>;
	doors?: RequestDoors;
	now: () => number;
	/** Receives once what is wrong with `models.jsonc`. */
	warn?: (problem: string) => void;
	/** For tests. */
	client?: HttpClient;
}

export class ModelRegistry implements ModelAccess {
	readonly stream: StreamFunction;
	#options: RegistryOptions;
	#client: HttpClient;
	#providers: Providers;
	#path: string;
	#hasWarned = false;
	/** What commands and headers gave, so that it can be kept out of texts. */
	#held = new Set<string>();
	/** Ends the commands that run for a key. */
	#closing = new AbortController();
	/** Loaded when a cloud is first asked. */
	#clouds: Promise<Clouds> | undefined;
	/** Providers that were asked, or chosen to be. */
	#asked = new Set<string>();
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

	/** Providers that extensions bring, in the shape of `models.jsonc`; what the user's own file says of one of them wins. */
	async setProviders(providers: Readonly<Record<string, unknown>>): Promise<void> {
		for (const problem of await this.#providers.add(providers)) this.#options.warn?.(problem);
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
		const listed = (await this.#providers.of(name)).find(({ model }) => model.id === id)?.model ?? this.#named.get(`${name}/${id}`);
		if (listed || !routes.get(name)?.isLocal) return listed;
		const isThere = (await this.local()).some((model) => model.provider === name && model.id === id);
		return isThere ? this.find(name, id) : undefined;
	}

	/** The model a pattern of `--model` means: among those that can be asked, else among all. It is on the list from now on. */
	async resolve(pattern: string): Promise<{ model: Model; level?: ThinkingLevel } | { problem: string }> {
		const found = await this.#resolve(pattern);
		if ("problem" in found) return found;
		const { provider, id } = found.model;
		this.#asked.add(provider);
		const isListed = (await this.#providers.of(provider)).some(({ model }) => model.id === id);
		if (!isListed) this.#named.set(`${provider}/${id}`, found.model);
		return found;
	}

	async #resolve(pattern: string): Promise<{ model: Model; level?: ThinkingLevel } | { problem: string }> {
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
		if (unavailable) return { problem: (await this.problem(unavailable.model)) ?? `Model not available: ${pattern}` };
		return { problem: `Model not found: ${pattern}. See \`bowline models\` for what can be used.` };
	}

	/** The provider of the file, though not of the table, that a pattern begins with. */
	async #ownProvider(pattern: string): Promise<string | undefined> {
		const { names } = await this.#providers.file();
		return names.find((name) => !routes.has(name) && pattern.toLowerCase().startsWith(`${name.toLowerCase()}/`));
	}

	/** A model of a provider that the user named is never looked for at another one. */
	async #resolveOwn(provider: string, pattern: string): Promise<{ model: Model; level?: ThinkingLevel } | { problem: string }> {
		const own = (await this.#providers.of(provider)).map((entry) => entry.model);
		const choice = matchModel(pattern, own);
		if (choice) return choice;
		const { pattern: rest, level } = splitLevel(pattern);
		const model = await this.find(provider, rest.slice(provider.length + 1));
		if (model) return { model, ...(level ? { level } : {}) };
		const { problems } = await this.#providers.file();
		const reasons = problems.filter((problem) => problem.replaceAll(/[.[]/g, " ").includes(` providers ${provider} `));
		return { problem: `Model not found: ${pattern}.${reasons.map((reason) => ` ${reason}.`).join("")}` };
	}

	/** Makes sure that the model can be asked: gives it as it is known here, or says why not. */
	async prepare(model: Model): Promise<{ model: Model } | { problem: string }> {
		const problem = await this.problem(model);
		this.#asked.add(providerName(model.provider));
		return problem === undefined ? { model: (await this.find(model.provider, model.id)) ?? model } : { problem };
	}

	/** Why this model cannot be asked now; nothing when it can. */
	async problem(model: Model): Promise<string | undefined> {
		await this.#report();
		const provider = providerName(model.provider);
		const entry = await this.#providers.find(provider, model.id);
		if (!entry) return this.#noKey(provider, `It is no provider that Bowline knows; describe it in ${this.#path}`);
		if (entry.missing.length > 0) return `No address for ${provider}: set ${entry.missing.join(" and ")}.`;
		// Where a cloud's credentials come from may take asking the network: that is done when the model is asked.
		if (routes.get(provider)?.cloud || (await this.#isConfigured(provider))) return undefined;
		return this.#noKey(provider, `Set ${this.#keyNames(provider)}, pass --api-key, or give it an apiKey in ${this.#path}`);
	}

	/** The values of all credentials held, for keeping them out of what is shown. */
	secrets(): string[] {
		const { env, apiKey } = this.#options;
		const shared = [...routes.values()].flatMap((route) => route.sharedSecrets ?? []);
		const values = [...this.secretNames(), ...shared].map((name) => env[name]);
		const proxies = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].flatMap((name) => [env[name], env[name.toLowerCase()]]);
		const custom = [...(this.#providers.loaded?.providers.values() ?? [])];
		const written = [...[...routes.values()].map((route) => env[route.baseUrlVariable]), ...custom.flatMap(addressesIn)];
		const addresses = [...written, ...written.map((address) => address?.replace(/\{(\w+)\}/g, (_, name: string) => env[name] ?? ""))];
		const passwords = [...proxies, ...addresses].flatMap(secretsInAddress);
		const own = custom.map(({ apiKey: value }) => (value ? plainValue(value, env) : undefined));
		const headers = custom.flatMap(headersIn).map(([name, value]) => (holdsSecret(name) ? plainValue(value, env) : undefined));
		const all = [apiKey?.key, ...values, ...own, ...headers, ...passwords, ...this.#held];
		const secrets = all.filter((value): value is string => value !== undefined && value.length >= shortestSecret);
		return [...new Set(secrets)].sort((a, b) => b.length - a.length);
	}

	/**
	 * The variables that hold credentials: those of all providers, and those that `models.jsonc` names. Secrets of a whole cloud account are
	 * what commands such as `aws` and `terraform` work with, so they count only once Bowline uses them for a model.
	 */
	secretNames(): string[] {
		const names = [...routes].flatMap(([name, route]) => [...route.keys, ...((this.#asked.has(name) && route.sharedSecrets) || [])]);
		return [...new Set([...names, ...this.#namesInFile()])];
	}

	/** What the local servers that answer now have loaded. Asks the network, briefly. */
	async local(): Promise<Model[]> {
		const { localModels } = await import("./local.ts");
		return localModels(this.#options.env);
	}

	/** Loads what a first request to this model needs. */
	async warm(model: Model): Promise<void> {
		const cloud = routes.get(model.provider)?.cloud;
		await Promise.all([loadApi(model.api), this.#client.warm(model.baseUrl), cloud && this.#cloudsLoaded()]);
	}

	/** Closes idle connections and ends the commands that run. */
	async close(): Promise<void> {
		this.#closing.abort();
		await Promise.all([this.#client.close(), this.#clouds?.then((clouds) => clouds.close())]);
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
		try {
			return namesInText(readFileSync(this.#path, "utf8"));
		} catch {
			return []; // No file, or one whose problems are reported when it is parsed.
		}
	}

	#noKey(provider: string, remedy: string): string {
		const problems = this.#providers.loaded?.problems ?? [];
		return `No API key found for ${provider}. ${remedy}.${problems.map((problem) => ` ${problem}.`).join("")}`;
	}

	#keyNames(provider: string): string {
		return routes.get(provider)?.keys.toReversed().join(" or ") ?? "its key";
	}

	async #report(): Promise<void> {
		const { problems } = await this.#providers.file();
		if (this.#hasWarned) return;
		this.#hasWarned = true;
		const { warn, apiKey } = this.#options;
		for (const problem of problems) if (!problem.endsWith(` providers.${apiKey?.provider} lacks apiKey`)) warn?.(problem);
	}

	/** What gives the credentials of a provider, by its name: a flag, a variable, a file. Nothing when it cannot be asked. */
	async origin(provider: string): Promise<string | undefined> {
		const { env, apiKey } = this.#options;
		if (apiKey && providerName(apiKey.provider) === provider) return "--api-key";
		const route = routes.get(provider);
		const name = route?.keys.find((key) => env[key]);
		if (name) return name;
		if (hasValue((await this.#providers.custom(provider))?.apiKey, env)) return this.#path;
		if (route?.cloud) return cloudOrigin(route.cloud, env);
		// A local server is configured when the user names its address or key, or lists its models; it can be asked anyway.
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
		const problem = await this.problem(model);
		if (problem !== undefined) return { problem };
		const provider = providerName(model.provider);
		const entry = (await this.#providers.find(provider, model.id)) as Entry;
		const { env } = this.#options;
		const signal = AbortSignal.any([asked, this.#closing.signal]);
		try {
			const key = await this.#key(provider, signal);
			const extra = await this.#resolved(entry.headers, signal);
			const { api } = entry.model;
			const { modelId, url } = provider === "azure" ? azureDetails(model.id, api, entry.baseUrl, env) : { modelId: model.id, url: entry.baseUrl };
			const place = await this.#place(provider, { api, id: modelId, url, key, signal });
			if ("problem" in place) return { ...place, problem: `${provider} cannot be asked: ${place.problem.replace(/\.$/, "")}.` };
			const compat = await this.#providers.compat(entry.model);
			return { ...place, model: entry.model, modelId, compat, headers: { ...place.headers, ...extra } };
		} catch (error) {
			return { problem: this.#noKey(provider, `A value of ${this.#path} could not be had: ${(error as Error).message}`) };
		}
	}

	/** The address and what proves who asks. */
	async #place(
		provider: string,
		{ api, id, url, key, signal }: { api: string; id: string; url: string; key?: { value: string; auth?: Auth }; signal: AbortSignal },
	): Promise<CloudAccess | CloudProblem> {
		const route = routes.get(provider);
		if (!route?.cloud) return { baseUrl: url, headers: key ? authHeaders(key.value, api, key.auth) : {} };
		this.#asked.add(provider);
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
		return new Clouds({ env, now, client: this.#client, hold: (secret) => this.#held.add(secret), signal: this.#closing.signal });
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
		this.#held.add(value);
		return { value, auth };
	}

	async #resolved(headers: Record<string, string>, signal: AbortSignal): Promise<Record<string, string>> {
		const resolved: Record<string, string> = {};
		for (const [name, value] of Object.entries(headers)) {
			const content = await resolveValue(value, this.#options.env, signal);
			if (content === undefined) continue;
			if (content !== value || holdsSecret(name)) this.#held.add(content);
			resolved[name.toLowerCase()] = content;
		}
		return resolved;
	}
}
