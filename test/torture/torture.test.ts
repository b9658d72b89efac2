/** The short form of the torture test: what it found before, and a few plans by fixed seeds. `npm run torture` is the long one. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { found } from "./found.ts";
import { approvals, planFor, withApprovals } from "./generate.ts";
import type { Plan } from "./plan.ts";
import { Random } from "./random.ts";
import { report, round } from "./round.ts";

const root = join(import.meta.dirname, "../..");

/** One question for each way to answer, one after the other. */
const everyApproval: Plan = {
	seed: 0,
	model: "scripted",
	flags: [],
	approvals,
	replies: approvals.map((_, index) => ({
		words: 1,
		calls: [{ tool: "bash", arguments: { command: `echo ${index}` } }],
		ending: { kind: "end" },
	})),
	steps: [
		{ do: "send", frame: { id: "p", type: "prompt", message: "prompt p" } },
		{ do: "until", type: "agent_settled" },
	],
};

async function survives(plan: Plan): Promise<void> {
	const result = await round(root, plan);
	expect(result.problems, report(result)).toEqual([]);
}

// Processes are looked at in /proc.
describe.runIf(process.platform === "linux").concurrent("torture", () => {
	test.each(found)("%s", (_what, plan) => survives(plan), 120_000);
	test.each([1, 2, 3, 4, 5, 6, 7, 8])("seed %i", (seed) => survives(planFor(seed)), 120_000);
	test.each([21, 22])("seed %i, and the program asks", (seed) => survives(withApprovals(planFor(seed), new Random(seed))), 120_000);
	test("a host that answers questions about calls in every way", () => survives(everyApproval), 120_000);
});

test("a plan follows from its seed, and is a plain value", () => {
	expect(planFor(7)).toEqual(planFor(7));
	expect(JSON.parse(JSON.stringify(planFor(7)))).toEqual(planFor(7));
	expect(planFor(8)).not.toEqual(planFor(7));
});
