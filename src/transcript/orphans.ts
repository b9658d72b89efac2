/** Locks of processes that were killed, on sessions that nobody opens again. Loaded when a new session is stored for the first time. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { forgetDead } from "../lib/claim.ts";

/** Failing is fine: another process may do the same at the same time, and there is a next time. */
export async function removeOrphans(directory: string): Promise<void> {
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
