/** Rows about tools and commands. */
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cpuNs, inFolder, peakRssMb, plainEnvironment, type Running, rssMb, startAgent } from "./process.ts";
import { type Figure, median } from "./table.ts";

const seconds = (ns: number) => ns / 1e9;

/** A command of the host that prints 100 MB: what it costs us, not what it costs the command. */
export async function hugeOutput(): Promise<Figure[]> {
	return inFolder(async (folder) => {
		const agent = startAgent(folder);
		await run(agent, "true");
		const cpu: number[] = [];
		const before = rssMb(agent.pid);
		for (let round = 0; round < 3; round++) {
			const began = cpuNs(agent.pid);
			await run(agent, "yes 'a line of output that is about as long as lines are' | head -c 100000000");
			cpu.push(seconds(cpuNs(agent.pid) - began));
		}
		const growth = peakRssMb(agent.pid) - before;
		await agent.end();
		return [
			{ what: "bash printing 100 MB, cpu", value: `${median(cpu).toFixed(2)} s`, goal: "<= 0.6 s", isMet: median(cpu) <= 0.6 },
			{ what: "bash printing 100 MB, RSS growth", value: `${growth.toFixed(1)} MB`, goal: "<= 60 MB", isMet: growth <= 60 },
		];
	});
}

async function run(agent: Running, command: string): Promise<void> {
	const answered = agent.line('"command":"bash"');
	agent.send({ id: "b", type: "bash", command });
	await answered;
}

/** 400 turns, each one tool call of `true`. */
export async function toolTurns(): Promise<Figure[]> {
	const count = 400;
	return inFolder(async (folder) => {
		const call = { blocks: [{ tool: "bash", arguments: { command: "true" } }] };
		const replies = [{ text: "warm" }, { ...call, times: count }, { text: "done" }];
		const agent = startAgent(folder, ["--updates", "delta"], { replies });
		const warm = agent.line('"agent_settled"');
		agent.send({ id: "1", type: "prompt", message: "warm up" });
		await warm;
		const ends: number[] = [performance.now()];
		const began = cpuNs(agent.pid);
		agent.send({ id: "2", type: "prompt", message: "go" });
		for (let turn = 0; turn < count; turn++) {
			await agent.line('"tool_execution_end"');
			ends.push(performance.now());
		}
		const perTurn = (cpuNs(agent.pid) - began) / 1e6 / count;
		await agent.end();
		const span = (from: number, to: number) => ((ends[to] as number) - (ends[from] as number)) / (to - from);
		const ratio = span(count - 20, count) / span(0, 20);
		return [
			{ what: "400 tool turns of true, our cpu per turn", value: `${perTurn.toFixed(2)} ms`, goal: "<= 7 ms", isMet: perTurn <= 7 },
			{
				what: "last 20 turns, wall each",
				value: `${span(count - 20, count).toFixed(2)} ms`,
				against: `first 20 ${span(0, 20).toFixed(2)} ms`,
				ratio: ratio.toFixed(2),
				goal: "<= 1.3",
				isMet: ratio <= 1.3,
			},
		];
	});
}

/** grep over 10,000 files, against ripgrep itself. */
export async function grepTree(): Promise<Figure[]> {
	return inFolder(async (folder) => {
		for (let directory = 0; directory < 100; directory++) {
			mkdirSync(join(folder, "tree", `d${directory}`), { recursive: true });
			for (let file = 0; file < 100; file++) {
				const text = `${"some ordinary line of text\n".repeat(40)}${file === 7 ? "needle in here\n" : ""}`;
				writeFileSync(join(folder, "tree", `d${directory}`, `f${file}.txt`), text);
			}
		}
		const rounds = 12;
		const reply = { blocks: [{ tool: "grep", arguments: { pattern: "needle", path: "tree", limit: 1000 } }] };
		const agent = startAgent(folder, ["--tools", "grep"], {
			replies: [
				{ ...reply, times: rounds + 1 },
				{ text: "done", times: "always" },
			],
		});
		const ours: number[] = [];
		const plain: number[] = [];
		agent.onLine = (line) => {
			if (line.startsWith('{"type":"tool_execution_end"')) ours.push((JSON.parse(line) as { durationMs: number }).durationMs);
		};
		const settled = agent.line('"agent_settled"');
		agent.send({ id: "1", type: "prompt", message: "go" });
		await settled;
		await agent.end();
		// The first one looks for ripgrep.
		ours.shift();
		for (let round = 0; round < rounds; round++) plain.push(await ripgrep(join(folder, "tree")));
		const ratio = median(ours) / median(plain);
		return [
			{
				what: "grep over 10,000 files, wall",
				value: `${median(ours).toFixed(1)} ms`,
				against: `rg ${median(plain).toFixed(1)} ms`,
				ratio: ratio.toFixed(2),
				goal: "<= 1.3",
				isMet: ratio <= 1.3,
			},
		];
	});
}

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
