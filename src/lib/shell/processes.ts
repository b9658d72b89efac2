/** Ends processes: whole groups, and on Linux everything that carries a mark in its environment, wherever it moved to. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

export interface Doomed {
	/** Process group ids. */
	groups: readonly number[];
	/** Text that stands in the environment of every process to end. */
	mark: string;
}

/** How long SIGTERM may take to work. */
const graceMs = 300;
/** Everything is over after this, whatever is left. */
const deadlineMs = 1800;

/** Asks, then insists, until nothing is found any more. Resolves within two seconds. */
export async function endProcesses(doomed: Doomed): Promise<void> {
	const start = Date.now();
	if (!signalAll(doomed, "SIGTERM")) return;
	for (let wait = 5; Date.now() - start < graceMs; wait = Math.min(wait * 2, 80)) {
		await sleep(wait);
		if (!signalAll(doomed, 0)) return;
	}
	// A process that forks between our look and our kill is found at the next look.
	for (let wait = 2; signalAll(doomed, "SIGKILL") && Date.now() - start < deadlineMs; wait = Math.min(wait * 2, 50)) await sleep(wait);
}

/** Signals whatever can be found. True when there was something. */
export function signalAll(doomed: Doomed, signal: NodeJS.Signals | 0): boolean {
	let found = false;
	for (const group of doomed.groups) {
		if (signalProcess(-group, signal)) found = true;
	}
	if (!existsSync("/proc/self/environ")) return found;
	// A group counts as alive while it has a zombie, which nobody may ever reap: only a look at its members tells.
	let isAnyAlive = false;
	for (const { pid, isMarked } of liveProcesses(doomed)) {
		const isOurs = isMarked ? signalProcess(pid, signal) : signalProcess(pid, 0);
		if (isOurs) isAnyAlive = true;
	}
	return isAnyAlive;
}

/** Whether the group or process (then positive) is there and ours. */
export const isAlive = (groupOrProcess: number) => signalProcess(groupOrProcess, 0);

function signalProcess(pid: number, signal: NodeJS.Signals | 0): boolean {
	try {
		process.kill(pid, signal);
		return true;
	} catch (error) {
		// EPERM: it is another user's now (sudo). Nothing we can do, so it must not keep us waiting.
		if (hasCode(error, "ESRCH", "EPERM")) return false;
		throw error;
	}
}

function liveProcesses({ groups, mark }: Doomed): { pid: number; isMarked: boolean }[] {
	const needle = Buffer.from(mark);
	const found: { pid: number; isMarked: boolean }[] = [];
	for (const name of readdirSync("/proc")) {
		const pid = Number(name);
		if (!Number.isInteger(pid) || pid === process.pid) continue;
		const isMarked = readProcess(pid, "environ")?.includes(needle) ?? false;
		if (isMarked || isMember(pid, groups)) found.push({ pid, isMarked });
	}
	return found;
}

function isMember(pid: number, groups: readonly number[]): boolean {
	if (groups.length === 0) return false;
	const stat = readProcess(pid, "stat")?.toString("latin1") ?? "";
	// pid (name) state parent group …; the name may hold anything, also brackets.
	const [state, , group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ", 3);
	return state !== "Z" && state !== "X" && groups.includes(Number(group));
}

function readProcess(pid: number, file: string): Buffer | undefined {
	try {
		return readFileSync(`/proc/${pid}/${file}`);
	} catch (error) {
		if (hasCode(error, "ENOENT", "ESRCH", "EACCES", "EPERM")) return undefined;
		throw error;
	}
}

const hasCode = (error: unknown, ...codes: string[]) => codes.includes((error as NodeJS.ErrnoException).code ?? "");
