/** The comparison of two builds: its arguments, its ratios, its verdicts. Figures of speed are not asserted. */
import { describe, expect, it } from "vitest";
import { parseBenchArguments } from "../../bench/arguments.ts";
import { contest } from "../../bench/contest.ts";
import { type Contestant, exponent } from "../../bench/row.ts";
import { median, pairwise, quantile, verdictOf } from "../../bench/statistics.ts";

describe("arguments of the benchmark", () => {
	it.each([
		[[], { names: [] }],
		[["start", "deltas"], { names: ["start", "deltas"] }],
		[["--compare", "../old/dist", "start"], { names: ["start"], compare: "../old/dist" }],
		[["start", "--compare=../old/dist", "--rounds", "3"], { names: ["start"], compare: "../old/dist", rounds: 3 }],
		[["--profile", "profiles", "long"], { names: ["long"], profile: "profiles" }],
		[["--compare"], { problem: "--compare needs a value" }],
		[["--compare", "--rounds", "3"], { problem: "--compare needs a value" }],
		[["--rounds", "0"], { problem: "--rounds must be a whole number from 1 on, not 0" }],
		[["--fast"], { problem: "Unknown option --fast" }],
	])("%j", (words, expected) => {
		expect(parseBenchArguments(words)).toEqual(expected);
	});
});

describe("ratio and spread", () => {
	it("interpolates between values", () => {
		expect(median([4, 1, 3, 2])).toBe(2.5);
		expect(quantile([1, 2, 3, 4, 5], 0.25)).toBe(2);
	});

	it("compares pairs of the same round, so that a slow minute counts for both", () => {
		expect(pairwise([10, 20, 10], [10, 20, 10])).toEqual({ median: 1, low: 1, high: 1, pairs: 3 });
		expect(pairwise([11, 40, 12], [10, 40, 10])).toEqual({ median: 1.1, low: 1.05, high: 1.15, pairs: 3 });
		expect(pairwise([0, 0], [0, 0]).median).toBe(1);
	});

	it("tells how cost grows", () => {
		expect(exponent([10, 100, 1000], [5, 50, 500])).toBeCloseTo(1);
		expect(exponent([10, 100, 1000], [5, 5, 5])).toBeCloseTo(0);
		expect(exponent([10, 100], [1, 100])).toBeCloseTo(2);
	});
});

describe("verdict", () => {
	it.each([
		["more than 3 % and beyond the spread", { median: 1.05, low: 1.02, high: 1.08 }, {}, "WORSE"],
		["more than 3 %, but the other was slower in a quarter of the rounds", { median: 1.05, low: 0.98, high: 1.2 }, {}, "unsure"],
		["3 % is allowed", { median: 1.03, low: 1.02, high: 1.04 }, {}, "same"],
		["any loss in start-up and memory", { median: 1.01, low: 1.005, high: 1.02 }, { isStrict: true }, "WORSE"],
		["start-up within the spread", { median: 1.01, low: 0.99, high: 1.02 }, { isStrict: true }, "same"],
		["quicker", { median: 0.9, low: 0.88, high: 0.95 }, {}, "better"],
		["a rate that fell", { median: 0.9, low: 0.88, high: 0.95 }, { isRate: true }, "WORSE"],
		["a rate that rose", { median: 1.1, low: 1.05, high: 1.2 }, { isRate: true }, "better"],
	])("%s", (_, ratio, kind, expected) => {
		expect(verdictOf({ ...ratio, pairs: 5 }, kind)).toBe(expected);
	});

	it("two rounds prove nothing", () => {
		expect(verdictOf({ median: 2, low: 2, high: 2, pairs: 2 })).toBe("unsure");
	});

	it.each([
		[1.01, {}, "WORSE"],
		[1.004, {}, "same"],
		[0.98, {}, "better"],
		[0, { isRate: true }, "WORSE"],
	])("one round of a count proves a difference: %d", (ratio, kind, expected) => {
		expect(verdictOf({ median: ratio, low: ratio, high: ratio, pairs: 1 }, { ...kind, isExact: true })).toBe(expected);
	});
});

it("the programs take turns, in alternating order, each in an empty folder", async () => {
	const order: string[] = [];
	const contestants: Contestant[] = [
		{ name: "this", program: "a" },
		{ name: "other", program: "b" },
	];
	const folders = new Set<string>();
	const row = {
		name: "row",
		rounds: 4,
		measure: async ({ program, folder }: { program: string; folder: string }) => {
			order.push(program);
			folders.add(folder);
			return [{ what: "turn", value: order.length, unit: "ms" }];
		},
	};
	const [series] = await contest(row, contestants, 3);
	expect(order.join("")).toBe("abbaab");
	expect(folders.size).toBe(6);
	expect(series?.values.get("this")).toEqual([1, 4, 5]);
	expect(series?.values.get("other")).toEqual([2, 3, 6]);
});
