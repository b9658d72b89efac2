/** Runs a program for an extension, without a shell. */
import { constants } from "node:os";
import { onAbort } from "../lib/abort.ts";
import type { Program } from "../lib/shell/index.ts";
import type { ExecOptions, ExecResult } from "./api.ts";

export interface ProgramStarter {
	start(file: string, args: readonly string[], cwd?: string): Promise<Program>;
}

const killAfterMs = 1000;
/** Limit for each stream; more would endanger the process. */
const mostBytes = 64 * 1024 * 1024;

/** A longer timer would fire at once. */
const isWait = (timeout: unknown) => typeof timeout === "number" && timeout > 0 && timeout < 2 ** 31;

/** Returns the program's output and how it ended. A program that cannot be started gives code 127, as in a shell. */
export async function execProgram(shell: ProgramStarter, file: string, args: readonly string[], options: ExecOptions = {}): Promise<ExecResult> {
	const { cwd, timeout, signal } = options;
	if (signal?.aborted) return { stdout: "", stderr: "", code: 128 + constants.signals.SIGTERM, killed: true };
	let program: Program;
	try {
		program = await shell.start(file, args, cwd);
	} catch (error) {
		return { stdout: "", stderr: (error as Error).message, code: 127, killed: false };
	}
	const { child } = program;
	let killed = false;
	let excess: Error | undefined;
	let kill: NodeJS.Timeout | undefined;
	const stop = () => {
		if (killed) return;
		killed = true;
		terminate(program);
		kill = setTimeout(() => program.kill(), killAfterMs);
	};
	const collect = (stream: NodeJS.ReadableStream | null) => {
		const chunks: Buffer[] = [];
		let bytes = 0;
		stream?.on("data", (chunk: Buffer) => {
			bytes += chunk.length;
			if (bytes <= mostBytes) chunks.push(chunk);
			else {
				excess ??= new Error(`${file} printed more than ${mostBytes / 1024 / 1024} MB and was ended. Send its output to a file.`);
				program.kill();
			}
		});
		return () => Buffer.concat(chunks).toString("utf8");
	};
	const stdout = collect(child.stdout);
	const stderr = collect(child.stderr);
	const timer = isWait(timeout) ? setTimeout(stop, timeout) : undefined;
	const release = signal && onAbort(signal, stop);
	const [code, name] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
		// Background processes of the program may hold the pipes open; the end of the program is the end of the call.
		child.once("exit", (...how) => {
			const settled = () => resolve(how);
			const grace = setTimeout(settled, 100);
			child.once("close", () => {
				clearTimeout(grace);
				settled();
			});
		});
	});
	for (const stream of [child.stdout, child.stderr]) stream?.destroy();
	clearTimeout(timer);
	clearTimeout(kill);
	release?.();
	if (excess) throw excess;
	return { stdout: stdout(), stderr: stderr(), code: name === null ? (code ?? 1) : 128 + constants.signals[name], killed };
}

/** Asks the program, and the processes it started, to end. */
function terminate({ child, kill }: Program): void {
	try {
		if (child.pid !== undefined && process.platform !== "win32") process.kill(-child.pid, "SIGTERM");
		else kill();
	} catch (error) {
		// It has already ended on its own.
		if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
	}
}
