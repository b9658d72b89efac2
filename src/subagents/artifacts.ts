/** Files that subagents write: in a directory next to the session's file, or in a temporary one that is removed with the process. */

import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stderrLog } from "../lib/log.ts";

export interface ArtifactsOptions {
	/** The session's own file, as it is now; none when nothing is stored. */
	sessionFile: () => string | undefined;
	/** Of a subagent: its sender's directory, and its own id there. */
	inherited?: { directory: string; id: string };
	/** Receives the directory whenever it is asked for. */
	onDirectory?: (directory: string) => void;
	warn: (text: string) => void;
	/** Calls back at the end of the process. */
	atExit: (then: () => void) => void;
}

const keptSuffix = ".keep";

/** Returns the directory next to a session file for what its subagents write. */
export function artifactsOf(file: string): string {
	const path = file.replace(/\.jsonl$/, "");
	return path === file ? `${file}.artifacts` : path;
}

export class Artifacts {
	#options: ArtifactsOptions;
	#temporary: string | undefined;
	/** The next number for an id, by directory. */
	#used = new Map<string, number>();

	constructor(options: ArtifactsOptions) {
		this.#options = options;
	}

	/** The directory for new files, which is made if necessary. */
	directory(): string {
		const directory = this.#directory();
		this.#options.onDirectory?.(directory);
		return directory;
	}

	#directory(): string {
		const { sessionFile, inherited } = this.#options;
		if (inherited) return inherited.directory;
		const file = sessionFile();
		if (file === undefined) return this.#temporaryDirectory();
		const directory = artifactsOf(file);
		mkdirSync(directory, { recursive: true, mode: 0o700 });
		return directory;
	}

	/** A unique id: the next free number, and the name. Its output file is created with it. */
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

	/** Keeps a file when the temporary directory is removed: work that is nowhere else. The mark is a file, because the directory may be another process's. */
	keep(path: string): void {
		if (this.#options.sessionFile() === undefined) writeArtifact(path + keptSuffix, "");
	}

	/** The work is merged, so the file need not be kept. */
	release(path: string): void {
		rmSync(path + keptSuffix, { force: true });
	}

	/** Removes the temporary directory, and reports the files that are kept. */
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

/** Writes a file that only the user can read, and gives its path; nothing when it cannot be written, because a full disk must not cost the result. */
export function writeArtifact(path: string, text: string): string | undefined {
	try {
		writeFileSync(path, text, { mode: 0o600 });
		return path;
	} catch (error) {
		stderrLog().error(`the artifact ${path} could not be written`, error);
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
