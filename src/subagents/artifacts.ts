/** What subagents leave on disk: a directory beside the session's file, or a private one that goes with the process. */
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface ArtifactsOptions {
	/** The session's own file, as it is now; none when nothing is stored. */
	sessionFile: () => string | undefined;
	/** Of a subagent: the directory of the one who sent it, and its own id there. */
	inherited?: { directory: string; id: string };
	warn: (text: string) => void;
	/** Calls back when everything is over. */
	atExit: (then: () => void) => void;
}

const keptSuffix = ".keep";

export class Artifacts {
	#options: ArtifactsOptions;
	#temporary: string | undefined;
	/** Numbers of ids that were given, by directory. */
	#used = new Map<string, number>();

	constructor(options: ArtifactsOptions) {
		this.#options = options;
	}

	/** Where things go now; made when it is not there. */
	directory(): string {
		const { sessionFile, inherited } = this.#options;
		if (inherited) return inherited.directory;
		const file = sessionFile();
		if (file === undefined) return this.#temporaryDirectory();
		const path = file.replace(/\.jsonl$/, "");
		const directory = path === file ? `${file}.artifacts` : path;
		mkdirSync(directory, { recursive: true, mode: 0o700 });
		return directory;
	}

	/** An id that nobody else has: the next free number, and the name. Its file of output is there from now on. */
	reserve(directory: string, name: string): string {
		const { inherited } = this.#options;
		const prefix = inherited ? `${inherited.id}.` : "";
		for (let number = this.#used.get(directory) ?? nextNumber(directory, prefix); ; number += 1) {
			const id = `${prefix}${number}-${name}`;
			try {
				closeSync(openSync(join(directory, `${id}.md`), "wx", 0o600));
			} catch (error) {
				if ((error as NodeJS.ErrnoException).code === "EEXIST") continue;
				throw error;
			}
			this.#used.set(directory, number + 1);
			return id;
		}
	}

	/** A file that is not to be removed with the temporary directory: work that is nowhere else. Marked on disk: the directory may be another process's. */
	keep(path: string): void {
		if (this.#options.sessionFile() === undefined) writeArtifact(path + keptSuffix, "");
	}

	/** The work has arrived elsewhere. */
	release(path: string): void {
		rmSync(path + keptSuffix, { force: true });
	}

	/** Removes what nobody needs any more, and tells where the rest is. */
	close(): void {
		const directory = this.#temporary;
		if (directory === undefined) return;
		this.#temporary = undefined;
		const marked = readdirSync(directory).filter((name) => name.endsWith(keptSuffix));
		const kept = marked.map((name) => join(directory, name.slice(0, -keptSuffix.length))).filter((path) => existsSync(path));
		if (kept.length === 0) return rmSync(directory, { recursive: true, force: true });
		for (const name of readdirSync(directory)) {
			if (!kept.includes(join(directory, name))) rmSync(join(directory, name), { recursive: true, force: true });
		}
		this.#options.warn(`Work of subagents that was not merged is in ${kept.join(", ")}.`);
	}

	#temporaryDirectory(): string {
		if (this.#temporary === undefined) {
			this.#temporary = mkdtempSync(join(tmpdir(), "bowline-tasks-"));
			this.#options.atExit(() => this.close());
		}
		return this.#temporary;
	}
}

/** Writes a file that only the user can read, and gives its path. A full disk must not cost the result: then there is none. */
export function writeArtifact(path: string, text: string): string | undefined {
	try {
		writeFileSync(path, text, { mode: 0o600 });
		return path;
	} catch (error) {
		console.error("bowline: an artifact could not be written:", error);
		return undefined;
	}
}

function nextNumber(directory: string, prefix: string): number {
	const numbers = readdirSync(directory).flatMap((name) => {
		const found = name.startsWith(prefix) ? /^(\d+)-/.exec(name.slice(prefix.length)) : null;
		return found ? [Number(found[1])] : [];
	});
	return numbers.length === 0 ? 0 : Math.max(...numbers) + 1;
}
