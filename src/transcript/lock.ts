/** One writer per session: `<file>.lock` names the process that has it, and who in it. A lock whose process is gone is taken over. */
import { claim, holderOf, unclaim } from "../lib/claim.ts";
import { CommandError } from "../lib/command-error.ts";

export class Lock {
	/** The owner had it already. */
	readonly isShared: boolean;
	readonly #path: string;
	readonly #own: string;

	private constructor(path: string, own: string, isShared: boolean) {
		this.#path = path;
		this.#own = own;
		this.isShared = isShared;
	}

	/** `owner`: who in this process, where it has several sessions. Throws a CommandError when somebody else has it, and a system error when the lock cannot be written. */
	static take(file: string, owner?: string): Lock {
		const path = `${file}.lock`;
		const own = JSON.stringify({ ...holderOf(process.pid), owner });
		const other = claim(path, own);
		if (!other) return new Lock(path, own, false);
		// Ours already: the same file is being opened again.
		if (other.text === own) return new Lock(path, own, true);
		const { pid } = other.holder ?? {};
		const who = pid === undefined ? "another process" : pid === process.pid ? "another session of this program" : `process ${pid}`;
		throw new CommandError(`Session is in use by ${who}: ${file}. Close it there first, or remove ${path} if that process is not an agent.`);
	}

	/** Where it cannot be removed it stays, as that of a process that is gone. */
	release(): void {
		try {
			unclaim(this.#path, this.#own);
		} catch (error) {
			console.error(`bowline: the lock could not be removed: ${(error as Error).message}`);
		}
	}
}
