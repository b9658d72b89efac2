/** Rows about start, memory, streaming and answers. */
import { execFile } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { cpuNs, rssMb, startAgent, wholeCpuMs } from "./process.ts";
import type { Reading, Row, Trial } from "./row.ts";

const run = promisify(execFile);

/** Node 22 and newer keep the code that they compile. */
const startBudget = Number.parseInt(process.versions.node, 10) >= 22 ? 1.7 : 2;

const start: Row = {
	name: "start",
	rounds: 15,
	hasFloor: true,
	hasPeer: true,
	async measure({ program, folder: cwd }) {
		const input = '{"id":"1","type":"get_state"}\n';
		const cpu = await wholeCpuMs(process.execPath, [program, "--mode", "rpc", "--no-session"], { cwd, input });
		return [{ what: "spawn to get_state answer and exit, cpu", value: cpu, unit: "ms", isStrict: true, goal: { timesFloor: startBudget } }];
	},
};

const idle: Row = {
	name: "idle",
	rounds: 5,
	hasFloor: true,
	hasPeer: true,
	async measure(trial) {
		const agent = startAgent(trial);
		await agent.ask({ type: "get_state" });
		await sleep(1000);
		const rss = rssMb(agent.pid);
		await agent.end();
		return [{ what: "idle RSS", value: rss, unit: "MB", isStrict: true, goal: { most: 55 } }];
	},
};

/** The first prompt of a process loads what is needed; later ones are warm. */
const prompts: Row = {
	name: "prompts",
	rounds: 9,
	hasFloor: true,
	async measure(trial) {
		const agent = startAgent(trial, ["--updates", "delta"], { replies: [{ text: "words of a reply", times: "always" }] });
		await agent.ask({ type: "get_state" });
		const before = cpuNs(agent.pid);
		await agent.prompt("go");
		const cold = (cpuNs(agent.pid) - before) / 1e6;
		for (let round = 0; round < 20; round++) await agent.prompt("go");
		const warmed = cpuNs(agent.pid);
		for (let round = 0; round < 40; round++) await agent.prompt("go");
		const warm = (cpuNs(agent.pid) - warmed) / 1e6 / 40;
		await agent.end();
		return [
			{ what: "first prompt of a process, cpu above start", value: cold, unit: "ms", isStrict: true, goal: { most: 50 } },
			{ what: "warm prompt, cpu", value: warm, unit: "ms" },
		];
	},
};

const deltaCount = 50_000;
const piece = "lorem ipsum ";

interface Streamed {
	micros: number;
	bytes: number;
	seconds: number;
	rss: number;
}

/** CPU per delta and bytes of one long reply. The first prompt loads what is needed, the second is measured. */
async function stream(trial: Trial, flags: string[]): Promise<Streamed> {
	const agent = startAgent(trial, flags, { replies: [{ text: "warm" }, { repeat: { text: piece, count: deltaCount } }] });
	await agent.prompt("warm up");
	const bytes = agent.bytes;
	const before = cpuNs(agent.pid);
	const began = performance.now();
	await agent.prompt("go");
	const seconds = (performance.now() - began) / 1000;
	const micros = (cpuNs(agent.pid) - before) / 1000 / deltaCount;
	const rss = rssMb(agent.pid);
	await agent.end();
	return { micros, bytes: agent.bytes - bytes, seconds, rss };
}

const deltas: Row = {
	name: "deltas",
	rounds: 5,
	hasFloor: true,
	async measure(trial) {
		const text = deltaCount * piece.length;
		const delta = await stream(trial, ["--updates", "delta"]);
		const readings: Reading[] = [
			{ what: "delta mode, cpu per delta", value: delta.micros, unit: "us", goal: { timesFloor: 2 } },
			{ what: "RSS after 50,000 deltas", value: delta.rss, unit: "MB", isStrict: true, goal: { most: 90 } },
			{ what: "delta mode, bytes out per byte of text", value: delta.bytes / text, unit: "" },
		];
		if (trial.contestant.name === "floor") return readings;
		const full = await stream(trial, []);
		const rate = full.bytes / 1e6 / Math.max(full.seconds, 1);
		readings.push(
			{ what: "full mode, cpu per delta", value: full.micros, unit: "us" },
			{ what: "full mode, MB out per second of streaming", value: rate, unit: "MB", goal: { most: 8 + (4 * text) / 1e6 } },
		);
		return readings;
	},
};

/** How many get_state, all sent at once, are answered per second. */
const pipelined: Row = {
	name: "pipelined",
	rounds: 7,
	hasFloor: true,
	hasPeer: true,
	async measure(trial) {
		const count = 10_000;
		const agent = startAgent(trial);
		await agent.line("ready");
		const last = agent.line('"last"');
		const began = performance.now();
		agent.child.stdin.write(`${'{"id":"x","type":"get_state"}\n'.repeat(count)}{"id":"last","type":"abort"}\n`);
		await last;
		const rate = (count / (performance.now() - began)) * 1000;
		await agent.end();
		return [{ what: "10,000 pipelined get_state", value: rate, unit: "/s", isRate: true, goal: { timesFloor: 0.32 } }];
	},
};

/** The files that `npm install` puts on a disk. */
const size: Row = {
	name: "size",
	rounds: 1,
	isInProcess: true,
	async measure({ folder }) {
		const root = join(import.meta.dirname, "..");
		const { stdout } = await run("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", folder], { cwd: root });
		const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
		const install = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--prefix", folder, join(folder, filename)];
		await run("npm", [...install, "--omit=optional"], { cwd: folder });
		const without = megabytes(join(folder, "node_modules"));
		await run("npm", install, { cwd: folder });
		return [
			{ what: "installed without ripgrep", value: without, unit: "MB", goal: { most: 9 } },
			{ what: "installed with ripgrep", value: megabytes(join(folder, "node_modules")), unit: "MB", goal: { most: 15 } },
		];
	},
};

function megabytes(directory: string): number {
	const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
	return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0) / 1e6;
}

/** Ignores signals, and has a child in a session of its own. */
const stubborn = "trap '' TERM INT HUP; echo up; setsid sh -c 'trap \"\" TERM; sleep 300' & sleep 300; sleep 300";

/** How long a client waits for the answer to an abort of a command that ignores signals. The answer is promised within two seconds. */
const abort: Row = {
	name: "abort",
	rounds: 5,
	async measure(trial) {
		const agent = startAgent(trial, [], { replies: [{ blocks: [{ tool: "bash", arguments: { command: stubborn } }] }] });
		await agent.line("ready");
		const isUp = agent.line('"tool_execution_update"');
		agent.send({ id: "go", type: "prompt", message: "go" });
		await isUp;
		const took = await agent.ask({ type: "abort" });
		await agent.end();
		return [{ what: "answer to an abort of a command that ignores signals", value: took, unit: "ms", goal: { most: 2000 } }];
	},
};

export const basicRows: Row[] = [start, idle, prompts, deltas, pipelined, abort, size];
