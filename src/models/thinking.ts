/** Thinking levels: which ones a model offers, and which word of its provider each one is. Pure. */
import { type PlainLevel, type ThinkingLevel, thinkingLevels } from "../protocol/levels.ts";
import type { Model } from "../protocol/model.ts";

/** Level to the provider's word; `null` is not offered. A level that is not listed is offered under its own name, except `xhigh`. */
export type ThinkingLevelMap = Partial<Record<ThinkingLevel, string | null>>;

/** The map of a model travels in its `compat`, so that a Model on the wire is complete. */
export function levelMap(model: Model): ThinkingLevelMap {
	const map = model.compat?.thinkingLevelMap;
	return typeof map === "object" && map !== null ? (map as ThinkingLevelMap) : {};
}

function offers(map: ThinkingLevelMap, level: PlainLevel): boolean {
	const word = map[level];
	if (word !== undefined) return word !== null;
	return level === "xhigh" ? typeof map.max === "string" : true;
}

/** The levels a model offers, weakest first. A model without reasoning only has `off`. `hasMax`: its strongest may be called `max`. */
export function supportedLevels(model: Model, hasMax = false): ThinkingLevel[] {
	if (!model.reasoning) return ["off"];
	const map = levelMap(model);
	const { minLevel, maxLevel } = model.thinking ?? {};
	const lowest = minLevel === undefined ? 0 : thinkingLevels.indexOf(minLevel as PlainLevel);
	const highest = maxLevel === undefined ? thinkingLevels.length - 1 : thinkingLevels.indexOf(maxLevel as PlainLevel);
	const levels: ThinkingLevel[] = thinkingLevels.filter(
		(level, rank) => offers(map, level) && (level === "off" || rank >= lowest) && (highest < 0 || rank <= highest),
	);
	if (hasMax && typeof map.max === "string" && (maxLevel === undefined || maxLevel === "max")) {
		return [...levels.filter((level) => level !== "xhigh" || typeof map.xhigh === "string"), "max"];
	}
	return levels.length > 0 ? levels : ["high"];
}

const rankOf = (level: ThinkingLevel) => (level === "max" ? thinkingLevels.length : thinkingLevels.indexOf(level));

/** The level itself where the model offers it, else the next higher one, else the next lower one. */
export function clampLevel(model: Model, level: ThinkingLevel, hasMax = false): ThinkingLevel {
	const supported = supportedLevels(model, hasMax);
	if (supported.includes(level)) return level;
	const higher = supported.find((other) => rankOf(other) > rankOf(level));
	return higher ?? supported.at(-1) ?? "off";
}

/** The level that a request uses: `max` is `xhigh` with the strongest word that its provider has. */
export function askedLevel(model: Model, level: ThinkingLevel): { model: Model; level: PlainLevel } {
	const { max } = levelMap(model);
	if (level !== "max" || typeof max !== "string") return { model, level: clampLevel(model, level) as PlainLevel };
	return { model: { ...model, compat: { ...model.compat, thinkingLevelMap: { ...levelMap(model), xhigh: max } } }, level: "xhigh" };
}

/** The provider's word for a level, or nothing when `off` has none. */
export function effortWord(model: Model, level: PlainLevel): string | undefined {
	const map = levelMap(model);
	const word = map[level];
	if (typeof word === "string") return word;
	if (level === "off") return undefined;
	return level === "xhigh" || word === null ? (map.max ?? level) : level;
}
