/** Finds the repositories inside a directory, again for each command. Directories that have not changed are not read again. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { look } from "./paths.ts";

const deepest = 4;
/** More directories than this are not looked at: a command must not wait for a tree of a million of them. */
const mostDirectories = 5000;

interface Listing {
	changed: number;
	directories: string[];
	hasGit: boolean;
}

export class RepositoryScan {
	#known = new Map<string, Listing>();

	/** The directories at or below `root` that have an entry `.git`, at most four folders deep, outside node_modules. */
	find(root: string): string[] {
		const found: string[] = [];
		let level = [root];
		let count = 0;
		for (let depth = 0; depth <= deepest && level.length > 0; depth += 1) {
			const next: string[] = [];
			for (const directory of level) {
				count += 1;
				if (count > mostDirectories) return found;
				const listing = this.#list(directory);
				if (listing?.hasGit) found.push(directory);
				for (const name of listing?.directories ?? []) next.push(join(directory, name));
			}
			level = next;
		}
		return found;
	}

	#list(directory: string): Listing | undefined {
		const facts = look(directory);
		if (!facts?.isDirectory()) {
			this.#known.delete(directory);
			return undefined;
		}
		const changed = Math.max(facts.mtimeMs, facts.ctimeMs);
		const known = this.#known.get(directory);
		// A directory that changed a moment ago may change again without a new time.
		if (known?.changed === changed && Date.now() - changed > 50) return known;
		const listing = read(directory, changed);
		if (listing) this.#known.set(directory, listing);
		return listing;
	}
}

function read(directory: string, changed: number): Listing | undefined {
	try {
		const entries = readdirSync(directory, { withFileTypes: true });
		const directories = entries.filter((entry) => entry.isDirectory() && entry.name !== "node_modules" && entry.name !== ".git");
		return { changed, directories: directories.map(({ name }) => name), hasGit: entries.some(({ name }) => name === ".git") };
	} catch {
		return undefined;
	}
}
