/** Models, windows, prices: loaded only when asked for, one provider at a time. */

import { remembered } from "../lib/remembered.ts";
import type { Model } from "../protocol/model.ts";
import { readSection } from "./catalogue-format.ts";
import type { Route } from "./routes.ts";

/** What is assumed of a model that nothing is known about. */
export const unknownModel = { reasoning: false, contextWindow: 128000, maxTokens: 16384 } as const;

/** A model of a known provider that the catalogue does not list. */
export function assumedModel(provider: string, id: string, api: string, baseUrl: string): Model {
	const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
	return { id, name: id, api, provider, baseUrl, input: ["text"], cost, ...unknownModel };
}

export class Catalogue {
	#sections: Promise<Map<string, string[]>> | undefined;
	#models = new Map<string, Model[]>();

	/** Models of a row: its own section, and that of the provider it borrows from. Base URLs still hold `{NAME}` parts. */
	async of(provider: string, route: Route): Promise<Model[]> {
		const known = this.#models.get(provider);
		if (known) return known;
		const own = await this.#section(provider, provider);
		const borrowed = route.modelsOf === undefined ? [] : await this.#section(route.modelsOf, provider);
		const ids = new Set(own.map((model) => model.id));
		const others = borrowed.filter((model) => !ids.has(model.id)).map((model) => ({ ...model, baseUrl: route.baseUrl }));
		const models = [...others, ...own];
		this.#models.set(provider, models);
		return models;
	}

	/** One model of a section, regardless of its provider. */
	async fact(provider: string, id: string): Promise<Model | undefined> {
		return (await this.#section(provider, provider)).find((model) => model.id === id);
	}

	/** The models of a section, as those of a provider. */
	async #section(name: string, provider: string): Promise<Model[]> {
		this.#sections ??= remembered(loadSections(), () => {
			this.#sections = undefined;
		});
		return readSection(provider, (await this.#sections).get(name) ?? []);
	}
}

async function loadSections(): Promise<Map<string, string[]>> {
	const { data } = await import("./catalogue-data.ts");
	const sections = new Map<string, string[]>();
	let lines: string[] = [];
	for (const line of data.split("\n")) {
		if (line.startsWith("# ")) {
			lines = [];
			sections.set(line.slice(2), lines);
		} else lines.push(line);
	}
	return sections;
}
