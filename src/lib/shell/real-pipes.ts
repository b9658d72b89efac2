/**
 * Real pipes for what commands print. Node hands its children sockets, which cannot be opened by name, so that `echo > /dev/stderr` fails;
 * and one for each stream, so that their order is lost. Linux only: elsewhere a pipe cannot be opened a second time through its descriptor.
 */
import { spawnSync } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";

export interface RealPipe {
	/** For stdout and stderr of the child. Close it as soon as the child has started, or the output never ends. */
	writer: number;
	reader: Socket;
}

/** Creating one costs a process, so several are created at once and reused. */
const batch = 4;

export class RealPipes {
	readonly #tempDir: string;
	/** Read ends that keep unused pipes open. */
	readonly #unused: number[] = [];
	#isPossible = process.platform === "linux";

	constructor(tempDir: string) {
		this.#tempDir = tempDir;
	}

	/** Whether it is worth asking. */
	get isPossible(): boolean {
		return this.#isPossible;
	}

	/** Nothing if pipes cannot be created: on other systems, without mkfifo, in a directory that does not support them. */
	take(): RealPipe | undefined {
		try {
			if (this.#unused.length === 0 && this.#isPossible) this.#make();
			const anchor = this.#unused.pop();
			return anchor === undefined ? undefined : this.#open(anchor);
		} catch {
			// The same problem will occur next time, and sockets do nearly as well.
			this.close();
			return undefined;
		}
	}

	close(): void {
		this.#isPossible = false;
		for (const anchor of this.#unused.splice(0)) closeSync(anchor);
	}

	#open(anchor: number): RealPipe {
		const again = `/proc/self/fd/${anchor}`;
		const writer = openSync(again, constants.O_WRONLY);
		const reader = new Socket({ fd: openSync(again, constants.O_RDONLY | constants.O_NONBLOCK), readable: true, writable: false });
		reader.once("close", () => {
			// Only a pipe that has reached its end is empty and has no writer left.
			if (reader.readableEnded && this.#isPossible) this.#unused.push(anchor);
			else closeSync(anchor);
		});
		return { writer, reader };
	}

	#make(): void {
		const directory = mkdtempSync(join(this.#tempDir, "bowline-pipes-"));
		try {
			const names = Array.from({ length: batch }, (_, index) => join(directory, String(index)));
			// No program we start gets our own environment, not even this one.
			const { status } = spawnSync("mkfifo", ["-m", "600", ...names], { stdio: "ignore", env: { PATH: "/usr/bin:/bin" } });
			if (status !== 0) this.#isPossible = false;
			else for (const name of names) this.#unused.push(openSync(name, constants.O_RDONLY | constants.O_NONBLOCK));
		} finally {
			rmSync(directory, { recursive: true });
		}
	}
}
