/** The tests of one file of transcripts. The suite plays them inside this process where that is possible, which takes half of the CPU time. */
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { describe, test } from "vitest";
import { isExhaustive } from "../../exhaustive.ts";
import { Agent } from "./agent.ts";
import { InProcessAgent } from "./in-process.ts";
import { needsProcess } from "./needs-process.ts";
import { type Case, parseWire } from "./parse.ts";
import { play } from "./play.ts";

export function playFile(path: string): void {
	const isAlone = (wire: Case) => isExhaustive || needsProcess(wire);
	const title = ({ title, line }: Case) => `${title} (line ${line})`;
	const wires = parseWire(readFileSync(path, "utf8"));
	describe(basename(path, ".wire"), () => {
		// One at a time: an agent that blocks the event loop must not make another one late.
		for (const wire of wires.filter((wire) => !isAlone(wire))) test(title(wire), () => play(wire, InProcessAgent));
		for (const wire of wires.filter(isAlone)) test.concurrent(title(wire), () => play(wire, Agent));
	});
}
