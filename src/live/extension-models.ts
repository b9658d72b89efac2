/** The models as extensions see them: lists that are read before the session begins, and again when a provider comes or goes. */
import type { ModelWithLevel } from "../agent/models.ts";
import type { KnownModels } from "../extensions/actions.ts";
import type { ProviderRegistration } from "../extensions/api.ts";
import type { Model } from "../protocol/model.ts";
import type { Models } from "./models.ts";

export class ExtensionModels implements KnownModels {
	#models: Pick<Models, "all" | "available" | "scope" | "credentials">;
	#registered: () => ReadonlyMap<string, ProviderRegistration>;
	#lists: { all: readonly Model[]; available: readonly Model[]; scoped: readonly ModelWithLevel[] } | undefined;
	/** The providers of extensions that the lists have. */
	#listed: ReadonlyMap<string, ProviderRegistration> = new Map();

	constructor(models: Pick<Models, "all" | "available" | "scope" | "credentials">, registered: () => ReadonlyMap<string, ProviderRegistration>) {
		this.#models = models;
		this.#registered = registered;
	}

	async read(): Promise<void> {
		const registered = this.#registered();
		const [all, available, scoped] = await Promise.all([this.#models.all(), this.#models.available(), this.#models.scope()]);
		this.#lists = { all, available, scoped: scoped ?? [] };
		this.#listed = registered;
	}

	get all(): readonly Model[] {
		return this.#upToDate(this.#known.all);
	}

	get available(): readonly Model[] {
		return this.#upToDate(this.#known.available);
	}

	get scoped(): readonly ModelWithLevel[] {
		return this.#known.scoped;
	}

	/** To read the lists costs time, so they are there only for extensions whose code names them. */
	get #known() {
		if (this.#lists) return this.#lists;
		throw new Error("The models have not been read: a file of the extension must name modelRegistry or scopedModels.");
	}

	credentials: KnownModels["credentials"] = (...wanted) => this.#models.credentials(...wanted);

	/** A provider that has just been registered is there at once, with what its registration says of its models. */
	#upToDate(models: readonly Model[]): readonly Model[] {
		const registered = this.#registered();
		const fresh = [...registered].filter(([name, provider]) => provider.models && this.#listed.get(name) !== provider);
		const gone = [...this.#listed.keys()].filter((name) => !registered.has(name));
		if (fresh.length + gone.length === 0) return models;
		const changed = new Set([...gone, ...fresh.map(([name]) => name)]);
		return [...models.filter(({ provider }) => !changed.has(provider)), ...fresh.flatMap(([name, provider]) => modelsOf(name, provider))];
	}
}

function modelsOf(provider: string, { models = [], api = "", baseUrl = "" }: ProviderRegistration): Model[] {
	const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
	const usual = { api, baseUrl, reasoning: false, input: ["text" as const], contextWindow: 128_000, maxTokens: 16_384, cost };
	return models.map((model): Model => ({ ...usual, name: model.id, ...model, provider }));
}
