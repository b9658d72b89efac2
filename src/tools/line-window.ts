/** Reads some lines of a file without holding the rest of it. */
import type { FileHandle } from "node:fs/promises";
import { countNewlines } from "../lib/shell/scan.ts";

export interface LineWindow {
	/** The lines asked for; at least `enough` bytes of them when they are more. */
	bytes: Buffer;
	/** Of the whole file. */
	totalLines: number;
	/** Of what was asked for, whether it is in `bytes` or not. */
	lines: number;
	size: number;
	firstLineSize: number;
}

const chunkSize = 64 * 1024;
const Newline = 0x0a;

/** Lines `first` (from 1) to `first + count - 1`. */
export async function readLines(file: FileHandle, first: number, count: number, enough: number): Promise<LineWindow> {
	const chunk = Buffer.allocUnsafe(chunkSize);
	const parts: Buffer[] = [];
	const end = first + count;
	let line = 1;
	let collected = 0;
	let size = 0;
	let firstLineSize = 0;
	let endsInNewline = true;
	for (;;) {
		const { bytesRead } = await file.read(chunk, 0, chunkSize);
		if (bytesRead === 0) break;
		let at = 0;
		while (at < bytesRead && line < end) {
			const isInside = line >= first;
			if (isInside && collected >= enough && end === Number.POSITIVE_INFINITY) break;
			const newline = chunk.subarray(0, bytesRead).indexOf(Newline, at);
			const next = newline < 0 ? bytesRead : newline + 1;
			if (isInside) {
				size += next - at;
				if (line === first) firstLineSize += next - at;
				if (collected < enough) {
					parts.push(Buffer.from(chunk.subarray(at, next)));
					collected += next - at;
				}
			}
			if (newline >= 0) line += 1;
			at = next;
		}
		// Of the rest only the number of lines matters.
		if (line >= first && line < end) size += bytesRead - at;
		if (at < bytesRead) {
			const rest = chunk.subarray(at, bytesRead);
			if (line === first) firstLineSize += rest.indexOf(Newline) < 0 ? rest.length : rest.indexOf(Newline) + 1;
			line += countNewlines(rest);
		}
		endsInNewline = chunk[bytesRead - 1] === Newline;
	}
	const totalLines = line - (endsInNewline ? 1 : 0);
	return { bytes: Buffer.concat(parts), totalLines, lines: Math.max(0, Math.min(totalLines, end - 1) - first + 1), size, firstLineSize };
}
