/** Rows about sessions on disk: generated files of messages of about 400 bytes. */
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cpuNs, inFolder, program, Running, rssMb } from "./process.ts";
import { type Figure, median } from "./table.ts";

const sizes = [1000, 10_000, 50_000];
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const ms = (value: number) => `${value.toFixed(1)} ms`;
const idOf = (index: number) => (0x10000000 + index * 7919).toString(16);

/** A session of so many messages, prompts and replies in turn. */
export function writeSession(path: string, count: number, model = { api: "scripted", provider: "scripted", model: "echo" }): void {
	const timestamp = "2026-01-01T00:00:00.000Z";
	const words = "the session file grows by one line for each message and is never written again while the agent works on it".split(" ");
	const text = (index: number, length: number) => Array.from({ length }, (_, at) => words[(index * 5 + at * 3) % words.length]).join(" ");
	const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
	const usage = { input: 100, output: 20, cacheRead: 0, cacheWrite: 0, totalTokens: 120, cost };
	const lines: object[] = [{ type: "session", version: 3, id: "bench", timestamp, cwd: "/" }];
	for (let index = 0; index < count; index++) {
		const block = (length: number) => [{ type: "text", text: text(index, length) }];
		const message =
			index % 2 === 0
				? { role: "user", content: block(42), attachments: [], timestamp: index }
				: {
						role: "assistant",
						content: block(12),
						...model,
						usage,
						stopReason: "stop",
						timestamp: index,
					};
		lines.push({ type: "message", id: idOf(index), parentId: index ? idOf(index - 1) : null, timestamp, message });
	}
	writeFileSync(path, `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`);
}

const bare = 'const lines = require("fs").readFileSync(process.argv[1], "utf8").split("\\n"); console.log("lines " + lines.length)';

function startOn(folder: string, path: string): Running {
	return new Running(folder, [program, "--mode", "rpc", "--hermetic", "--session", path, "--session-dir", join(folder, "forks")]);
}

async function asked(agent: Running, frame: { type: string; [key: string]: unknown }): Promise<number> {
	const began = performance.now();
	const answered = agent.line(`"command":"${frame.type}"`);
	agent.send({ id: "x", ...frame });
	await answered;
	return performance.now() - began;
}

interface Measured {
	count: number;
	megabytes: number;
	open: number;
	bare: number;
	rss: number;
	messages: number;
	append: number;
	fork: number;
	page: number;
}

async function measure(folder: string, count: number): Promise<Measured> {
	const path = join(folder, `${count}.jsonl`);
	writeSession(path, count);
	const megabytes = statSync(path).size / 1e6;
	const opens: number[] = [];
	const bares: number[] = [];
	for (let round = 0; round < 7; round++) {
		const began = performance.now();
		const agent = startOn(folder, path);
		await asked(agent, { type: "get_state" });
		opens.push(performance.now() - began);
		await agent.end();
		const beganBare = performance.now();
		const reader = new Running(folder, ["-e", bare, path]);
		await reader.line("lines");
		bares.push(performance.now() - beganBare);
		await reader.end();
	}
	const agent = startOn(folder, path);
	await asked(agent, { type: "get_state" });
	await sleep(300);
	const rss = rssMb(agent.pid);
	const append = await appended(agent);
	await agent.end();
	const forking = startOn(folder, path);
	await asked(forking, { type: "get_state" });
	const page = await asked(forking, { type: "export_html", outputPath: join(folder, `${count}.html`) });
	const fork = await asked(forking, { type: "fork", entryId: idOf(count / 2) });
	await forking.end();
	const messages = await allMessages(startOn(folder, path));
	return { count, megabytes, open: median(opens), bare: median(bares), rss, messages, append, page, fork };
}

/** Until the last byte of the answer, which is one long line: only its end is looked for. */
async function allMessages(agent: Running): Promise<number> {
	await asked(agent, { type: "get_state" });
	const { stdin, stdout } = agent.child;
	stdout.removeAllListeners("data");
	const began = performance.now();
	const answered = new Promise<void>((resolve) => stdout.on("data", (chunk: Buffer) => chunk.includes(0x0a) && resolve()));
	stdin.write('{"type":"get_messages"}\n');
	await answered;
	const took = performance.now() - began;
	await agent.end();
	return took;
}

/** Microseconds of cpu for one entry on disk, from command to answer, many in a row. */
async function appended(agent: Running): Promise<number> {
	const count = 2000;
	const name = "x".repeat(300);
	await asked(agent, { type: "set_session_name", name });
	const last = agent.line('"last"');
	const began = cpuNs(agent.pid);
	for (let index = 0; index < count; index++) agent.send({ id: index === count - 1 ? "last" : "x", type: "set_session_name", name });
	await last;
	return (cpuNs(agent.pid) - began) / 1000 / count;
}

export async function sessions(): Promise<Figure[]> {
	return inFolder(async (folder) => {
		const all: Measured[] = [];
		for (const count of sizes) all.push(await measure(folder, count));
		const [small, , large] = all as [Measured, Measured, Measured];
		const figures = all.flatMap(({ count, megabytes, open, bare, rss, messages, page, fork }): Figure[] => {
			const label = `${count.toLocaleString("en")} messages`;
			const isLargest = count === large.count;
			return [
				{
					what: `${label}, open and get_state`,
					value: ms(open),
					against: `bare read and split ${ms(bare)}`,
					ratio: (open / bare).toFixed(2),
					goal: isLargest ? "<= 300 ms and 3 x" : "<= 3 x",
					isMet: open <= 3 * bare && (!isLargest || open <= 300),
				},
				{
					what: `${label} (${megabytes.toFixed(1)} MB), RSS`,
					value: `${rss.toFixed(1)} MB`,
					goal: "<= 3 x file + 50 MB",
					isMet: rss <= 3 * megabytes + 50,
				},
				{ what: `${label}, get_messages`, value: ms(messages) },
				{ what: `${label}, export_html`, value: ms(page) },
				{ what: `${label}, fork in the middle`, value: ms(fork) },
			];
		});
		const ratio = large.append / small.append;
		const per = all.map(({ append }) => append.toFixed(0)).join(" / ");
		figures.push({
			what: "append an entry, cpu, 1k / 10k / 50k",
			value: `${per} us`,
			ratio: ratio.toFixed(2),
			goal: "flat (<= 1.5)",
			isMet: ratio <= 1.5,
		});
		return figures;
	});
}
