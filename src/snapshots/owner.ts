/** Says whose a directory of copies is, so that those of crashed processes are found. */
import { readFileSync, readlinkSync, statSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { holderOf, isHolderAlive, parseHolder } from "../lib/claim.ts";

/** A directory of another machine or container, whose processes we cannot see, is given up after this long. */
const foreignForMs = 14 * 24 * 60 * 60 * 1000;

const file = (directory: string) => join(directory, "owner.json");

export async function writeOwner(directory: string): Promise<void> {
	await writeFile(file(directory), JSON.stringify({ ...holderOf(process.pid), machine: machine() }), { mode: 0o600 });
}

/** Whether nobody will come back to it. */
export function isAbandoned(directory: string, now: number): boolean {
	const { mtimeMs } = statSync(file(directory), { throwIfNoEntry: false }) ?? statSync(directory);
	try {
		const text = readFileSync(file(directory), "utf8");
		const holder = parseHolder(text);
		if (holder && (JSON.parse(text) as { machine?: string }).machine === machine()) return !isHolderAlive(holder);
	} catch {
		// It is just being made, or its maker died at the first step; the time tells.
	}
	return now - mtimeMs > foreignForMs;
}

/** Ids of processes mean something only here. */
function machine(): string {
	try {
		return `${hostname()} ${readlinkSync("/proc/self/ns/pid")}`;
	} catch {
		return hostname();
	}
}
