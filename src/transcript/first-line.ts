/** The beginning of a session file, without reading the rest of it. */
import { closeSync, openSync, readSync } from "node:fs";
import { type FirstLine, headerOf } from "./open.ts";

/** Enough for the header and the first prompt. */
export const headSize = 64 * 1024;

/** The first bytes of a file; none when it cannot be read. */
export function headBytes(path: string): Buffer {
	let descriptor: number | undefined;
	try {
		descriptor = openSync(path, "r");
		const bytes = Buffer.allocUnsafe(headSize);
		return bytes.subarray(0, readSync(descriptor, bytes, 0, headSize, 0));
	} catch {
		// A directory, a file of somebody else, one that is gone by now: no session to offer.
		return Buffer.alloc(0);
	} finally {
		if (descriptor !== undefined) closeSync(descriptor);
	}
}

/** The header of a file, if it is a session. */
export function firstLine(path: string): FirstLine | undefined {
	return headerOf(headBytes(path));
}
