/** Figures for a person to read. */
import type { Series } from "./contest.ts";
import type { Contestant, Goal } from "./row.ts";
import { median, pairwise, type Verdict, verdictOf } from "./statistics.ts";

const middle = (series: Series, name: Contestant["name"]) => {
	const values = series.values.get(name);
	return values && median(values);
};

/** One program, next to the floor if there is one. */
export function printTable(name: string, all: readonly Series[]): void {
	console.log(`\n${name}`);
	for (const series of all) {
		const mine = middle(series, "this");
		// The floor may have figures that only explain others.
		if (mine === undefined) continue;
		const floor = middle(series, "floor");
		const parts = [`  ${series.what.padEnd(52)} ${figure(mine, series.unit).padStart(12)}`];
		if (floor !== undefined) parts.push(`floor ${figure(floor, series.unit)}`, `ratio ${(mine / floor).toFixed(2)}`);
		const peer = middle(series, "peer");
		if (peer !== undefined) parts.push(`peer ${figure(peer, series.unit)}`);
		if (series.goal) parts.push(`goal ${goalText(series.goal, series)}`, isMet(series, mine, floor) ? "met" : "MISSED");
		console.log(parts.join("  "));
	}
}

/** Two builds, and how they relate. Returns the verdicts. */
export function printComparison(name: string, all: readonly Series[]): Verdict[] {
	console.log(`\n${name.padEnd(52)} ${"this".padStart(12)} ${"other".padStart(12)}  ratio (quartiles)      verdict`);
	const verdicts: Verdict[] = [];
	for (const series of all) {
		const mine = series.values.get("this");
		const other = series.values.get("other");
		if (!mine || !other) continue;
		// The ratio of powers is the difference of their exponents, and no exponent near zero makes it explode.
		const ratio = series.isExponent ? pairwise(mine.map(Math.exp), other.map(Math.exp)) : pairwise(mine, other);
		const verdict = verdictOf(ratio, series);
		verdicts.push(verdict);
		const floor = middle(series, "floor");
		const spread = `${ratio.median.toFixed(3)} (${ratio.low.toFixed(3)}..${ratio.high.toFixed(3)})`;
		const parts = [`  ${series.what.padEnd(50)}`, figure(median(mine), series.unit).padStart(12), figure(median(other), series.unit).padStart(12)];
		parts.push(` ${spread.padEnd(22)}`, verdict.padEnd(8));
		if (floor !== undefined) parts.push(`floor ${figure(floor, series.unit)}, x ${(median(mine) / floor).toFixed(2)}`);
		console.log(parts.join(" ").trimEnd());
	}
	return verdicts;
}

/** Three digits that mean something, and hundredths of a cent. */
function figure(value: number, unit: string): string {
	if (unit === "$") return `$${value.toFixed(4)}`;
	const size = Math.abs(value);
	const text = size >= 1000 || Number.isInteger(value) ? Math.round(value).toLocaleString("en") : value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
	return unit ? `${text} ${unit}` : text;
}

function goalText({ most, least, timesFloor }: Goal, { unit, isRate }: Series): string {
	const parts: string[] = [];
	if (most !== undefined) parts.push(`<= ${figure(most, unit)}`);
	if (least !== undefined) parts.push(`>= ${figure(least, unit)}`);
	if (timesFloor !== undefined) parts.push(`${isRate ? ">=" : "<="} ${timesFloor} x floor`);
	return parts.join(" and ");
}

function isMet({ goal: { most, least, timesFloor } = {}, isRate }: Series, value: number, floor: number | undefined): boolean {
	if (most !== undefined && value > most) return false;
	if (least !== undefined && value < least) return false;
	if (timesFloor === undefined || floor === undefined) return true;
	return isRate ? value >= timesFloor * floor : value <= timesFloor * floor;
}
