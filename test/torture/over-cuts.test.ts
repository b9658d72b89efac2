/** A few plans through a server and sockets that are cut. `npm run serve-torture` is the long form. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { planFor } from "./generate.ts";
import type { Happening } from "./host.ts";
import { checkNumbers, checkRuns, roundOverCuts } from "./over-cuts.ts";
import { report } from "./round.ts";

const root = join(import.meta.dirname, "../..");
const heard = (...frames: Happening["frame"][]): Happening[] => frames.map((frame) => ({ at: 0, way: "<", frame }));
const ending = { how: "eof" as const, code: 0, tookMs: 0 };

// Processes are looked at in /proc.
describe.runIf(process.platform === "linux").concurrent("torture over sockets that are cut", () => {
	test.each([100, 119, 138])(
		"seed %i",
		async (seed) => {
			const result = await roundOverCuts(root, planFor(seed));
			expect(result.problems, report(result)).toEqual([]);
		},
		240_000,
	);
});

test("a frame that comes twice, a number that goes back, and a run with no result or two are found", () => {
	const started = { type: "response", data: { disposition: "started", runId: "r_1" } };
	const result = { type: "run_result", runId: "r_1" };
	expect(checkNumbers({ trace: heard({ type: "a", seq: 1 }, { type: "b", seq: 3 }, { type: "snapshot", seq: 3 }) })).toEqual([]);
	expect(checkNumbers({ trace: heard({ type: "a", seq: 9 }, { type: "session_moved" }, { type: "b", seq: 1 }) })).toEqual([]);
	expect(checkNumbers({ trace: heard({ type: "a", seq: 2 }, { type: "a", seq: 2 }) })).toEqual(["the number 2 of a came after 2"]);
	expect(checkRuns({ trace: heard(started, result), ending })).toEqual([]);
	expect(checkRuns({ trace: heard(started), ending })).toEqual(["the run r_1 has 0 results"]);
	expect(checkRuns({ trace: heard(started, result, result), ending })).toEqual(["the run r_1 has 2 results"]);
});
