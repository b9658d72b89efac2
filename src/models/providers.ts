/** The models of each provider, from the table, the catalogue and the user's file, with their addresses and headers. */
import type { Model } from "../protocol/model.ts";
import { assumedModel, Catalogue } from "./catalogue.ts";
import { kinOf } from "./clouds/ids.ts";
import { type Compat, mergeCompat } from "./compat.ts";
import { type CustomProvider, customModel, loadModelsFile, type ModelsFile, overridden, parseModelsFile } from "./custom.ts";
import type { FileProblem } from "./problems.ts";
import { relativeOf } from "./relatives.ts";
import { baseUrlOf, compatOfApi, compatOfHost, type Environment, providerName, type Route, routes } from "./routes.ts";
import { publicAddress, secretVariables } from "./secrets.ts";
import { ownId } from "./select.ts";

/** A model, and what clients never see of it. */
export interface Entry {
	model: Model;
	/** With all credentials in it; the address of the Model has none. */
	baseUrl: string;
	/** Variables that the address needs and the environment lacks. */
	missing: string[];
	/** Values in the syntax of `values.ts`. */
	headers: Record<string, string>;
	/** The user's file says how long a reply may get. */
	hasOwnLimit: boolean;
}

export class Providers {
	#env: Environment;
	#secrets: readonly string[];
	#path: string | undefined;
	#catalogue = new Catalogue();
	#file: Promise<ModelsFile> | undefined;
	#entries = new Map<string, Promise<Entry[]>>();
	/** The file once it is read. */
	loaded: ModelsFile | undefined;

	constructor(env: Environment, path: string | undefined) {
		this.#env = env;
		this.#secrets = secretVariables(env);
		this.#path = path;
	}

	/** The user's file, read once. */
	async file(): Promise<ModelsFile> {
		this.#file ??= loadModelsFile(this.#path);
		this.loaded = await this.#file;
		return this.loaded;
	}

	/** Replaces what was added before, for all later requests. Returns what is wrong with it. */
	async add(providers: Readonly<Record<string, unknown>>): Promise<FileProblem[]> {
		const reading = Promise.all([parseModelsFile(JSON.stringify({ providers }), "registerProvider"), loadModelsFile(this.#path)]);
		this.#file = reading.then(([added, own]) => ({
			providers: new Map([...added.providers, ...own.providers]),
			names: [...new Set([...added.names, ...own.names])],
			problems: own.problems,
		}));
		this.#entries.clear();
		await this.file();
		const [added] = await reading;
		// Extensions of the family describe more than is used here.
		return added.problems.filter(({ code }) => code !== "unknown_member");
	}

	/** Names of all providers: the user's own first, then the table's in its order. */
	async names(): Promise<string[]> {
		const { providers } = await this.file();
		return [...new Set([...[...providers.keys()].filter((name) => !routes.has(name)), ...routes.keys()])];
	}

	async custom(provider: string): Promise<CustomProvider | undefined> {
		return (await this.file()).providers.get(provider);
	}

	of(provider: string): Promise<Entry[]> {
		const known = this.#entries.get(provider);
		if (known) return known;
		const made = this.#make(provider);
		this.#entries.set(provider, made);
		return made;
	}

	/** A listed model, or what is assumed of an unlisted one of a known provider. */
	async find(provider: string, id: string): Promise<Entry | undefined> {
		const name = providerName(provider);
		const entries = await this.of(name);
		const own = ownId(
			name,
			id,
			entries.map(({ model }) => model.id),
		);
		return entries.find((entry) => entry.model.id === own) ?? this.#assume(name, own);
	}

	async compat(model: Model): Promise<Compat> {
		const custom = await this.custom(model.provider);
		const route = routes.get(model.provider);
		const others = route?.others?.ids.test(model.id) ? route.others.compat : undefined;
		return mergeCompat(route?.compat ?? compatOfHost(model.baseUrl) ?? compatOfApi(model.api), others, custom?.compat, model.compat);
	}

	async #assume(provider: string, id: string): Promise<Entry | undefined> {
		if (id === "") return undefined;
		const route = routes.get(provider);
		const custom = await this.custom(provider);
		const kin = kinOf(provider, id);
		const api = custom?.api ?? kin.api ?? route?.api;
		const place = this.#place(route, custom, undefined);
		if (!api || !place) return undefined;
		const plain = assumedModel(provider, id, api, place.url);
		const facts = (await this.#factsOf(kin)) ?? (await this.#factsOfRelative(provider, id));
		const override = custom?.modelOverrides[id];
		const model = { ...plain, ...facts };
		return this.#entry(
			override ? overridden(model, override) : model,
			place.missing,
			{ ...custom?.headers, ...override?.headers },
			override?.fields.maxTokens !== undefined,
		);
	}

	/** The limits and the thinking of the listed model that is most like it. What it costs is not known. */
	async #factsOfRelative(provider: string, id: string): Promise<Partial<Model>> {
		const route = routes.get(provider);
		if (!route || route.isLocal) return {};
		const listed = await this.#catalogue.of(provider);
		const cost = isPriced(listed) ? { cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, unknown: true } } : {};
		const relative = relativeOf(id, listed);
		if (!relative) return cost;
		const { reasoning, input, contextWindow, maxTokens, compat } = relative;
		return { reasoning, input, contextWindow, maxTokens, ...(compat ? { compat } : {}), ...cost };
	}

	/** What is known of the same model elsewhere: its abilities, its limits, its price. */
	async #factsOf({ same, priceFactor }: ReturnType<typeof kinOf>): Promise<Partial<Model> | undefined> {
		for (const { provider, id } of same) {
			const known = (await this.#catalogue.of(provider)).find((model) => model.id === id);
			if (!known) continue;
			const { name, reasoning, input, contextWindow, maxTokens, compat } = known;
			return { name, reasoning, input, contextWindow, maxTokens, cost: timesPrice(known.cost, priceFactor), ...(compat ? { compat } : {}) };
		}
		return undefined;
	}

	async #make(provider: string): Promise<Entry[]> {
		const route = routes.get(provider);
		const custom = await this.custom(provider);
		const byId = new Map<string, Entry>();
		const listed = route ? await this.#catalogue.of(provider) : [];
		const pricedHere = route !== undefined && !route.isLocal && isPriced(listed);
		for (const model of listed) {
			const override = custom?.modelOverrides[model.id];
			const own = override ? overridden(model, override) : model;
			const place = this.#place(route, custom, override?.fields.baseUrl ?? model.baseUrl, override?.fields.baseUrl !== undefined);
			if (!place) continue;
			const headers = { ...custom?.headers, ...override?.headers };
			byId.set(model.id, this.#entry({ ...own, baseUrl: place.url }, place.missing, headers, override?.fields.maxTokens !== undefined));
		}
		for (const added of custom?.models ?? []) {
			const known = byId.get(added.fields.id ?? "")?.model;
			const api = added.fields.api ?? custom?.api ?? known?.api ?? route?.api;
			const place = this.#place(route, custom, added.fields.baseUrl, added.fields.baseUrl !== undefined);
			if (!api || !place) continue;
			const plain = customModel(provider, added, api, place.url);
			// A price that the file does not give is not known, where the provider has prices.
			const cost = !added.fields.cost && pricedHere ? { ...plain.cost, unknown: true } : plain.cost;
			const model = { ...plain, baseUrl: place.url, cost };
			byId.set(model.id, this.#entry(model, place.missing, { ...custom?.headers, ...added.headers }, added.fields.maxTokens !== undefined));
		}
		return [...byId.values()];
	}

	#entry(model: Model, missing: string[], headers: Record<string, string>, hasOwnLimit: boolean): Entry {
		const shown = { ...model, baseUrl: publicAddress(model.baseUrl, this.#secrets) };
		return { model: shown, baseUrl: model.baseUrl, missing, headers, hasOwnLimit };
	}

	/** The address: the file's own for a model, else the file's for the provider, else the table's with its variable. */
	#place(
		route: Route | undefined,
		custom: CustomProvider | undefined,
		own: string | undefined,
		isFixed = false,
	): { url: string; missing: string[] } | undefined {
		if (isFixed && own) return filled(own, this.#env);
		if (custom?.baseUrl) return filled(custom.baseUrl, this.#env);
		if (!route) return own ? filled(own, this.#env) : undefined;
		const place = baseUrlOf(route, own, this.#env);
		return "url" in place ? { url: place.url, missing: [] } : { url: own || route.baseUrl, missing: place.missing };
	}
}

/** Whether a provider takes money for its models. Of one whose models are not listed it has to be assumed. */
function isPriced(listed: readonly Model[]): boolean {
	return listed.length === 0 || listed.some(({ cost }) => cost.input > 0 || cost.output > 0);
}

/** Rounded, so that 0.1 * 1.1 is a price one can read. */
function timesPrice(cost: Model["cost"], factor: number): Model["cost"] {
	const times = (price: number) => Math.round(price * factor * 1e6) / 1e6;
	const step = <Step extends Omit<Model["cost"], "tiers">>(one: Step): Step => ({
		...one,
		input: times(one.input),
		output: times(one.output),
		cacheRead: times(one.cacheRead),
		cacheWrite: times(one.cacheWrite),
	});
	return { ...step(cost), ...(cost.tiers ? { tiers: cost.tiers.map(step) } : {}) };
}

function filled(url: string, env: Environment): { url: string; missing: string[] } {
	const place = baseUrlOf({ api: "openai-completions", baseUrl: url, keys: [], baseUrlVariable: "" }, url, env);
	return "url" in place ? { url: place.url, missing: [] } : { url, missing: place.missing };
}
