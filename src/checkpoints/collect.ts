/** Removes states that are older than they are kept, and stores that no process has used for as long. At most once a day for each store. */
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ProgramStarter } from "../snapshots/git.ts";
import { removeTree } from "../snapshots/remove.ts";
import type { TreeStore } from "./tree-store.ts";

const day = 24 * 60 * 60 * 1000;

/** Never rejects: what cannot be removed now is tried again tomorrow. */
export async function collect(store: TreeStore, keepDays: number, shell: () => Promise<ProgramStarter>, now: number): Promise<void> {
	try {
		const stamp = join(store.directory, "collected");
		const last = ageOf(stamp, now);
		if (last !== undefined && last < day) return;
		writeFileSync(stamp, "", { mode: 0o600 });
		await removeOld(join(store.shadow.directory, "refs/checkpoints"), keepDays, now);
		await removeOld(join(store.directory, "indexes"), keepDays, now);
		await removeOld(join(store.directory, "removed"), keepDays, now);
		for (const name of ["records", "contents"]) await removeOld(join(store.ignored.directory, name), keepDays, now);
		await store.commits.collect((path) => isOlder(path, keepDays, now));
		// Objects that another process has just written are younger than this, and those that it uses again become so.
		await store.shadow.git().run(["prune", "--expire=1.day.ago"]);
		const stores = join(store.directory, "..");
		for (const name of readdirSync(stores)) {
			const age = ageOf(join(stores, name, "collected"), now);
			if (age !== undefined && age > (keepDays + 2) * day) await removeTree(shell, join(stores, name));
		}
	} catch {
		// Another process may be collecting the same.
	}
}

async function removeOld(directory: string, keepDays: number, now: number): Promise<void> {
	if (!existsSync(directory)) return;
	for (const name of readdirSync(directory)) {
		const path = join(directory, name);
		if (isOlder(path, keepDays, now)) rmSync(path, { recursive: true, force: true });
	}
}

function isOlder(path: string, keepDays: number, now: number): boolean {
	const age = ageOf(path, now);
	return age !== undefined && age > keepDays * day;
}

function ageOf(path: string, now: number): number | undefined {
	const stats = statSync(path, { throwIfNoEntry: false });
	return stats && now - stats.mtimeMs;
}
