/** Tells from the entries of a session what its requests should have found in the provider's cache, what they found, and what was lost. */
import { duration } from "../page/stats.ts";
import { cacheBreak, longLifetimeMs, marksCache, type PrefixBreak, shortSeconds } from "../protocol/cache.ts";
import type { CacheUse } from "../protocol/commands/session.ts";
import type { AssistantMessage } from "../protocol/messages.ts";
import type { Model } from "../protocol/model.ts";
import { pricesOf } from "../protocol/prices.ts";
import type { Entry, EntryOf } from "./entries.ts";
import { amount } from "./stats.ts";

/** The parts of a model that tell what its tokens cost. */
export type Priced = Pick<Model, "provider" | "id" | "cost">;

type Break = CacheUse["breaks"][number];

/** Providers keep nothing that is smaller. */
const smallest = 1024;

/** What the provider has of the last request of one model on a branch. */
interface Kept {
	/** Tokens of the whole request. */
	size: number;
	/** How many of them are not part of the next request any more. */
	lost: number;
	/** An entry says why. */
	isNoted: boolean;
}

/** How things are after an entry. A value: other branches go on from the same one. */
interface Place {
	/** By model. */
	kept: ReadonlyMap<string, Kept>;
	/** What was noted since the last reply. */
	noted: readonly Break[];
}

const start: Place = { kept: new Map(), noted: [] };

/**
 * Returns the use of the cache over all branches, or undefined without a request that marks what is to be kept. `models` have the prices that
 * replies do not show.
 */
export function cacheUseOf(entries: readonly Entry[], models: readonly Priced[] = []): CacheUse | undefined {
	const use: CacheUse = { requests: 0, predictedReadTokens: 0, reportedReadTokens: 0, breaks: [] };
	const places = new Map<string, Place>();
	/** When each model was asked last, on whatever branch: that keeps what the branches have in common. */
	const asked = new Map<string, number>();
	/** Read when something was lost. */
	let shown: ReturnType<typeof shownRates> | undefined;
	for (const entry of entries) {
		const place = (entry.parentId && places.get(entry.parentId)) || start;
		places.set(entry.id, after(entry, place));
	}
	return use.requests > 0 ? use : undefined;

	function after(entry: Entry, place: Place): Place {
		// What stays of the request, tools and system prompt, is little, and the file does not say how much.
		if (entry.type === "compaction") return { ...place, kept: withLoss(place.kept, Number.POSITIVE_INFINITY, false) };
		const found = notedIn(entry);
		if (found) return afterBreak(found.lostTokens, found.noted, place);
		const reply = markingReply(entry);
		return reply ? afterReply(reply, timeOf(entry, reply), place) : place;
	}

	function afterBreak(lostTokens: number, noted: Break, place: Place): Place {
		// What is changed back and forth while requests fail is noted again.
		const isKnown = place.noted.some(({ segment, cause }) => segment === noted.segment && cause === noted.cause);
		if (!isKnown) use.breaks.push(noted);
		return { kept: withLoss(place.kept, lostTokens, lostTokens > 0), noted: [...place.noted, noted] };
	}

	function afterReply(reply: AssistantMessage, at: number, place: Place): Place {
		const model = keyOf(reply.provider, reply.model);
		const pause = at > 0 ? at - (asked.get(model) || at) : 0;
		const { size, lost, isNoted } = place.kept.get(model) ?? { size: 0, lost: 0, isNoted: false };
		const expected = Math.max(0, size - lost);
		const isAlive = pause < shortLifetimeMs;
		const read = amount(reply.usage.cacheRead);
		use.requests++;
		use.predictedReadTokens += isAlive ? expected : 0;
		use.reportedReadTokens += read;
		const missing = expected - read;
		if (!isNoted && missing >= smallest && missing > expected / 4) {
			const costUsd = extraCost(missing, reply);
			const cause = isAlive ? "the provider no longer had it; after a resume, other tools or instructions may be why" : causeOfPause(pause);
			use.breaks.push({ at, segment: read === 0 ? "tools" : "messages", cause, ...(costUsd === undefined ? {} : { costUsd }) });
		}
		asked.set(model, at);
		const kept = new Map(place.kept);
		kept.set(model, { size: keptSize(reply), lost: 0, isNoted: false });
		return { kept, noted: [] };
	}

	/** Returns what it cost more to write tokens than to find them, in USD; undefined where no price is known. */
	function extraCost(tokens: number, reply: AssistantMessage): number | undefined {
		const { provider, model, usage } = reply;
		const found = models.find((each) => each.provider === provider && each.id === model && !each.cost.unknown);
		const listed = found && pricesOf(found, usage);
		// What the reply shows was paid: by the step of its size, and for as long as its cache was to be kept.
		const paid = ratesOf(reply);
		const written = dearest(paid) || dearest(listed ?? {});
		shown ??= shownRates(entries);
		const read = paid.cacheRead ?? listed?.cacheRead ?? shown.get(keyOf(provider, model))?.cacheRead;
		return read === undefined || (!listed && written === 0) ? undefined : (tokens * Math.max(0, written - read)) / 1e6;
	}
}

const keyOf = (provider: string, model: string) => `${provider}\n${model}`;

/** The file does not say for how long requests asked. */
const shortLifetimeMs = shortSeconds * 1000;

function causeOfPause(ms: number): string {
	const advice = ms < longLifetimeMs ? "; BOWLINE_CACHE_RETENTION=long keeps it for an hour" : "";
	return `a pause of ${duration(ms)}: the provider keeps it for ${duration(shortLifetimeMs)}${advice}`;
}

/** Several losses since the same reply: each begins somewhere in that request and goes to its end. */
function withLoss(kept: Place["kept"], lost: number, isNoted: boolean): Place["kept"] {
	return new Map([...kept].map(([model, each]) => [model, { ...each, lost: Math.max(each.lost, lost), isNoted: each.isNoted || isNoted }]));
}

function notedIn(entry: Entry): { noted: Break; lostTokens: number } | undefined {
	if (entry.type !== "custom" || entry.customType !== cacheBreak) return undefined;
	const { segment, cause, lostTokens, costUsd } = (entry.data ?? {}) as Partial<PrefixBreak>;
	if ((segment !== "tools" && segment !== "system" && segment !== "messages") || typeof cause !== "string") return undefined;
	const at = Date.parse(entry.timestamp);
	return { noted: { at: Number.isNaN(at) ? 0 : at, segment, cause, costUsd: amount(costUsd) }, lostTokens: amount(lostTokens) };
}

/** Returns the reply of an entry if its request was counted and marked what is to be kept. One that failed or was stopped may have been counted. */
function markingReply(entry: Entry): AssistantMessage | undefined {
	const message = entry.type === "message" ? (entry as EntryOf<"message">).message : undefined;
	return message?.role === "assistant" && message.usage && marksCache(message) && sizeOf(message) > 0 ? message : undefined;
}

const sizeOf = ({ usage }: AssistantMessage) => amount(usage.input) + amount(usage.cacheRead) + amount(usage.cacheWrite);

/** Returns 0 where the provider says that it keeps nothing: the request is too small for the model, or keeping is turned off. */
function keptSize(reply: AssistantMessage): number {
	const size = sizeOf(reply);
	return size >= smallest && amount(reply.usage.cacheRead) + amount(reply.usage.cacheWrite) > 0 ? size : 0;
}

/** Returns when the request was sent, in Unix milliseconds; 0 where the file does not say. */
function timeOf(entry: Entry, { timestamp }: AssistantMessage): number {
	return amount(timestamp) || amount(Date.parse(entry.timestamp));
}

/** USD per million tokens. */
type Rates = Partial<Record<"input" | "cacheRead" | "cacheWrite", number>>;

const dearest = ({ input = 0, cacheWrite = 0 }: Rates) => Math.max(input, cacheWrite);

/** Returns what a reply paid. */
function ratesOf({ usage }: AssistantMessage): Rates {
	const rates: Rates = {};
	for (const name of ["input", "cacheRead", "cacheWrite"] as const) {
		const cost = amount(usage.cost?.[name]);
		if (cost > 0 && amount(usage[name]) > 0) rates[name] = (cost / usage[name]) * 1e6;
	}
	return rates;
}

/** Returns what replies paid last, by model. */
function shownRates(entries: readonly Entry[]): Map<string, Rates> {
	const shown = new Map<string, Rates>();
	for (const entry of entries) {
		const reply = markingReply(entry);
		if (!reply) continue;
		const key = keyOf(reply.provider, reply.model);
		shown.set(key, { ...shown.get(key), ...ratesOf(reply) });
	}
	return shown;
}
