/** Drives an agent for a test: frames in, frames out, in a folder that is removed at the end. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { RecordReader } from "../../../src/lib/jsonl.ts";
import type { Frame } from "./match.ts";

export interface AgentOptions {
	flags?: string[];
	env?: Record<string, string>;
	files?: Record<string, string>;
	script?: unknown;
	/** A directory that is there already. */
	cwd?: string;
	/** The folder is a git repository, with all files committed. */
	isRepository?: boolean;
	/** In place of the built program of this repository. */
	program?: string;
	/** How long a frame may take to come; less than the test may take. */
	patienceMs?: number;
}

const usualPatienceMs = 20_000;

function commitAll(cwd: string): void {
	const git = (...args: string[]) => execFileSync("git", args, { cwd });
	git("init", "--quiet");
	git("config", "user.name", "Test");
	git("config", "user.email", "test@localhost");
	git("add", "--all");
	git("commit", "--quiet", "--allow-empty", "--message", "Beginning");
}

export abstract class Driver {
	readonly cwd: string;
	/** Frames in the order they came. */
	readonly frames: Frame[] = [];
	stderr = "";
	exitCode: number | null | undefined;
	/** The command line and the environment of the agent. */
	protected readonly args: readonly string[];
	protected readonly env: NodeJS.ProcessEnv;
	#folder: string;
	#patienceMs: number;
	#reader = new RecordReader({ record: (line) => this.#read(line), tooLong: () => undefined }, Number.POSITIVE_INFINITY);
	#wake: (() => void) | undefined;
	#next = 0;

	constructor({ flags = [], env = {}, files = {}, script, isRepository, cwd, patienceMs = usualPatienceMs }: AgentOptions = {}) {
		this.#patienceMs = patienceMs;
		this.#folder = mkdtempSync(join(tmpdir(), "bowline-test-"));
		this.cwd = cwd ?? join(this.#folder, "work");
		mkdirSync(this.cwd, { recursive: true });
		const all = script ? { ...files, "script.jsonc": JSON.stringify(script) } : files;
		for (const [path, content] of Object.entries(all)) {
			mkdirSync(dirname(join(this.cwd, path)), { recursive: true });
			writeFileSync(join(this.cwd, path), content);
		}
		if (isRepository) commitAll(this.cwd);
		const model = script ? ["--provider", "scripted", "--model", "script.jsonc"] : [];
		// Long retry waits are useless in a test; a transcript that needs others sets them itself.
		this.args = ["--mode", "rpc", "--set", "retry.baseDelayMs=20", ...model, ...flags];
		const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
		this.env = { ...inherited, BOWLINE_DIR: join(this.#folder, "user"), ...env };
	}

	/** Writes bytes to the agent's input. */
	abstract write(bytes: Buffer | string): void;

	/** Closes the agent's input. */
	abstract endInput(): void;

	/** Sends a signal to the agent. */
	abstract kill(signal: NodeJS.Signals): void;

	/** Ends the agent whatever it does, unless it has ended. */
	protected abstract stop(): void;

	send(frame: object | string): void {
		this.write(`${typeof frame === "string" ? frame : JSON.stringify(frame)}\n`);
	}

	/** Returns the next frame that has not been looked at; undefined when none comes in time or the agent has ended. */
	async next(waitMs = this.#patienceMs): Promise<Frame | undefined> {
		const deadline = performance.now() + waitMs;
		while (this.#next >= this.frames.length) {
			const left = deadline - performance.now();
			if (this.exitCode !== undefined || left <= 0) return undefined;
			await this.#change(left);
		}
		return this.frames[this.#next++];
	}

	/** Forgets the frames that came so far. */
	forget(): void {
		this.frames.length = 0;
		this.#next = 0;
	}

	/** Makes `next` return the last frame again. */
	putBack(): void {
		this.#next -= 1;
	}

	/** Skips to the next frame that fits. */
	async until(fits: (frame: Frame) => boolean): Promise<Frame> {
		for (let frame = await this.next(); frame; frame = await this.next()) if (fits(frame)) return frame;
		throw new Error(`the frame did not come; stderr: ${this.stderr}\nlast frames: ${JSON.stringify(this.frames.slice(-5))}`);
	}

	event(type: string): Promise<Frame> {
		return this.until((frame) => frame.type === type);
	}

	response(id: string): Promise<Frame> {
		return this.until((frame) => frame.type === "response" && frame.id === id);
	}

	/** Returns whether a text comes on stderr. */
	async says(text: string): Promise<boolean> {
		const deadline = performance.now() + this.#patienceMs;
		while (!this.stderr.includes(text)) {
			const left = deadline - performance.now();
			if (this.exitCode !== undefined || left <= 0) return false;
			await this.#change(left);
		}
		return true;
	}

	async exited(): Promise<number | null> {
		const deadline = performance.now() + this.#patienceMs;
		while (this.exitCode === undefined) {
			const left = deadline - performance.now();
			if (left <= 0) throw new Error(`the agent did not end; stderr: ${this.stderr}`);
			await this.#change(left);
		}
		return this.exitCode;
	}

	/** Ends the agent whatever it does, and removes its folder. */
	async dispose(): Promise<void> {
		if (this.exitCode === undefined) this.stop();
		await this.exited();
		rmSync(this.#folder, { recursive: true, force: true });
	}

	/** Takes bytes of the agent's output. */
	protected receive(chunk: Buffer): void {
		this.#reader.push(chunk);
	}

	protected receiveStderr(text: string): void {
		this.stderr += text;
		this.#wake?.();
	}

	protected end(code: number | null): void {
		this.exitCode = code;
		this.#wake?.();
	}

	#read(line: string): void {
		try {
			this.frames.push(JSON.parse(line) as Frame);
		} catch {
			this.frames.push({ type: "not a frame", line });
		}
		this.#wake?.();
	}

	#change(waitMs: number): Promise<void> {
		return new Promise((resolve) => {
			const timer = setTimeout(resolve, waitMs);
			this.#wake = () => {
				clearTimeout(timer);
				resolve();
			};
		});
	}
}
