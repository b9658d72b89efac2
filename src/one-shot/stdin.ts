/** The piped input. A pipe that the caller forgot to close must not delay the answer. */
import { fstatSync } from "node:fs";
import { UsageError } from "../lib/usage-error.ts";

/** How long a pipe may stay silent before we go on without it. */
const patienceMs = 2000;
/** More than any model reads. */
export const mostBytes = 32 * 1024 * 1024;

/**
 * Everything up to the end of stdin; nothing when it is a terminal. If stdin is optional (`isNeeded` is false), a pipe in which
 * neither a byte nor an end arrives within two seconds is ignored, with a warning.
 */
export async function readStdin(isNeeded: boolean, warn: (text: string) => void): Promise<Buffer | undefined> {
	const { stdin } = process;
	if (stdin.isTTY) return undefined;
	const isFile = fstatSync(0).isFile();
	return new Promise((resolve, reject) => {
		const chunks: Buffer[] = [];
		let size = 0;
		const giveUp = () => {
			if (size > 0 || stdin.readableEnded) return;
			stdin.pause();
			warn("Nothing came over stdin within 2 s, so it is left out. Redirect it (</dev/null) to save the wait, or pass - to wait for it.");
			resolve(undefined);
		};
		// A byte that has arrived by then is read before this check.
		const timer = isNeeded || isFile ? undefined : setTimeout(() => setImmediate(giveUp), patienceMs);
		stdin.on("data", (chunk: Buffer) => {
			clearTimeout(timer);
			chunks.push(chunk);
			size += chunk.length;
			if (size > mostBytes) reject(new UsageError(`More than ${mostBytes / 1024 / 1024} MiB on stdin: no model reads that much.`));
		});
		stdin.on("end", () => {
			clearTimeout(timer);
			resolve(Buffer.concat(chunks));
		});
		stdin.on("error", (error: NodeJS.ErrnoException) => reject(new UsageError(`stdin cannot be read: ${error.code ?? error.message}.`)));
	});
}
