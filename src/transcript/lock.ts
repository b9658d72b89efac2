/** One writer per session: `<file>.lock` names the process that has it. A lock whose process is gone is taken over. */
import { claim, holderOf, unclaim } from "../lib/claim.ts";
import { CommandError } from "../lib/command-error.ts";

export class Lock {
	/** This process had it already. */
	readonly isShared: boolean;
	readonly #path: string;

	private constructor(path: string, isShared: boolean) {
		this.#path = path;
		this.isShared = isShared;
	}

	/** Throws a CommandError when another process has it, and a system error when the lock cannot be written. */
	static take(file: string): Lock {
		const path = `${file}.lock`;
		const own = ownText();
		const other = claim(path, own);
		if (!other) return new Lock(path, false);
		// Ours already: the same file is being opened again.
		if (other.text === own) return new Lock(path, true);
		const who = other.holder ? `process ${other.holder.pid}` : "another process";
		throw new CommandError(`Session is in use by ${who}: ${file}. Close it there first, or remove ${path} if that process is not an agent.`);
	}

	release(): void {
		unclaim(this.#path, ownText());
	}
}

const ownText = () => JSON.stringify(holderOf(process.pid));
