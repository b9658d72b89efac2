/** `npm run fleet-torture -- [--runs 200] [--workers 8] [--kills 60] [--freezes 25] [--no-skew] [--pooled 16] [--seed 1]`: the fleet's promises under kills, freezes and a crash of Postgres. */
import { parseArgs } from "node:util";
import { torture } from "../test/fleet/torture.ts";

const { values } = parseArgs({
	options: {
		runs: { type: "string", default: "200" },
		workers: { type: "string", default: "8" },
		slots: { type: "string", default: "2" },
		kills: { type: "string", default: "60" },
		freezes: { type: "string", default: "25" },
		"no-skew": { type: "boolean", default: false },
		pooled: { type: "string" },
		seed: { type: "string", default: String(Date.now() % 100_000) },
		minutes: { type: "string", default: "60" },
	},
});
const number = (name: Exclude<keyof typeof values, "no-skew">) => Number(values[name]);
console.log(`seed ${values.seed}`);
const report = await torture({
	runs: number("runs"),
	workers: number("workers"),
	slots: number("slots"),
	kills: number("kills"),
	freezes: number("freezes"),
	crash: true,
	skew: !values["no-skew"],
	...(values.pooled === undefined ? {} : { pooled: number("pooled") }),
	thawMs: 10_000,
	seed: number("seed"),
	deadlineMs: number("minutes") * 60_000,
	log: (text) => console.log(text),
});
console.log(JSON.stringify(report, null, 2));
const isGood = report.problems.length === 0 && report.missing.length === 0 && report.stepsLate <= number("slots") * (report.freezes + report.kills);
console.log(isGood ? "All promises were kept." : "A promise was broken.");
process.exit(isGood ? 0 : 1);
