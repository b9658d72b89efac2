/** The models and their credentials, as extensions have them. */
import type { Credentials } from "../agent/contracts.ts";
import type { Model } from "../protocol/model.ts";
import type { ExtensionContext } from "./api.ts";
import type { Link } from "./link.ts";

export function modelRegistry(link: Link, signal: AbortSignal): ExtensionContext["modelRegistry"] {
	const models = () => link.actionsFor("modelRegistry").models;
	const credentials = async (provider: string, model?: Model) => {
		const found = await models().credentials(provider, model, signal);
		return "problem" in found ? { problem: found.problem } : found;
	};
	const keyOf = (found: Credentials | { problem: string }) => ("problem" in found ? undefined : found.apiKey);
	return {
		getAvailable: () => [...models().available],
		getAll: () => [...models().all],
		find: (provider, id) => models().all.find((model) => model.provider === provider && model.id === id),
		hasConfiguredAuth: ({ provider, id }) => models().available.some((model) => model.provider === provider && model.id === id),
		isUsingOAuth: () => false,
		async getApiKey(model) {
			return keyOf(await credentials(requireModel(model).provider, model));
		},
		async getApiKeyForProvider(provider) {
			return keyOf(await credentials(provider));
		},
		async getApiKeyAndHeaders(model) {
			const found = await credentials(requireModel(model).provider, model);
			return "problem" in found ? { ok: false, error: found.problem } : { ok: true, ...found };
		},
		async getProviderAuth(provider) {
			const found = await credentials(provider);
			return "problem" in found ? undefined : found;
		},
	};
}

function requireModel(model: Model | undefined): Model {
	if (typeof model?.provider === "string" && typeof model.id === "string") return model;
	throw new TypeError("modelRegistry: the model must have a provider and an id, as those of getAvailable have");
}
