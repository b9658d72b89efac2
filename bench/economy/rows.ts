/** Rows about what the model gets and what it costs. Their figures are counts and do not depend on the machine: one round is enough. */
import { join } from "node:path";
import type { Reading, Row } from "../row.ts";
import { playCompaction } from "./compaction.ts";
import { failures, failuresIn, playOutputs } from "./outputs.ts";
import { dollars, type Recorded } from "./recorder.ts";
import { playSession, steps } from "./session.ts";

/** Seen from `scripts/`, where benchmarks are bundled. */
const server = join(import.meta.dirname, "../test/mcp/servers/small.mjs");

const counted = (what: string, unit: string, value: number, more: Partial<Reading> = {}): Reading => ({ what, unit, value, isExact: true, ...more });
const sum = (recorded: readonly Recorded[], part: "read" | "written" | "plain" | "lost") => recorded.reduce((total, one) => total + one[part], 0);

const session: Row = {
	name: "economy-session",
	rounds: 1,
	async measure({ folder, program }) {
		const { recorded, problems } = await playSession({ folder, program, server });
		if (problems.length > 0) throw new Error(problems.join("; "));
		return [
			counted("its first request", "tokens", recorded[0]?.sent ?? 0, { goal: { most: 1500 } }),
			counted("the session, input", "$", dollars(recorded), { goal: { most: 0.43 } }),
			counted("its requests", "", recorded.length),
			counted("read from the cache", "tokens", sum(recorded, "read")),
			counted("written to the cache", "tokens", sum(recorded, "written")),
			counted("neither", "tokens", sum(recorded, "plain")),
			counted("written before, and lost", "tokens", sum(recorded, "lost")),
			...Object.keys(steps).map((step) => counted(`step: ${step}`, "$", dollars(recorded.filter((one) => one.step === step)))),
		];
	},
};

const compaction: Row = {
	name: "economy-compaction",
	rounds: 1,
	async measure({ folder, program }) {
		const { tokens, usd, requests } = await playCompaction(folder, program);
		return [
			counted("the conversation, in the cache", "tokens", tokens),
			counted("its summary, input", "$", usd, { goal: { most: 0.07 } }),
			counted("requests for it", "", requests),
		];
	},
};

const output: Row = {
	name: "economy-output",
	rounds: 1,
	async measure({ folder, program }) {
		const admitted = await playOutputs(folder, program);
		const readings = admitted.map(({ output: { what, most }, tokens }) => counted(what, "tokens", tokens, { goal: { most } }));
		const seen = Math.max(...admitted.map(({ text }) => failuresIn(text)));
		return [...readings, counted(`failures that are seen, of ${failures}`, "", seen, { isRate: true, goal: { least: failures } })];
	},
};

export const economyRows: Row[] = [session, compaction, output];
