/** Facts about the caches in which providers keep the beginnings of requests. */
import type { Model } from "./model.ts";

/** The `customType` of an entry that says why a provider's cache was lost. */
export const cacheBreak = "bowline.cache";

/** The data of such an entry. */
export interface PrefixBreak {
	/** The first part of the request that changed. Everything after it was lost, too. */
	segment: "tools" | "system" | "messages";
	/** In words that say what to do about it. */
	cause: string;
	lostTokens: number;
	/** USD: what it costs more to write the tokens again than to read them. */
	costUsd: number;
}

/** The time for which providers are asked to keep prefixes. */
export type CacheRetention = "none" | "short" | "long";

/** Returns what `BOWLINE_CACHE_RETENTION` asks for. */
export function cacheRetention(env: Readonly<Record<string, string | undefined>>): CacheRetention {
	const wish = (env.BOWLINE_CACHE_RETENTION ?? "").toLowerCase();
	return wish === "long" || wish === "none" ? wish : "short";
}

/** Returns whether Claude is asked to keep a prefix longer than it usually does. Other hosts that speak its API may not know the member. */
export function asksForLong({ baseUrl }: Pick<Model, "baseUrl">, retention: CacheRetention): boolean {
	return retention === "long" && URL.canParse(baseUrl) && new URL(baseUrl).hostname === "api.anthropic.com";
}

/** The usual lifetime of a prefix, in seconds. */
export const shortSeconds = 5 * 60;

/** Returns how long a provider keeps a prefix at least that it is not asked for again. */
export function cacheLifetimeMs(model: Pick<Model, "baseUrl" | "promptCache">, retention: CacheRetention): number {
	const { short = shortSeconds, long = short } = model.promptCache ?? {};
	return (asksForLong(model, retention) ? long : short) * 1000;
}

/** The `customType` of an entry that names results which later ones superseded. From then on requests hold a line in the place of each. */
export const supersededResults = "bowline.superseded";

/** The data of such an entry. */
export interface SupersededResults {
	/** Ids of entries. */
	entries: string[];
}

/** The same where the user asks for long lifetimes: some providers have them. */
export const longLifetimeMs = 60 * 60 * 1000;

const withMarks = ["anthropic-messages", "anthropic-vertex", "bedrock-converse"];

/** Whether requests mark what the provider shall keep, so that what it keeps is known. */
export const marksCache = ({ api }: Pick<Model, "api">) => withMarks.includes(api);
