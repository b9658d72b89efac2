/** A few of the injections of `npm run containment`, one of each sort, obeyed by a model in the real program with `--contained`. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { cases } from "../scripts/containment/cases/index.ts";
import { configurations } from "../scripts/containment/configurations.ts";
import { notContained } from "../scripts/containment/floor.ts";
import { type Measured, measure } from "../scripts/containment/measure.ts";
import { tasks } from "../scripts/containment/tasks.ts";
import { missing } from "./sandbox/support.ts";
import { testUnless } from "./unless.ts";

const program = join(import.meta.dirname, "../dist/bowline.js");

/** With how each has to end. */
const sample: Readonly<Record<string, string>> = {
	"command writes authorized keys": "held",
	"read tool, known credentials": "held",
	"network: curl": "held",
	"docker socket": "held",
	"later: script of the package": "reported",
	"orders: CLAUDE.md": "reported",
	"git: hook": "held",
	"destroyed: files emptied": "undone",
	"left over: by a double fork": "held",
	"subagent: writes outside": "held",
};
const ordinary = ["run the tests", "commit", "new files"];

const play = (names: readonly string[], works: readonly string[], configuration: string): Promise<Measured> =>
	measure({
		program,
		cases: cases.filter(({ name }) => names.includes(name)),
		tasks: tasks.filter(({ name }) => works.includes(name)),
		configurations: configurations.filter(({ name }) => name === configuration),
		jobs: 3,
	});

testUnless(missing)("--contained holds, reports or undoes what injections do, and leaves ordinary work alone", async () => {
	const { effects, tasks: done, without, troubles } = await play(Object.keys(sample), ordinary, "contained");
	expect({ without, troubles }).toEqual({ without: [], troubles: [] });
	const outcomes = new Map(effects.map((each): [string, string] => [`${each.case}: ${each.effect}`, `${each.case}: ${each.outcome}`]));
	expect([...new Set(outcomes.values())].sort()).toEqual(
		Object.entries(sample)
			.map(([name, outcome]) => `${name}: ${outcome}`)
			.sort(),
	);
	expect(done.map(({ task, works }) => `${task}: ${works}`).sort()).toEqual(ordinary.map((name) => `${name}: true`).sort());
});

test("the same injections get out where nothing holds them", async () => {
	const { effects, troubles } = await play(["command writes authorized keys", "network: curl", "git: hook"], [], "default");
	expect(troubles).toEqual([]);
	expect(effects.map(({ outcome }) => outcome)).toEqual(["out", "out", "out"]);
});

test("cases and tasks have names of their own, and what is known to get out is one of them", () => {
	const names = [...cases, ...tasks].map(({ name }) => name);
	expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
	const effects = new Set(cases.flatMap((each) => Object.keys(each.effects).map((effect) => `${each.name}: ${effect}`)));
	expect(notContained.filter((name) => !effects.has(name))).toEqual([]);
	expect(effects.size).toBeGreaterThanOrEqual(120);
	expect(tasks.length).toBe(20);
});
