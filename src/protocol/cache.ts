/** What is known of the caches in which providers keep the beginnings of requests. */
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

/** How long a provider keeps a prefix at least that it is not asked for again. */
export const cacheLifetimeMs = 5 * 60 * 1000;

const withMarks = ["anthropic-messages", "anthropic-vertex", "bedrock-converse"];

/** Whether requests mark what the provider shall keep, so that what it keeps is known. */
export const marksCache = ({ api }: Pick<Model, "api">) => withMarks.includes(api);
