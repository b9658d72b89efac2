/** When to compact, and how much to keep. Pure. */
import type { Model } from "../../protocol/model.ts";

export interface CompactionSettings {
	/** Applies to automatic compaction only. */
	enabled: boolean;
	reserveTokens: number;
	keepRecentTokens: number;
	thresholdPercent: number;
	thresholdTokens: number;
}

export interface Limits {
	/** Compaction is due above this many tokens; infinite for a model with an unknown window. */
	threshold: number;
	/** How much of the end is kept word for word. */
	keep: number;
	/** Maximum length of the summary. */
	summary: number;
}

const smallestSummary = 1024;

/** Above this the cost of every request outweighs what older messages are still good for. */
const largestThreshold = 250_000;

export function limitsOf(model: Model, settings: CompactionSettings): Limits {
	const { contextWindow, maxTokens } = model;
	const window = contextWindow > 0 ? contextWindow : Number.POSITIVE_INFINITY;
	// Half the window at most: otherwise a small local model would be compacted at every turn.
	const reserve = Math.min(Math.max(settings.reserveTokens, 0), window / 2);
	const threshold = Math.floor(thresholdOf(window, reserve, model, settings));
	const keep = Math.floor(Math.min(Math.max(settings.keepRecentTokens, 0), window / 4, threshold / 2));
	const summary = Math.max(smallestSummary, Math.min(Math.floor(reserve * 0.8), maxTokens > 0 ? maxTokens : Number.POSITIVE_INFINITY));
	return { threshold, keep, summary };
}

function thresholdOf(window: number, reserve: number, { cost }: Model, { thresholdTokens, thresholdPercent }: CompactionSettings): number {
	if (!Number.isFinite(window)) return window;
	if (thresholdTokens > 0) return Math.min(thresholdTokens, window);
	if (thresholdPercent > 0) return (window * Math.min(thresholdPercent, 100)) / 100;
	const priceSteps = (cost.tiers ?? []).map(({ inputTokensAbove }) => inputTokensAbove).filter((tokens) => tokens > 0);
	return Math.min(window - reserve, largestThreshold, ...priceSteps);
}
