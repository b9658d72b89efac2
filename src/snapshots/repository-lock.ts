/** One at a time in a repository, between tasks and between processes: git's own locks make the second one fail instead of wait. */

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { claim, holderOf, unclaim } from "../lib/claim.ts";

const longestWaitMs = 120_000;

/** The same for several. They are taken in one order everywhere, so that no two processes wait for each other. */
export function aloneIn<T>(commonDirs: readonly string[], work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
	return [...new Set(commonDirs)].sort().reduceRight((inner, commonDir) => () => alone(commonDir, inner, signal), work)();
}

/** Does the work while no other task or process of ours works in the repository with this common directory. The signal ends the wait. */
export async function alone<T>(commonDir: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
	const path = join(commonDir, "bowline.lock");
	// Other tasks of this process wait as other processes do.
	const own = JSON.stringify({ ...holderOf(process.pid), token: randomBytes(8).toString("hex") });
	const start = performance.now();
	for (let wait = 5; ; wait = Math.min(wait * 2, 50)) {
		signal?.throwIfAborted();
		const other = claim(path, own);
		if (!other) break;
		if (performance.now() - start > longestWaitMs) {
			const who = other.holder ? `Process ${other.holder.pid}` : "Another process";
			throw new Error(`${who} does not release the repository. If it is not an agent at work, remove ${path}.`);
		}
		await sleep(wait);
	}
	try {
		return await work();
	} finally {
		unclaim(path, own);
	}
}
