/** Whole lines that another process adds to a file. A torn line waits for its end. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";

const mostBytes = 4 * 1024 * 1024;
const lf = 0x0a;

export class FileTail {
	#path: string;
	#at: number;
	#inode: number;

	/** From the present end of the file on. */
	constructor(path: string) {
		this.#path = path;
		const { size, ino } = this.#open((descriptor) => fstatSync(descriptor)) ?? { size: 0, ino: 0 };
		this.#at = size;
		this.#inode = ino;
	}

	/** What was added since the last call. A file that was replaced is read on from its end. */
	lines(): string[] {
		return (
			this.#open((descriptor) => {
				const { size, ino } = fstatSync(descriptor);
				if (ino !== this.#inode || size < this.#at) {
					this.#inode = ino;
					this.#at = size;
				}
				const bytes = Buffer.allocUnsafe(Math.min(size - this.#at, mostBytes));
				const count = readSync(descriptor, bytes, 0, bytes.length, this.#at);
				const end = bytes.subarray(0, count).lastIndexOf(lf) + 1;
				// A line that is longer than all this is skipped: readers find it among the entries.
				this.#at += end === 0 && count === mostBytes ? count : end;
				return bytes.subarray(0, end).toString("utf8").split("\n").filter(isObject);
			}) ?? []
		);
	}

	#open<T>(work: (descriptor: number) => T): T | undefined {
		let descriptor: number;
		try {
			descriptor = openSync(this.#path, "r");
		} catch {
			return undefined; // Moved or deleted: the session is gone, or comes back.
		}
		try {
			return work(descriptor);
		} finally {
			closeSync(descriptor);
		}
	}
}

/** The rest of a line that was skipped is not one. */
function isObject(line: string): boolean {
	if (!line.startsWith("{")) return false;
	try {
		JSON.parse(line);
		return true;
	} catch {
		return false;
	}
}
