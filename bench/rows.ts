/** The rows of `npm run bench`. */
import { mkdirSync } from "node:fs";
import { cpuNs, inFolder, program, Running, rssMb, wholeCpuMs } from "./process.ts";
import { type Figure, median } from "./table.ts";

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
		const agent = new Running(folder, []);
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

/** CPU microseconds per delta and bytes, for one long reply. */
async function stream(flags: string[]): Promise<{ micros: number; bytes: number; seconds: number }> {
	return inFolder(async (folder) => {
		const reply = { repeat: { text: "lorem ipsum ", count: deltaCount } };
		const agent = new Running(folder, flags, { replies: [{ text: "warm" }, reply] });
		const warm = agent.line('"agent_settled"');
		agent.send({ id: "1", type: "prompt", message: "warm up" });
		await warm;
		const bytes = agent.bytes;
		const before = cpuNs(agent.pid);
		const began = performance.now();
		const settled = agent.line('"agent_settled"');
		agent.send({ id: "2", type: "prompt", message: "go" });
		await settled;
		const seconds = (performance.now() - began) / 1000;
		const micros = (cpuNs(agent.pid) - before) / 1000 / deltaCount;
		const result = { micros, bytes: agent.bytes - bytes, seconds };
		await agent.end();
		return result;
	});
}

async function deltas(): Promise<Figure[]> {
	const delta: Awaited<ReturnType<typeof stream>>[] = [];
	const full: typeof delta = [];
	for (let round = 0; round < 3; round++) {
		delta.push(await stream(["--updates", "delta"]));
		full.push(await stream([]));
	}
	const micros = (list: typeof delta) => median(list.map((run) => run.micros));
	const ratio = micros(full) / micros(delta);
	const rate = Math.max(...full.map((run) => run.bytes / 1e6 / Math.max(run.seconds, 1)));
	const text = deltaCount * "lorem ipsum ".length;
	return [
		{ what: "delta mode, cpu per delta", value: `${micros(delta).toFixed(2)} us`, goal: "<= 12 us", isMet: micros(delta) <= 12 },
		{ what: "delta mode, bytes out per byte of text", value: (median(delta.map((run) => run.bytes)) / text).toFixed(2), goal: "linear" },
		{
			what: "full mode, cpu per delta",
			value: `${micros(full).toFixed(2)} us`,
			ratio: ratio.toFixed(2),
			goal: "<= 2 x delta mode",
			isMet: ratio <= 2,
		},
		{
			what: "full mode, MB out per second of streaming",
			value: rate.toFixed(1),
			goal: "<= 8 and the reply itself",
			isMet: rate <= 8 + (4 * text) / 1e6,
		},
	];
}

async function pipelined(): Promise<Figure[]> {
	const count = 10_000;
	const input = `${'{"id":"x","type":"get_state"}\n'.repeat(count)}{"id":"last","type":"abort"}\n`;
	const rates: number[] = [];
	await inFolder(async (folder) => {
		for (let round = 0; round < 5; round++) {
			const place = `${folder}/${round}`;
			mkdirSync(place);
			const agent = new Running(place, []);
			await agent.line("ready");
			const answered = agent.line('"last"');
			const began = performance.now();
			agent.child.stdin.write(input);
			await answered;
			rates.push((count / (performance.now() - began)) * 1000);
			await agent.end();
		}
	});
	const rate = median(rates);
	return [{ what: "10,000 pipelined get_state", value: `${Math.round(rate)} /s`, goal: ">= 60000 /s", isMet: rate >= 60_000 }];
}

export const rows: Row[] = [
	{ name: "start", measure: start },
	{ name: "idle", measure: idle },
	{ name: "deltas", measure: deltas },
	{ name: "pipelined", measure: pipelined },
];
