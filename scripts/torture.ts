/**
 * The long form of the torture test: `npm run torture -- --minutes N --seed S`. With `--cuts` the plans are played through a server, over sockets
 * that are cut at random. See docs/reliability.md.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { planFor } from "../test/torture/generate.ts";
import { roundOverCuts } from "../test/torture/over-cuts.ts";
import type { Plan } from "../test/torture/plan.ts";
import { type Round, report, round, shortest } from "../test/torture/round.ts";

const root = join(import.meta.dirname, "..");
const { values } = parseArgs({
	options: {
		minutes: { type: "string", default: "5" },
		rounds: { type: "string" },
		seed: { type: "string", default: String(Date.now() % 1_000_000) },
		jobs: { type: "string", default: "2" },
		plan: { type: "string" },
		cuts: { type: "boolean", default: false },
		verbose: { type: "boolean", default: false },
	},
});

const play = values.cuts ? roundOverCuts : round;
const command = values.cuts ? "npm run serve-torture" : "npm run torture";
const seed = Number(values.seed);
const mostRounds = values.plan ? 1 : values.rounds ? Number(values.rounds) : Number.POSITIVE_INFINITY;
const deadline = values.rounds || values.plan ? Number.POSITIVE_INFINITY : performance.now() + Number(values.minutes) * 60_000;
const steps = new Map<string, number>();
const took = new Map<string, number[]>();
let next = 0;
let done = 0;
let failures = 0;

console.log(`seed ${seed}`);

async function work(): Promise<void> {
	while (next < mostRounds && performance.now() < deadline) {
		const plan: Plan = values.plan ? JSON.parse(readFileSync(values.plan, "utf8")) : planFor(seed + next);
		next += 1;
		const result = await play(root, plan);
		done += 1;
		count(result);
		if (values.verbose) console.log(report(result));
		if (result.problems.length) await found(result);
		if (done % 25 === 0) console.log(`${done} rounds, ${failures} with a finding, next seed ${seed + next}`);
	}
}

async function found(result: Round): Promise<void> {
	failures += 1;
	console.log(`\nFOUND with seed ${result.plan.seed}: ${result.problems[0]}\nmaking it shorter ...`);
	const best = await shortest(result, root, 60_000, play);
	const file = join(tmpdir(), `bowline-torture-${result.plan.seed}.json`);
	writeFileSync(file, JSON.stringify(best.plan, null, "\t"));
	console.log(report(best));
	console.log(`again: ${command} -- --seed ${result.plan.seed} --rounds 1\nshort: ${command} -- --plan ${file}\n`);
}

function count({ plan, played }: Round): void {
	for (const step of plan.steps) {
		const name = step.do === "send" ? step.frame.type : step.do === "end" ? step.how : step.do;
		steps.set(name, (steps.get(name) ?? 0) + 1);
	}
	const cuts = played.lives.flatMap(({ trace }) => trace).filter(({ way, frame }) => way === "!" && frame.type === "cut").length;
	if (cuts) steps.set("cut", (steps.get("cut") ?? 0) + cuts);
	for (const { what, ms } of played.took) took.set(what, [...(took.get(what) ?? []), ms]);
}

function summary(): void {
	const all = [...steps].sort((a, b) => b[1] - a[1]);
	console.log(`\n${done} rounds from seed ${seed}, ${failures} with a finding`);
	console.log(`steps: ${all.map(([name, number]) => `${name} ${number}`).join(", ")}`);
	console.log("\n| time to | count | median ms | 99 % | most |\n|---|---|---|---|---|");
	for (const [what, list] of took) {
		const sorted = list.toSorted((a, b) => a - b);
		const at = (share: number) => (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(0);
		console.log(`| ${what} | ${sorted.length} | ${at(0.5)} | ${at(0.99)} | ${at(1)} |`);
	}
}

await Promise.all(Array.from({ length: Number(values.jobs) }, work));
summary();
process.exitCode = failures ? 1 : 0;
