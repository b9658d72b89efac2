/** Runs processes and measures their cost, from the system's own accounting. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import type { Trial } from "./row.ts";

/** NODE_EXTRA_CA_CERTS costs node itself tens of milliseconds at each start; it would hide what is ours. */
export function plainEnvironment(extra: Record<string, string> = {}): NodeJS.ProcessEnv {
	const { NODE_EXTRA_CA_CERTS: _, ...rest } = process.env;
	return { ...rest, ...extra };
}

/** Nanoseconds on a cpu that a living process has used, all threads. */
export function cpuNs(pid: number): number {
	const tasks = readdirSync(`/proc/${pid}/task`);
	return tasks.reduce((sum, task) => sum + Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8").split(" ")[0]), 0);
}

/** CPU milliseconds of a living process and of the children it has waited for. In steps of the kernel's clock, usually 10 ms. */
export function cpuMsWithChildren(pid: number): number {
	const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
	const ticks = stat
		.slice(stat.lastIndexOf(")") + 2)
		.split(" ")
		.slice(11, 15)
		.map(Number);
	return ticks.reduce((sum, value) => sum + value, 0) * 10;
}

export function rssMb(pid: number): number {
	return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
}

/** The most memory a process ever had. */
export function peakRssMb(pid: number): number {
	return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}

/** A folder that is gone afterwards. */
export async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
	const folder = mkdtempSync(join(tmpdir(), "bowline-bench-"));
	try {
		return await work(folder);
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

/** The trial's program in its folder, with a script to play where there is one. */
export function startAgent({ program, folder }: Pick<Trial, "program" | "folder">, flags: string[] = [], script?: unknown): Running {
	const model = script ? ["--provider", "scripted", "--model", "script.jsonc"] : [];
	if (script) writeFileSync(join(folder, "script.jsonc"), JSON.stringify(script));
	return new Running(folder, [program, "--mode", "rpc", "--no-session", "--hermetic", ...model, ...flags]);
}

/** A process that is talked to in lines. */
export class Running {
	readonly child: ChildProcessByStdio<Writable, Readable, null>;
	bytes = 0;
	/** Sees every line. */
	onLine: ((line: string) => void) | undefined;
	#rest = "";
	#waiting: { text: string; resolve: () => void }[] = [];

	constructor(folder: string, args: string[], extra: Record<string, string> = {}) {
		const env = plainEnvironment({ BOWLINE_DIR: join(folder, "user"), ...extra });
		const profile = process.env.BENCH_PROFILE;
		if (profile) args = ["--cpu-prof", `--cpu-prof-dir=${profile}`, "--cpu-prof-interval=250", ...args];
		this.child = spawn(process.execPath, args, { cwd: folder, env, stdio: ["pipe", "pipe", "inherit"] });
		this.child.stdout.on("data", (chunk: Buffer) => this.#read(chunk));
	}

	get pid(): number {
		return this.child.pid as number;
	}

	send(frame: object): void {
		this.child.stdin.write(`${JSON.stringify(frame)}\n`);
	}

	/** Resolves at the next line that holds the text. */
	line(text: string): Promise<void> {
		return new Promise((resolve) => this.#waiting.push({ text, resolve }));
	}

	/** Sends a prompt and waits until the agent has settled. */
	async prompt(message: string): Promise<void> {
		const settled = this.line('"agent_settled"');
		this.send({ id: "p", type: "prompt", message });
		await settled;
	}

	/** Sends a command and waits for its answer. Returns the milliseconds. */
	async ask(frame: { type: string; [key: string]: unknown }): Promise<number> {
		const began = performance.now();
		const answered = this.line(`"command":"${frame.type}"`);
		this.send({ id: "x", ...frame });
		await answered;
		return performance.now() - began;
	}

	async end(): Promise<void> {
		const closed = new Promise((resolve) => this.child.once("close", resolve));
		this.child.stdin.end();
		await closed;
	}

	#read(chunk: Buffer): void {
		this.bytes += chunk.length;
		const lines = (this.#rest + chunk.toString("latin1")).split("\n");
		this.#rest = lines.pop() ?? "";
		if (this.onLine) lines.forEach(this.onLine);
		for (const waiting of [...this.#waiting]) {
			if (!lines.some((line) => line.includes(waiting.text))) continue;
			this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
			waiting.resolve();
		}
	}
}

/** CPU milliseconds of a whole process, from start to end, by the shell's own clock. */
export async function wholeCpuMs(file: string, args: string[], options: { cwd?: string; input?: string } = {}): Promise<number> {
	const timed = 'exec 3>&2; TIMEFORMAT="%U %S"; time "$0" "$@" 2>&3';
	const child = spawn("bash", ["-c", timed, file, ...args], { cwd: options.cwd, env: plainEnvironment(), stdio: ["pipe", "ignore", "pipe"] });
	child.stdin?.end(options.input ?? "");
	let text = "";
	child.stderr?.on("data", (chunk) => {
		text += chunk;
	});
	await new Promise((resolve) => child.once("close", resolve));
	const [user, system] = text.trim().split("\n").at(-1)?.split(" ").map(Number) ?? [];
	return ((user ?? 0) + (system ?? 0)) * 1000;
}
