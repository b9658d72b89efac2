/** One agent process: its pipes and its end. Lines go through without being parsed. It leads a process group, so that nothing of it stays. */
import { type ChildProcess, spawn } from "node:child_process";
import { StringDecoder } from "node:string_decoder";
import { printable } from "../lib/printable.ts";
import { AgentLines, type DeltaRun } from "./agent-lines.ts";

export interface AgentExit {
	code: number | null;
	signal: NodeJS.Signals | null;
	/** Its last lines of stderr. */
	stderr: string;
	/** Why it could not be started, or why the server ended it. */
	cause?: string;
}

export interface AgentListener {
	line(text: string): void;
	/** False when they are wanted as lines. */
	deltas(run: DeltaRun): boolean;
	exit(exit: AgentExit): void;
	/** stdin took everything that waited. */
	drain(): void;
}

export interface AgentStart {
	command: readonly string[];
	cwd: string;
	env: NodeJS.ProcessEnv;
	/** Of its stdout, in bytes. */
	longestLine?: number;
}

const mostLineBytes = 64 * 1024 * 1024;
const stderrLines = 200;
/** From closed stdin to SIGTERM, and from SIGTERM to SIGKILL. */
interface Patience {
	endMs: number;
	termMs: number;
}
const usualPatience: Patience = { endMs: 5000, termMs: 2000 };
const hurriedPatience: Patience = { endMs: 2000, termMs: 1500 };
/** A process that the system cannot end, as one that waits for a dead disk, is not waited for. */
const reapMs = 1500;
/** Descendants may keep the pipes open; what the agent itself said has been read by then. */
const restMs = 1000;

export class Agent {
	#child: ChildProcess;
	/** Changes when the agent goes to another session. */
	listener: AgentListener;
	#stderr: string[] = [];
	#isGone = false;
	#cause: string | undefined;
	#lines: AgentLines;
	#timers = new Set<NodeJS.Timeout>();
	#stopping: Promise<void> | undefined;
	#onGone: (() => void)[] = [];
	#isHurried = false;

	constructor({ command, cwd, env, longestLine = mostLineBytes }: AgentStart, listener: AgentListener) {
		this.listener = listener;
		const [file = "", ...args] = command;
		this.#child = spawn(file, args, { cwd, env, stdio: ["pipe", "pipe", "pipe"], detached: true, windowsHide: true });
		const tooLong = () => {
			this.#cause = `a line of more than ${longestLine / 1024 / 1024} MiB`;
			this.#signal("SIGKILL");
		};
		this.#lines = new AgentLines({ line: (line) => this.listener.line(line), deltas: (run) => this.listener.deltas(run), tooLong }, longestLine);
		const { stdin, stdout, stderr } = this.#child;
		// Its end follows.
		stdin?.on("error", () => undefined);
		stdin?.on("drain", () => this.listener.drain());
		stdout?.on("data", (chunk: Buffer) => this.#lines.push(chunk));
		stdout?.on("error", () => undefined);
		const decoder = new StringDecoder("utf8");
		let rest = "";
		stderr?.on("data", (chunk: Buffer) => {
			const lines = (rest + decoder.write(chunk)).split("\n");
			rest = (lines.pop() ?? "").slice(-4096);
			for (const line of lines) this.note(line);
		});
		stderr?.on("error", () => undefined);
		this.#child.on("error", (error) => {
			if (this.#child.pid !== undefined) return;
			this.#cause = error.message;
			this.#finish(null, null);
		});
		this.#child.on("exit", (code, signal) => this.#after(restMs, () => this.#finish(code, signal)));
		this.#child.on("close", (code, signal) => {
			if (rest) this.note(rest);
			this.#finish(code, signal);
		});
	}

	get pid(): number | undefined {
		return this.#child.pid;
	}

	/** Bytes that the agent has not taken yet. */
	get behind(): number {
		return this.#child.stdin?.writableLength ?? 0;
	}

	get stderr(): string {
		return this.#stderr.join("\n");
	}

	note(line: string): void {
		const clean = printable(line).trimEnd();
		if (!clean) return;
		this.#stderr.push(clean.slice(0, 2000));
		if (this.#stderr.length > stderrLines) this.#stderr.shift();
	}

	send(line: string): void {
		const { stdin } = this.#child;
		if (stdin?.writable) stdin.write(`${line}\n`);
	}

	/** Closes stdin, and ensures that the process ends. */
	stop(): Promise<void> {
		this.#stopping ??= new Promise((resolve) => {
			if (this.#isGone) return resolve();
			this.#onGone.push(resolve);
			this.#child.stdin?.end();
			this.#endWithin(usualPatience);
		});
		return this.#stopping;
	}

	/** Stops it, and waits less for it. */
	hurry(): Promise<void> {
		const stopped = this.stop();
		if (!this.#isHurried) this.#endWithin(hurriedPatience);
		this.#isHurried = true;
		return stopped;
	}

	#endWithin({ endMs, termMs }: Patience): void {
		this.#after(endMs, () => {
			this.#signal("SIGTERM");
			this.#after(termMs, () => {
				this.#signal("SIGKILL");
				this.#after(reapMs, () => this.#finish(null, "SIGKILL"));
			});
		});
	}

	kill(cause: string): void {
		this.#cause ??= cause;
		this.#signal("SIGKILL");
	}

	/** To the group; when the leader is gone already, what is left of the group gets it. */
	#signal(signal: NodeJS.Signals): void {
		const { pid } = this.#child;
		if (pid === undefined) return;
		try {
			process.kill(-pid, signal);
		} catch {
			this.#child.kill(signal); // No such group, or the system has none.
		}
	}

	#after(ms: number, then: () => void): void {
		if (this.#isGone) return;
		const timer = setTimeout(() => {
			this.#timers.delete(timer);
			then();
		}, ms);
		this.#timers.add(timer);
	}

	#finish(code: number | null, signal: NodeJS.Signals | null): void {
		if (this.#isGone) return;
		this.#isGone = true;
		this.#lines.end();
		for (const timer of this.#timers) clearTimeout(timer);
		this.#timers.clear();
		this.#signal("SIGKILL");
		const { stdin, stdout, stderr } = this.#child;
		for (const stream of [stdin, stdout, stderr]) stream?.destroy();
		try {
			this.listener.exit({ code, signal, stderr: this.stderr, ...(this.#cause !== undefined && { cause: this.#cause }) });
		} finally {
			// A listener that fails, as on a full disk, must not make the end of the server wait for ever.
			for (const then of this.#onGone) then();
		}
	}
}
