/** Reads files that somebody else may have put there: never more than a limit, never what is not a regular file, and never for ever. */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

/** A pipe, a device or a terminal must not hold up the one who opens it. */
const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

/** Why a file is not used. */
export class UnsuitableFile extends Error {
	override name = "UnsuitableFile";
}

const chunkSize = 64 * 1024;

/** Opens a regular file for reading. The caller closes it. */
export async function openRegular(path: string): Promise<FileHandle> {
	const file = await open(path, flags);
	try {
		if (!(await file.stat()).isFile()) throw new UnsuitableFile("it is not a regular file");
		return file;
	} catch (error) {
		await file.close();
		throw error;
	}
}

/** Everything in an open file. The size that the system tells says little: files in /proc have none and may never end. */
export async function readWhole(file: FileHandle, maxBytes: number, signal?: AbortSignal): Promise<Buffer> {
	const { size } = await file.stat();
	if (size > maxBytes) throw tooLarge(maxBytes);
	const parts: Buffer[] = [];
	for (let total = 0; ; ) {
		if (signal?.aborted) throw new Error("Operation aborted");
		const part = Buffer.allocUnsafe(Math.min(Math.max(size - total + 1, chunkSize), 16 * chunkSize));
		const { bytesRead } = await file.read(part, 0, part.length);
		if (bytesRead === 0) return Buffer.concat(parts, total);
		total += bytesRead;
		if (total > maxBytes) throw tooLarge(maxBytes);
		parts.push(part.subarray(0, bytesRead));
	}
}

export async function readRegular(path: string, maxBytes: number, signal?: AbortSignal): Promise<Buffer> {
	const file = await openRegular(path);
	try {
		return await readWhole(file, maxBytes, signal);
	} finally {
		await file.close();
	}
}

/** For the few small files that are read at the start, where nothing else is going on yet. */
export function readRegularSync(path: string, maxBytes: number): Buffer {
	const descriptor = openSync(path, flags);
	try {
		const facts = fstatSync(descriptor);
		if (!facts.isFile()) throw new UnsuitableFile("it is not a regular file");
		if (facts.size > maxBytes) throw tooLarge(maxBytes);
		const parts: Buffer[] = [];
		for (let total = 0; ; ) {
			const part = Buffer.allocUnsafe(Math.max(facts.size - total + 1, 4096));
			const bytesRead = readSync(descriptor, part, 0, part.length, null);
			if (bytesRead === 0) return Buffer.concat(parts, total);
			total += bytesRead;
			if (total > maxBytes) throw tooLarge(maxBytes);
			parts.push(part.subarray(0, bytesRead));
		}
	} finally {
		closeSync(descriptor);
	}
}

const tooLarge = (maxBytes: number) => new UnsuitableFile(`it is larger than ${shownSize(maxBytes)}`);
const shownSize = (bytes: number) => (bytes < 10 * 1024 * 1024 ? `${bytes / 1024} KB` : `${bytes / (1024 * 1024)} MB`);
