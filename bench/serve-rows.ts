/** Rows about `bowline serve`: its start, what sessions cost, and how frames reach many readers. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { cpuNs, plainEnvironment, rssMb } from "./process.ts";
import type { Row, Trial } from "./row.ts";

const megabyte = 1024;
const pssMb = (pid: number) => Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1] ?? 0) / megabyte;

/** What no other process shares: it does not depend on how many others there are. */
const privateMb = (pid: number) =>
	[...readFileSync(`/proc/${pid}/smaps_rollup`, "utf8").matchAll(/^Private_\w+:\s+(\d+)/gm)].reduce((sum, [, size]) => sum + Number(size), 0) /
	megabyte;

/** A server in the trial's folder, with a script for all sessions. */
class Served {
	readonly pid: number;
	readonly port: number;
	#child: ChildProcess;
	readonly token: string;
	#folder: string;
	#program: string;

	private constructor(child: ChildProcess, { program, folder }: Trial, port: number) {
		this.#child = child;
		this.#program = program;
		this.#folder = folder;
		this.pid = child.pid as number;
		this.port = port;
		this.token = readFileSync(join(folder, "user", "serve", "default", "token"), "utf8").trim();
	}

	static async start(trial: Trial, script: unknown = { replies: [{ text: "Well.", times: "always" }] }): Promise<Served> {
		const { program, folder } = trial;
		writeFileSync(join(folder, "script.jsonc"), JSON.stringify(script));
		const model = ["--hermetic", "--provider", "scripted", "--model", "script.jsonc"];
		const profile = process.env.BENCH_PROFILE;
		const prefix = profile ? ["--cpu-prof", `--cpu-prof-dir=${profile}`] : [];
		// Its log of requests is not read.
		const child = spawn(process.execPath, [...prefix, program, "serve", "--port", "0", "--max-awake", "200", ...model], {
			cwd: folder,
			env: plainEnvironment({ BOWLINE_DIR: join(folder, "user") }),
			stdio: ["ignore", "pipe", "ignore"],
		});
		const line = await new Promise<string>((resolve, reject) => {
			child.stdout.once("data", (chunk: Buffer) => resolve(chunk.toString()));
			child.once("exit", (code) => reject(new Error(`the server ended with ${code}`)));
		});
		return new Served(child, trial, Number(new URL((JSON.parse(line) as { url: string }).url).port));
	}

	ask(method: string, path: string, body?: unknown): Promise<{ status: number; json: Record<string, unknown> }> {
		const headers = { Authorization: `Bearer ${this.token}`, "Content-Type": "application/json", Prefer: "wait=120" };
		return new Promise((resolve, reject) => {
			const asked = request({ port: this.port, host: "127.0.0.1", method, path, headers }, (response: IncomingMessage) => {
				let text = "";
				response.on("data", (chunk) => (text += chunk));
				response.on("end", () => resolve({ status: response.statusCode ?? 0, json: text.startsWith("{") ? JSON.parse(text) : {} }));
			});
			asked.on("error", reject);
			asked.end(body === undefined ? undefined : JSON.stringify(body));
		});
	}

	async create(): Promise<string> {
		const { status, json } = await this.ask("POST", "/v1/sessions", { cwd: this.#folder });
		if (status !== 201) throw new Error(`a session was not created: ${status} ${JSON.stringify(json)}`);
		return json.id as string;
	}

	/** Ends with the run. */
	async prompt(id: string, message = "go"): Promise<void> {
		const { status, json } = await this.ask("POST", `/v1/sessions/${id}/prompts`, { message });
		if (status !== 200) throw new Error(`the run did not end: ${status} ${JSON.stringify(json)}`);
	}

	/** A reader that counts bytes and looks for texts; it costs this process nearly nothing. */
	read(id: string, query = "", token = this.token): Reader {
		return readerAt(this.port, `/v1/sessions/${id}/socket${query}`, token);
	}

	/** Another token: each has 256 connections. */
	addToken(name: string): string {
		const args = [this.#program, "serve", "token", "add", name, "--scope", "read", "--json"];
		const env = plainEnvironment({ BOWLINE_DIR: join(this.#folder, "user") });
		return (JSON.parse(execFileSync(process.execPath, args, { cwd: this.#folder, env, encoding: "utf8" })) as { token: string }).token;
	}

	/** The processes of its awake sessions. */
	get agents(): number[] {
		const text = readFileSync(`/proc/${this.pid}/task/${this.pid}/children`, "utf8").trim();
		return text ? text.split(" ").map(Number) : [];
	}

	/** To all readers, since it started. */
	async frames(): Promise<number> {
		const text = await this.#metrics();
		return Number(/^bowline_frames_out_total (\d+)/m.exec(text)?.[1]);
	}

	#metrics(): Promise<string> {
		return new Promise((resolve, reject) => {
			const headers = { Authorization: `Bearer ${this.token}` };
			request({ port: this.port, host: "127.0.0.1", path: "/metrics", headers }, (response) => {
				let text = "";
				response.on("data", (chunk) => (text += chunk));
				response.on("end", () => resolve(text));
			})
				.on("error", reject)
				.end();
		});
	}

	async end(): Promise<void> {
		const gone = new Promise((resolve) => this.#child.once("exit", resolve));
		this.#child.kill("SIGTERM");
		await gone;
	}
}

/** Of what a reader got, as much is kept to look for a text that came already. */
const tailLength = 200_000;
/** A text may be cut in two. */
const longestText = 64;

class Reader {
	readonly socket: Socket;
	#tail: Buffer[] = [];
	#length = 0;
	#waiting: { text: string; resolve: () => void } | undefined;

	constructor(socket: Socket) {
		this.socket = socket;
		socket.on("error", () => undefined); // The server ends first.
		socket.on("data", (chunk: Buffer) => {
			const before = this.#tail.at(-1)?.subarray(-longestText) ?? Buffer.alloc(0);
			this.#tail.push(chunk);
			this.#length += chunk.length;
			while (this.#length - (this.#tail[0] as Buffer).length > tailLength) this.#length -= (this.#tail.shift() as Buffer).length;
			const { text, resolve } = this.#waiting ?? {};
			if (text !== undefined && (chunk.includes(text) || Buffer.concat([before, chunk.subarray(0, longestText)]).includes(text))) resolve?.();
		});
	}

	saw(text: string): Promise<void> {
		return new Promise((resolve) => {
			if (Buffer.concat(this.#tail).includes(text)) resolve();
			else this.#waiting = { text, resolve };
		});
	}

	/** In what comes from now on. */
	sawNext(text: string): Promise<void> {
		this.#tail = [];
		this.#length = 0;
		return this.saw(text);
	}
}

function readerAt(port: number, path: string, token: string): Reader {
	const socket = connect(port, "127.0.0.1");
	socket.write(
		`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
			`Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${"A".repeat(22)}==\r\nAuthorization: Bearer ${token}\r\n\r\n`,
	);
	return new Reader(socket);
}

const start: Row = {
	name: "serve-start",
	rounds: 9,
	async measure(trial) {
		const server = await Served.start(trial);
		await server.ask("GET", "/healthz");
		const cpu = cpuNs(server.pid) / 1e6;
		const pss = pssMb(server.pid);
		await server.end();
		return [
			{ what: "bowline serve, cpu to the first 200", value: cpu, unit: "ms", isStrict: true, goal: { most: 90 } },
			{ what: "idle, PSS", value: pss, unit: "MB", isStrict: true, goal: { most: 50 } },
		];
	},
};

/** So many sessions that no process has open. */
function writeSessions(folder: string, from: number, to: number): void {
	const directory = join(folder, "user", "sessions", "bench");
	mkdirSync(directory, { recursive: true });
	for (let index = from; index < to; index++) {
		const id = `0198c0de-0000-7000-8000-${index.toString(16).padStart(12, "0")}`;
		const header = { type: "session", version: 3, id, timestamp: "2026-01-01T00:00:00.000Z", cwd: folder };
		writeFileSync(join(directory, `2026-01-01T00-00-00-000Z_${id}.jsonl`), `${JSON.stringify(header)}\n`);
	}
}

/** Of a server that has listed its sessions. */
async function memoryOfList(trial: Trial, count: number, memory: (pid: number) => number): Promise<number> {
	const server = await Served.start(trial);
	const listed = (await server.ask("GET", "/v1/sessions?limit=1000")).json.sessions as unknown[];
	if (listed.length !== count) throw new Error(`${listed.length} of ${count} sessions are listed`);
	const megabytes = memory(server.pid);
	await server.end();
	return megabytes;
}

const known = 1000;
const many = 50;

const knownSessions: Row = {
	name: "serve-known-sessions",
	rounds: 5,
	async measure(trial) {
		const { folder } = trial;
		writeSessions(folder, 0, 1);
		const one = await memoryOfList(trial, 1, privateMb);
		writeSessions(folder, 1, 1 + many);
		const more = await memoryOfList(trial, 1 + many, privateMb);
		writeSessions(folder, 1 + many, known);
		return [
			{ what: `${many} sessions asleep, added to the server`, value: more - one, unit: "MB", goal: { most: 1 } },
			{ what: "1,000 sessions known and listed, RSS", value: await memoryOfList(trial, known, rssMb), unit: "MB", goal: { most: 80 } },
		];
	},
};

const prompted = 10;
const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);

const sessions: Row = {
	name: "serve-sessions",
	rounds: 1,
	async measure(trial) {
		const server = await Served.start(trial);
		const before = pssMb(server.pid);
		const ids: string[] = [];
		for (let count = 0; count < many; count++) ids.push(await server.create());
		const awake = sumOf([server.pid, ...server.agents].map(pssMb)) - before;
		for (const id of ids.slice(0, prompted)) await server.prompt(id);
		for (const id of ids.slice(prompted)) await server.ask("POST", `/v1/sessions/${id}/stop`, {});
		await until(() => server.agents.length === prompted);
		const used = sumOf(server.agents.map(pssMb)) / prompted;
		// Attaching with the seat wakes a session: the server's cost, and the agent's until it is idle.
		const sleeping = ids.at(-1) as string;
		const others = new Set(server.agents);
		const start = cpuNs(server.pid);
		const reader = server.read(sleeping, "?mode=write");
		await reader.saw('"state":"idle"');
		const wake = (cpuNs(server.pid) - start) / 1e6;
		const agent = cpuNs(server.agents.find((pid) => !others.has(pid)) as number) / 1e6;
		reader.socket.destroy();
		await server.end();
		return [
			{ what: `${many} empty sessions awake, added PSS`, value: awake, unit: "MB", goal: { most: 900 } },
			{ what: "an awake session after a prompt, PSS", value: used, unit: "MB", goal: { most: 18 } },
			{ what: "awake sessions per GB", value: 1024 / used, unit: "", isRate: true, goal: { least: 55 } },
			{ what: "attach to a sleeping session, cpu of the server", value: wake, unit: "ms", goal: { most: 60 } },
			{ what: "cpu of the agent that it wakes, until it is idle", value: agent, unit: "ms" },
		];
	},
};

const attaches = 200;
const warmUp = 20;

/** Milliseconds from connecting to the first frame, sorted. */
async function attachTimes(port: number, path: string, token: string): Promise<number[]> {
	const times: number[] = [];
	for (let turn = 0; turn < warmUp + attaches; turn++) {
		const begin = performance.now();
		const reader = readerAt(port, path, token);
		await reader.saw('"type":"ready"');
		if (turn >= warmUp) times.push(performance.now() - begin);
		reader.socket.destroy();
	}
	return times.sort((a, b) => a - b);
}

const attach: Row = {
	name: "serve-attach",
	rounds: 3,
	hasFloor: true,
	async measure(trial) {
		const readings = (times: readonly number[], cpu: number) => [
			{ what: "attach to first frame, awake, median", value: times[times.length >> 1] as number, unit: "ms" },
			{ what: "the same, p95", value: times[Math.floor(times.length * 0.95)] as number, unit: "ms", goal: { most: 5 } },
			{ what: "the same, cpu of the server", value: cpu / (warmUp + attaches) / 1e6, unit: "ms" },
		];
		if (trial.contestant.name === "floor") {
			const child = spawn(process.execPath, [join(import.meta.dirname, "../bench/attach-floor.cjs")], { stdio: ["ignore", "pipe", "inherit"] });
			const port = Number(await new Promise<Buffer>((resolve) => child.stdout.once("data", resolve)));
			const before = cpuNs(child.pid as number);
			const times = await attachTimes(port, "/", "none");
			const cpu = cpuNs(child.pid as number) - before;
			const gone = new Promise((resolve) => child.once("exit", resolve));
			child.kill("SIGTERM");
			await gone;
			return readings(times, cpu);
		}
		const server = await Served.start(trial);
		const id = await server.create();
		await server.prompt(id);
		const before = cpuNs(server.pid);
		const times = await attachTimes(server.port, `/v1/sessions/${id}/socket`, server.token);
		const cpu = cpuNs(server.pid) - before;
		await server.end();
		return readings(times, cpu);
	},
};

async function until(isTrue: () => boolean): Promise<void> {
	while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** How frames come out of an agent. */
interface Flow {
	what: string;
	reply: object;
}

/** An agent joins the deltas of a block to a frame every 16 ms: each is a wakeup of the server and a write to each reader. */
const trickle: Flow = {
	what: "one every 16 ms",
	reply: { blocks: [{ text: "lorem ipsum dolor ".repeat(1300) }], pieceDelayMs: 1 },
};
/** Blocks begin and end without being joined: about 24,000 frames as fast as the agent can. */
const burst: Flow = {
	what: "in a burst",
	reply: { blocks: Array.from({ length: 8000 }, (_, index) => ({ text: `lorem ipsum dolor ${index}` })) },
};

interface FanOut {
	program: string;
	/** Delivered to all readers. */
	frames: number;
	/** CPU of the server. */
	micros: number;
}

/** The second of two equal runs: the first one warms up. */
async function fanOutOf(trial: Trial, { reply }: Flow, count: number): Promise<FanOut> {
	const server = await Served.start(trial, { replies: [{ ...reply, times: 2 }] });
	const id = await server.create();
	const readers = Array.from({ length: count }, () => server.read(id));
	await Promise.all(readers.map((reader) => reader.saw('"type":"ready"')));
	await Promise.all([server.prompt(id), ...readers.map((reader) => reader.saw(runEnd))]);
	const first = await server.frames();
	const before = cpuNs(server.pid);
	await Promise.all([server.prompt(id), ...readers.map((reader) => reader.sawNext(runEnd))]);
	const micros = (cpuNs(server.pid) - before) / 1000;
	const frames = (await server.frames()) - first;
	for (const { socket } of readers) socket.destroy();
	await server.end();
	return { program: trial.program, frames, micros };
}
const runEnd = '"run_result"';

/** The same from a program that writes what the agent says to as many sockets, and does nothing else. */
async function relayOf({ folder }: Trial, { program, frames }: FanOut, { reply }: Flow, count: number): Promise<number> {
	writeFileSync(join(folder, "script.jsonc"), JSON.stringify({ replies: [{ ...reply, times: 2 }] }));
	const agent = [program, "--mode", "rpc", "--seq", "--updates", "delta", "--hermetic", "--provider", "scripted", "--model", "script.jsonc"];
	const child = spawn(process.execPath, [join(import.meta.dirname, "../bench/fan-out-floor.cjs"), ...agent], {
		cwd: folder,
		env: plainEnvironment({ BOWLINE_DIR: join(folder, "user") }),
		stdio: ["pipe", "pipe", "inherit"],
	});
	const port = Number(await new Promise<Buffer>((resolve) => child.stdout.once("data", resolve)));
	const readers = Array.from({ length: count }, () => new Reader(connect(port, "127.0.0.1")));
	await Promise.all(readers.map(({ socket }) => new Promise((resolve) => socket.once("connect", resolve))));
	child.stdin.write("go");
	await Promise.all(readers.map((reader) => reader.saw(runEnd)));
	const before = cpuNs(child.pid as number);
	child.stdin.write("go");
	await Promise.all(readers.map((reader) => reader.sawNext(runEnd)));
	const micros = (cpuNs(child.pid as number) - before) / 1000;
	for (const { socket } of readers) socket.destroy();
	const gone = new Promise((resolve) => child.once("exit", resolve));
	child.stdin.end();
	await gone;
	return micros / frames;
}

/** The server's last figures: the floor has the same agent and as many readers. */
const measured = new Map<string, FanOut>();

async function microsPerFrame(trial: Trial, flow: Flow, count: number): Promise<number> {
	const key = `${flow.what}, ${count}`;
	const known = measured.get(key);
	if (trial.contestant.name === "floor") return known ? relayOf(trial, known, flow, count) : Number.NaN;
	const found = await fanOutOf(trial, flow, count);
	if (trial.contestant.name === "this") measured.set(key, found);
	return found.micros / found.frames;
}

const fanOut: Row = {
	name: "serve-fan-out",
	rounds: 3,
	hasFloor: true,
	async measure(trial) {
		const of = (flow: Flow, count: number) => microsPerFrame(trial, flow, count);
		return [
			{ what: "server cpu per delivered frame, in a burst, 1 reader", value: await of(burst, 1), unit: "us", goal: { most: 5 } },
			{ what: "the same, 10 readers", value: await of(burst, 10), unit: "us", goal: { most: 1 } },
			{ what: "the same, 100 readers", value: await of(burst, 100), unit: "us", goal: { most: 0.5 } },
			{ what: "the same, one frame every 16 ms, 10 readers", value: await of(trickle, 10), unit: "us" },
			{ what: "the same, one frame every 16 ms, 100 readers", value: await of(trickle, 100), unit: "us" },
		];
	},
};

const slowReaders: Row = {
	name: "serve-slow-readers",
	rounds: 1,
	async measure(trial) {
		const server = await Served.start(trial, {
			replies: [
				{ repeat: { text: "lorem ipsum ", count: 50_000 }, times: 2 },
				{ text: "on", times: "always" },
			],
		});
		const id = await server.create();
		// The first run warms up, the second has the reader.
		await server.prompt(id);
		const reader = server.read(id);
		await reader.saw('"type":"ready"');
		reader.socket.pause();
		const before = rssMb(server.pid);
		await server.prompt(id);
		const growth = rssMb(server.pid) - before;
		reader.socket.destroy();
		await server.end();
		return [{ what: "a reader that is stopped, 50,000 deltas: growth of the server", value: growth, unit: "MB", goal: { most: 12 } }];
	},
};

/** Two sessions and two tokens, because each has 256 places. */
const storm = 500;
/** Runs for a while, and is not read by anyone. */
const busyReply = { repeat: { text: "lorem ipsum ", count: 400_000 } };

const readersBack: Row = {
	name: "serve-storm",
	rounds: 3,
	async measure(trial) {
		const when = { text: "work" };
		const server = await Served.start(trial, {
			replies: [
				{ when, ...busyReply, times: "always" },
				{ text: "Well.", times: "always" },
			],
		});
		const tokens = [server.addToken("one"), server.addToken("two")];
		const ids = [await server.create(), await server.create()];
		for (const id of ids) await server.prompt(id);
		const [worker] = [await server.create()];
		const agent = server.agents.at(-1) as number;
		await server.prompt(worker, "work");
		const quiet = await cpuOfRun(agent, () => server.prompt(worker, "work"));
		let seconds = 0;
		const stormy = await cpuOfRun(agent, async () => {
			const run = server.prompt(worker, "work");
			const begin = performance.now();
			const readers = Array.from({ length: storm }, (_, index) => server.read(ids[index % 2] as string, "?after=0", tokens[index % 2] as string));
			await Promise.all(readers.map((each) => each.saw('"snapshot"')));
			seconds = (performance.now() - begin) / 1000;
			for (const { socket } of readers) socket.destroy();
			await run;
		});
		await server.end();
		return [
			{ what: `${storm} readers come back at once, all caught up`, value: seconds, unit: "s", goal: { most: 2 } },
			{ what: "cpu of another agent's run meanwhile, to that of a quiet one", value: stormy / quiet, unit: "", goal: { most: 1.05 } },
		];
	},
};

async function cpuOfRun(pid: number, run: () => Promise<void>): Promise<number> {
	const before = cpuNs(pid);
	await run();
	return cpuNs(pid) - before;
}

export const serveRows: Row[] = [start, knownSessions, sessions, attach, fanOut, slowReaders, readersBack];
