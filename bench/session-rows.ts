/** Rows about sessions on disk. */
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { cpuNs, Running, rssMb } from "./process.ts";
import { exponent, type Reading, type Row, type Trial } from "./row.ts";
import { idOf, type SessionShape, writeSession } from "./session-files.ts";

const sizes = [1000, 10_000, 50_000];

function startOn({ program, folder }: Trial, path: string): Running {
	return new Running(folder, [program, "--mode", "rpc", "--hermetic", "--session", path, "--session-dir", join(folder, "forks")]);
}

interface Opened {
	wall: number;
	cpu: number;
	rss: number;
	messages: number;
	/** With get_messages. */
	cpuAfter: number;
	rssAfter: number;
}

/** From spawn to the answer of get_state, what it took, and get_messages after it. */
async function opened(trial: Trial, path: string): Promise<Opened> {
	const began = performance.now();
	const agent = startOn(trial, path);
	await agent.ask({ type: "get_state" });
	const wall = performance.now() - began;
	const cpu = cpuNs(agent.pid) / 1e6;
	await sleep(300);
	const rss = rssMb(agent.pid);
	const messages = await allMessages(agent);
	const cpuAfter = cpuNs(agent.pid) / 1e6;
	await sleep(300);
	const rssAfter = rssMb(agent.pid);
	await agent.end();
	return { wall, cpu, rss, messages, cpuAfter, rssAfter };
}

/** Until the last byte of the answer, which is one long line: only its end is looked for. */
async function allMessages({ child: { stdin, stdout } }: Running): Promise<number> {
	stdout.removeAllListeners("data");
	const began = performance.now();
	const answered = new Promise<void>((resolve) => stdout.on("data", (chunk: Buffer) => chunk.includes(0x0a) && resolve()));
	stdin.write('{"type":"get_messages"}\n');
	await answered;
	return performance.now() - began;
}

const opening: Row = {
	name: "sessions",
	rounds: 7,
	hasFloor: true,
	prepare(shared) {
		for (const size of sizes) writeSession(join(shared, `${size}.jsonl`), size);
	},
	async measure(trial) {
		const all: Opened[] = [];
		for (const size of sizes) all.push(await opened(trial, join(trial.shared, `${size}.jsonl`)));
		const { wall, cpu, rss, messages, cpuAfter, rssAfter } = all.at(-1) as Opened;
		return [
			{ what: "open 50,000 entries, wall", value: wall, unit: "ms", isStrict: true, goal: { timesFloor: 1 } },
			{ what: "open 50,000 entries, cpu", value: cpu, unit: "ms", isStrict: true, goal: { timesFloor: 1 } },
			{ what: "open 50,000 entries, RSS", value: rss, unit: "MB", isStrict: true, goal: { most: 150 } },
			{ what: "get_messages of 50,000 entries, wall", value: messages, unit: "ms", goal: { timesFloor: 1.5 } },
			{ what: "open and get_messages, wall", value: wall + messages, unit: "ms", isStrict: true, goal: { timesFloor: 1 } },
			{ what: "open and get_messages, cpu", value: cpuAfter, unit: "ms", isStrict: true, goal: { timesFloor: 1 } },
			{ what: "open and get_messages, RSS", value: rssAfter, unit: "MB", isStrict: true, goal: { most: 150 } },
			{ what: "open 1,000 to 50,000 entries, cpu, exponent", value: exponent(sizes, cpus(all)), unit: "", isExponent: true, goal: { most: 1 } },
			{
				what: "get_messages, exponent",
				value: exponent(
					sizes,
					all.map((each) => each.messages),
				),
				unit: "",
				isExponent: true,
				goal: { most: 1.05 },
			},
		];
	},
};

/** The same entries with their members in another order. */
const otherOrder: Row = {
	name: "other-order",
	rounds: 7,
	hasFloor: true,
	prepare(shared) {
		writeSession(join(shared, "other-order.jsonl"), 50_000, { isMessageFirst: true });
	},
	async measure(trial) {
		const { wall, cpu, rss, messages } = await opened(trial, join(trial.shared, "other-order.jsonl"));
		return [
			{ what: "open 50,000 entries in another order, wall", value: wall, unit: "ms" },
			{ what: "open 50,000 entries in another order, cpu", value: cpu, unit: "ms", isStrict: true, goal: { timesFloor: 1.2 } },
			{ what: "open 50,000 entries in another order, RSS", value: rss, unit: "MB", isStrict: true },
			{ what: "get_messages of them, wall", value: messages, unit: "ms", goal: { timesFloor: 1.5 } },
		];
	},
};

const cpus = (all: Opened[]) => all.map(({ cpu }) => cpu);

const shapes: { name: string; counts: readonly number[]; shape: (count: number) => SessionShape }[] = [
	{ name: "compactions", counts: [10, 50], shape: (compactions) => ({ compactions }) },
	{ name: "branches", counts: [100, 500], shape: (branches) => ({ branches }) },
	{ name: "images", counts: [400, 2000], shape: (images) => ({ images }) },
];

/** 10,000 entries with something in them that must not cost more than its size: summaries, branches, pictures. */
const shaped: Row = {
	name: "shapes",
	rounds: 5,
	hasFloor: true,
	prepare(shared) {
		for (const { name, counts, shape } of shapes)
			for (const count of counts) writeSession(join(shared, `${count}-${name}.jsonl`), 10_000, shape(count));
	},
	async measure(trial) {
		const readings: Reading[] = [];
		for (const { name, counts } of shapes) {
			const all: Opened[] = [];
			for (const count of counts) all.push(await opened(trial, join(trial.shared, `${count}-${name}.jsonl`)));
			const { cpu, rss, messages } = all.at(-1) as Opened;
			const label = `${counts.at(-1)?.toLocaleString("en")} ${name}`;
			readings.push(
				{ what: `${label}: open, cpu`, value: cpu, unit: "ms", isStrict: true },
				{ what: `${label}: open, RSS`, value: rss, unit: "MB", isStrict: true },
				{ what: `${label}: get_messages`, value: messages, unit: "ms" },
				{ what: `${label}: open, cpu, exponent`, value: exponent(counts, cpus(all)), unit: "", isExponent: true, goal: { most: 1 } },
			);
		}
		return readings;
	},
};

/** Commands on a session of each size that write: an entry, a page, a fork. */
const writing: Row = {
	name: "session-writes",
	rounds: 3,
	prepare(shared) {
		for (const size of sizes) writeSession(join(shared, `${size}.jsonl`), size);
	},
	async measure(trial) {
		const appends: number[] = [];
		const readings: Reading[] = [];
		for (const size of sizes) {
			const path = join(trial.folder, `${size}.jsonl`);
			copyFileSync(join(trial.shared, `${size}.jsonl`), path);
			const agent = startOn(trial, path);
			await agent.ask({ type: "get_state" });
			appends.push(await appended(agent));
			await agent.end();
			const forking = startOn(trial, path);
			await forking.ask({ type: "get_state" });
			const page = await forking.ask({ type: "export_html", outputPath: join(trial.folder, `${size}.html`) });
			const fork = await forking.ask({ type: "fork", entryId: idOf(size / 2) });
			await forking.end();
			const label = `${size.toLocaleString("en")} entries`;
			readings.push({ what: `${label}, export_html`, value: page, unit: "ms" }, { what: `${label}, fork in the middle`, value: fork, unit: "ms" });
		}
		readings.push(
			{ what: "append an entry to 50,000, cpu", value: appends.at(-1) as number, unit: "us" },
			{ what: "append, exponent", value: exponent(sizes, appends), unit: "", isExponent: true, goal: { most: 0.1 } },
		);
		return readings;
	},
};

/** Microseconds of cpu for one entry on disk, from command to answer, many in a row. */
async function appended(agent: Running): Promise<number> {
	const count = 2000;
	const name = "x".repeat(300);
	await agent.ask({ type: "set_session_name", name });
	const last = agent.line('"last"');
	const began = cpuNs(agent.pid);
	for (let index = 0; index < count; index++) agent.send({ id: index === count - 1 ? "last" : "x", type: "set_session_name", name });
	await last;
	return (cpuNs(agent.pid) - began) / 1000 / count;
}

export const sessionRows: Row[] = [opening, otherOrder, shaped, writing];
