/** Looks at real processes, for tests. */
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

function read(pid: number, file: string): string {
	try {
		return readFileSync(`/proc/${pid}/${file}`, "latin1");
	} catch (error) {
		if (["ENOENT", "ESRCH", "EACCES", "EPERM"].includes((error as NodeJS.ErrnoException).code ?? "")) return "";
		throw error;
	}
}

const pids = () => readdirSync("/proc").map(Number).filter(Number.isInteger);

/** Command lines of living processes whose environment holds the text. */
export function processesWith(text: string): string[] {
	const found = pids().filter((pid) => pid !== process.pid && read(pid, "environ").includes(text));
	return found.map((pid) => read(pid, "cmdline").replaceAll("\0", " ").trim()).filter((line) => line !== "");
}

/** Living processes whose command line holds the text. */
export function commandsWith(text: string): string[] {
	const lines = pids().map((pid) => (pid === process.pid ? "" : read(pid, "cmdline").replaceAll("\0", " ").trim()));
	return lines.filter((line) => line.includes(text));
}

/** Ids of a process's watchdogs. */
export function watchdogsOf(parent: number): number[] {
	return pids().filter((pid) => {
		const stat = read(pid, "stat");
		return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1] === String(parent) && read(pid, "cmdline").includes("bowline-watchdog");
	});
}

/** Not even a zombie counts as gone: its parent does not know yet. */
export const isPresent = (pid: number) => read(pid, "stat") !== "";

/** Neither gone nor a zombie. */
export function isRunning(pid: number): boolean {
	const stat = read(pid, "stat");
	return stat !== "" && stat[stat.lastIndexOf(")") + 2] !== "Z";
}

/** Waits until the condition holds; false when it does not in time. */
export async function eventually(condition: () => boolean, withinMs: number): Promise<boolean> {
	const end = Date.now() + withinMs;
	while (!condition()) {
		if (Date.now() > end) return false;
		await sleep(20);
	}
	return true;
}
