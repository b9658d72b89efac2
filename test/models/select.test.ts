import { describe, expect, test } from "vitest";
import { clampLevel, initialModel, matchModel, scopeModels, supportedLevels, unknownId } from "../../src/models/select.ts";
import { askedLevel, effortWord } from "../../src/models/thinking.ts";
import { type Model, type ThinkingLevel, thinkingLevels } from "../../src/protocol/model.ts";
import { model } from "./support.ts";

const of = (provider: string, ...ids: string[]): Model[] => ids.map((id) => model({ provider, id, name: id }));
const all = [
	...of("my-host", "local-model"),
	...of("anthropic", "claude-haiku-4-5", "claude-haiku-4-5-20251001", "claude-opus-4-9", "claude-opus-4-10", "claude-sonnet-5"),
	...of("openai", "gpt-5.5", "gpt-4o-2024-05-13", "gpt-4o-2024-11-20"),
	...of("openrouter", "anthropic/claude-sonnet-5", "deepseek/deepseek-r1:free", "gpt-5.5", "openai/gpt-oss:high"),
];
const named = (choice: { model: Model; level?: ThinkingLevel } | undefined) =>
	choice && `${choice.model.provider} ${choice.model.id}${choice.level ? ` ${choice.level}` : ""}`;

test.each([
	["anthropic/claude-sonnet-5", "anthropic claude-sonnet-5"],
	["openrouter/anthropic/claude-sonnet-5", "openrouter anthropic/claude-sonnet-5"],
	["claude-sonnet-5:high", "anthropic claude-sonnet-5 high"],
	["deepseek/deepseek-r1:free", "openrouter deepseek/deepseek-r1:free"],
	["openai/gpt-oss:high", "openrouter openai/gpt-oss:high"],
	["gpt-5.5", "openai gpt-5.5"],
	["openrouter/gpt-5.5", "openrouter gpt-5.5"],
	["haiku", "anthropic claude-haiku-4-5"],
	["opus", "anthropic claude-opus-4-10"],
	["anthropic/opus:low", "anthropic claude-opus-4-10 low"],
	["gpt-4o", "openai gpt-4o-2024-11-20"],
	["LOCAL", "my-host local-model"],
	["CLAUDE-SONNET-5", "anthropic claude-sonnet-5"],
	["nothing", undefined],
	["anthropic/gpt", undefined],
	["", undefined],
])("%s means %s", (pattern, meant) => {
	expect(named(matchModel(pattern, all))).toBe(meant);
});

test("an id that no list has is taken for a known provider only", () => {
	expect(unknownId("anthropic/claude-next:low", all)).toEqual({ provider: "anthropic", id: "claude-next", level: "low" });
	expect(unknownId("gemini/gemini-9", all)).toEqual({ provider: "google", id: "gemini-9" });
	expect(unknownId("nobody/x", all)).toBeUndefined();
	expect(unknownId("plain", all)).toBeUndefined();
});

test("a scope keeps the order of its patterns, globs included, each model once", () => {
	const scope = scopeModels(["gpt-5.5:low", "anthropic/*sonnet*", "*opus*:high", "claude-sonnet-5", "nothing"], all);
	expect(scope.map(named)).toEqual([
		"openai gpt-5.5 low",
		"anthropic claude-sonnet-5",
		"anthropic claude-opus-4-9 high",
		"anthropic claude-opus-4-10 high",
	]);
});

describe("the first model", () => {
	const [local] = all;
	const wish = { model: local as Model };
	test("command line, scope, session, settings, favourites, anything", () => {
		expect(named(initialModel({ commandLine: wish, scope: [{ model: all[1] as Model }] }, all))).toBe("my-host local-model");
		expect(named(initialModel({ scope: [wish], session: { provider: "openai", id: "gpt-5.5" } }, all))).toBe("my-host local-model");
		expect(named(initialModel({ session: { provider: "openai", id: "gpt-5.5" }, settings: { provider: "anthropic", id: "opus" } }, all))).toBe(
			"openai gpt-5.5",
		);
		expect(named(initialModel({ session: { provider: "openai", id: "gone" }, settings: { provider: "anthropic", id: "opus" } }, all))).toBe(
			"anthropic claude-opus-4-10",
		);
		expect(named(initialModel({ settings: { provider: "openai" } }, all))).toBe("openai gpt-5.5");
		expect(named(initialModel({}, all))).toBe("anthropic claude-haiku-4-5");
		expect(named(initialModel({}, [local as Model]))).toBe("my-host local-model");
		expect(initialModel({}, [])).toBeUndefined();
	});
});

describe("thinking levels", () => {
	const thinker = (thinkingLevelMap?: Record<string, string | null>) => model({ ...(thinkingLevelMap ? { compat: { thinkingLevelMap } } : {}) });
	test("what a model offers", () => {
		expect(supportedLevels(model({ reasoning: false }))).toEqual(["off"]);
		expect(supportedLevels(thinker())).toEqual(["off", "minimal", "low", "medium", "high"]);
		expect(supportedLevels(thinker({ off: null, xhigh: "xhigh" }))).toEqual(["minimal", "low", "medium", "high", "xhigh"]);
		expect(supportedLevels(thinker({ max: "max" }))).toEqual([...thinkingLevels]);
		expect(supportedLevels(thinker({ off: null, minimal: null, medium: null, xhigh: null, max: "max" }))).toEqual(["low", "high"]);
		expect(supportedLevels(model({ thinking: { minLevel: "low", maxLevel: "medium" } }))).toEqual(["off", "low", "medium"]);
	});

	test.each<[Record<string, string | null> | undefined, ThinkingLevel, ThinkingLevel]>([
		[undefined, "medium", "medium"],
		[undefined, "xhigh", "high"],
		[{ off: null, minimal: null, medium: null }, "off", "low"],
		[{ off: null, minimal: null, medium: null }, "medium", "high"],
		[{ high: null }, "high", "medium"],
	])("with %j %s becomes %s", (map, level, clamped) => {
		expect(clampLevel(thinker(map), level)).toBe(clamped);
	});

	test("where max is a level of its own it is above xhigh, and replaces it where the model has no other word", () => {
		expect(supportedLevels(thinker({ xhigh: "xhigh", max: "max" }), true).slice(-2)).toEqual(["xhigh", "max"]);
		expect(supportedLevels(thinker({ max: "max" }), true).slice(-2)).toEqual(["high", "max"]);
		expect(supportedLevels(thinker(), true).at(-1)).toBe("high");
		expect(supportedLevels(model({ reasoning: false }), true)).toEqual(["off"]);
		expect(clampLevel(thinker({ max: "max" }), "xhigh", true)).toBe("max");
		expect(clampLevel(thinker({ xhigh: "xhigh" }), "max", true)).toBe("xhigh");
		expect(clampLevel(thinker({ max: "max" }), "max")).toBe("xhigh");
	});

	test("max is asked for in the provider's strongest word", () => {
		const words = (map: Record<string, string | null>, level: ThinkingLevel) => {
			const { model: asked, level: plain } = askedLevel(thinker(map), level);
			return effortWord(asked, plain);
		};
		expect(words({ xhigh: "xhigh", max: "max" }, "max")).toBe("max");
		expect(words({ xhigh: "xhigh", max: "max" }, "xhigh")).toBe("xhigh");
		expect(words({ xhigh: null, max: "ultra" }, "max")).toBe("ultra");
		expect(words({ xhigh: "xhigh" }, "max")).toBe("xhigh");
	});

	test("a model without reasoning only has off", () => {
		expect(clampLevel(model({ reasoning: false }), "high")).toBe("off");
	});

	test("the provider's words", () => {
		expect(effortWord(thinker({ off: "none", high: "default" }), "off")).toBe("none");
		expect(effortWord(thinker({ high: "default" }), "high")).toBe("default");
		expect(effortWord(thinker({ max: "max" }), "xhigh")).toBe("max");
		expect(effortWord(thinker(), "off")).toBeUndefined();
	});
});
