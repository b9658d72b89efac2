/** The model that a script pretends to be. Apart from the player, so that naming a script does not load it. */
import type { Model } from "../../protocol/model.ts";
import type { Script } from "./format.ts";

/** `name` is what stood after `--model`, and is its id. */
export function scriptedModel(name: string, script?: Script): Model {
	return {
		id: name,
		name: script?.name ?? name,
		api: "scripted",
		provider: "scripted",
		baseUrl: "scripted:",
		reasoning: true,
		input: ["text", "image"],
		contextWindow: 200_000,
		maxTokens: 32_000,
		cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
		...script?.model,
	};
}
