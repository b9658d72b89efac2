/** Speed and memory of the whole program. Machines are noisy: programs take turns in one run, and the ratios decide. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseBenchArguments, usage } from "../bench/arguments.ts";
import { contest } from "../bench/contest.ts";
import type { Contestant } from "../bench/row.ts";
import { rows } from "../bench/rows.ts";
import type { Verdict } from "../bench/statistics.ts";
import { printComparison, printTable } from "../bench/table.ts";

function fail(problem: string): never {
	console.error(`${problem}\n${usage}`);
	process.exit(2);
}

const parsed = parseBenchArguments(process.argv.slice(2));
if ("problem" in parsed) fail(parsed.problem);
const { names, compare, peer, rounds, profile } = parsed;
// npm changes the folder; paths are meant from where they were typed.
const typed = (path: string) => resolve(process.env.INIT_CWD ?? ".", path);
if (profile) process.env.BENCH_PROFILE = typed(profile);
/** A word that is the name of a row means that row alone. */
const isMeant = (name: string, word: string) => (rows.some((row) => row.name === word) ? name === word : name.includes(word));
const chosen = rows.filter(({ name }) => names.length === 0 || names.some((word) => isMeant(name, word)));
if (chosen.length === 0) fail(`No such row. There are: ${rows.map(({ name }) => name).join(", ")}`);

const mine: Contestant = { name: "this", program: join(import.meta.dirname, "../dist/bowline.js") };
const floor: Contestant = { name: "floor", program: join(import.meta.dirname, "../bench/floor.cjs") };
const contestants = [mine];
if (peer && !existsSync(typed(peer))) fail(`There is no program ${peer}.`);
if (compare) {
	const program = join(typed(compare), "bowline.js");
	if (!existsSync(program)) fail(`There is no build in ${compare}: ${program} does not exist.`);
	contestants.push({ name: "other", program });
}

const verdicts: Verdict[] = [];
for (const row of chosen) {
	if (compare && row.isInProcess) {
		console.log(`\n${row.name}: left out, it measures code of this repository inside its own process.`);
		continue;
	}
	process.stderr.write(`${row.name} ...\n`);
	const others: Contestant[] = [];
	if (row.hasFloor) others.push(floor);
	if (row.hasPeer && peer) others.push({ name: "peer", program: typed(peer) });
	const all = await contest(row, [...contestants, ...others], rounds);
	if (compare) verdicts.push(...printComparison(row.name, all));
	else printTable(row.name, all);
}
if (compare) {
	const count = (verdict: Verdict) => verdicts.filter((each) => each === verdict).length;
	console.log(`\n${count("WORSE")} worse, ${count("unsure")} unsure, ${count("same")} the same, ${count("better")} better.`);
	if (count("WORSE")) process.exitCode = 1;
}
