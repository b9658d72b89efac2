/** The file of a transcript: lines are added whole or not at all, and only to the file that was opened. */

import { closeSync, constants, fstatSync, ftruncateSync, openSync, rmSync, type Stats, statSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { stderrLog } from "../lib/log.ts";
import { CommandError, isCommandError } from "../protocol/command-error.ts";
import { Lock } from "./lock.ts";
import { identityOf, makeDirectory, nonBlocking } from "./place.ts";

/** Writes bytes to a descriptor and returns how many were taken; tests inject failures here. */
export type Write = (descriptor: number, bytes: Buffer) => number;

export interface SessionFileOptions {
	/** Its real place: two names of one file would have two locks. */
	path: string;
	/** The file exists. A new one is made with the first write, and only if there is still none. */
	exists: boolean;
	/** There is nothing in it. If there is something when we come to write, another session began there. */
	isEmpty?: boolean;
	/** The last byte is not a line end: a process died while it wrote. */
	isTorn: boolean;
	/** Which session of this process, where it has several. */
	owner?: string;
	write?: Write;
	/** Directories that are cleaned up together with its own when it is made. */
	others?: readonly string[];
}

/** The file as it was when we last read or wrote it. */
interface Known {
	identity: string;
	size: number;
	modified: number;
}

export class SessionFile {
	readonly path: string;
	exists: boolean;
	isTorn: boolean;
	#isEmpty: boolean;
	#owner: string | undefined;
	#write: Write;
	#others: readonly string[];
	#descriptor: number | undefined;
	#lock: Lock | undefined;
	#known: Known | undefined;
	/** The file that was made for a write that failed could not be removed. Nothing in it counts. */
	#isLeftover = false;

	constructor({
		path,
		exists,
		isTorn,
		isEmpty = false,
		owner,
		write = (descriptor, bytes) => writeSync(descriptor, bytes),
		others = [],
	}: SessionFileOptions) {
		this.path = path;
		this.exists = exists;
		this.isTorn = isTorn;
		this.#isEmpty = isEmpty;
		this.#owner = owner;
		this.#write = write;
		this.#others = others;
	}

	/** Makes us the only writer. A file next to which no lock can be made can still be read. */
	lock(): void {
		try {
			this.#takeLock();
		} catch (error) {
			if (isCommandError(error)) throw error;
		}
	}

	/** We had the lock before: closing this file must not release it. */
	get isLockedTwice(): boolean {
		return this.#lock?.isShared ?? false;
	}

	/** The file has been read, and was like this. */
	hasRead(stats: Stats): void {
		this.#known = knownOf(stats);
	}

	/**
	 * Whether the file is as we left it. `gone`: removed or renamed; `emptied`: it is there and everything in it is not. In both cases everything has
	 * to be written again. Throws a CommandError when it is another file, or another program has written to it.
	 */
	check(): "same" | "gone" | "emptied" {
		if (!this.exists) return "same";
		let found: Stats | undefined;
		try {
			found = statSync(this.path, { throwIfNoEntry: false });
		} catch {
			return "same"; // A disk that went away: the write will say so.
		}
		if (!found) return "gone";
		const known = this.#known;
		if (!known) return "same";
		if (!isSame(found, known, this.#descriptor !== undefined))
			throw new CommandError("not_stored", `Session file was replaced by another file: ${this.path}. ${remedy}`);
		if (found.size === known.size) return "same";
		if (found.size === 0) return "emptied";
		throw new CommandError("not_stored", `Session file was changed by another program: ${this.path}. ${remedy}`);
	}

	/** Adds lines. When that fails, the file is as it was before, and a CommandError says why. */
	append(text: string): void {
		let before: number | undefined;
		let length = 0;
		try {
			const wasOpen = this.#descriptor !== undefined;
			const descriptor = this.#open();
			const found = fstatSync(descriptor);
			before = found.size;
			if (this.#isEmpty && before > 0) throw Object.assign(new Error("another session began there"), { code: "EEXIST" });
			// Opened after the check: it may be another file by now.
			if (this.exists && this.#known && !isSame(found, this.#known, wasOpen))
				throw new CommandError("not_stored", `Session file was replaced by another file: ${this.path}. ${remedy}`);
			const bytes = Buffer.from(this.isTorn && before > 0 ? `\n${text}` : text);
			length = bytes.length;
			this.#writeAll(descriptor, bytes);
			this.#confirm(descriptor, before + length);
			this.isTorn = false;
			// Where it cannot even be loaded there is a next time.
			if (!this.exists)
				import("./orphans.ts")
					.then(({ cleanUp }) => Promise.all([dirname(this.path), ...this.#others].map(cleanUp)))
					.catch((error) => stderrLog().error("left-over session files could not be removed", error));
			this.#isEmpty = false;
			this.#isLeftover = false;
			this.exists = true;
		} catch (error) {
			this.#undo(before, length);
			if (isCommandError(error)) throw error;
			throw new CommandError(
				"not_stored",
				`Session file could not be written: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message} ${this.path}`,
			);
		}
	}

	/** The next write makes a new file, or fills the one that was emptied. */
	startOver(isEmptied: boolean): void {
		this.isTorn = false;
		if (isEmptied && this.#known) {
			this.#known.size = 0;
			return;
		}
		this.#close();
		this.exists = false;
		this.#isEmpty = false;
		this.#known = undefined;
	}

	/** The next write opens the file again. `keepLock`: another transcript of this process continues with it. */
	close(keepLock = false): void {
		this.#close();
		if (!keepLock) this.#lock?.release();
		this.#lock = undefined;
	}

	#takeLock(): void {
		if (this.#lock) return;
		const stats = this.exists ? statSync(this.path, { throwIfNoEntry: false }) : undefined;
		this.#lock = Lock.take(this.path, this.#owner, stats && identityOf(stats));
	}

	#open(): number {
		if (this.#descriptor !== undefined) return this.#descriptor;
		if (!this.exists) makeDirectory(dirname(this.path));
		this.#takeLock();
		const append = constants.O_WRONLY | constants.O_APPEND | nonBlocking;
		this.#descriptor = openSync(this.path, this.exists ? append : this.#isLeftover ? append | constants.O_TRUNC : "ax", 0o600);
		return this.#descriptor;
	}

	/** After a write: the bytes are in the file that has our name, and no others. Before this nothing counts as stored. */
	#confirm(descriptor: number, size: number): void {
		const written = fstatSync(descriptor);
		const named = statSync(this.path, { throwIfNoEntry: false });
		const problem =
			!named || identityOf(named) !== identityOf(written)
				? "replaced by another file"
				: written.size === size
					? undefined
					: "changed by another program";
		if (problem) throw new CommandError("not_stored", `Session file was ${problem} while it was written: ${this.path}. ${remedy}`);
		this.#known = knownOf(written);
		this.#lock?.identify(this.#known.identity);
	}

	/** Nearly always one write. The rest of a short one is written again, which gives the reason if there is one. */
	#writeAll(descriptor: number, bytes: Buffer): void {
		for (let done = 0; done < bytes.length; ) {
			const count = this.#write(descriptor, done ? bytes.subarray(done) : bytes);
			if (count <= 0) throw Object.assign(new Error("nothing was written"), { code: "EIO" });
			done += count;
		}
	}

	/** Undoes what was written after `before`, unless another process has written after it. */
	#undo(before: number | undefined, length: number): void {
		const descriptor = this.#descriptor;
		if (descriptor === undefined) return this.#releaseUnused();
		try {
			if (before !== undefined && fstatSync(descriptor).size <= before + length) ftruncateSync(descriptor, before);
			if (this.#known) this.#known.modified = fstatSync(descriptor).mtimeMs;
		} catch {
			// Then the rest of a line stays in the file, as after a crash.
			this.isTorn = true;
			this.#known = undefined;
		}
		this.#close();
		if (this.exists) return;
		try {
			rmSync(this.path, { force: true });
			this.#isLeftover = false;
		} catch {
			// It is still ours, and so is the lock.
			this.#isLeftover = true;
		}
		this.#releaseUnused();
	}

	#releaseUnused(): void {
		if (this.exists || this.#isLeftover) return;
		this.#lock?.release();
		this.#lock = undefined;
	}

	#close(): void {
		const descriptor = this.#descriptor;
		if (descriptor === undefined) return;
		this.#descriptor = undefined;
		try {
			closeSync(descriptor);
		} catch (error) {
			// Over a network the reason why earlier writes did not arrive may come only now; the descriptor is gone anyway.
			stderrLog().error(`the session file ${this.path} was not closed in order: ${(error as Error).message}`);
		}
	}
}

const remedy = "Open it again with switch_session, or go on in a new session.";

const knownOf = (stats: Stats): Known => ({ identity: identityOf(stats), size: stats.size, modified: stats.mtimeMs });

/** Some network file systems give a file another number when it is opened again. One with the same size and time is the same. */
function isSame(found: Stats, known: Known, isOpen: boolean): boolean {
	return identityOf(found) === known.identity || (!isOpen && found.size === known.size && found.mtimeMs === known.modified);
}
