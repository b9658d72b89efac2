/** Models, thinking levels and what a reply cost. */
import Type, { type Static } from "typebox";
import { flag, integer, jsonObject, list, number, optional, shape, text, words } from "./define.ts";
import { thinkingLevels } from "./levels.ts";

export { type ThinkingLevel, thinkingLevels } from "./levels.ts";

export const ThinkingLevelWord = words(...thinkingLevels, "max");

const prices = { input: number(), output: number(), cacheRead: number(), cacheWrite: number() };

const PriceTier = Type.Object(
	{ inputTokensAbove: integer(), ...prices },
	{ description: "The prices of a whole request whose input, cached tokens included, is above so many tokens." },
);

export const Model = shape("Model", "A model that can be asked.", {
	id: text(),
	name: text(),
	api: text({ description: "Its wire format, such as `openai-completions`." }),
	provider: text(),
	baseUrl: text(),
	reasoning: flag(),
	input: list(words("text", "image")),
	contextWindow: integer(),
	maxTokens: integer(),
	cost: Type.Object(
		{
			...prices,
			tiers: optional(list(PriceTier)),
			unknown: optional(flag({ description: "Nothing is known of the price of a model that is not listed: the numbers are 0." })),
		},
		{ description: "USD per million tokens." },
	),
	promptCache: optional(
		Type.Object(
			{ short: integer(), long: integer() },
			{ description: "Seconds for which the provider keeps the beginning of a request: usually, and when it is asked to keep it long." },
		),
	),
	headers: optional(Type.Record(text(), text(), { description: "Extra request headers; secrets are never sent here." })),
	compat: optional(jsonObject),
	thinking: optional(Type.Object({ minLevel: optional(text()), maxLevel: optional(text()), mode: optional(text()) })),
});
export type Model = Static<typeof Model>;

export const Usage = shape("Usage", "Tokens and cost of one reply. `input` excludes cached tokens.", {
	input: integer(),
	output: integer(),
	cacheRead: integer(),
	cacheWrite: integer(),
	totalTokens: integer(),
	cost: Type.Object({ input: number(), output: number(), cacheRead: number(), cacheWrite: number(), total: number() }, { description: "USD." }),
});
export type Usage = Static<typeof Usage>;
