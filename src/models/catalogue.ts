/** Models, windows, prices: loaded only when asked for, one provider at a time. */

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
	#models = new Map<string, Model[]>();

	/** Returns the models of a provider's section. Base URLs still hold `{NAME}` parts. */
	async of(provider: string): Promise<Model[]> {
		const known = this.#models.get(provider);
		if (known) return known;
		const { data } = await import("./catalogue-data.ts");
		const models = readSection(provider, sectionOf(data, provider));
		this.#models.set(provider, models);
		return models;
	}
}

/** Returns the lines below the head of a section without splitting the others; an empty list if there is no such section. */
function sectionOf(data: string, provider: string): string[] {
	const head = `# ${provider}\n`;
	const at = data.startsWith(head) ? 0 : data.indexOf(`\n${head}`) + 1;
	if (at === 0 && !data.startsWith(head)) return [];
	const end = data.indexOf("\n# ", at);
	return data.slice(at + head.length, end === -1 ? undefined : end).split("\n");
}
