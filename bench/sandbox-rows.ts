/** Rows about the sandbox. Without bubblewrap on the machine they have no figures. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { basename, dirname, join } from "node:path";
import { ConfinedFiles } from "../src/sandbox/files.ts";
import { mountPlan } from "../src/sandbox/plan.ts";
import { HostProxy } from "../src/sandbox/proxy.ts";
import { visibleSockets } from "../src/sandbox/sockets.ts";
import { Survey } from "../src/sandbox/survey.ts";
import { groundIn } from "../test/sandbox/ground.ts";
import { cpuNs, Running, rssMb, startAgent, wholeCpuMs } from "./process.ts";
import type { Reading, Row } from "./row.ts";
import { median } from "./statistics.ts";

const isThere = () => spawnSync("bwrap", ["--unshare-user", "--unshare-net", "--ro-bind", "/", "/", "true"]).status === 0;

/** Commands of the host, one inside and one outside in turns, in one agent; and the start with walls after a start without. */
const walls: Row = {
	name: "sandbox",
	rounds: 5,
	async measure({ program, folder }) {
		if (!isThere()) return [];
		// The directory of the walls must not hold the files of the agent.
		const work = join(folder, "work");
		mkdirSync(work);
		execFileSync("git", ["init", "-q"], { cwd: work });
		const started = async (flags: string[]) => {
			const began = performance.now();
			const args = [program, "--mode", "rpc", "--no-session", "--hermetic", ...flags];
			const agent = new Running(work, args, { BOWLINE_DIR: join(folder, "user") });
			await agent.line('"ready"');
			return { agent, ms: performance.now() - began };
		};
		const without = await started([]);
		for (let warming = 0; warming < 10; warming++) await without.agent.ask({ type: "bash", command: ":" });
		const plainRss = rssMb(without.agent.pid);
		await without.agent.end();
		const { agent, ms } = await started(["--sandbox", "workspace-write"]);
		for (let warming = 0; warming < 5; warming++) {
			for (const sandbox of [false, true]) await agent.ask({ type: "bash", command: ":", sandbox });
		}
		const rss = rssMb(agent.pid);
		const [inside, outside]: number[][] = [[], []];
		for (let turn = 0; turn < 40; turn++) {
			outside?.push(await agent.ask({ type: "bash", command: ":" }));
			inside?.push(await agent.ask({ type: "bash", command: ":", sandbox: true }));
		}
		await agent.end();
		const [of, over] = [median(inside as number[]), median(outside as number[])];
		return [
			{ what: "a command inside", value: of, unit: "ms" },
			{ what: "a command inside over one outside", value: of / over, unit: "", goal: { most: 4 } },
			{ what: "start with walls and probes, added", value: ms - without.ms, unit: "ms", goal: { most: 60 } },
			{ what: "RSS with walls, added", value: rss - plainRss, unit: "MB", goal: { most: 3 } },
		];
	},
};

/** Sees which files a program reads: it is loaded before the program. */
const readerHook = `
const fs = require("node:fs");
const { readFileSync } = fs;
const read = new Set();
fs.readFileSync = (path, ...rest) => {
	read.add(String(path));
	return readFileSync(path, ...rest);
};
process.on("exit", () => fs.writeFileSync(process.env.BENCH_READ, [...read].join("\\n")));
`;

/** Without walls nothing of them is loaded, and it makes no difference whether the setting says so or nothing does. */
const off: Row = {
	name: "sandbox off",
	rounds: 5,
	async measure({ program, folder }) {
		const ways = [[], ["--set", "sandbox.mode=off"]];
		const rpc = (flags: string[]) => [program, "--mode", "rpc", "--no-session", "--hermetic", ...flags];
		const start = (flags: string[]) => wholeCpuMs(process.execPath, rpc(flags), { cwd: folder, input: '{"type":"get_state"}\n' });
		const starts: number[][] = ways.map(() => []);
		for (let turn = 0; turn < 6; turn++) for (const [way, flags] of ways.entries()) starts[way]?.push(await start(flags));

		const count = 40;
		const call = { blocks: [{ tool: "bash", arguments: { command: "true" } }] };
		const script = { replies: Array.from({ length: 6 }, () => [{ ...call, times: count }, { text: "done" }]).flat() };
		const agents = ways.map((flags) => startAgent({ program, folder }, [...flags, "--updates", "delta"], script));
		const turns: number[][] = ways.map(() => []);
		for (let round = 0; round < 6; round++) {
			for (const [way, agent] of agents.entries()) {
				const before = cpuNs(agent.pid);
				await agent.prompt("go");
				// The first one warms up.
				if (round > 0) turns[way]?.push((cpuNs(agent.pid) - before) / 1e6 / count);
			}
		}
		for (const agent of agents) await agent.end();

		const [hook, read] = ["hook.cjs", "read"].map((name) => join(folder, name)) as [string, string];
		writeFileSync(hook, readerHook);
		const watched = new Running(folder, ["--require", hook, ...rpc(["--provider", "scripted", "--model", "script.jsonc"])], { BENCH_READ: read });
		await watched.prompt("go");
		await watched.end();
		const chunks = readFileSync(read, "utf8")
			.split("\n")
			.filter((path) => path.startsWith(dirname(program)));
		if (chunks.length === 0) throw new Error("The program read none of its chunks in a way that this row sees.");
		const over = ([byDefault = [], whenOff = []]: number[][]) => median(whenOff) / median(byDefault);
		return [
			{ what: "chunks of the sandbox that a tool turn loads", value: chunks.filter(isOfSandbox).length, unit: "", goal: { most: 0 } },
			{ what: "start with sandbox.mode off over one without the setting, cpu", value: over(starts), unit: "", goal: { most: 1.1 } },
			{ what: "a tool turn with it off over one without the setting, our own cpu", value: over(turns), unit: "", goal: { most: 1.1 } },
		];
	},
};

const isOfSandbox = (path: string) => /(^|-)sandbox-/.test(basename(path));

/** What a command and a file tool cost in this process, and the proxy. */
const parts: Row = {
	name: "sandbox parts",
	rounds: 5,
	isInProcess: true,
	async measure({ folder: given }) {
		const folder = realpathSync(given);
		const work = join(folder, "work");
		for (const name of ["work", "user", "home/.ssh", "private/tmp", "private/var-tmp"]) mkdirSync(join(folder, name), { recursive: true });
		execFileSync("git", ["init", "-q"], { cwd: work });
		for (let directory = 0; directory < 20; directory++) mkdirSync(join(work, `d${directory}`, "src"), { recursive: true });
		writeFileSync(join(work, "d7/src/file.ts"), "const x = 1;\n".repeat(100));
		const survey = new Survey(groundIn(folder, { gitProgram: "/usr/bin/git", isRoot: process.getuid?.() === 0 }));
		const plan = async () => {
			const view = survey.commandView(undefined, await survey.lookAtGit());
			survey.makePlaceholders(view);
			return mountPlan({ view, sockets: visibleSockets(view), inProc: ["sys"], inRun: [] });
		};
		const planning = await perCall(200, plan);
		survey.removePlaceholders();
		const view = survey.view();
		const files = new ConfinedFiles(() => view);
		const path = join(work, "d7/src/file.ts");
		const confined = () => files.open(path).then((file) => file.close());
		const plain = () =>
			open(path).then(async (file) => {
				await file.stat();
				await file.close();
			});
		const [inside = 0, outside = 0] = await perCallInTurns(2000, [confined, plain]);
		return [
			{ what: "the plan of a command", value: planning, unit: "ms", goal: { most: 15 } },
			{ what: "opening a file by a tool, added", value: (inside - outside) * 1000, unit: "us", goal: { most: 60 } },
			...(await proxyReadings()),
		];
	},
};

export const sandboxRows: Row[] = [walls, off, parts];

const perCall = async (count: number, work: () => Promise<unknown>) => (await perCallInTurns(count, [work]))[0] ?? 0;

/** The median of each, one call of each after the other: what else the machine does then falls on all of them. */
async function perCallInTurns(count: number, works: readonly (() => Promise<unknown>)[]): Promise<number[]> {
	for (let warming = 0; warming < count / 10; warming++) for (const work of works) await work();
	const times: number[][] = works.map(() => []);
	for (let each = 0; each < count; each++) {
		for (const [index, work] of works.entries()) {
			const began = performance.now();
			await work();
			times[index]?.push(performance.now() - began);
		}
	}
	return times.map(median);
}

/** Through the proxy and directly, in turns. */
async function proxyReadings(): Promise<Reading[]> {
	const size = 64 * 1024 * 1024;
	const block = Buffer.alloc(256 * 1024);
	const server = createServer((socket) => {
		socket.once("data", (asked) => {
			let left = asked.toString() === "much" ? size : 1;
			const more = () => {
				while (left > 0) {
					const part = block.subarray(0, Math.min(left, block.length));
					left -= part.length;
					if (!socket.write(part)) return void socket.once("drain", more);
				}
				socket.end();
			};
			more();
		});
	});
	const target = await listening(server);
	const proxy = new HostProxy({ nsenter: "", relay: "", judge: async () => ({ isAllowed: true, mayBePrivate: true }) });
	const door = createServer((socket) => proxy.take(socket));
	const port = await listening(door);
	const { HTTP_PROXY = "" } = proxy.admit("bench").variables;
	const { username, password } = new URL(HTTP_PROXY);
	const head = `CONNECT 127.0.0.1:${target} HTTP/1.1\r\nHost: a\r\nProxy-Authorization: Basic ${Buffer.from(`${username}:${password}`).toString("base64")}\r\n\r\n`;
	const direct = (asked: string) => received(connect(target, "127.0.0.1"), asked);
	const tunnelled = async (asked: string) => {
		const socket = connect(port, "127.0.0.1");
		socket.write(head);
		await new Promise((resolve) => socket.once("data", resolve));
		return received(socket, asked);
	};
	const [through = 0, past = 0] = await perCallInTurns(100, [() => tunnelled("little"), () => direct("little")]);
	const rate = async (get: (asked: string) => Promise<void>) => {
		const began = performance.now();
		await get("much");
		return size / 1e6 / ((performance.now() - began) / 1000);
	};
	const [tunnelRate, directRate] = [await rate(tunnelled), await rate(direct)];
	for (const each of [server, door, proxy]) each.close();
	return [
		{ what: "a connection through the proxy, added", value: through - past, unit: "ms", goal: { most: 1 } },
		{ what: "a tunnel of the proxy", value: tunnelRate, unit: "MB/s", isRate: true, goal: { least: 200 } },
		{ what: "the same without the proxy", value: directRate, unit: "MB/s", isRate: true },
	];
}

function received(socket: Socket, asked: string): Promise<void> {
	return new Promise((resolve, reject) => {
		socket.once("error", reject).once("close", () => resolve());
		socket.resume().write(asked);
	});
}

function listening(server: Server): Promise<number> {
	return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port)));
}
