/** Partial files left by killed processes, before they could replace complete ones. */
import { lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

/** No process takes that long to write one. */
const minAgeMs = 10 * 60 * 1000;

/** Removes files with these names that no process can need any more. Failure is harmless: a later call retries. */
export async function removeLeftOvers(directory: string, isHalf: (name: string) => boolean, now: number): Promise<void> {
	const [listing] = await Promise.allSettled([readdir(directory)]);
	if (listing.status === "rejected") return;
	const removeIfOld = async (path: string) => {
		const facts = await lstat(path);
		if (facts.isFile() && facts.uid === process.getuid?.() && now - facts.mtimeMs > minAgeMs) await rm(path);
	};
	await Promise.allSettled(listing.value.filter(isHalf).map((name) => removeIfOld(join(directory, name))));
}
