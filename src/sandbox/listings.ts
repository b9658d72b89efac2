/** What directories hold, read again only when one has changed. */
import { readdirSync, type Stats, statSync } from "node:fs";
import { inDirectory, look } from "./paths.ts";

/** A directory that changed less than this before it was read may have changed once more with the same time. */
const settledMs = 50;

/** It differs where a directory is another one, or has changed. */
type Stamp = Pick<Stats, "ino" | "dev" | "mtimeMs" | "ctimeMs">;

/** Something that was read from each directory. */
export class ByDirectory<Content> {
	readonly #read: (directory: string) => Content | undefined;
	readonly #known = new Map<string, Stamp & { isSettled: boolean; content: Content | undefined }>();

	/** `read` returns nothing where the directory cannot be read. */
	constructor(read: (directory: string) => Content | undefined) {
		this.#read = read;
	}

	/** Links to a directory are followed only where `facts` are about its target. */
	get(directory: string, facts = look(directory)): Content | undefined {
		if (!facts?.isDirectory()) {
			this.#known.delete(directory);
			return undefined;
		}
		const known = this.#known.get(directory);
		if (known?.isSettled && isSame(known, facts)) return known.content;
		const { ino, dev, mtimeMs, ctimeMs } = facts;
		const isSettled = Date.now() - Math.max(mtimeMs, ctimeMs) > settledMs;
		const content = this.#read(directory);
		this.#known.set(directory, { ino, dev, mtimeMs, ctimeMs, isSettled, content });
		return content;
	}
}

const isSame = (a: Stamp, b: Stamp) => a.ino === b.ino && a.dev === b.dev && a.mtimeMs === b.mtimeMs && a.ctimeMs === b.ctimeMs;

export class Listings {
	readonly #names = new ByDirectory((directory) => {
		try {
			const names = readdirSync(directory);
			// Some disks do not tell `.SSH` from `.ssh`.
			return { names, folded: new Set(names.map((name) => name.toLowerCase())) };
		} catch {
			return undefined;
		}
	});

	/** None where the directory cannot be read. */
	names(directory: string): readonly string[] {
		return this.#names.get(directory)?.names ?? [];
	}

	/** The paths of those names that may be in the directory: a look at each path tells. */
	pick(directory: string, names: readonly string[]): string[] {
		const facts = directoryAt(directory);
		if (!facts) return [];
		const listing = this.#names.get(directory, facts);
		// What is in a directory that cannot be listed may be read all the same.
		return (listing ? names.filter((name) => listing.folded.has(name.toLowerCase())) : names).map((name) => inDirectory(directory, name));
	}
}

/** Links are followed. */
function directoryAt(path: string): Stats | undefined {
	const facts = look(path);
	if (!facts?.isSymbolicLink()) return facts;
	try {
		return statSync(path, { throwIfNoEntry: false });
	} catch {
		return undefined;
	}
}
