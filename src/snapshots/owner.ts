/** Notes which process a directory belongs to, so that those of crashed processes are found. */
import { mkdirSync, readFileSync, readlinkSync, renameSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { holderOf, isHolderAlive, parseHolder } from "../lib/claim.ts";

/** A directory of another machine or container, whose processes we cannot see, is given up after this long. */
const foreignForMs = 14 * 24 * 60 * 60 * 1000;

const file = (directory: string) => join(directory, "owner.json");

const unfinished = ".making";

/** Whether this is a directory whose making was cut short. */
export const isUnfinished = (directory: string) => directory.endsWith(unfinished);

/** Makes a directory that belongs to this process. It never exists without its owner, whenever the process is killed. */
export function makeOwned(directory: string): void {
	const making = `${directory}${unfinished}`;
	mkdirSync(making, { recursive: true, mode: 0o700 });
	writeFileSync(file(making), JSON.stringify({ ...holderOf(process.pid), machine: machine() }), { mode: 0o600 });
	renameSync(making, directory);
}

/** Whether its owner is gone. */
export function isAbandoned(directory: string, now: number): boolean {
	const { mtimeMs } = statSync(file(directory), { throwIfNoEntry: false }) ?? statSync(directory);
	try {
		const text = readFileSync(file(directory), "utf8");
		const holder = parseHolder(text);
		if (holder && (JSON.parse(text) as { machine?: string }).machine === machine()) return !isHolderAlive(holder);
	} catch {
		// There is no owner that can be read: its age decides.
	}
	return now - mtimeMs > foreignForMs;
}

/** Where ids of processes are valid. */
function machine(): string {
	try {
		return `${hostname()} ${readlinkSync("/proc/self/ns/pid")}`;
	} catch {
		return hostname();
	}
}
