/** Models, windows, prices: loaded only when asked for, one provider at a time. */

import { remembered } from "../lib/remembered.ts";
import type { Model } from "../protocol/model.ts";
import { readSection } from "./catalogue-format.ts";

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

	/** Returns the models of a provider's section. Base URLs still hold `{NAME}` parts. */
	async of(provider: string): Promise<Model[]> {
		const known = this.#models.get(provider);
		if (known) return known;
		this.#sections ??= remembered(loadSections(), () => {
			this.#sections = undefined;
		});
		const models = readSection(provider, (await this.#sections).get(provider) ?? []);
		this.#models.set(provider, models);
		return models;
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
