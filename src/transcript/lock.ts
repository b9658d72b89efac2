/** One writer per session: `<file>.lock` names the process that has it. A lock whose process is gone is taken over. */
import { linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { CommandError } from "../lib/command-error.ts";
import { readWhole } from "./place.ts";

interface Holder {
	pid: number;
	/** When that process started, in the system's own count: ids of processes are used again. Absent where the system does not tell. */
	startTime?: string;
}

export class Lock {
	/** This process had it already. */
	readonly isShared: boolean;
	readonly #path: string;

	private constructor(path: string, isShared: boolean) {
		this.#path = path;
		this.isShared = isShared;
	}

	/** Throws a CommandError when another process has it, and a system error when the lock cannot be written. */
	static take(file: string): Lock {
		const path = `${file}.lock`;
		const own = JSON.stringify(holderOf(process.pid));
		for (let attempt = 0; attempt < 10; attempt++) {
			if (create(path, own)) return new Lock(path, false);
			const text = read(path);
			if (text === undefined) continue;
			const holder = parse(text);
			if (holder ? isAlive(holder) : isFresh(path)) {
				// Ours already: the same file is being opened again.
				if (text === own) return new Lock(path, true);
				const who = holder ? `process ${holder.pid}` : "another process";
				throw new CommandError(`Session is in use by ${who}: ${file}. Close it there first, or remove ${path} if that process is not an agent.`);
			}
			removeStale(path, text);
		}
		throw new CommandError(`Session could not be locked: ${path} changes all the time.`);
	}

	release(): void {
		if (read(this.#path) === JSON.stringify(holderOf(process.pid))) rmSync(this.#path, { force: true });
	}
}

function create(path: string, text: string): boolean {
	try {
		writeFileSync(path, text, { flag: "wx", mode: 0o600 });
		return true;
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
		// A lock of which nothing could be written (a full disk) would look like another's.
		if ((error as NodeJS.ErrnoException).code === "ENOSPC") rmSync(path, { force: true });
		throw error;
	}
}

/** Moved away first and looked at again: another process may have taken the stale lock over in between. */
function removeStale(path: string, text: string): void {
	const aside = `${path}.${process.pid}`;
	try {
		renameSync(path, aside);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
		throw error;
	}
	try {
		if (read(aside) !== text) linkSync(aside, path);
	} finally {
		rmSync(aside, { force: true });
	}
}

function read(path: string): string | undefined {
	try {
		return readWhole(path).toString();
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
		throw error;
	}
}

function parse(text: string): Holder | undefined {
	try {
		const { pid, startTime } = JSON.parse(text) as Partial<Holder>;
		return Number.isSafeInteger(pid) && (pid as number) > 0 ? { pid: pid as number, startTime } : undefined;
	} catch {
		return undefined;
	}
}

/** A lock that cannot be read may be one that is just being written. */
function isFresh(path: string): boolean {
	const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? { mtimeMs: 0 };
	return Math.abs(Date.now() - mtimeMs) < 1000;
}

function isAlive({ pid, startTime }: Holder): boolean {
	try {
		process.kill(pid, 0);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
	}
	const stat = statOf(pid);
	// Killed, and its parent has not looked yet.
	if (stat[0] === "Z" || stat[0] === "X") return false;
	return startTime === undefined || stat[19] === undefined || startTime === stat[19];
}

function holderOf(pid: number): Holder {
	const startTime = statOf(pid)[19];
	return startTime === undefined ? { pid } : { pid, startTime };
}

/** What the system tells about a process, from its state on; nothing where it does not. */
function statOf(pid: number): string[] {
	try {
		// The name of the program, in parentheses, may itself hold spaces and parentheses.
		const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
		return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
	} catch {
		return [];
	}
}
