/** A real agent process for tests: frames in, frames out, and it leaves nothing. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { join } from "node:path";
import { type AgentOptions, Driver } from "./driver.ts";

export type { AgentOptions } from "./driver.ts";

export const program = join(import.meta.dirname, "../../../dist/bowline.js");

export class Agent extends Driver {
	readonly child: ChildProcessWithoutNullStreams;

	constructor(options?: AgentOptions) {
		super(options);
		this.child = spawn(process.execPath, [options?.program ?? program, ...this.args], { cwd: this.cwd, env: this.env });
		this.child.stdout.on("data", (chunk: Buffer) => this.receive(chunk));
		this.child.stderr.on("data", (chunk: Buffer) => this.receiveStderr(String(chunk)));
		this.child.stdin.on("error", () => undefined);
		this.child.on("close", (code) => this.end(code));
	}

	override write(bytes: Buffer | string): void {
		this.child.stdin.write(bytes);
	}

	override endInput(): void {
		this.child.stdin.end();
	}

	override kill(signal: NodeJS.Signals): void {
		this.child.kill(signal);
	}

	protected override stop(): void {
		this.kill("SIGKILL");
	}
}
