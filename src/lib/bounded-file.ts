/** Reads untrusted files: never more than a limit, only regular files, and never without end. */
import { type FileHandle, open } from "node:fs/promises";
import { notRegular, readFlags, tooLarge } from "./unsuitable-file.ts";

export { UnsuitableFile } from "./unsuitable-file.ts";

const chunkSize = 64 * 1024;

/** Opens a regular file for reading. The caller closes it. */
export async function openRegular(path: string): Promise<FileHandle> {
	const file = await open(path, readFlags);
	try {
		if (!(await file.stat()).isFile()) throw notRegular();
		return file;
	} catch (error) {
		await file.close();
		throw error;
	}
}

/** Everything in an open file. The size that the system reports says little: files in /proc have none and may never end. */
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
	return readOpened(await openRegular(path), maxBytes, signal);
}

/** The same for a file that is open already. It is closed. */
export async function readOpened(file: FileHandle, maxBytes: number, signal?: AbortSignal): Promise<Buffer> {
	try {
		if (!(await file.stat()).isFile()) throw notRegular();
		return await readWhole(file, maxBytes, signal);
	} finally {
		await file.close();
	}
}
