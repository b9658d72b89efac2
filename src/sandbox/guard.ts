/**
 * Two things that no mount can stop. A name that must not appear: `.git/commondir` leads git to another configuration. And a protected file that
 * a program outside replaces by a rename, as `git config` does: its mount is gone then, and the new file can be written inside. So the folders of
 * protected paths are watched for as long as anything may run inside, and looked at before and after each command.
 */
import { cpSync, type FSWatcher, mkdirSync, readlinkSync, renameSync, rmSync, symlinkSync, watch } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { EnclosureFacts } from "../lib/shell/confinement.ts";
import { look } from "./paths.ts";
import type { View } from "./view.ts";

export interface GuardParts {
	/** Where names that must not appear are moved to. */
	quarantine: string;
	/** Ends everything inside. */
	endAll: () => Promise<void>;
	now: () => number;
}

/** What is at a path: a link is known by where it leads, everything else by its number on the disk. */
type Identity = string | undefined;

export class Guard {
	readonly #parts: GuardParts;
	readonly #watchers = new Map<string, FSWatcher>();
	/** What each protected path was when it was last mounted. */
	readonly #known = new Map<string, Identity>();
	/** Once a name is forbidden it stays so while the session lives. */
	readonly #forbidden = new Set<string>();
	/** Commands that run now, each with what happened to the walls meanwhile. */
	readonly #running = new Set<{ breach?: string }>();
	#isEnding: Promise<void> | undefined;
	#isClosed = false;

	constructor(parts: GuardParts) {
		this.#parts = parts;
	}

	/** Notes what a command is about to see. Returns false where the folders cannot be watched. */
	prepare(view: View): boolean {
		for (const path of view.forbidden) this.#forbidden.add(path);
		const paths = [...view.protected, ...view.placeholders.map(({ path }) => path), ...view.links];
		for (const path of paths) this.#known.set(path, identityOf(path));
		return [...new Set([...paths, ...this.#forbidden].map((path) => dirname(path)))].every((folder) => this.#watch(folder));
	}

	/** Looks at everything now. Resolves once what ran inside has ended, where something was found. */
	async check(): Promise<void> {
		this.#look();
		await this.#isEnding;
	}

	/** A command begins. The returned function says at its end what happened. */
	follow(): () => Promise<Pick<EnclosureFacts, "breach">> {
		const facts: { breach?: string } = {};
		this.#running.add(facts);
		return async () => {
			this.#look();
			this.#running.delete(facts);
			await this.#isEnding;
			return facts;
		};
	}

	close(): void {
		this.#isClosed = true;
		for (const watcher of this.#watchers.values()) watcher.close();
		this.#watchers.clear();
	}

	#watch(folder: string): boolean {
		if (this.#watchers.has(folder) || !look(folder)) return true;
		try {
			const watcher = watch(folder, { persistent: false }, (_, name) => {
				if (name === null || this.#isWatched(join(folder, name))) this.#look();
			});
			// The folder itself is gone: it is watched again when it is back.
			watcher.on("error", () => this.#forget(folder));
			this.#watchers.set(folder, watcher);
			return true;
		} catch {
			return false;
		}
	}

	#forget(folder: string): void {
		this.#watchers.get(folder)?.close();
		this.#watchers.delete(folder);
	}

	#isWatched(path: string): boolean {
		return this.#known.has(path) || this.#forbidden.has(path);
	}

	#look(): void {
		if (this.#isClosed) return;
		for (const path of this.#forbidden) if (look(path)) this.#remove(path);
		for (const [path, known] of this.#known) {
			const now = identityOf(path);
			if (now === known) continue;
			// Inside nothing can replace what is mounted. A link is not mounted: it is put back.
			if (known?.startsWith("link ")) this.#restore(path, known.slice("link ".length));
			else this.#breach(`${path} was changed from outside`);
			this.#known.set(path, identityOf(path));
		}
	}

	#remove(path: string): void {
		this.#setAside(path);
		this.#breach(`${path} was made by the command`);
	}

	#restore(path: string, target: string): void {
		if (look(path)) this.#setAside(path);
		try {
			symlinkSync(target, path);
		} catch {
			// Its folder is gone, or a program outside was faster. The next look sees it.
		}
		this.#breach(`${path} was replaced`);
	}

	#setAside(path: string): void {
		const { quarantine, now } = this.#parts;
		mkdirSync(quarantine, { recursive: true, mode: 0o700 });
		const place = join(quarantine, `${now()}-${basename(path)}`);
		try {
			renameSync(path, place);
		} catch {
			// Another file system.
			cpSync(path, place, { recursive: true, verbatimSymlinks: true, force: true });
			rmSync(path, { recursive: true, force: true });
		}
	}

	#breach(what: string): void {
		for (const facts of this.#running) facts.breach ??= `The sandbox was rebuilt because ${what}.`;
		const ending = this.#parts.endAll().finally(() => {
			if (this.#isEnding === ending) this.#isEnding = undefined;
		});
		this.#isEnding = ending;
	}
}

function identityOf(path: string): Identity {
	const facts = look(path);
	if (!facts) return undefined;
	return facts.isSymbolicLink() ? `link ${readlinkSync(path)}` : `${facts.dev} ${facts.ino}`;
}
