/** From figures of two programs that took turns to a ratio, its spread, and a verdict. */

export interface Ratio {
	/** This over the other, in the middle of the pairs of all rounds. */
	median: number;
	/** The quartiles: half of the pairs are between them. */
	low: number;
	high: number;
	pairs: number;
}

export type Verdict = "better" | "same" | "unsure" | "WORSE";

/** More than this, and a row is worse. */
const tolerance = 0.03;
/** Of start-up, memory and counts. Less is below what clock ticks and pages can show. */
const strictTolerance = 0.005;
/** Fewer have no spread to speak of. */
const fewestPairs = 3;

export function quantile(values: readonly number[], share: number): number {
	const sorted = [...values].sort((a, b) => a - b);
	const at = (sorted.length - 1) * share;
	const below = sorted[Math.floor(at)] ?? Number.NaN;
	const above = sorted[Math.ceil(at)] ?? Number.NaN;
	return below + (above - below) * (at - Math.floor(at));
}

export function median(values: readonly number[]): number {
	return quantile(values, 0.5);
}

/** Pairs of the same round: what slowed the machine down for a while slowed down both. */
export function pairwise(mine: readonly number[], others: readonly number[]): Ratio {
	const ratios = mine.slice(0, others.length).map((value, index) => ratioOf(value, others[index] as number));
	return { median: median(ratios), low: quantile(ratios, 0.25), high: quantile(ratios, 0.75), pairs: ratios.length };
}

/** Memory that did not grow in either program is the same, not NaN. */
function ratioOf(mine: number, other: number): number {
	return mine === other ? 1 : mine / other;
}

export function verdictOf(ratio: Ratio, kind: { isRate?: boolean; isStrict?: boolean; isExact?: boolean } = {}): Verdict {
	const { median, low, high } = kind.isRate ? { median: 1 / ratio.median, low: 1 / ratio.high, high: 1 / ratio.low } : ratio;
	if (kind.isExact) return median > 1 + strictTolerance ? "WORSE" : median < 1 - strictTolerance ? "better" : "same";
	const allowed = 1 + (kind.isStrict ? strictTolerance : tolerance);
	if (ratio.pairs < fewestPairs) return "unsure";
	if (median > allowed) return low > 1 ? "WORSE" : kind.isStrict && median <= 1 + tolerance ? "same" : "unsure";
	return high < 1 && median < 1 - tolerance ? "better" : "same";
}
