/** An agent in a child process: its pipes, its diagnostics and its exit. Handles frames without interpreting them. */
import { type ChildProcess, spawn as nodeSpawn, type SpawnOptions } from "node:child_process";
import { existsSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { RecordReader } from "../lib/jsonl.ts";
import type { Channel, ChannelListener, Exit, Frame } from "./channel.ts";
import { Tail } from "./tail.ts";
import { after } from "./timer.ts";

export type Spawn = (file: string, args: readonly string[], options: SpawnOptions) => ChildProcess;

/** How long `close` waits before each stronger step. */
export interface ClosePatience {
	/** After stdin was closed, before SIGTERM. Default: 5000. */
	endMs?: number;
	/** After SIGTERM, before SIGKILL. Default: 2000. */
	termMs?: number;
}

export interface ProcessOptions {
	command: readonly string[];
	cwd?: string;
	env?: NodeJS.ProcessEnv;
	spawn?: Spawn;
	onStderr?: (text: string) => void;
	patience?: ClosePatience;
	maxFrameBytes: number;
}

/** Descendants of the agent may keep its pipes open; the agent's own output has been read by then. */
const drainMs = 1000;

export class AgentProcess implements Channel {
	#options: ProcessOptions;
	#listener: ChannelListener;
	#child: ChildProcess;
	#stderr = new Tail();
	#reader: RecordReader;
	#isGone = false;
	#onGone: (() => void)[] = [];
	#closing: Promise<void> | undefined;

	constructor(options: ProcessOptions, listener: ChannelListener) {
		const { command, cwd, env, spawn = nodeSpawn } = options;
		const [file, ...args] = command;
		if (!file) throw new TypeError("command must name a program");
		this.#options = options;
		this.#listener = listener;
		this.#reader = new RecordReader({ record: (line) => this.#read(line), tooLong: (limit) => listener.tooLong(limit) }, options.maxFrameBytes);
		this.#child = spawn(file, args, { cwd, env, stdio: ["pipe", "pipe", "pipe"], windowsHide: true });
		this.#listen();
	}

	get stderr(): string {
		return this.#stderr.text;
	}

	send(line: string): void {
		const { stdin } = this.#child;
		if (stdin?.writable) stdin.write(`${line}\n`);
	}

	close(): Promise<void> {
		this.#closing ??= this.#end();
		return this.#closing;
	}

	#listen(): void {
		const { stdin, stdout, stderr } = this.#child;
		if (!stdin || !stdout) throw new TypeError("spawn must give the child pipes for stdin and stdout");
		// An agent that no longer reads is useless; usually it is about to exit.
		const abandon = () => void this.close();
		stdin.on("error", abandon);
		stdout.on("data", (chunk: Buffer) => this.#reader.push(chunk));
		stdout.on("end", abandon);
		stdout.on("error", abandon);
		const decoder = new StringDecoder("utf8");
		stderr?.on("data", (chunk: Buffer) => this.#hear(decoder.write(chunk)));
		stderr?.on("error", () => undefined);
		this.#child.on("error", (error) => {
			if (this.#child.pid === undefined) this.#finish({ code: null, signal: null, cause: this.#explain(error) });
		});
		this.#child.on("exit", (code, signal) => {
			const timer = setTimeout(() => this.#finish({ code, signal }), drainMs);
			this.#onGone.push(() => clearTimeout(timer));
		});
		this.#child.on("close", (code, signal) => this.#finish({ code, signal }));
	}

	#read(line: string): void {
		let frame: unknown;
		try {
			frame = JSON.parse(line);
		} catch {
			// A program under the agent printed this line. It is not for us, but a person may want to see it.
			return this.#hear(`${line}\n`);
		}
		if (typeof frame === "object" && frame !== null && !Array.isArray(frame)) this.#listener.frame(frame as Frame);
		else this.#hear(`${line}\n`);
	}

	#hear(text: string): void {
		this.#stderr.add(text);
		this.#options.onStderr?.(text);
	}

	async #end(): Promise<void> {
		const { endMs = 5000, termMs = 2000 } = this.#options.patience ?? {};
		this.#child.stdin?.end();
		if (await this.#isGoneWithin(endMs)) return;
		this.#child.kill("SIGTERM");
		if (await this.#isGoneWithin(termMs)) return;
		this.#child.kill("SIGKILL");
		await this.#isGoneWithin(Number.POSITIVE_INFINITY);
	}

	#isGoneWithin(ms: number): Promise<boolean> {
		if (this.#isGone || ms <= 0) return Promise.resolve(this.#isGone);
		return new Promise((resolve) => {
			const timer = after(ms, () => resolve(false));
			this.#onGone.push(() => {
				clearTimeout(timer);
				resolve(true);
			});
		});
	}

	#finish(exit: Omit<Exit, "stderr">): void {
		if (this.#isGone) return;
		this.#isGone = true;
		// The last record may lack its LF.
		this.#reader.end();
		const { stdin, stdout, stderr } = this.#child;
		for (const stream of [stdin, stdout, stderr]) stream?.destroy();
		for (const then of this.#onGone) then();
		this.#listener.exit({ ...exit, stderr: this.stderr });
	}

	/** Node names the program even when the directory is missing. */
	#explain(error: Error): Error {
		const { cwd } = this.#options;
		return cwd !== undefined && !existsSync(cwd) ? new Error(`there is no directory ${cwd}`, { cause: error }) : error;
	}
}
