/** Reads what was appended to a file, whole lines only: what is after the last line end is still being written, or was torn by a crash. */
import { closeSync, openSync, readSync } from "node:fs";

const atOnce = 4 * 1024 * 1024;

export class Tail {
	readonly #path: string;
	/** Bytes that were given out. */
	#offset: number;

	constructor(path: string, offset = 0) {
		this.#path = path;
		this.#offset = offset;
	}

	/** The lines after those that were passed to `taken`. Reading alone changes nothing. */
	peek(): { lines: string[]; offset: number } {
		let descriptor: number;
		try {
			descriptor = openSync(this.#path, "r");
		} catch (error) {
			// Nothing was written yet.
			if ((error as NodeJS.ErrnoException).code === "ENOENT") return { lines: [], offset: this.#offset };
			throw error;
		}
		try {
			const chunks: Buffer[] = [];
			for (let at = this.#offset; ; ) {
				const chunk = Buffer.allocUnsafe(atOnce);
				const read = readSync(descriptor, chunk, 0, atOnce, at);
				if (read === 0) break;
				chunks.push(chunk.subarray(0, read));
				at += read;
			}
			const bytes = Buffer.concat(chunks);
			const end = bytes.lastIndexOf(10) + 1;
			const lines = end === 0 ? [] : bytes.toString("utf8", 0, end - 1).split("\n");
			return { lines, offset: this.#offset + end };
		} finally {
			closeSync(descriptor);
		}
	}

	taken(offset: number): void {
		this.#offset = offset;
	}
}
