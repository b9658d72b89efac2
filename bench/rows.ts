/** The rows of `npm run bench`. */

import { crowd, endurance } from "./endurance-rows.ts";
import { worktree } from "./isolation-rows.ts";
import { cpuNs, inFolder, program, type Running, rssMb, startAgent, startBare, wholeCpuMs } from "./process.ts";
import { argumentDeltas, firstDelta, longConversation, providerDeltas } from "./provider-rows.ts";
import { sessions } from "./session-rows.ts";
import { subagents } from "./subagent-rows.ts";
import { type Figure, median } from "./table.ts";
import { grepTree, hugeOutput, toolTurns } from "./tool-rows.ts";

export interface Row {
	name: string;
	measure: () => Promise<Figure[]>;
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const ms = (value: number) => `${value.toFixed(1)} ms`;

async function start(): Promise<Figure[]> {
	return inFolder(async (cwd) => {
		const bare: number[] = [];
		const ours: number[] = [];
		const input = '{"id":"1","type":"get_state"}\n';
		for (let round = 0; round < 15; round++) {
			bare.push(await wholeCpuMs(process.execPath, ["-e", "0"], { cwd }));
			ours.push(await wholeCpuMs(process.execPath, [program, "--mode", "rpc", "--no-session"], { cwd, input }));
		}
		const ratio = median(ours) / median(bare);
		return [
			{
				what: "spawn to get_state answer and exit, cpu",
				value: ms(median(ours)),
				against: `node -e 0 ${ms(median(bare))}`,
				ratio: ratio.toFixed(2),
				goal: "<= 1.6",
				isMet: ratio <= 1.6,
			},
		];
	});
}

async function idle(): Promise<Figure[]> {
	return inFolder(async (folder) => {
		const agent = startAgent(folder);
		const answered = agent.line('"get_state"');
		agent.send({ id: "1", type: "get_state" });
		await answered;
		await sleep(1000);
		const rss = rssMb(agent.pid);
		await agent.end();
		return [{ what: "idle RSS", value: `${rss.toFixed(1)} MB`, goal: "<= 50 MB", isMet: rss <= 50 }];
	});
}

const deltaCount = 50_000;

interface Streamed {
	micros: number;
	bytes: number;
	seconds: number;
}

const piece = "lorem ipsum ";

/** CPU per delta and bytes of one long reply. The first prompt loads what is needed, the second is measured. */
async function stream(flags: string[]): Promise<Streamed> {
	return inFolder(async (folder) => {
		const agent = startAgent(folder, flags, { replies: [{ text: "warm" }, { repeat: { text: piece, count: deltaCount } }] });
		const warm = agent.line('"agent_settled"');
		agent.send({ id: "1", type: "prompt", message: "warm up" });
		await warm;
		return measured(agent, { id: "2", type: "prompt", message: "go" });
	});
}

async function bareStream(): Promise<Streamed> {
	return inFolder(async (folder) => {
		const bare = startBare(folder);
		await bare.line("ready");
		return measured(bare, { type: "deltas", count: deltaCount, text: piece });
	});
}

async function measured(process: Running, frame: object): Promise<Streamed> {
	const bytes = process.bytes;
	const before = cpuNs(process.pid);
	const began = performance.now();
	const settled = process.line('"agent_settled"');
	process.send(frame);
	await settled;
	const seconds = (performance.now() - began) / 1000;
	const micros = (cpuNs(process.pid) - before) / 1000 / deltaCount;
	await process.end();
	return { micros, bytes: process.bytes - bytes, seconds };
}

async function deltas(): Promise<Figure[]> {
	const delta: Streamed[] = [];
	const full: Streamed[] = [];
	const bare: Streamed[] = [];
	for (let round = 0; round < 3; round++) {
		delta.push(await stream(["--updates", "delta"]));
		full.push(await stream([]));
		bare.push(await bareStream());
	}
	const micros = (list: Streamed[]) => median(list.map((run) => run.micros));
	const rate = Math.max(...full.map((run) => run.bytes / 1e6 / Math.max(run.seconds, 1)));
	const text = deltaCount * piece.length;
	const against = `bare loop ${micros(bare).toFixed(2)} us`;
	return [
		{
			what: "delta mode, cpu per delta",
			value: `${micros(delta).toFixed(2)} us`,
			against,
			ratio: (micros(delta) / micros(bare)).toFixed(2),
			goal: "<= 12 us",
			isMet: micros(delta) <= 12,
		},
		{ what: "delta mode, bytes out per byte of text", value: (median(delta.map((run) => run.bytes)) / text).toFixed(2), goal: "linear" },
		{
			what: "full mode, cpu per delta",
			value: `${micros(full).toFixed(2)} us`,
			against: `delta mode ${micros(delta).toFixed(2)} us`,
			ratio: (micros(full) / micros(delta)).toFixed(2),
			goal: "<= 2 x delta mode",
			isMet: micros(full) <= 2 * micros(delta),
		},
		{
			what: "full mode, MB out per second of streaming",
			value: rate.toFixed(1),
			goal: "<= 8 and the reply itself",
			isMet: rate <= 8 + (4 * text) / 1e6,
		},
	];
}

/** How many get_state, all sent at once, are answered per second. */
async function answered(start: (folder: string) => Running): Promise<number> {
	const count = 10_000;
	const input = `${'{"id":"x","type":"get_state"}\n'.repeat(count)}{"id":"last","type":"abort"}\n`;
	return inFolder(async (folder) => {
		const process = start(folder);
		await process.line("ready");
		const last = process.line('"last"');
		const began = performance.now();
		process.child.stdin.write(input);
		await last;
		const rate = (count / (performance.now() - began)) * 1000;
		await process.end();
		return rate;
	});
}

async function pipelined(): Promise<Figure[]> {
	const ours: number[] = [];
	const bare: number[] = [];
	for (let round = 0; round < 5; round++) {
		ours.push(await answered(startAgent));
		bare.push(await answered(startBare));
	}
	const rate = median(ours);
	return [
		{
			what: "10,000 pipelined get_state",
			value: `${Math.round(rate)} /s`,
			against: `bare loop ${Math.round(median(bare))} /s`,
			ratio: (rate / median(bare)).toFixed(2),
			goal: ">= 60000 /s",
			isMet: rate >= 60_000,
		},
	];
}

export const rows: Row[] = [
	{ name: "start", measure: start },
	{ name: "idle", measure: idle },
	{ name: "deltas", measure: deltas },
	{ name: "pipelined", measure: pipelined },
	{ name: "first-delta", measure: firstDelta },
	{ name: "providers", measure: providerDeltas },
	{ name: "arguments", measure: argumentDeltas },
	{ name: "long", measure: longConversation },
	{ name: "output", measure: hugeOutput },
	{ name: "turns", measure: toolTurns },
	{ name: "grep", measure: grepTree },
	{ name: "sessions", measure: sessions },
	{ name: "subagents", measure: subagents },
	{ name: "worktree", measure: worktree },
	{ name: "endurance", measure: endurance },
	{ name: "crowd", measure: crowd },
];
