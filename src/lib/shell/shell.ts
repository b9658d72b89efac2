/** Runs commands: the `bash` tool, the host's `bash` command and every helper program use this one executor. */
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, statSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import type { Readable } from "node:stream";
import type { Redactor } from "../redact.ts";
import { outputLimits, type Truncation } from "../truncate.ts";
import { commandEnvironment } from "./command-environment.ts";
import type { Confinement, Enclosure, EnclosureFacts, ProgramStart } from "./confinement.ts";
import { controlStripper } from "./controls.ts";
import { findShell } from "./find-shell.ts";
import { Output, type OutputView } from "./output.ts";
import { readPipes } from "./pipe.ts";
import { endProcesses, isAlive, killProcesses } from "./processes.ts";
import { RealPipes } from "./real-pipes.ts";
import { type OutputLog, removeOldLogs } from "./temp-log.ts";
import { Watchdog } from "./watchdog.ts";

export interface ShellOptions {
	/** Where commands run. */
	cwd: string;
	/** The shell program; default bash, else sh. */
	shellPath?: string;
	/** A line prepended to every command. */
	prefix?: string;
	/** The variables that commands may see; asked again for each command. */
	environment: () => Record<string, string | undefined>;
	redact: Redactor;
	/** Directory for full outputs; default the system's directory for temporary files. */
	tempDir?: string;
	/** Everything that this shell starts runs inside these walls. */
	confinement?: Confinement;
}

export interface ShellRequest {
	command: string;
	/** No limit when omitted. */
	timeoutMs?: number;
	signal?: AbortSignal;
	/** All output so far, at most every 100 ms; pending output comes before the end. */
	onUpdate?: (update: ShellUpdate) => void;
	/** Remove terminal sequences and control characters other than tab and newline. */
	stripControls?: boolean;
	/** Working directory, if not the usual one. */
	cwd?: string;
	/** The shell reads the user's login profile first. */
	login?: boolean;
	/** Also end the processes that it leaves in the background. */
	sweep?: boolean;
	/** Receives the whole output, however short, instead of a temporary file. */
	log?: OutputLog;
	/** Variables that it does not see. */
	unset?: readonly string[];
	/** The tool call that it belongs to. */
	callId?: string;
}

export interface ShellUpdate {
	/** stdout and stderr in order of arrival, the last 2000 lines or 50 KB. */
	output: string;
	truncation: Truncation;
	/** Set exactly when the output was truncated and the whole could be kept. */
	fullOutputPath?: string;
	/** Why the whole could not be kept. */
	fullOutputProblem?: string;
}

export interface ShellResult extends ShellUpdate {
	/** 128 + n after death by signal n; null when we killed it. */
	exitCode: number | null;
	/** The signal that ended it. */
	signal: NodeJS.Signals | null;
	timedOut: boolean;
	aborted: boolean;
	/** Set when it ran inside walls. */
	inside?: EnclosureFacts;
}

/** A program started without a shell, such as ripgrep. It dies with us as commands do. */
export interface Program {
	child: ChildProcess;
	/** Ends it at once, with everything it started. */
	kill(): void;
	/** Asks it and everything it started to end, and kills them after a grace. Resolves within two seconds. */
	end(graceMs?: number): Promise<void>;
}

export interface ProgramOptions {
	/** Replaces the variables that commands may see. */
	environment?: Record<string, string | undefined>;
	/** Default: nothing to read. */
	stdin?: "ignore" | "pipe";
	/** Added to the variables that commands may see. */
	added?: Record<string, string>;
	/** Variables that it does not see. */
	unset?: readonly string[];
	/** A pipe to be read at descriptor 3. */
	hasHandoffPipe?: boolean;
	/** It sees `environment` and our mark, and no variable that commands get from us. */
	isPlain?: boolean;
}

interface Running {
	/** Ends the command; `ending` resolves when its processes are gone. */
	stop(cause: "timeout" | "abort", ending: Promise<void>): void;
	group: number;
	result: Promise<unknown>;
}

const updateEveryMs = 100;
const longestTimeoutMs = 2147483 * 1000;
const oldLogsAfterMs = 10_000;
/** How often walls are built when that fails. */
const enclosingAttempts = 3;
/** The same where a path vanished between planning and mounting, which the sockets of other programs do often. */
const vanishedAttempts = 20;
const isVanished = (complaint: string) => /No such file or directory|Can't (find source path|create file at)/.test(complaint);

/** A process, what finds its descendants, and its output in order. */
interface Started {
	child: ChildProcess;
	mark: string;
	output: Readable[];
	enclosure?: Enclosure;
}

export class Shell {
	readonly #options: ShellOptions;
	readonly #tempDir: string;
	/** The environment of all our processes contains it, followed by a number for each run. */
	readonly #id = `${randomBytes(8).toString("hex")}.`;
	readonly #pipes: RealPipes;
	readonly #watchdog: Watchdog;
	readonly #running = new Set<Running>();
	/** Groups of programs started without a shell. */
	readonly #programs = new Set<number>();
	/** Groups of finished commands that left processes running. */
	readonly #background = new Set<number>();
	#count = 0;
	#isClosed = false;
	#shellPath: string | undefined;
	#oldLogs: NodeJS.Timeout | undefined;

	constructor(options: ShellOptions) {
		this.#options = options;
		this.#tempDir = options.tempDir ?? options.confinement?.logDirectory ?? tmpdir();
		this.#pipes = new RealPipes(this.#tempDir);
		this.#watchdog = new Watchdog(this.#id, this.#tempDir);
	}

	/** Runs a command to its end. Rejects only when it could not be started. */
	async run(request: ShellRequest): Promise<ShellResult> {
		const { timeoutMs, signal } = request;
		if (timeoutMs !== undefined && !(timeoutMs > 0 && timeoutMs <= longestTimeoutMs)) {
			throw new Error(`The timeout must be more than 0 and at most ${longestTimeoutMs / 1000} seconds.`);
		}
		const output = new Output(this.#tempDir, outputLimits, request.log);
		if (signal?.aborted) return { ...shown(output.view(true)), exitCode: null, signal: null, timedOut: false, aborted: true };
		// Nothing is awaited between start and registration, so that no abort can come between them. Inside walls the start itself looks after that.
		const started = this.#options.confinement ? await this.#startInside(request) : this.#startCommand(request);
		if (started === undefined) return { ...shown(output.view(true)), exitCode: null, signal: null, timedOut: false, aborted: true };
		const { child, mark, output: streams, enclosure } = started;
		if (child.pid === undefined) {
			for (const stream of streams) stream.destroy();
			throw await startError(child);
		}
		const group = child.pid;

		let cause: "timeout" | "abort" | undefined;
		let ended: Promise<void> | undefined;
		let interrupt: () => void = () => undefined;
		const interrupted = new Promise<void>((resolve) => {
			interrupt = resolve;
		});
		const stop = (why: "timeout" | "abort", ending?: Promise<void>) => {
			cause ??= why;
			ended ??= ending ?? endProcesses({ groups: [group], mark });
			ended.then(interrupt, interrupt);
		};

		const updates = throttledUpdates(output, request.onUpdate);
		const strip = request.stripControls ? controlStripper() : undefined;
		const redact = this.#options.redact.stream();
		const take = (chunk: Buffer) => {
			output.append(redact.push(strip ? strip.push(chunk) : chunk));
			updates.due();
		};
		const pipes = readPipes(streams, take);
		const exit = exitOf(child);
		exit.then(pipes.exited);

		const timer = timeoutMs === undefined ? undefined : setTimeout(() => stop("timeout"), timeoutMs);
		const onAbort = () => stop("abort");
		signal?.addEventListener("abort", onAbort, { once: true });
		if (signal?.aborted) onAbort();
		const result = (async (): Promise<ShellResult> => {
			// After a kill, do not await the exit alone: a process stuck in the kernel would never exit.
			const [code, name] = await Promise.race([exit, interrupted.then((): [null, null] => [null, null])]);
			pipes.exited();
			await pipes.done;
			if (request.sweep) ended ??= endProcesses({ groups: [group], mark });
			await ended;
			clearTimeout(timer);
			signal?.removeEventListener("abort", onAbort);
			if (strip) output.append(redact.push(strip.end()));
			output.append(redact.end());
			updates.flush();
			const inside = await enclosure?.ended();
			const last = shown(output.view(true));
			output.close();
			const ending = { exitCode: cause ? null : exitCode(code, name), signal: name, timedOut: cause === "timeout", aborted: cause === "abort" };
			return { ...last, ...ending, ...(inside && { inside }) };
		})();
		const running: Running = { stop, group, result };
		this.#running.add(running);
		try {
			return await result;
		} finally {
			this.#running.delete(running);
			this.#leave(group);
		}
	}

	/** Starts a program in the environment that commands get, without shell; stdout and stderr are pipes. */
	async start(
		file: string,
		args: readonly string[],
		cwd = this.#options.cwd,
		{ environment = this.#options.environment(), stdin = "ignore", added = {}, unset, hasHandoffPipe = false, isPlain }: ProgramOptions = {},
	): Promise<Program> {
		const stdio = [stdin, "pipe", "pipe", ...(hasHandoffPipe ? (["pipe"] as const) : [])] satisfies SpawnOptions["stdio"];
		const variables = { ...without(environment, unset), ...added };
		const started: Omit<Started, "output"> = this.#options.confinement
			? await this.#enclosed({ file, args, cwd, environment: variables }, () => ({ stdio: [stdin, "pipe", "pipe"], output: [] }))
			: this.#spawn(file, args, { cwd, stdio }, variables, isPlain);
		const { child, mark, enclosure } = started;
		if (child.pid === undefined) throw await startError(child);
		const group = child.pid;
		this.#programs.add(group);
		void exitOf(child).then(() => {
			void enclosure?.ended();
			this.#programs.delete(group);
			this.#leave(group);
		});
		const doomed = { groups: [group], mark };
		return { child, kill: () => killProcesses(doomed), end: (graceMs) => endProcesses(doomed, graceMs) };
	}

	/** Ends every running command, and the processes that finished commands left in the background. */
	async abortAll(): Promise<void> {
		const running = [...this.#running];
		// A group whose leader's number is alive again now belongs to another program.
		const left = [...this.#background].filter((group) => !isAlive(group));
		this.#background.clear();
		if (this.#count === 0) return;
		const groups = [...running.map(({ group }) => group), ...this.#programs, ...left];
		const ending = endProcesses({ groups, mark: this.#id });
		for (const each of running) each.stop("abort", ending);
		await Promise.allSettled([ending, ...running.map(({ result }) => result)]);
		for (const group of left) this.#watchdog.release(group);
	}

	/** Ends everything for good. */
	async close(): Promise<void> {
		this.#isClosed = true;
		clearTimeout(this.#oldLogs);
		await this.abortAll();
		this.#pipes.close();
		this.#watchdog.dismiss();
	}

	#shellCommand({ command, login }: ShellRequest): readonly [string, ...string[]] {
		this.#shellPath ??= findShell(this.#options.shellPath, this.#options.environment().PATH);
		return [this.#shellPath, login ? "-lc" : "-c", this.#options.prefix ? `${this.#options.prefix}\n${command}` : command];
	}

	#startCommand(request: ShellRequest): Started {
		const { cwd = this.#options.cwd, unset } = request;
		const shell = this.#shellCommand(request);
		const environment = without(this.#options.environment(), unset);
		const pipe = this.#pipes.take();
		if (pipe) {
			try {
				const started = this.#spawn(shell[0], shell.slice(1), { cwd, stdio: ["ignore", pipe.writer, pipe.writer] }, environment);
				return { ...started, output: [pipe.reader] };
			} catch (error) {
				pipe.reader.destroy();
				throw error;
			} finally {
				closeSync(pipe.writer);
			}
		}
		// One pipe for both streams is the only way to see them in order. A small sh joins them, so that the command itself stays untouched.
		const isWindows = process.platform === "win32";
		const [file, ...args] = isWindows ? shell : (["/bin/sh", "-c", joined, "sh", ...shell] as const);
		const started = this.#spawn(file, args, { cwd, stdio: ["ignore", "pipe", isWindows ? "pipe" : "ignore"] }, environment);
		// A command that could not be started, for example without file descriptors, has no streams.
		const streams = [started.child.stdout, started.child.stderr] as (Readable | null | undefined)[];
		return { ...started, output: streams.filter((stream) => stream !== null && stream !== undefined) };
	}

	/** Nothing when it was aborted before the command began. */
	async #startInside(request: ShellRequest): Promise<Started | undefined> {
		const { cwd = this.#options.cwd, unset, signal, callId } = request;
		const shell = this.#shellCommand(request);
		const environment = without(this.#options.environment(), unset);
		const pipes = this.#pipes.isPossible;
		const [file, ...args] = pipes ? shell : (["/bin/sh", "-c", joined, "sh", ...shell] as const);
		return this.#enclosed(
			{ file, args, cwd, environment, ...(callId !== undefined && { callId }) },
			() => {
				const pipe = pipes ? this.#pipes.take() : undefined;
				if (pipe) return { stdio: ["ignore", pipe.writer, pipe.writer], output: [pipe.reader], release: () => closeSync(pipe.writer) };
				return { stdio: ["ignore", "pipe", pipes ? "pipe" : "ignore"], output: [] };
			},
			signal,
		).catch((error) => {
			if (signal?.aborted) return undefined;
			throw error;
		});
	}

	/** Starts a program inside walls and waits until it has begun. `connect` opens its streams, again for each attempt. */
	async #enclosed(start: ProgramStart, connect: () => Streams, signal?: AbortSignal): Promise<Started> {
		const confinement = this.#options.confinement as Confinement;
		let complaint = "";
		for (let attempt = 0; attempt < (isVanished(complaint) ? vanishedAttempts : enclosingAttempts); attempt += 1) {
			requireDirectory(start.cwd);
			this.#count += 1;
			const mark = `${this.#id}${this.#count};`;
			const enclosure = await confinement.enclose({ ...start, environment: commandEnvironment(start.environment, mark) });
			if (this.#isClosed || signal?.aborted) {
				enclosure.release();
				await enclosure.ended();
				throw new Error(this.#isClosed ? closedText : "Operation aborted");
			}
			const { stdio, output: own, release: disconnect } = connect();
			if (confinement.canOutlive) this.#watchdog.start();
			let child: ChildProcess;
			try {
				const options = { cwd: "/", env: enclosure.environment, stdio: [...stdio, ...enclosure.descriptors], detached: true };
				child = spawn(enclosure.file, enclosure.args, options as SpawnOptions);
			} finally {
				enclosure.release();
				disconnect?.();
			}
			if (child.pid === undefined) throw await startError(child);
			child.on("error", () => undefined);
			const group = child.pid;
			if (confinement.canOutlive) this.#watchdog.guard(group);
			this.#programs.add(group);
			const doomed = { groups: [group], mark };
			const onAbort = () => killProcesses(doomed);
			signal?.addEventListener("abort", onAbort, { once: true });
			const streams = [child.stdout, child.stderr] as (Readable | null | undefined)[];
			const output = own.length > 0 ? own : streams.filter((stream) => stream !== null && stream !== undefined);
			const release = hold(streams);
			const hasBegun = await enclosure.begun(child);
			release();
			signal?.removeEventListener("abort", onAbort);
			this.#programs.delete(group);
			this.#oldLogs ??= setTimeout(() => removeOldLogs(this.#tempDir, Date.now()), oldLogsAfterMs).unref();
			if (hasBegun) return { child, mark, output, enclosure };
			complaint = await textOf(output);
			this.#watchdog.release(group);
			await enclosure.ended();
			if (this.#isClosed || signal?.aborted) break;
		}
		throw new Error(`The sandbox could not be built for this command: ${complaint.trim() || "it ended before the command began"}.`);
	}

	#spawn(
		file: string,
		args: readonly string[],
		options: SpawnOptions,
		environment: Record<string, string | undefined>,
		isPlain = false,
	): { child: ChildProcess; mark: string } {
		if (this.#isClosed) throw new Error(closedText);
		requireDirectory(String(options.cwd));
		this.#watchdog.start();
		this.#count += 1;
		const mark = `${this.#id}${this.#count};`;
		const env = isPlain ? { ...environment, BOWLINE_RUN: `${environment.BOWLINE_RUN ?? ""}${mark}` } : commandEnvironment(environment, mark);
		let child: ChildProcess;
		try {
			child = spawn(file, args, { ...options, env, detached: true, windowsHide: true });
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code !== "E2BIG") throw error;
			throw new Error("The command is too long to be started. Write it to a file and run that.", { cause: error });
		}
		if (child.pid === undefined) return { child, mark };
		// Later errors concern signals and messages, which we send and check by other means.
		child.on("error", () => undefined);
		this.#watchdog.guard(child.pid);
		this.#oldLogs ??= setTimeout(() => removeOldLogs(this.#tempDir, Date.now()), oldLogsAfterMs).unref();
		return { child, mark };
	}

	/** A finished command may have left processes in its group. */
	#leave(group: number): void {
		if (process.platform === "win32") return;
		// The numbers of groups that have ended since are no longer ours.
		for (const each of [group, ...this.#background]) {
			if (isAlive(-each)) this.#background.add(each);
			else if (this.#background.delete(each) || each === group) this.#watchdog.release(each);
		}
	}
}

/** Also of a child that has ended already: one inside walls may be faster than our reading of its first byte. */
function exitOf(child: ChildProcess): Promise<[number | null, NodeJS.Signals | null]> {
	const { exitCode: code, signalCode: name } = child;
	if (code !== null || name !== null) return Promise.resolve([code, name]);
	return new Promise((resolve) => {
		child.once("exit", (status, signal) => resolve([status, signal]));
	});
}

/**
 * Keeps what a program prints until the returned function is called. Node throws away the output of a program that has ended while nothing
 * reads it, and one inside walls may end before its first byte is read here.
 */
function hold(streams: readonly (Readable | null | undefined)[]): () => void {
	const keep = () => undefined;
	for (const stream of streams) stream?.on("readable", keep);
	return () => {
		for (const stream of streams) stream?.off("readable", keep);
	};
}

/** Where what an enclosed program prints goes. */
interface Streams {
	stdio: readonly ("ignore" | "pipe" | number)[];
	/** Instead of the child's own streams. */
	output: Readable[];
	release?(): void;
}

const closedText = "The session is over; nothing can be started any more.";
const joined = 'exec "$@" 2>&1';

/** What is left in the streams of a process that is ending. */
function textOf(streams: readonly Readable[]): Promise<string> {
	return new Promise((resolve) => {
		let text = "";
		const pipes = readPipes([...streams], (chunk) => {
			if (text.length < 4096) text += chunk;
		});
		pipes.exited();
		void pipes.done.then(() => resolve(text));
	});
}

function without(environment: Record<string, string | undefined>, names: readonly string[] = []): Record<string, string | undefined> {
	return names.length === 0 ? environment : Object.fromEntries(Object.entries(environment).filter(([name]) => !names.includes(name)));
}

function requireDirectory(cwd: string): void {
	if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) throw new Error(`Working directory does not exist: ${cwd}`);
}

const startError = (child: ChildProcess) => new Promise<Error>((resolve) => child.once("error", resolve));

function exitCode(code: number | null, signal: NodeJS.Signals | null): number | null {
	return signal === null ? code : 128 + constants.signals[signal];
}

function shown({ text, ...facts }: OutputView): ShellUpdate {
	return { output: text, ...facts };
}

/** At most one update per interval, and none without new output. */
function throttledUpdates(output: Output, onUpdate: ((update: ShellUpdate) => void) | undefined) {
	let timer: NodeJS.Timeout | undefined;
	const send = () => {
		timer = undefined;
		onUpdate?.(shown(output.view(false)));
	};
	return {
		due() {
			if (onUpdate) timer ??= setTimeout(send, updateEveryMs);
		},
		flush() {
			if (timer === undefined) return;
			clearTimeout(timer);
			send();
		},
	};
}
