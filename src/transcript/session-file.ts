/** The file behind a transcript: lines are added whole or not at all. */
import { closeSync, constants, existsSync, fstatSync, ftruncateSync, openSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { CommandError, isCommandError } from "../lib/command-error.ts";
import { Lock } from "./lock.ts";
import { makeDirectory, nonBlocking } from "./place.ts";

/** Writes bytes to a descriptor and tells how many were taken; tests put trouble here. */
export type Write = (descriptor: number, bytes: Buffer) => number;

export interface SessionFileOptions {
	/** Its real place: two names of one file would have two locks. */
	path: string;
	/** The file is there. A new one is made with the first write, and only if there still is none. */
	exists: boolean;
	/** There is nothing in it. If there is something when we come to write, another session began there. */
	isEmpty?: boolean;
	/** The last byte is no line end: a process died while it wrote. */
	isTorn: boolean;
	/** Whose transcripts these are, where a process has several sessions inside. */
	owner?: string;
	write?: Write;
}

export class SessionFile {
	readonly path: string;
	exists: boolean;
	isTorn: boolean;
	#isEmpty: boolean;
	#owner: string | undefined;
	#write: Write;
	#descriptor: number | undefined;
	#lock: Lock | undefined;
	/** The file that was made for a write that failed could not be removed again. There is nothing in it that counts. */
	#isLeftover = false;

	constructor({ path, exists, isTorn, isEmpty = false, owner, write = (descriptor, bytes) => writeSync(descriptor, bytes) }: SessionFileOptions) {
		this.path = path;
		this.exists = exists;
		this.isTorn = isTorn;
		this.#isEmpty = isEmpty;
		this.#owner = owner;
		this.#write = write;
	}

	/** Makes us the only one that writes. A place where no lock can be made can be read all the same. */
	lock(): void {
		try {
			this.#lock ??= Lock.take(this.path, this.#owner);
		} catch (error) {
			if (isCommandError(error)) throw error;
		}
	}

	/** We had the lock before: closing this file must not release it. */
	get isLockedTwice(): boolean {
		return this.#lock?.isShared ?? false;
	}

	/** Somebody removed the file: what is added to it now would be lost. */
	get isGone(): boolean {
		if (this.#descriptor === undefined) return this.exists && !existsSync(this.path);
		try {
			return fstatSync(this.#descriptor).nlink === 0;
		} catch {
			// A disk that went away: the write will tell.
			return false;
		}
	}

	/** Adds lines. When that fails, the file is as it was before, and a CommandError tells why. */
	append(text: string): void {
		let before: number | undefined;
		try {
			const descriptor = this.#open();
			before = fstatSync(descriptor).size;
			if (this.#isEmpty && before > 0) throw Object.assign(new Error("another session began there"), { code: "EEXIST" });
			this.#writeAll(descriptor, Buffer.from(this.isTorn && before > 0 ? `\n${text}` : text));
			this.isTorn = false;
			// Where it cannot even be loaded there is a next time.
			if (!this.exists) import("./orphans.ts").then(({ cleanUp }) => cleanUp(dirname(this.path))).catch(() => undefined);
			this.#isEmpty = false;
			this.#isLeftover = false;
			this.exists = true;
		} catch (error) {
			this.#undo(before);
			if (isCommandError(error)) throw error;
			throw new CommandError(`Session file could not be written: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message} ${this.path}`);
		}
	}

	/** The next write makes a new file. */
	startOver(): void {
		this.#close();
		this.exists = false;
		this.#isEmpty = false;
		this.isTorn = false;
	}

	/** The next write opens the file again. `keepLock`: another transcript of this process goes on with it. */
	close(keepLock = false): void {
		this.#close();
		if (!keepLock) this.#lock?.release();
		this.#lock = undefined;
	}

	#open(): number {
		if (this.#descriptor !== undefined) return this.#descriptor;
		if (!this.exists) makeDirectory(dirname(this.path));
		this.#lock ??= Lock.take(this.path, this.#owner);
		const append = constants.O_WRONLY | constants.O_APPEND | nonBlocking;
		this.#descriptor = openSync(this.path, this.exists ? append : this.#isLeftover ? append | constants.O_TRUNC : "ax", 0o600);
		return this.#descriptor;
	}

	/** Nearly always one write. What a short one left is tried again, which tells the reason if there is one. */
	#writeAll(descriptor: number, bytes: Buffer): void {
		for (let done = 0; done < bytes.length; ) {
			const count = this.#write(descriptor, done ? bytes.subarray(done) : bytes);
			if (count <= 0) throw Object.assign(new Error("nothing was written"), { code: "EIO" });
			done += count;
		}
	}

	#undo(before: number | undefined): void {
		const descriptor = this.#descriptor;
		if (descriptor === undefined) return this.#releaseUnused();
		try {
			if (before !== undefined) ftruncateSync(descriptor, before);
		} catch {
			// Then the rest of a line stays behind, as after a crash.
			this.isTorn = true;
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
			// Over a network the reason why earlier writes did not arrive may come only now; the descriptor is gone all the same.
			console.error(`bowline: the session file was not closed in order: ${(error as Error).message}`);
		}
	}
}
