/** Puts a page on disk: whole or not at all, and for nobody else to read. */
import { randomBytes } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** What a page is called when nobody says. */
export const pageFileName = (sessionFile: string) => `bowline-session-${basename(sessionFile, ".jsonl")}.html`;

export async function exportFile(path: string, chunks: Iterable<string>): Promise<void> {
	const temporary = join(dirname(path), `.${basename(path).slice(0, 200)}.${randomBytes(6).toString("hex")}.tmp`);
	const file = await open(temporary, "wx", 0o600);
	try {
		try {
			for (const chunk of chunks) await file.writeFile(chunk);
		} finally {
			await file.close();
		}
		await rename(temporary, path);
	} catch (error) {
		await rm(temporary, { force: true });
		throw error;
	}
}
