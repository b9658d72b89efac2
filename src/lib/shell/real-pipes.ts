/**
 * Real pipes for what commands print. Node hands its children sockets, which cannot be opened by name, so that `echo > /dev/stderr` fails;
 * and one for each stream, so that their order is lost. Linux only: elsewhere a pipe cannot be opened a second time through its descriptor.
 */
import { spawnSync } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";

export interface RealPipe {
	/** For stdout and stderr of the child. To be closed as soon as it has started, or else the output never ends. */
	writer: number;
	reader: Socket;
}

/** Making one costs a process, so several are made at once and used again. */
const batch = 4;

export class RealPipes {
	readonly #tempDir: string;
	/** Read ends that keep unused pipes in being. */
	readonly #unused: number[] = [];
	#isPossible = process.platform === "linux";

	constructor(tempDir: string) {
		this.#tempDir = tempDir;
	}

	/** Nothing where there are none to be had. */
	take(): RealPipe | undefined {
		if (this.#unused.length === 0 && this.#isPossible) this.#make();
		const anchor = this.#unused.pop();
		if (anchor === undefined) return undefined;
		const again = `/proc/self/fd/${anchor}`;
		const writer = openSync(again, constants.O_WRONLY);
		const reader = new Socket({ fd: openSync(again, constants.O_RDONLY | constants.O_NONBLOCK), readable: true, writable: false });
		// Only a pipe that has come to its end is empty and has nobody left who could write to it.
		reader.once("end", () => this.#unused.push(anchor));
		return { writer, reader };
	}

	close(): void {
		this.#isPossible = false;
		for (const anchor of this.#unused.splice(0)) closeSync(anchor);
	}

	#make(): void {
		this.#isPossible = false;
		const directory = mkdtempSync(join(this.#tempDir, "bowline-pipes-"));
		try {
			const names = Array.from({ length: batch }, (_, index) => join(directory, String(index)));
			if (spawnSync("mkfifo", ["-m", "600", ...names], { stdio: "ignore" }).status !== 0) return;
			for (const name of names) this.#unused.push(openSync(name, constants.O_RDONLY | constants.O_NONBLOCK));
			this.#isPossible = true;
		} finally {
			rmSync(directory, { recursive: true });
		}
	}
}
