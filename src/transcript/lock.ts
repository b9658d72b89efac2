/** One writer per session: `<file>.lock` names the process that writes, and which session in it. A lock whose process is gone is taken over. */

import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type Claimed, ContestedClaim, claim, claimOf, distanceOf, holderOf, rewriteClaim, unclaim } from "../lib/claim.ts";
import { stderrLog } from "../lib/log.ts";
import { CommandError } from "../protocol/command-error.ts";

/** What is in a lock next to its holder. */
interface LockText {
	owner?: string;
	/** Which file the holder writes, whatever its name is by now. */
	identity?: string;
}

export class Lock {
	/** The owner had it already. */
	readonly isShared: boolean;
	readonly #path: string;
	#own: string;
	#identity: string | undefined;

	private constructor(path: string, own: string, isShared: boolean) {
		this.#path = path;
		this.#own = own;
		this.#identity = (JSON.parse(own) as LockText).identity;
		this.isShared = isShared;
	}

	/**
	 * `owner`: which session of this process, where it has several. `identity`: of the file, if there is one.
	 * Throws a CommandError when another session has it, and a system error when the lock cannot be written.
	 */
	static take(file: string, owner?: string, identity?: string): Lock {
		const path = `${file}.lock`;
		const holder = holderOf(process.pid);
		const own = JSON.stringify({ ...holder, owner, identity });
		const other = claimed(path, own);
		if (!other) {
			const lock = new Lock(path, own, false);
			lock.#refuseSecondName(file, identity);
			return lock;
		}
		const isOurs = other.holder?.pid === holder.pid && distanceOf(other.holder) === "here" && other.holder.startTime === holder.startTime;
		// The same file is being opened again.
		if (isOurs && textOf(other).owner === owner) return new Lock(path, other.text, true);
		throw new CommandError(
			"elsewhere",
			`Session is in use by ${nameOf(other)}: ${file}. Close it there first, or remove ${path} if that process is not an agent${isOurs ? "" : remedyFor(other)}.`,
		);
	}

	/** Notes which file is written, once there is one. Where that fails, only a later rename goes unnoticed by others. */
	identify(identity: string): void {
		if (identity === this.#identity) return;
		this.#identity = identity;
		const next = JSON.stringify({ ...JSON.parse(this.#own), identity });
		try {
			// A claim never becomes shorter: spaces at its end are not part of the JSON.
			const padded = next.padEnd(this.#own.length);
			if (rewriteClaim(this.#path, this.#own, padded)) this.#own = padded;
		} catch {
			// The disk is full, or the lock is gone. The writes themselves check the file.
		}
	}

	/** Where it cannot be removed it stays, and is taken over when this process is gone. */
	release(): void {
		try {
			unclaim(this.#path, this.#own);
		} catch (error) {
			stderrLog().error(`the lock ${this.#path} could not be removed: ${(error as Error).message}`);
		}
	}

	/** A file that was renamed while a process writes it has its lock under the old name. */
	#refuseSecondName(file: string, identity: string | undefined): void {
		if (identity === undefined) return;
		const directory = dirname(file);
		for (const name of readdirSync(directory)) {
			if (!name.endsWith(".lock") || join(directory, name) === this.#path) continue;
			const other = lockAt(join(directory, name));
			if (!other || textOf(other).identity !== identity) continue;
			this.release();
			throw new CommandError(
				"elsewhere",
				`Session is in use by ${nameOf(other)}, which opened it as ${basename(name, ".lock")}: ${file}. Close it there first.`,
			);
		}
	}
}

/** Claims the path for a session: one that others fight over is refused, never opened without a lock. */
function claimed(path: string, own: string): Claimed | undefined {
	try {
		return claim(path, own);
	} catch (error) {
		if (error instanceof ContestedClaim) throw new CommandError("conflict", error.message);
		throw error;
	}
}

function lockAt(path: string): Claimed | undefined {
	try {
		return claimOf(path);
	} catch {
		return undefined; // It cannot be read: not one of ours.
	}
}

function textOf({ text }: Claimed): LockText {
	try {
		return JSON.parse(text) as LockText;
	} catch {
		return {};
	}
}

function nameOf({ holder }: Claimed): string {
	if (!holder) return "another process";
	switch (distanceOf(holder)) {
		case "another machine":
			return `process ${holder.pid} on another machine (${holder.space?.machine?.split(" ")[0] ?? "unknown"})`;
		case "another namespace":
			return `process ${holder.pid} in another container or PID namespace`;
		default:
			return holder.pid === process.pid ? "another session of this program" : `process ${holder.pid}`;
	}
}

/** A process that cannot be seen from here may be gone. */
function remedyFor({ holder }: Claimed): string {
	return holder && distanceOf(holder) !== "here" ? " or is gone" : "";
}
