/** Thinking levels: which ones a model offers, and which word of its provider each one is. Pure. */
import { type ThinkingLevel, thinkingLevels } from "../protocol/levels.ts";
import type { Model } from "../protocol/model.ts";

/** Level to the provider's word; `null` is not offered. What is not named is offered under its own name, but for `xhigh`. */
export type ThinkingLevelMap = Partial<Record<ThinkingLevel | "max", string | null>>;

/** The map of a model travels in its `compat`, so that a Model on the wire tells the whole truth. */
export function levelMap(model: Model): ThinkingLevelMap {
	const map = model.compat?.thinkingLevelMap;
	return typeof map === "object" && map !== null ? (map as ThinkingLevelMap) : {};
}

function offers(map: ThinkingLevelMap, level: ThinkingLevel): boolean {
	const word = map[level];
	if (word !== undefined) return word !== null;
	return level === "xhigh" ? typeof map.max === "string" : true;
}

/** The levels a model offers, weakest first. A model without reasoning only has `off`. */
export function supportedLevels(model: Model): ThinkingLevel[] {
	if (!model.reasoning) return ["off"];
	const map = levelMap(model);
	const { minLevel, maxLevel } = model.thinking ?? {};
	const lowest = minLevel === undefined ? 0 : thinkingLevels.indexOf(minLevel as ThinkingLevel);
	const highest = maxLevel === undefined ? thinkingLevels.length - 1 : thinkingLevels.indexOf(maxLevel as ThinkingLevel);
	const levels = thinkingLevels.filter(
		(level, rank) => offers(map, level) && (level === "off" || rank >= lowest) && (highest < 0 || rank <= highest),
	);
	return levels.length > 0 ? levels : ["high"];
}

/** The level itself where the model offers it, else the next higher one, else the next lower one. */
export function clampLevel(model: Model, level: ThinkingLevel): ThinkingLevel {
	const supported = supportedLevels(model);
	if (supported.includes(level)) return level;
	const rank = thinkingLevels.indexOf(level);
	const higher = supported.find((other) => thinkingLevels.indexOf(other) > rank);
	return higher ?? supported.at(-1) ?? "off";
}

/** The provider's word for a level, or nothing when `off` has none. */
export function effortWord(model: Model, level: ThinkingLevel): string | undefined {
	const map = levelMap(model);
	const word = map[level];
	if (typeof word === "string") return word;
	if (level === "off") return undefined;
	return level === "xhigh" || word === null ? (map.max ?? level) : level;
}
