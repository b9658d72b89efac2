/** Where a session file really is, and whether it can be read and written like a file. */
import {
	closeSync,
	constants,
	fstatSync,
	lstatSync,
	mkdirSync,
	openSync,
	readFileSync,
	readlinkSync,
	realpathSync,
	type Stats,
	statSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { CommandError } from "../protocol/command-error.ts";

/** A pipe must not make us wait for its other end; files do not mind. Absent on Windows. */
export const nonBlocking = constants.O_NONBLOCK ?? 0;

/** The one name of a file, whatever links lead to it: locks and comparisons need it. Works for files that do not exist yet, too. */
export function realPlace(path: string): string {
	try {
		return realpathSync(path);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "ENOENT" || dirname(path) === path) return path;
	}
	try {
		// A link to a file that does not exist yet.
		if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return realPlace(resolve(dirname(path), readlinkSync(path)));
	} catch {
		return path;
	}
	return join(realPlace(dirname(path)), basename(path));
}

/** A file is the same as long as this is the same, whatever its name. */
export const identityOf = ({ dev, ino }: Stats): string => `${dev}:${ino}`;

/** The facts of a regular file; nothing for anything else. */
export function fileStats(path: string): Stats | undefined {
	try {
		const stats = statSync(path, { throwIfNoEntry: false });
		return stats?.isFile() ? stats : undefined;
	} catch {
		return undefined;
	}
}

export interface FileContent {
	bytes: Buffer;
	/** Of the file that the bytes come from. */
	stats: Stats;
}

/** Nothing when there is no file. Pipes and devices, which may never end, are refused. */
export function readSession(path: string): FileContent | undefined {
	let descriptor: number | undefined;
	try {
		const stats = statSync(path, { throwIfNoEntry: false });
		if (!stats) return undefined;
		if (!stats.isFile() && !stats.isDirectory()) throw new CommandError("bad_session", `Not a session file: ${path} is not a regular file.`);
		descriptor = openSync(path, constants.O_RDONLY | nonBlocking);
		return { bytes: readFileSync(descriptor), stats: fstatSync(descriptor) };
	} catch (error) {
		if (error instanceof CommandError) throw error;
		const { code } = error as NodeJS.ErrnoException;
		if (code === "ENOENT") return undefined;
		throw new CommandError("io", `Session file could not be read: ${code ?? (error as Error).message} ${path}`);
	} finally {
		if (descriptor !== undefined) closeSync(descriptor);
	}
}

/** Like `mkdir -p`. Node's own never returns where the system says that a parent is missing although it is there, as in /proc. */
export function makeDirectory(path: string): void {
	const missing: string[] = [];
	for (let at = path; !statSync(at, { throwIfNoEntry: false }) && dirname(at) !== at; at = dirname(at)) missing.unshift(at);
	for (const directory of missing) {
		try {
			mkdirSync(directory, { mode: 0o700 });
		} catch (error) {
			// Another process was faster.
			if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
		}
	}
}
