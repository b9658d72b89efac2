/** Rows about subagents: many at once, each with one tool call. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { peakRssMb, rssMb, startAgent } from "./process.ts";
import type { Reading, Row, Trial } from "./row.ts";

interface Run {
	wallMs: number;
	cpuMs: number;
	/** Of all processes together. */
	treeMb: number;
	/** Of the largest subagent. */
	childMb: number;
}

export const subagents: Row = {
	name: "subagents",
	rounds: 3,
	async measure(trial) {
		const readings: Reading[] = [];
		for (const count of [8, 32]) {
			const { wallMs, cpuMs, treeMb, childMb } = await run(trial, count);
			readings.push(
				{ what: `${count} subagents, wall`, value: wallMs, unit: "ms" },
				{ what: `${count} subagents, cpu of each`, value: cpuMs / count, unit: "ms" },
				{ what: `${count} subagents, peak RSS of the tree`, value: treeMb, unit: "MB", isStrict: true },
				{ what: `${count} subagents, peak RSS of the largest`, value: childMb, unit: "MB", isStrict: true, goal: { most: 60 } },
			);
		}
		return readings;
	},
};

async function run(trial: Trial, count: number): Promise<Run> {
	const tasks = Array.from({ length: count }, (_, index) => ({ id: `Task${index}`, description: "One call", assignment: "Work." }));
	const replies = [
		{ when: { depth: 0, text: "warm" }, text: "warm" },
		{ when: { depth: 0, text: "go" }, blocks: [{ tool: "task", arguments: { agent: "task", tasks } }] },
		{ when: { depth: 1, text: "Work." }, blocks: [{ tool: "bash", arguments: { command: "true" } }] },
		{ when: { depth: 1 }, blocks: [{ tool: "submit_result", arguments: { result: { data: "done" } } }] },
		{ text: "done" },
	];
	const agent = startAgent(trial, ["--updates", "delta"], { replies });
	await agent.prompt("warm up");
	const result: Run = { wallMs: 0, cpuMs: 0, treeMb: 0, childMb: 0 };
	const sampling = setInterval(() => sample(agent.pid, result), 20);
	const cpu = cpuMsOf(agent.pid);
	const began = performance.now();
	const ended = agent.line('"tool_execution_end"');
	agent.send({ id: "2", type: "prompt", message: "go" });
	await ended;
	result.wallMs = performance.now() - began;
	result.cpuMs = cpuMsOf(agent.pid) - cpu;
	clearInterval(sampling);
	await agent.end();
	return result;
}

const ticksPerSecond = 100;

/** With the children that have ended, and theirs. */
function cpuMsOf(pid: number): number {
	const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
	const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
	return (fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / ticksPerSecond) * 1000;
}

function sample(root: number, result: Run): void {
	let sum = 0;
	for (const pid of treeOf(root)) {
		try {
			sum += rssMb(pid);
			if (pid !== root && readFileSync(`/proc/${pid}/cmdline`, "latin1").includes("bowline.js"))
				result.childMb = Math.max(result.childMb, peakRssMb(pid));
		} catch (error) {
			if (existsSync(`/proc/${pid}/status`)) throw error;
		}
	}
	result.treeMb = Math.max(result.treeMb, sum);
}

/** The process and all its descendants. */
function treeOf(root: number): number[] {
	const parents = new Map<number, number>();
	for (const name of readdirSync("/proc")) {
		if (!/^\d+$/.test(name)) continue;
		try {
			const stat = readFileSync(`/proc/${name}/stat`, "latin1");
			parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]));
		} catch {
			// It ended while we looked.
		}
	}
	const isBelow = (pid: number | undefined): boolean => pid === root || (pid !== undefined && pid > 1 && isBelow(parents.get(pid)));
	return [...parents.keys()].filter(isBelow);
}
