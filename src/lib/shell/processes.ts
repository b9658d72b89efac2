/** Ends processes: whole groups, and on Linux everything that a command started, whatever session it moved to. */
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type Doomed, type FoundProcess, ProcessSearch } from "./process-search.ts";

/** How long SIGTERM may take to work. */
const usualGraceMs = 300;
/** We stop trying after this, whatever is left. */
const deadlineMs = 1800;
/** A process can appear during a scan, so one empty scan proves nothing. */
const emptyLooks = 2;
/** How many scans in a row may find new processes before the frozen ones are killed. */
const freezingLooks = 20;
/** The minimum number of kills, however late it is on a busy machine. */
const fewestKills = 3;

/** Asks every process to end, then kills those that are left, until none is found. Resolves within two seconds. */
export async function endProcesses(doomed: Doomed, graceMs = usualGraceMs): Promise<void> {
	const start = performance.now();
	const search = searchFor(doomed);
	signalAll(search.look(), doomed, "SIGTERM");
	let empty = 0;
	for (let wait = 1; performance.now() - start < graceMs; wait = Math.min(wait * 2, 40)) {
		empty = search.look().length === 0 ? empty + 1 : 0;
		if (empty === emptyLooks) return;
		await sleep(empty > 0 ? 1 : wait);
	}
	empty = 0;
	const isInTime = (kills: number) => kills < fewestKills || performance.now() - start < deadlineMs;
	for (let kills = 0; empty < emptyLooks && isInTime(kills); kills += 1) {
		empty = killFound(search, doomed) ? 0 : empty + 1;
		await sleep(empty > 0 ? 1 : Math.min(2 ** kills, 20));
	}
}

/** Kills the processes that can be found now, without asking or waiting. */
export function killProcesses(doomed: Doomed): void {
	killFound(searchFor(doomed), doomed);
}

/** True when there was a process. A frozen process cannot fork, so the scans come to an end and nothing escapes the kill. */
function killFound(search: Search, doomed: Doomed): boolean {
	const frozen = new Set<number>();
	let found: FoundProcess[] = [];
	for (let look = 0; look < freezingLooks; look += 1) {
		const before = frozen.size;
		for (const group of doomed.groups) signalProcess(-group, "SIGSTOP");
		found = search.look(({ pid }) => {
			if (frozen.has(pid)) return;
			signalProcess(pid, "SIGSTOP");
			frozen.add(pid);
		});
		if (frozen.size === before) break;
	}
	return signalAll(found, doomed, "SIGKILL");
}

/** Signals groups as a whole, and the processes outside them one by one. True when any process is left that we may signal. */
function signalAll(found: readonly FoundProcess[], { groups }: Doomed, signal: NodeJS.Signals): boolean {
	for (const group of groups) signalProcess(-group, signal);
	let isAnyAlive = false;
	for (const { pid, isInGroup } of found) if (signalProcess(pid, isInGroup ? 0 : signal)) isAnyAlive = true;
	return isAnyAlive;
}

type Search = Pick<ProcessSearch, "look">;

/** Without /proc only groups can be found. A group is represented by its negative number, which signals take too. */
function searchFor(doomed: Doomed): Search {
	if (existsSync("/proc/self/environ")) return new ProcessSearch(doomed);
	return { look: () => doomed.groups.filter((group) => isAlive(-group)).map((group) => ({ pid: -group, isInGroup: true })) };
}

/** Whether the process, or the group when the number is negative, exists and is ours. */
export const isAlive = (groupOrProcess: number) => signalProcess(groupOrProcess, 0);

function signalProcess(pid: number, signal: NodeJS.Signals | 0): boolean {
	// Most groups are gone when we ask, and collecting the stack of that error would cost more than the call.
	const { stackTraceLimit } = Error;
	Error.stackTraceLimit = 0;
	try {
		process.kill(pid, signal);
		return true;
	} catch (error) {
		// EPERM: it belongs to another user now (sudo). We cannot end it, so we must not wait for it.
		if (["ESRCH", "EPERM"].includes((error as NodeJS.ErrnoException).code ?? "")) return false;
		throw error;
	} finally {
		Error.stackTraceLimit = stackTraceLimit;
	}
}
