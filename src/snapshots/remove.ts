/** Removes directories, whatever is in them. */
import { existsSync, lstatSync, rmdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import type { ProgramStarter } from "./git.ts";

/** Like `rm -rf`, also where a directory was made unwritable. */
export async function removeTree(shell: () => Promise<ProgramStarter>, path: string): Promise<void> {
	if (!lstatSync(path, { throwIfNoEntry: false })) return;
	// The system's `rm` is several times faster than Node's. Whatever it leaves is tried again below.
	await runQuietly(shell, "rm", ["-rf", "--", path]);
	if (!existsSync(path)) return;
	await runQuietly(shell, "chmod", ["-R", "u+rwX", "--", path]);
	await rm(path, { recursive: true, force: true, maxRetries: 3 });
}

async function runQuietly(shell: () => Promise<ProgramStarter>, file: string, args: string[]): Promise<void> {
	try {
		const { child } = await (await shell()).start(file, args, "/");
		child.stdout?.resume();
		child.stderr?.resume();
		await new Promise((resolve) => child.once("close", resolve));
	} catch {
		// At the end of a session no program can be started, and not every system has these.
	}
}

export function removeEmpty(directory: string): void {
	try {
		rmdirSync(directory);
	} catch (error) {
		if (!["ENOTEMPTY", "EEXIST", "ENOENT"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
	}
}
