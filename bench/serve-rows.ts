/** Rows about `bowline serve`: its start, what sessions cost, and how frames reach many readers. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { cpuNs, plainEnvironment, rssMb } from "./process.ts";
import type { Row, Trial } from "./row.ts";

const megabyte = 1024;
const pssMb = (pid: number) => Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1] ?? 0) / megabyte;

/** A server in the trial's folder, with a script for all sessions. */
class Served {
	readonly pid: number;
	readonly port: number;
	#child: ChildProcess;
	#token: string;
	#folder: string;

	private constructor(child: ChildProcess, folder: string, port: number) {
		this.#child = child;
		this.#folder = folder;
		this.pid = child.pid as number;
		this.port = port;
		this.#token = readFileSync(join(folder, "user", "serve", "default", "token"), "utf8").trim();
	}

	static async start({ program, folder }: Trial, script: unknown = { replies: [{ text: "Well.", times: "always" }] }): Promise<Served> {
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
		return new Served(child, folder, Number(new URL((JSON.parse(line) as { url: string }).url).port));
	}

	ask(method: string, path: string, body?: unknown): Promise<{ status: number; json: Record<string, unknown> }> {
		const headers = { Authorization: `Bearer ${this.#token}`, "Content-Type": "application/json", Prefer: "wait=120" };
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
	async prompt(id: string): Promise<void> {
		const { status, json } = await this.ask("POST", `/v1/sessions/${id}/prompts`, { message: "go" });
		if (status !== 200) throw new Error(`the run did not end: ${status} ${JSON.stringify(json)}`);
	}

	/** A reader that counts bytes and looks for texts; it costs this process nearly nothing. */
	read(id: string, query = ""): Reader {
		const socket = connect(this.port, "127.0.0.1");
		const key = Buffer.from("bowline-benchmark").toString("base64");
		socket.write(
			`GET /v1/sessions/${id}/socket${query} HTTP/1.1\r\nHost: 127.0.0.1:${this.port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
				`Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key.slice(0, 22)}==\r\nAuthorization: Bearer ${this.#token}\r\n\r\n`,
		);
		return new Reader(socket);
	}

	async frames(): Promise<number> {
		const text = await this.#metrics();
		return Number(/^bowline_frames_out_total (\d+)/m.exec(text)?.[1]);
	}

	#metrics(): Promise<string> {
		return new Promise((resolve, reject) => {
			const headers = { Authorization: `Bearer ${this.#token}` };
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

class Reader {
	readonly socket: Socket;
	#tail = "";
	#waiting: { text: string; resolve: () => void } | undefined;

	constructor(socket: Socket) {
		this.socket = socket;
		socket.on("error", () => undefined); // The server ends first.
		socket.on("data", (chunk: Buffer) => {
			this.#tail = (this.#tail + chunk.toString("latin1")).slice(-200_000);
			if (this.#waiting && this.#tail.includes(this.#waiting.text)) this.#waiting.resolve();
		});
	}

	saw(text: string): Promise<void> {
		return new Promise((resolve) => {
			if (this.#tail.includes(text)) resolve();
			else this.#waiting = { text, resolve };
		});
	}
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

const known = 1000;
const awake = 10;

const sessions: Row = {
	name: "serve-sessions",
	rounds: 1,
	async measure(trial) {
		const { folder } = trial;
		const directory = join(folder, "user", "sessions", "bench");
		mkdirSync(directory, { recursive: true });
		for (let index = 0; index < known; index++) {
			const id = `0198c0de-0000-7000-8000-${index.toString(16).padStart(12, "0")}`;
			const header = { type: "session", version: 3, id, timestamp: "2026-01-01T00:00:00.000Z", cwd: folder };
			writeFileSync(join(directory, `2026-01-01T00-00-00-000Z_${id}.jsonl`), `${JSON.stringify(header)}\n`);
		}
		const server = await Served.start(trial);
		const listed = (await server.ask("GET", "/v1/sessions?limit=1000")).json.sessions as unknown[];
		if (listed.length !== known) throw new Error(`${listed.length} of ${known} sessions are listed`);
		const asleep = rssMb(server.pid);
		const before = cpuNs(server.pid);
		const first = await server.create();
		const wake = (cpuNs(server.pid) - before) / 1e6;
		const ids = [first];
		while (ids.length < awake) ids.push(await server.create());
		for (const id of ids) await server.prompt(id);
		const pids = readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, "utf8").trim().split(" ").map(Number);
		const memory = pids.reduce((sum, pid) => sum + pssMb(pid), 0) / pids.length;
		const times: number[] = [];
		for (let turn = 0; turn < 40; turn++) {
			const begin = performance.now();
			const reader = server.read(first);
			await reader.saw('"type":"ready"');
			times.push(performance.now() - begin);
			reader.socket.destroy();
		}
		await server.end();
		times.sort((a, b) => a - b);
		return [
			{ what: "1,000 sessions known and listed, RSS", value: asleep, unit: "MB", goal: { most: 80 } },
			{ what: "an awake session after a prompt, PSS", value: memory, unit: "MB", goal: { most: 18 } },
			{ what: "cpu of the server to start an agent", value: wake, unit: "ms", goal: { most: 60 } },
			{ what: "attach to first frame, awake, p95", value: times[Math.floor(times.length * 0.95)] as number, unit: "ms", goal: { most: 5 } },
		];
	},
};

const pieces = 4000;

/** One run whose deltas come slowly: an agent sends a frame every 16 ms, and each is a write to each reader. */
async function microsPerFrame(trial: Trial, count: number): Promise<number> {
	const server = await Served.start(trial, {
		replies: [{ text: "warm" }, { blocks: [{ text: "lorem ipsum dolor ".repeat(pieces / 3) }], pieceDelayMs: 1 }],
	});
	const id = await server.create();
	await server.prompt(id);
	const readers = Array.from({ length: count }, () => server.read(id));
	await Promise.all(readers.map((reader) => reader.saw('"type":"ready"')));
	const frames = await server.frames();
	const before = cpuNs(server.pid);
	await server.prompt(id);
	await Promise.all(readers.map((reader) => reader.saw('"run_result"')));
	const cpu = cpuNs(server.pid) - before;
	const delivered = (await server.frames()) - frames;
	for (const { socket } of readers) socket.destroy();
	await server.end();
	return cpu / 1000 / delivered;
}

const fanOut: Row = {
	name: "serve-fan-out",
	rounds: 3,
	async measure(trial) {
		return [
			{ what: "server cpu per delivered frame, one every 16 ms, 10 readers", value: await microsPerFrame(trial, 10), unit: "us", goal: { most: 1 } },
			{ what: "the same, 100 readers", value: await microsPerFrame(trial, 100), unit: "us", goal: { most: 0.5 } },
		];
	},
};

/** A token has 256 connections. */
const storm = 250;

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

const readersBack: Row = {
	name: "serve-storm",
	rounds: 3,
	async measure(trial) {
		const server = await Served.start(trial);
		const ids = [await server.create(), await server.create()];
		for (const id of ids) await server.prompt(id);
		const begin = performance.now();
		const readers = Array.from({ length: storm }, (_, index) => server.read(ids[index % 2] as string, "?after=0"));
		await Promise.all(readers.map((each) => each.saw('"snapshot"')));
		const seconds = (performance.now() - begin) / 1000;
		for (const { socket } of readers) socket.destroy();
		await server.end();
		return [{ what: `${storm} readers come back at once, all caught up`, value: seconds, unit: "s", goal: { most: 1 } }];
	},
};

export const serveRows: Row[] = [start, sessions, fanOut, slowReaders, readersBack];
