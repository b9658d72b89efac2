/** Speed and memory of the whole program, measured beside plain node in the same interleaved run. Machines are noisy: the ratios decide. */
import { rows } from "../bench/rows.ts";
import { printTable } from "../bench/table.ts";

const wanted = process.argv.slice(2);
const chosen = rows.filter(({ name }) => wanted.length === 0 || wanted.some((word) => name.includes(word)));
for (const { name, measure } of chosen) {
	process.stderr.write(`${name} ...\n`);
	printTable(name, await measure());
}
