/** The part that all clients share: a real agent process, lines out, lines in. Each client interprets the lines by its own rules. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { program } from "../../wire/support/agent.ts";

export type Frame = Record<string, unknown> & { type: string };

export interface Program {
	flags: string[];
	script: unknown;
	files: Record<string, string>;
	/** Another way to an agent than a process of its own. */
	door?: Door;
}

export interface Door {
	/** Where the folder of the client is made. */
	root: string;
	/** Instead of `--mode rpc`. */
	words: string[];
	env: Record<string, string>;
}

export class AgentProcess {
	readonly child: ChildProcessWithoutNullStreams;
	readonly exited: Promise<number | null>;
	readonly cwd: string;
	stderr = "";
	#folder: string;

	constructor({ flags, script, files, door }: Program, onLine: (line: string) => void) {
		this.#folder = mkdtempSync(join(door?.root ?? tmpdir(), "bowline-test-"));
		const cwd = join(this.#folder, "work");
		this.cwd = cwd;
		mkdirSync(cwd);
		for (const [name, text] of Object.entries({ ...files, "script.jsonc": JSON.stringify(script) })) writeFileSync(join(cwd, name), text);
		const model = ["--provider", "scripted", "--model", join(cwd, "script.jsonc")];
		const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
		const env = { ...inherited, ...(door?.env ?? { BOWLINE_DIR: join(this.#folder, "user") }) };
		this.child = spawn(process.execPath, [program, ...(door?.words ?? ["--mode", "rpc"]), ...model, ...flags], { cwd, env });
		let rest = "";
		this.child.stdout.setEncoding("utf8").on("data", (text: string) => {
			const lines = (rest + text).split("\n");
			rest = lines.pop() ?? "";
			lines.forEach(onLine);
		});
		this.child.stderr.on("data", (chunk) => {
			this.stderr += chunk;
		});
		this.child.stdin.on("error", () => undefined);
		this.exited = new Promise((resolve) => this.child.on("close", resolve));
	}

	write(frame: object): void {
		this.child.stdin.write(`${JSON.stringify(frame)}\n`);
	}

	/** Ends as hosts do: closes stdin. Gives the exit code. */
	async end(): Promise<number | null> {
		this.child.stdin.end();
		return this.exited;
	}

	async dispose(): Promise<void> {
		if (this.child.exitCode === null) this.child.kill("SIGKILL");
		await this.exited;
		rmSync(this.#folder, { recursive: true, force: true });
	}
}

/** Fails instead of waiting for ever. */
export async function within<T>(promise: Promise<T>, what: string, limitMs = 30_000): Promise<T> {
	let timer: NodeJS.Timeout | undefined;
	const late = new Promise<never>((_, reject) => {
		timer = setTimeout(() => reject(new Error(`Timeout waiting for ${what}`)), limitMs);
	});
	try {
		return await Promise.race([promise, late]);
	} finally {
		clearTimeout(timer);
	}
}
