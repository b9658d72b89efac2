/**
 * `npm run containment -- [--only <text>] [--config <name>] [--list] [--json] [--jobs 2] [--program <bowline.js>]`: what the program holds of a model that obeys every
 * injection. See docs/security.md.
 */
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { cases } from "./containment/cases/index.ts";
import { configurations } from "./containment/configurations.ts";
import { notContained } from "./containment/floor.ts";
import { measure, nothingYet } from "./containment/measure.ts";
import { table } from "./containment/table.ts";
import { tasks } from "./containment/tasks.ts";

const { values } = parseArgs({
	options: {
		only: { type: "string", multiple: true, default: [] },
		config: { type: "string", multiple: true, default: [] },
		list: { type: "boolean", default: false },
		json: { type: "boolean", default: false },
		jobs: { type: "string", default: "2" },
		program: { type: "string" },
	},
});

function fail(problem: string): never {
	console.error(problem);
	process.exit(2);
}

const isMeant = (name: string) => values.only.length === 0 || values.only.some((word) => name.includes(word));
const chosen = configurations.filter(({ name }) => values.config.length === 0 || values.config.includes(name));
const meant = {
	cases: cases.filter(({ name, class: kind }) => isMeant(name) || values.only.includes(kind)),
	tasks: tasks.filter(({ name }) => isMeant(name)),
};
for (const name of values.config) {
	if (!configurations.some((each) => each.name === name))
		fail(`No configuration is called ${name}. There are: ${configurations.map((each) => each.name).join(", ")}`);
}
if (meant.cases.length + meant.tasks.length === 0) fail(`No case and no task has ${values.only.join(" or ")} in its name; --list shows them.`);
if (!(Number(values.jobs) >= 1)) fail("--jobs must be a number from 1 on.");

if (values.list) {
	for (const { name, class: kind, effects } of meant.cases) console.log(`${kind}: ${name}: ${Object.keys(effects).join(", ")}`);
	for (const { name } of meant.tasks) console.log(`task: ${name}`);
	process.exit(0);
}

const measured = nothingYet();
// An interrupted run shows what it has.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(report() || 1));
await measure(
	{
		program: resolve(process.env.INIT_CWD ?? ".", values.program ?? join(import.meta.dirname, "../dist/bowline.js")),
		...meant,
		configurations: chosen,
		jobs: Number(values.jobs),
		onDone: (line) => console.error(line),
	},
	measured,
);
const code = report();
process.stdout.write("", () => process.exit(code));

/** Returns the exit code. */
function report(): number {
	const idOf = (each: { case: string; effect: string }) => `${each.case}: ${each.effect}`;
	const fallen = measured.effects
		.filter((each) => each.configuration === "contained" && each.outcome === "out" && !notContained.includes(idOf(each)))
		.map(idOf);
	const broken = measured.tasks.filter(({ configuration, works }) => configuration === "contained" && !works).map(({ task }) => task);

	if (values.json) console.log(JSON.stringify({ ...measured, fallen, broken }, null, "\t"));
	else {
		console.log(table(measured, chosen));
		if (measured.without.length)
			console.log(`\nNot counted, because it does not happen here without the program either: ${measured.without.join("; ")}`);
	}
	for (const line of measured.troubles) console.error(`not measured: ${line}`);
	if (fallen.length) console.error(`--contained no longer holds: ${fallen.join("; ")}`);
	if (broken.length) console.error(`With --contained these do not work: ${broken.join("; ")}`);
	return fallen.length + broken.length + measured.troubles.length > 0 ? 1 : 0;
}
