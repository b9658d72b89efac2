/** Cleans up a directory of sessions: locks of processes that were killed, old trash. Loaded when a new session is stored for the first time. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { forgetDead } from "../lib/claim.ts";
import { emptyTrash } from "./trash.ts";

export async function cleanUp(directory: string): Promise<void> {
	await removeOrphans(directory);
	await emptyTrash(directory, Date.now());
}

/** Failing is fine: another process may do the same at the same time, and there is a next time. */
async function removeOrphans(directory: string): Promise<void> {
	const [listing] = await Promise.allSettled([readdir(directory)]);
	if (listing.status === "rejected") return;
	for (const name of listing.value) {
		if (!/\.jsonl\.lock(\.old)?$/.test(name)) continue;
		try {
			forgetDead(join(directory, name));
		} catch {
			// Not ours to remove, or gone already.
		}
	}
}
