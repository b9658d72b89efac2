/** Where things go that commands must not leave where they are: a person can look at them there. */
import { cpSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { follow, inFolder, look } from "./paths.ts";

export class Quarantine {
	readonly #directory: string;
	readonly #now: () => number;
	#count = 0;

	constructor(directory: string, now: () => number) {
		this.#directory = directory;
		this.#now = now;
	}

	/** Returns a new place for what is at a path. */
	place(path: string): string {
		mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
		this.#count += 1;
		return join(this.#directory, `${this.#now()}-${this.#count}-${basename(path)}`);
	}

	/**
	 * Moves what is at a path, and returns where it is now. Returns undefined where that cannot be done, or not while commands run: they could put a link
	 * on the way at any moment. A link on the way that is there already is a command's own, and goes in place of what it leads to.
	 */
	move(given: string): string | undefined {
		const [link] = follow(dirname(given)).links;
		const path = link ?? given;
		try {
			const place = this.place(path);
			inFolder(path, (target, folder) => {
				if (folder !== dirname(path)) throw new Error(`${dirname(path)} leads elsewhere now.`);
				renameSync(target, place);
			});
			return place;
		} catch {
			return undefined;
		}
	}

	/** Does the same once nothing runs inside, across file systems, too. What cannot be copied is removed all the same. Never fails. */
	moveAtLast(given: string): string {
		const moved = this.move(given);
		if (moved !== undefined) return moved;
		const path = follow(dirname(given)).links[0] ?? given;
		let place = this.#directory;
		try {
			place = this.place(path);
			if (look(path)) cpSync(path, place, { recursive: true, verbatimSymlinks: true, force: true });
		} catch {
			// A pipe or a socket, or it is gone.
		}
		try {
			rmSync(path, { recursive: true, force: true });
		} catch {
			// The next look sees it.
		}
		return place;
	}
}
