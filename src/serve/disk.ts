/** Checks that the disk has room for a session. Writing one byte proves nothing: it may fit into an allocated block. */
import { randomBytes } from "node:crypto";
import { mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";

const probeBytes = 64 * 1024;
/** Anyone may ask, and each look writes to the disk. */
const freshMs = 1000;
/** A disk that hangs, as one over a network, is not ready either. */
const patienceMs = 5000;

export class DiskProbe {
	#directories: Readonly<Record<string, string>>;
	#looking: Promise<string | undefined> | undefined;
	#writing = new Map<string, Promise<string | undefined>>();

	/** `directories`: by their name for people. */
	constructor(directories: Readonly<Record<string, string>>) {
		this.#directories = directories;
	}

	/** Returns why nothing can be written, undefined if it can. */
	problem(): Promise<string | undefined> {
		this.#looking ??= this.#look().finally(() => setTimeout(() => (this.#looking = undefined), freshMs).unref());
		return this.#looking;
	}

	async #look(): Promise<string | undefined> {
		for (const [name, directory] of Object.entries(this.#directories)) {
			let timer: NodeJS.Timeout | undefined;
			const late = new Promise<string>((resolve) => {
				timer = setTimeout(() => resolve(`no answer within ${patienceMs / 1000} seconds`), patienceMs);
			});
			// A disk that hangs holds a thread for each look: there is one at a time.
			const writing = this.#writing.get(directory) ?? writeReason(directory).finally(() => this.#writing.delete(directory));
			this.#writing.set(directory, writing);
			const reason = await Promise.race([writing, late]);
			clearTimeout(timer);
			if (reason !== undefined) return `${name} cannot be written: ${reason}`;
		}
		return undefined;
	}
}

async function writeReason(directory: string): Promise<string | undefined> {
	const path = join(directory, `.probe-${process.pid}-${randomBytes(4).toString("hex")}`);
	try {
		await mkdir(directory, { recursive: true, mode: 0o700 });
		const file = await open(path, "wx", 0o600);
		try {
			await file.writeFile(Buffer.alloc(probeBytes, 1));
			await file.sync();
		} finally {
			await file.close();
			await rm(path, { force: true });
		}
		return undefined;
	} catch (error) {
		// Without the path: anyone may ask.
		return (error as Error).message.split(", ")[0];
	}
}
