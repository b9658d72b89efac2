/** Reads some lines of a file without holding the rest of it. */
import type { FileHandle } from "node:fs/promises";
import { countNewlines } from "../lib/shell/scan.ts";
import { refuseIfAborted } from "./options.ts";

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

export interface WantedLines {
	/** From 1. */
	first: number;
	count: number;
	enough: number;
	signal: AbortSignal;
}

const chunkSize = 64 * 1024;
/** Lines are counted to the end of the file, and some files have none. */
const maxScannedBytes = 2 * 1024 * 1024 * 1024;
const Newline = 0x0a;

/** What bytes are read from. */
export type ReadableBytes = Pick<FileHandle, "read">;

/** A text that is in no file. */
export function inMemory(text: string): ReadableBytes {
	const bytes = Buffer.from(text);
	const read = async (into: Buffer, offset: number, length: number, position: number) => {
		const bytesRead = bytes.copy(into, offset, position, Math.min(position + length, bytes.length));
		return { bytesRead, buffer: into };
	};
	return { read } as unknown as ReadableBytes;
}

/** Lines `first` to `first + count - 1`. */
export async function readLines(file: ReadableBytes, { first, count, enough, signal }: WantedLines): Promise<LineWindow> {
	const chunk = Buffer.allocUnsafe(chunkSize);
	const parts: Buffer[] = [];
	const end = first + count;
	let position = 0;
	let line = 1;
	let collected = 0;
	let size = 0;
	let firstLineSize = 0;
	let endsInNewline = true;
	for (;;) {
		refuseIfAborted(signal);
		const { bytesRead } = await file.read(chunk, 0, chunkSize, position);
		if (bytesRead === 0) break;
		position += bytesRead;
		if (position > maxScannedBytes)
			throw new Error(`The file has more than ${maxScannedBytes / 1024 ** 3} GB. Look at parts of it with bash: sed, head, tail.`);
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
