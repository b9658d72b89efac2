/** Private files for output that is too long to show, and their removal after a week. */

import { randomBytes } from "node:crypto";
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

/** A file that receives the output of a command. */
export interface OutputLog {
	/** Unset when the file could not be written. */
	readonly path: string | undefined;
	readonly problem: string | undefined;
	write(chunk: Buffer): void;
	close(): void;
}

/** Logs, and directories left by killed processes. */
const namePattern = /^bowline-(?:(?:bash|mcp)-[0-9a-f]+\.log|(?:pipes|tasks)-\w+)$/;
const maxAgeMs = 7 * 24 * 60 * 60 * 1000;

/** Only the user may read it. A full disk loses the file, never the command. */
export function temporaryLog(directory: string): OutputLog {
	const file = join(directory, `bowline-bash-${randomBytes(8).toString("hex")}.log`);
	let descriptor: number | undefined;
	let path: string | undefined;
	let problem: string | undefined;

	function attempt(action: () => void): void {
		try {
			action();
		} catch (error) {
			problem = (error as Error).message;
			path = undefined;
			giveUp();
		}
	}
	function close(): void {
		if (descriptor !== undefined) closeSync(descriptor);
		descriptor = undefined;
	}
	/** If the directory cannot be used, nothing can be removed from it either. */
	function giveUp(): void {
		try {
			close();
			rmSync(file, { force: true });
		} catch {
			descriptor = undefined;
		}
	}

	attempt(() => {
		descriptor = openSync(file, "wx", 0o600);
		path = file;
	});
	return {
		get path() {
			return path;
		},
		get problem() {
			return problem;
		},
		write(chunk) {
			// Synchronous on purpose: memory stays bounded without pausing the pipe, and the page cache takes 64 KB in microseconds.
			attempt(() => {
				for (let done = 0; descriptor !== undefined && done < chunk.length; ) done += writeSync(descriptor, chunk, done);
			});
		},
		close,
	};
}

/** Removes our own files older than a week. Failure is harmless: another process may do the same now, and the next start retries. */
export async function removeOldLogs(directory: string, now: number, pattern = namePattern): Promise<void> {
	const [listing] = await Promise.allSettled([readdir(directory)]);
	if (listing.status === "rejected") return;
	const removeIfOld = async (path: string) => {
		const facts = await lstat(path);
		if (facts.uid === process.getuid?.() && now - facts.mtimeMs > maxAgeMs) await rm(path, { recursive: true, force: true });
	};
	await Promise.allSettled(listing.value.filter((name) => pattern.test(name)).map((name) => removeIfOld(join(directory, name))));
}
