/** Removed sessions stay for a while in `trash/` next to the others. Loaded when a session is removed, and when a new one is stored. */
import { existsSync, mkdirSync, readdirSync, renameSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { CommandError } from "../protocol/command-error.ts";
import { eventLogPath } from "./event-log.ts";
import { Lock } from "./lock.ts";
import { fileStats, identityOf } from "./place.ts";

const trash = "trash";
const keptMs = 30 * 24 * 60 * 60 * 1000;

/** What belongs to a session: its file, what subagents left, its event log, and logs that were set aside. */
export function belongingsOf(file: string): string[] {
	const bare = file.replace(/\.jsonl$/, "");
	const log = eventLogPath(file);
	const aside = readdirSync(dirname(file)).filter((name) => name.startsWith(`${basename(log)}.unusable`));
	return [file, bare === file ? `${file}.artifacts` : bare, log, ...aside.map((name) => join(dirname(file), name))];
}

/** Returns the directory in the trash. The session's file is moved last, so that a removal that was cut short can be repeated. */
export function moveToTrash(file: string, now: number): string {
	const stats = fileStats(file);
	if (!stats) throw new CommandError("no_session", `No session found: ${file}`);
	// An owner of its own: a session that is open in this process is in use as well.
	const lock = Lock.take(file, "remove", identityOf(stats));
	try {
		const place = newPlace(file, now);
		for (const path of belongingsOf(file).reverse()) if (existsSync(path)) renameSync(path, join(place, basename(path)));
		return place;
	} catch (error) {
		throw new CommandError("io", `Session could not be removed: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message} ${file}`);
	} finally {
		lock.release();
	}
}

/** `trash/<milliseconds>_<name>`: the name says when it expires, because moving a file does not change its times. */
function newPlace(file: string, now: number): string {
	const parent = join(dirname(file), trash);
	mkdirSync(parent, { recursive: true, mode: 0o700 });
	for (let time = now; ; time++) {
		const place = join(parent, `${time}_${basename(file).replace(/\.jsonl$/, "")}`);
		try {
			mkdirSync(place, { mode: 0o700 });
			return place;
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
		}
	}
}

/** Deletes what has been in the trash for 30 days. Failing is fine: there is a next time. */
export async function emptyTrash(directory: string, now: number): Promise<void> {
	const parent = join(directory, trash);
	const [listing] = await Promise.allSettled([readdir(parent)]);
	if (listing.status === "rejected") return;
	for (const name of listing.value) {
		const time = Number(/^(\d+)_/.exec(name)?.[1] ?? Number.NaN);
		// What cannot be removed now is tried again the next time.
		if (now - time > keptMs) await rm(join(parent, name), { recursive: true, force: true }).catch(() => undefined);
	}
}
