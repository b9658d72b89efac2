/** Finds the repositories inside a directory, again for each command. Directories that have not changed are not read again. */
import { readdirSync } from "node:fs";
import { ByDirectory } from "./listings.ts";

const deepest = 4;
/** More directories than this are not looked at: a command must not wait for a tree of a million of them. */
const mostDirectories = 5000;

export class RepositoryScan {
	readonly #listings = new ByDirectory(read);

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
				const listing = this.#listings.get(directory);
				if (listing?.hasGit) found.push(directory);
				if (listing) next.push(...listing.directories);
			}
			level = next;
		}
		return found;
	}
}

function read(directory: string): { directories: string[]; hasGit: boolean } | undefined {
	try {
		const entries = readdirSync(directory, { withFileTypes: true });
		const directories = entries.filter((entry) => entry.isDirectory() && entry.name !== "node_modules" && entry.name !== ".git");
		return { directories: directories.map(({ name }) => `${directory}/${name}`), hasGit: entries.some(({ name }) => name === ".git") };
	} catch {
		return undefined;
	}
}
