/** The limits of one search for files, and the list of what it skipped. A directory may hold anything, and a prompt must start soon. */

export interface ReadLimits {
	/** Files that are read. */
	files: number;
	bytes: number;
	/** Names in directories. */
	entries: number;
	directories: number;
	/** Levels of directories below the one that is searched. */
	depth: number;
	/** For searching directories; reading the files that were found may take as long again. */
	ms: number;
	warnings: number;
}

export const readLimits: ReadLimits = {
	files: 500,
	bytes: 8 * 1024 * 1024,
	entries: 20_000,
	directories: 2000,
	depth: 12,
	ms: 10_000,
	warnings: 50,
};

type Counted = "files" | "bytes" | "entries" | "directories";

const words: Record<Counted, (limit: number) => string> = {
	files: (limit) => `more than ${limit} files`,
	bytes: (limit) => `more than ${limit / (1024 * 1024)} MB`,
	entries: (limit) => `more than ${limit} names in directories`,
	directories: (limit) => `more than ${limit} directories`,
};

export class Reading {
	readonly #limits: ReadLimits;
	readonly #started = performance.now();
	readonly #used: Record<Counted, number> = { files: 0, bytes: 0, entries: 0, directories: 0 };
	readonly #warnings: string[] = [];
	#more = 0;
	/** The search is over when a limit of it is reached. The files that it found are read all the same. */
	readonly #isOver = { searching: false, reading: false };

	constructor(limits: ReadLimits = readLimits) {
		this.#limits = limits;
	}

	warn(text: string): void {
		if (this.#warnings.length < this.#limits.warnings) this.#warnings.push(text);
		else this.#more += 1;
	}

	/** What was skipped, and why. */
	get warnings(): string[] {
		return this.#more === 0 ? this.#warnings : [...this.#warnings, `${this.#more} more warnings of this kind are not shown.`];
	}

	/** False when a limit is reached: then this path and everything after it is skipped, which is reported once. */
	take(what: Counted, amount: number, path: string): boolean {
		const work = what === "entries" || what === "directories" ? "searching" : "reading";
		if (this.#isOver[work]) return false;
		this.#used[what] += amount;
		const ms = work === "searching" ? this.#limits.ms : 2 * this.#limits.ms;
		let why: string | undefined;
		if (this.#used[what] > this.#limits[what]) why = `there are ${words[what](this.#limits[what])}`;
		else if (performance.now() - this.#started > ms) why = `${work} took longer than ${ms / 1000} s`;
		if (why === undefined) return true;
		this.#isOver[work] = true;
		this.#warnings.push(`${path} and what comes after it is not used: ${why}.`);
		return false;
	}

	/** Whether directories this far down are searched. */
	reaches(depth: number, path: string): boolean {
		if (depth <= this.#limits.depth) return true;
		this.warn(`${path} is not searched: it is more than ${this.#limits.depth} directories down.`);
		return false;
	}
}
