/** The files of a run: the lines of its session and event log, its checkpoints, its patch. The journal says how much of them counts. */
import {
	closeSync,
	existsSync,
	fdatasyncSync,
	fstatSync,
	ftruncateSync,
	mkdirSync,
	openSync,
	readFileSync,
	readSync,
	renameSync,
	rmSync,
	writeSync,
} from "node:fs";
import { join } from "node:path";
import type { Line, LogFile } from "../queue.ts";

export class RunFiles {
	readonly #directory: string;

	constructor(directory: string) {
		this.#directory = directory;
	}

	/** Appends lines after the bytes that count, and removes what a crash left after them. Returns the number of bytes that count now. */
	append(runId: string, file: LogFile, bytes: number, epoch: number, lines: readonly string[]): number {
		if (lines.length === 0) return bytes;
		mkdirSync(this.#place(runId), { recursive: true, mode: 0o700 });
		const descriptor = openSync(join(this.#place(runId), `${file}.log`), existsSync(join(this.#place(runId), `${file}.log`)) ? "r+" : "w+", 0o600);
		try {
			if (fstatSync(descriptor).size !== bytes) ftruncateSync(descriptor, bytes);
			const text = Buffer.from(lines.map((line) => `${epoch} ${line}\n`).join(""));
			for (let done = 0; done < text.length; ) done += writeSync(descriptor, text, done, text.length - done, bytes + done);
			fdatasyncSync(descriptor);
			return bytes + text.length;
		} finally {
			closeSync(descriptor);
		}
	}

	lines(runId: string, file: LogFile, bytes: number): Line[] {
		if (bytes === 0) return [];
		let descriptor: number;
		try {
			descriptor = openSync(join(this.#place(runId), `${file}.log`), "r");
		} catch (error) {
			// Pruned.
			if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
			throw error;
		}
		try {
			const buffer = Buffer.alloc(bytes);
			const read = readSync(descriptor, buffer, 0, bytes, 0);
			const lines = buffer.toString("utf8", 0, read).split("\n").slice(0, -1);
			return lines.map((text, index) => {
				const space = text.indexOf(" ");
				return { line: index + 1, epoch: Number(text.slice(0, space)), body: text.slice(space + 1) };
			});
		} finally {
			closeSync(descriptor);
		}
	}

	writeCheckpoint(runId: string, n: number, patch: Buffer): void {
		this.#write(this.#place(runId), `checkpoint-${n}.patch`, patch);
	}

	readCheckpoint(runId: string, n: number): Buffer {
		return readFileSync(join(this.#place(runId), `checkpoint-${n}.patch`));
	}

	removeCheckpoint(runId: string, n: number): void {
		rmSync(join(this.#place(runId), `checkpoint-${n}.patch`), { force: true });
	}

	writePatch(runId: string, patch: Buffer): void {
		this.#write(join(this.#directory, "results"), `${runId}.patch`, patch);
	}

	readPatch(runId: string): Buffer {
		return readFileSync(join(this.#directory, "results", `${runId}.patch`));
	}

	/** The log and the checkpoints; false when there were none. */
	prune(runId: string): boolean {
		const there = existsSync(this.#place(runId));
		rmSync(this.#place(runId), { recursive: true, force: true });
		return there;
	}

	#place(runId: string): string {
		return join(this.#directory, "runs", runId);
	}

	/** Complete or not there. */
	#write(directory: string, name: string, bytes: Buffer): void {
		mkdirSync(directory, { recursive: true, mode: 0o700 });
		const path = join(directory, name);
		const descriptor = openSync(`${path}.partial`, "w", 0o600);
		try {
			for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done);
			fdatasyncSync(descriptor);
		} finally {
			closeSync(descriptor);
		}
		renameSync(`${path}.partial`, path);
	}
}
