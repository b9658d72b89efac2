/** A file that says which process has something. A claim whose process is gone is taken over. */
import { closeSync, constants, linkSync, openSync, readFileSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import { CommandError } from "./command-error.ts";

export interface Holder {
	pid: number;
	/** When that process started, in the system's own count: ids of processes are used again. Absent where the system does not tell. */
	startTime?: string;
}

/** Someone else's claim; without a holder when what is written there cannot be read. */
export interface Claimed {
	text: string;
	holder?: Holder;
}

/** Writes `own` (JSON of a holder, perhaps with more) to the path. Gives the claim that stands in the way, and throws a system error when it cannot be written. */
export function claim(path: string, own: string): Claimed | undefined {
	for (let attempt = 0; attempt < 10; attempt++) {
		if (create(path, own)) {
			forgetAside(path);
			return undefined;
		}
		const text = read(path);
		if (text === undefined) continue;
		const holder = parseHolder(text);
		if (holder ? isHolderAlive(holder) : isFresh(path)) return holder ? { text, holder } : { text };
		removeStale(path, text);
	}
	throw new CommandError(`Could not be locked: ${path} changes all the time.`);
}

/** Removes a claim whose process is gone. */
export function forgetDead(path: string): void {
	const text = read(path);
	if (text === undefined) return;
	const holder = parseHolder(text);
	if (holder ? !isHolderAlive(holder) : !isFresh(path)) removeStale(path, text);
}

/** Gives up a claim, if it is still `own`. */
export function unclaim(path: string, own: string): void {
	if (read(path) === own) rmSync(path, { force: true });
}

export function holderOf(pid: number): Holder {
	const startTime = statOf(pid)[19];
	return startTime === undefined ? { pid } : { pid, startTime };
}

export function parseHolder(text: string): Holder | undefined {
	try {
		const { pid, startTime } = JSON.parse(text) as Partial<Holder>;
		return Number.isSafeInteger(pid) && (pid as number) > 0 ? { pid: pid as number, startTime } : undefined;
	} catch {
		return undefined;
	}
}

export function isHolderAlive({ pid, startTime }: Holder): boolean {
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

function create(path: string, text: string): boolean {
	let descriptor: number;
	try {
		descriptor = openSync(path, "wx", 0o600);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
		throw error;
	}
	try {
		const bytes = Buffer.from(text);
		if (writeSync(descriptor, bytes) < bytes.length) throw Object.assign(new Error(`${path} could be written only in part`), { code: "ENOSPC" });
		return true;
	} catch (error) {
		// A claim of which nothing could be written, on a full disk for example, would look like another's.
		rmSync(path, { force: true });
		throw error;
	} finally {
		closeSync(descriptor);
	}
}

const asideOf = (path: string) => `${path}.old`;

/** Moved away first and looked at again: another process may have taken the stale claim over in between. */
function removeStale(path: string, text: string): void {
	const aside = asideOf(path);
	try {
		renameSync(path, aside);
		const moved = read(aside);
		if (moved !== text && moved !== undefined) linkSync(aside, path);
	} catch (error) {
		// Somebody else was faster: the next look tells who.
		if (!["ENOENT", "EEXIST"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
	}
	rmSync(aside, { force: true });
}

/** A process that was killed between these steps left it. */
function forgetAside(path: string): void {
	try {
		const text = read(asideOf(path));
		const holder = text === undefined ? undefined : parseHolder(text);
		if (text !== undefined && !(holder && isHolderAlive(holder))) rmSync(asideOf(path), { force: true });
	} catch {
		// Then it stays; it is in nobody's way.
	}
}

function read(path: string): string | undefined {
	let descriptor: number;
	try {
		// A pipe must not make us wait for its other end.
		descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
		throw error;
	}
	try {
		return readFileSync(descriptor, "utf8");
	} finally {
		closeSync(descriptor);
	}
}

/** A claim that cannot be read may be one that is just being written. */
function isFresh(path: string): boolean {
	const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? { mtimeMs: 0 };
	return Math.abs(Date.now() - mtimeMs) < 1000;
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
