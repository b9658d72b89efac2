/** A process that answers once, for tests: what it prints, and how it ends. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { program } from "../wire/support/agent.ts";
import { toScript } from "../wire/support/script.ts";

export interface OneShotOptions {
	/** As the `model:` line of a wire test; without it the model echoes. */
	model?: string;
	files?: Record<string, string | Buffer>;
	env?: Record<string, string>;
	/** The input on stdin; `open` is a pipe that stays empty and is never closed. */
	stdin?: string | Buffer | "open";
	/** The folder of another run. */
	folder?: string;
}

export interface Ended {
	code: number | null;
	stdout: string;
	stderr: string;
	folder: string;
}

export class OneShot {
	readonly folder: string;
	readonly cwd: string;
	readonly child: ChildProcessWithoutNullStreams;
	stdout = "";
	stderr = "";

	constructor(args: string[], { model, files = {}, env = {}, stdin = "", folder }: OneShotOptions = {}) {
		this.folder = folder ?? mkdtempSync(join(tmpdir(), "bowline-once-"));
		onTestFinished(() => rmSync(this.folder, { recursive: true, force: true }));
		this.cwd = join(this.folder, "work");
		const all = model ? { ...files, "script.json": JSON.stringify(toScript(model)) } : files;
		mkdirSync(this.cwd, { recursive: true });
		for (const [path, content] of Object.entries(all)) {
			mkdirSync(dirname(join(this.cwd, path)), { recursive: true });
			writeFileSync(join(this.cwd, path), content);
		}
		const flags = ["--set", "retry.baseDelayMs=20", "--provider", "scripted", "--model", model ? "./script.json" : "echo"];
		const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
		this.child = spawn(process.execPath, [program, ...flags, ...args], {
			cwd: this.cwd,
			env: { ...inherited, BOWLINE_DIR: join(this.folder, "user"), ...env },
		});
		onTestFinished(() => void this.child.kill("SIGKILL"));
		this.child.stdout.on("data", (chunk: Buffer) => {
			this.stdout += chunk;
		});
		this.child.stderr.on("data", (chunk: Buffer) => {
			this.stderr += chunk;
		});
		this.child.stdin.on("error", () => undefined);
		if (stdin !== "open") this.child.stdin.end(stdin);
	}

	ended(): Promise<Ended> {
		return new Promise((resolve) => {
			this.child.on("close", (code) => resolve({ code, stdout: this.stdout, stderr: this.stderr, folder: this.folder }));
		});
	}

	/** Resolves when stdout or stderr holds the text. */
	async says(text: string): Promise<void> {
		while (!this.stdout.includes(text) && !this.stderr.includes(text)) await new Promise((resolve) => setTimeout(resolve, 20));
	}
}

export const once = (args: string[], options?: OneShotOptions) => new OneShot(args, options).ended();
