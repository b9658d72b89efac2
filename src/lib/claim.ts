/** A file that says which process holds something. A claim whose process is gone is taken over. */
import { closeSync, constants, linkSync, openSync, readdirSync, readFileSync, readlinkSync, renameSync, rmSync, statSync, writeSync } from "node:fs";

/** Where the id of a process is valid. Members are absent where the system does not provide them. */
export interface ProcessSpace {
	machine?: string;
	/** Changes with every boot of the system. */
	boot?: string;
	/** The PID namespace: containers number their processes on their own. */
	namespace?: string;
}

export interface Holder {
	pid: number;
	/** When that process started, in the system's own count: process ids are reused. Absent where the system does not report it. */
	startTime?: string;
	/** Absent in claims of earlier versions. */
	space?: ProcessSpace;
}

/** A claim of another process; without a holder when its text cannot be read. */
export interface Claimed {
	text: string;
	holder?: Holder;
}

/** Others take and give up the path all the time. */
export class ContestedClaim extends Error {
	override readonly name = "ContestedClaim";

	constructor(path: string) {
		super(`Could not be locked: ${path} changes all the time.`);
	}
}

/**
 * Writes `own` (JSON of a holder, perhaps with more) to the path and returns the claim of another process, if there is one. Throws a ContestedClaim,
 * and a system error when it cannot be written.
 */
export function claim(path: string, own: string): Claimed | undefined {
	const deadline = performance.now() + 2 * freshMs;
	for (let attempt = 0; attempt < 10; ) {
		if (create(path, own)) {
			forgetAside(path);
			return undefined;
		}
		const text = read(path);
		const holder = text === undefined ? undefined : parseHolder(text);
		if (text !== undefined && !holder && isFresh(path)) {
			// Its process is about to write it, or was killed before it could. Soon it can be read, or is old enough to be removed.
			if (performance.now() > deadline) return { text };
			pause();
			continue;
		}
		if (text !== undefined && holder && isHolderAlive(holder)) return { text, holder };
		if (text !== undefined) removeStale(path, text);
		attempt++;
	}
	throw new ContestedClaim(path);
}

/** The claim at a path, if there is one and its process lives, or may live. */
export function claimOf(path: string): Claimed | undefined {
	const text = read(path);
	const holder = text === undefined ? undefined : parseHolder(text);
	return text !== undefined && holder && isHolderAlive(holder) ? { text, holder } : undefined;
}

/** Changes the text of our own claim. In one write at the beginning, so that no reader sees half of it; it must not become shorter. */
export function rewriteClaim(path: string, own: string, next: string): boolean {
	if (next.length < own.length || read(path) !== own) return false;
	const descriptor = openSync(path, constants.O_WRONLY);
	try {
		return writeSync(descriptor, next, 0) === Buffer.byteLength(next);
	} finally {
		closeSync(descriptor);
	}
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
	const space = ownSpace();
	return { pid, ...(startTime === undefined ? {} : { startTime }), ...(Object.keys(space).length ? { space } : {}) };
}

export function parseHolder(text: string): Holder | undefined {
	try {
		const { pid, startTime, space } = JSON.parse(text) as Partial<Holder>;
		if (!Number.isSafeInteger(pid) || (pid as number) <= 0) return undefined;
		return { pid: pid as number, startTime, ...(typeof space === "object" && space !== null ? { space } : {}) };
	} catch {
		return undefined;
	}
}

/** Where that cannot be known, because the process is on another machine or in another container, it counts as alive. */
export function isHolderAlive(holder: Holder): boolean {
	const { pid, startTime } = holder;
	switch (distanceOf(holder)) {
		case "another boot":
			return false;
		case "another machine":
			return true;
		case "another namespace":
			return mayLiveInside(holder);
		default:
	}
	try {
		process.kill(pid, 0);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
	}
	const stat = statOf(pid);
	// Killed, and its parent has not reaped it yet.
	if (stat[0] === "Z" || stat[0] === "X") return false;
	return startTime === undefined || stat[19] === undefined || startTime === stat[19];
}

export type Distance = "here" | "another namespace" | "another boot" | "another machine";

/** How far away a process is from this one. */
export function distanceOf({ space = {} }: Holder): Distance {
	const own = ownSpace();
	const differs = (name: keyof ProcessSpace) => space[name] !== undefined && own[name] !== undefined && space[name] !== own[name];
	// Containers have machine names of their own, and the boot of the machine they run on.
	if (space.boot !== undefined && space.boot === own.boot) return differs("namespace") ? "another namespace" : "here";
	if (differs("boot")) return space.machine !== undefined && space.machine === own.machine ? "another boot" : "another machine";
	return differs("machine") ? "another machine" : "here";
}

/** Identifies this boot of the system; empty where the system does not say. */
export const bootId = (): string => firstWord("/proc/sys/kernel/random/boot_id");

function ownSpace(): ProcessSpace {
	const machine = `${firstWord("/proc/sys/kernel/hostname")} ${firstWord("/etc/machine-id")}`.trim();
	const boot = bootId();
	let namespace: string | undefined;
	try {
		namespace = readlinkSync("/proc/self/ns/pid");
	} catch {
		// Not Linux, or without /proc.
	}
	return { ...(machine ? { machine } : {}), ...(boot ? { boot } : {}), ...(namespace ? { namespace } : {}) };
}

function firstWord(path: string): string {
	try {
		return readFileSync(path, "utf8").trim();
	} catch {
		return "";
	}
}

/** The system's first PID namespace always has this name. From inside it every process of the machine can be seen. */
const firstNamespace = "pid:[4026531836]";

/** Of a process in another PID namespace. Only from the first one can we know that it is gone. */
function mayLiveInside({ pid, startTime }: Holder): boolean {
	if (ownSpace().namespace !== firstNamespace || firstWord("/proc/1/status") === "") return true;
	return readdirSync("/proc").some((name) => {
		if (!/^\d+$/.test(name)) return false;
		// Its ids in all namespaces, ours first, its own last.
		const ids = /^NSpid:\s+(.*)$/m.exec(firstWord(`/proc/${name}/status`))?.[1]?.split(/\s+/) ?? [];
		if (ids.length < 2 || ids.at(-1) !== String(pid)) return false;
		const stat = statOf(Number(name));
		return stat[0] !== "Z" && stat[0] !== "X" && (startTime === undefined || stat[19] === startTime);
	});
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
		// An empty claim, on a full disk for example, would look like one of another process.
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
		// Another process was faster: the next look shows which.
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
		// It stays, which is harmless.
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

const freshMs = 1000;

/** A claim that cannot be read may be one that is just being written. */
function isFresh(path: string): boolean {
	const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? { mtimeMs: 0 };
	return Math.abs(Date.now() - mtimeMs) < freshMs;
}

/** Blocks this thread for a moment: a claim is made between two steps that nothing may come between. */
function pause(): void {
	Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
}

/** The fields of /proc/<pid>/stat from the state on; none where there is no such file. */
function statOf(pid: number): string[] {
	try {
		// The name of the program, in parentheses, may itself hold spaces and parentheses.
		const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
		return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
	} catch {
		return [];
	}
}
