/** The beginning of a session file, without reading the rest of it. */
import { closeSync, constants, openSync, readSync } from "node:fs";
import { fileStats, nonBlocking } from "./place.ts";

/** Enough for the header and the first prompt. */
export const headSize = 64 * 1024;

/** The first bytes of a file; none when it cannot be read. */
export function headBytes(path: string): Buffer {
	let descriptor: number | undefined;
	// Some devices do something when they are opened.
	if (!fileStats(path)) return Buffer.alloc(0);
	try {
		descriptor = openSync(path, constants.O_RDONLY | nonBlocking);
		const bytes = Buffer.allocUnsafe(headSize);
		return bytes.subarray(0, readSync(descriptor, bytes, 0, headSize, 0));
	} catch {
		// A directory, a file of another user, one that is gone by now: not a session.
		return Buffer.alloc(0);
	} finally {
		if (descriptor !== undefined) closeSync(descriptor);
	}
}

/** The header of a file, if it is a session. */
export function firstLine(path: string): FirstLine | undefined {
	return headerOf(headBytes(path));
}

export interface FirstLine {
	header: { id: string; version?: number; cwd?: string; timestamp?: string; parentSession?: string };
	/** Where the second line begins. */
	end: number;
}

/** Whether the `cwd` of a header names another working directory. One that contained a secret could be any. */
export function isOtherDirectory(ofHeader: string, cwd: string): boolean {
	return ofHeader !== cwd && !ofHeader.includes("[redacted]");
}

/** The header of a session file, if these are the first bytes of one. */
export function headerOf(bytes: Buffer): FirstLine | undefined {
	let start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
	while (bytes[start] === 0x0a || bytes[start] === 0x0d) start++;
	const newline = bytes.indexOf(0x0a, start);
	const stop = newline < 0 ? bytes.length : newline;
	try {
		const header = JSON.parse(bytes.toString("utf8", start, stop));
		if (header?.type !== "session" || typeof header.id !== "string") return undefined;
		return { header, end: Math.min(stop + 1, bytes.length) };
	} catch {
		return undefined;
	}
}
