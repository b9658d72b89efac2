/** Rows about tools and commands. */
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cpuMsWithChildren, cpuNs, peakRssMb, plainEnvironment, startAgent } from "./process.ts";
import type { Row } from "./row.ts";
import { median } from "./statistics.ts";

/** A command of the host that prints 100 MB: what it costs us, not what it costs the command. */
const hugeOutput: Row = {
	name: "output",
	rounds: 3,
	hasFloor: true,
	async measure(trial) {
		const agent = startAgent(trial);
		await agent.ask({ type: "bash", command: "true" });
		const began = cpuNs(agent.pid);
		await agent.ask({ type: "bash", command: "yes 'a line of output that is about as long as lines are' | head -c 100000000" });
		const cpu = (cpuNs(agent.pid) - began) / 1e6;
		const peak = peakRssMb(agent.pid);
		await agent.end();
		return [
			{ what: "bash printing 100 MB, cpu", value: cpu, unit: "ms", goal: { timesFloor: 3 } },
			{ what: "bash printing 100 MB, peak RSS", value: peak, unit: "MB", isStrict: true, goal: { most: 95 } },
		];
	},
};

/** 400 turns, each one tool call of `true`: the last ones must cost what the first ones did. */
const toolTurns: Row = {
	name: "turns",
	rounds: 5,
	hasFloor: true,
	async measure(trial) {
		const count = 400;
		const warming = 20;
		const call = { blocks: [{ tool: "bash", arguments: { command: "true" } }] };
		const replies = [{ ...call, times: warming }, { text: "warm" }, { ...call, times: count }, { text: "done" }];
		const agent = startAgent(trial, ["--updates", "delta"], { replies });
		await agent.prompt("warm up");
		const cpu: number[] = [cpuNs(agent.pid)];
		agent.onLine = (line) => {
			if (line.startsWith('{"type":"tool_execution_end"')) cpu.push(cpuNs(agent.pid));
		};
		const before = cpuMsWithChildren(agent.pid);
		await agent.prompt("go");
		const whole = (cpuMsWithChildren(agent.pid) - before) / count;
		await agent.end();
		const turns = cpu.slice(1).map((at, index) => (at - (cpu[index] as number)) / 1e6);
		const own = turns.reduce((sum, ms) => sum + ms, 0) / count;
		// Medians, because V8 optimizes code and collects garbage in a few of the turns.
		const growth = median(turns.slice(-100)) / median(turns.slice(0, 100));
		return [
			{ what: "400 tool turns of true, cpu per turn with the command", value: whole, unit: "ms", goal: { timesFloor: 2 } },
			{ what: "400 tool turns of true, our own cpu per turn", value: own, unit: "ms" },
			{ what: "the last 100 over the first 100", value: growth, unit: "", goal: { timesFloor: 1.1 } },
		];
	},
};

/** grep over 10,000 files, against ripgrep itself. */
const grepTree: Row = {
	name: "grep",
	rounds: 3,
	prepare(shared) {
		for (let directory = 0; directory < 100; directory++) {
			mkdirSync(join(shared, `d${directory}`), { recursive: true });
			for (let file = 0; file < 100; file++) {
				const text = `${"some ordinary line of text\n".repeat(40)}${file === 7 ? "needle in here\n" : ""}`;
				writeFileSync(join(shared, `d${directory}`, `f${file}.txt`), text);
			}
		}
	},
	async measure(trial) {
		const rounds = 12;
		const reply = { blocks: [{ tool: "grep", arguments: { pattern: "needle", path: trial.shared, limit: 1000 } }] };
		const agent = startAgent(trial, ["--tools", "grep"], { replies: [{ ...reply, times: rounds + 1 }, { text: "done" }] });
		const ours: number[] = [];
		agent.onLine = (line) => {
			if (line.startsWith('{"type":"tool_execution_end"')) ours.push((JSON.parse(line) as { durationMs: number }).durationMs);
		};
		await agent.prompt("go");
		await agent.end();
		// The first one looks for ripgrep.
		ours.shift();
		const plain: number[] = [];
		for (let round = 0; round < rounds; round++) plain.push(await ripgrep(trial.shared));
		return [
			{ what: "grep over 10,000 files, wall", value: median(ours), unit: "ms" },
			{ what: "grep over 10,000 files, over rg itself", value: median(ours) / median(plain), unit: "", goal: { most: 1.3 } },
		];
	},
};

async function ripgrep(cwd: string): Promise<number> {
	const { rgPath } = (await import("@vscode/ripgrep")) as { rgPath: string };
	const began = performance.now();
	await new Promise((resolve) => {
		const child = spawn(rgPath, ["--json", "--hidden", "--no-config", "--", "needle", "."], {
			cwd,
			env: plainEnvironment(),
			stdio: ["ignore", "pipe", "ignore"],
		});
		child.stdout.resume();
		child.on("close", resolve);
	});
	return performance.now() - began;
}

export const toolRows: Row[] = [hugeOutput, toolTurns, grepTree];
