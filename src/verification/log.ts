/** The log of one check: all that it printed, up to a limit. */
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import type { OutputLog } from "../lib/shell/index.ts";
import { type Limits, truncateTail } from "../lib/truncate.ts";

/** A check that never stops printing must not fill the disk: this much of the beginning, and this much of the end. */
const headBytes = 16 * 1024 * 1024;
const tailBytes = 256 * 1024;

/** The file comes with the first byte. A full disk costs the file, never the check. */
export function checkLog(file: string): OutputLog {
	let descriptor: number | undefined;
	let path: string | undefined;
	let problem: string | undefined;
	let written = 0;
	let left = 0;
	let tail: Buffer[] = [];
	let tailLength = 0;
	let isClosed = false;

	function attempt(action: () => void): void {
		if (problem !== undefined || isClosed) return;
		try {
			action();
		} catch (error) {
			problem = (error as Error).message;
			release();
			if (path !== undefined) rmSync(path, { force: true });
			path = undefined;
		}
	}
	function put(bytes: Buffer): void {
		if (descriptor === undefined) {
			mkdirSync(dirname(file), { recursive: true });
			descriptor = openSync(file, "w", 0o600);
			path = file;
		}
		for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done);
		written += bytes.length;
	}
	function remember(bytes: Buffer): void {
		// A copy, because the caller uses the chunk's memory again.
		tail.push(Buffer.from(bytes));
		tailLength += bytes.length;
		if (tailLength <= 2 * tailBytes) return;
		const kept = Buffer.concat(tail).subarray(-tailBytes);
		left += tailLength - kept.length;
		tail = [Buffer.from(kept)];
		tailLength = kept.length;
	}
	function release(): void {
		if (descriptor !== undefined) closeSync(descriptor);
		descriptor = undefined;
		tail = [];
	}

	return {
		get path() {
			return path;
		},
		get problem() {
			return problem;
		},
		write(chunk) {
			if (chunk.length === 0) return;
			attempt(() => {
				const room = Math.max(0, headBytes - written);
				if (room > 0) put(chunk.subarray(0, room));
				if (room < chunk.length) remember(chunk.subarray(room));
			});
		},
		close() {
			attempt(() => {
				if (left > 0) put(Buffer.from(`\n[${left} bytes left out]\n`));
				for (const part of tail) put(part);
			});
			release();
			isClosed = true;
		},
	};
}

/** The last lines of a log. Throws when it cannot be read. */
export async function readTail(path: string, limits: Limits): Promise<string> {
	const file = await open(path, "r");
	try {
		const { size } = await file.stat();
		const length = Math.min(size, limits.maxBytes);
		const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length);
		return truncateTail(buffer.toString("utf8", 0, bytesRead), limits).text;
	} finally {
		await file.close();
	}
}
