/**
 * Three things that no mount can stop. A name that must not appear: `.git/commondir` leads git to another configuration. A protected file that a
 * program outside replaces by a rename, as `git config` does: its mount is gone then, and the new file can be written inside. And what git outside
 * would act on later, see git-traps.ts. So the folders of protected paths are watched for as long as anything may run inside, and looked at before
 * and after each command; git directories are searched after each command and at the end.
 */
import { copyFileSync, cpSync, type FSWatcher, mkdirSync, readlinkSync, renameSync, rmSync, symlinkSync, watch, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { EnclosureFacts } from "../lib/shell/confinement.ts";
import { type GitTrap, withoutTraps } from "./git-traps.ts";
import { follow, inFolder, look } from "./paths.ts";
import type { View } from "./view.ts";

export interface GuardParts {
	/** Where names that must not appear are moved to. */
	quarantine: string;
	/** Ends everything inside. */
	endAll: () => Promise<void>;
	now: () => number;
	gitTraps: () => readonly GitTrap[];
	/** From now on no git directory may be written: one cannot be searched. */
	giveUp: () => void;
}

const searchDelayMs = 100;

/** What is at a path: a link is known by where it leads, everything else by its number on the disk. */
type Identity = string | undefined;

export class Guard {
	readonly #parts: GuardParts;
	readonly #watchers = new Map<string, FSWatcher>();
	/** What each protected path was when it was last mounted. */
	readonly #known = new Map<string, Identity>();
	/** Once a name is forbidden it stays so while the session lives. */
	readonly #forbidden = new Set<string>();
	/** Views of directories that are removed again: they are watched only while a command runs there. */
	readonly #passing = new WeakSet<View>();
	/** The paths of all other views. */
	readonly #lasting = new Set<string>();
	/** Commands that run now, each with what happened to the walls meanwhile. */
	readonly #running = new Set<{ view: View; breach?: string }>();
	#isEnding: Promise<void> | undefined;
	#search: NodeJS.Timeout | undefined;
	#isClosed = false;

	constructor(parts: GuardParts) {
		this.#parts = parts;
	}

	/** Notes what a command is about to see. `isPassing`: its directory is removed after the command. Returns false where the folders cannot be watched. */
	prepare(view: View, isPassing = false): boolean {
		if (isPassing) this.#passing.add(view);
		for (const path of view.forbidden) this.#forbidden.add(path);
		const paths = watchedIn(view);
		if (!isPassing) for (const path of [...paths, ...view.forbidden]) this.#lasting.add(path);
		for (const path of paths) this.#known.set(path, identityOf(path));
		return [...new Set([...paths, ...this.#forbidden].map((path) => dirname(path)))].every((folder) => this.#watch(folder));
	}

	/** Looks at everything now. Resolves once what ran inside has ended, where something was found. `isWhole`: git directories are searched, too. */
	async check(isWhole = false): Promise<void> {
		this.#look({ isWhole });
		await this.#isEnding;
	}

	/** A command begins. The returned function says at its end what happened. */
	follow(view: View): () => Promise<Pick<EnclosureFacts, "breach">> {
		const running: { view: View; breach?: string } = { view };
		this.#running.add(running);
		return async () => {
			this.#look({ isWhole: true });
			this.#running.delete(running);
			if (this.#passing.has(view)) this.#release(view);
			await this.#isEnding;
			return running.breach === undefined ? {} : { breach: running.breach };
		};
	}

	/** What only this view has is not looked at any more. */
	#release(view: View): void {
		const used = new Set([...this.#running].flatMap((other) => [...watchedIn(other.view), ...other.view.forbidden]));
		for (const path of [...watchedIn(view), ...view.forbidden]) {
			if (used.has(path) || this.#lasting.has(path)) continue;
			this.#known.delete(path);
			this.#forbidden.delete(path);
		}
		const folders = new Set([...this.#known.keys(), ...this.#forbidden].map((path) => dirname(path)));
		for (const folder of [...this.#watchers.keys()]) if (!folders.has(folder)) this.#forget(folder);
	}

	close(): void {
		this.#isClosed = true;
		clearTimeout(this.#search);
		for (const watcher of this.#watchers.values()) watcher.close();
		this.#watchers.clear();
	}

	#watch(folder: string): boolean {
		if (this.#watchers.has(folder) || !look(folder)) return true;
		try {
			const watcher = watch(folder, { persistent: false }, (_, name) => {
				if (name === null || this.#isWatched(join(folder, name))) this.#look({});
				else if (look(join(folder, name))?.isSymbolicLink()) this.#searchSoon();
			});
			// The folder itself is gone: it is watched again when it is back.
			watcher.on("error", () => this.#forget(folder));
			this.#watchers.set(folder, watcher);
			return true;
		} catch {
			return false;
		}
	}

	/** A command may make many links in a row: they are one search. */
	#searchSoon(): void {
		this.#search ??= setTimeout(() => {
			this.#search = undefined;
			this.#look({ isWhole: true });
		}, searchDelayMs).unref();
	}

	#forget(folder: string): void {
		this.#watchers.get(folder)?.close();
		this.#watchers.delete(folder);
	}

	#isWatched(path: string): boolean {
		return this.#known.has(path) || this.#forbidden.has(path);
	}

	/** `isLast`: nothing runs inside any more, so what is found now is put in order without a word. */
	#look({ isWhole = false, isLast = false }): void {
		if (this.#isClosed) return;
		const found: string[] = [];
		for (const path of this.#forbidden) {
			if (!look(path)) continue;
			this.#setAside(path, isLast);
			found.push(`${path} was made by the command`);
		}
		for (const [path, known] of this.#known) {
			const now = identityOf(path);
			if (now === known) continue;
			// A worktree that was removed: git follows its entry from nowhere any more.
			if (now === undefined && worktreeEntry.test(path)) {
				this.#known.delete(path);
				continue;
			}
			// Inside nothing can replace what is mounted. A link is not mounted: it is put back, and stays known as what it was.
			if (known?.startsWith("link ")) {
				this.#restore(path, known.slice("link ".length), isLast);
				found.push(`${path} was replaced`);
				if (isLast) this.#known.set(path, identityOf(path));
			} else {
				this.#known.set(path, now);
				found.push(`${path} was changed from outside`);
			}
		}
		if (isWhole) found.push(...this.#lookForTraps(isLast));
		const [first] = found;
		if (first !== undefined && !isLast) this.#breach(first);
	}

	/** Takes traps away once nothing runs inside: a program could lead the way to one elsewhere meanwhile. */
	#lookForTraps(isLast: boolean): string[] {
		const traps = this.#parts.gitTraps();
		if (isLast) {
			for (const { kind, path } of traps) if (kind === "link" || kind === "file") this.#setAside(path, true);
			for (const path of new Set(traps.flatMap((trap) => (trap.kind === "line" ? [trap.path] : [])))) this.#repair(path, traps);
			if (traps.some(({ kind }) => kind === "limit")) this.#parts.giveUp();
		}
		return traps.map(({ text }) => text);
	}

	/** Keeps the rest of a list of a rebase, so that a person can go on with it. */
	#repair(path: string, traps: readonly GitTrap[]): void {
		const { quarantine, now } = this.#parts;
		try {
			mkdirSync(quarantine, { recursive: true, mode: 0o700 });
			copyFileSync(path, join(quarantine, `${now()}-${basename(path)}`));
			writeFileSync(path, withoutTraps(path, traps));
		} catch {
			this.#setAside(path, true);
		}
	}

	#restore(path: string, target: string, isLast: boolean): void {
		if (look(path)) this.#setAside(path, isLast);
		try {
			symlinkSync(target, path);
		} catch {
			// Its folder is gone, or a command was faster. The look after the end of all commands sees it.
		}
	}

	/**
	 * Never fails: a command may take the name away, or make it again, at any moment. A link on the way is a command's own, and goes in place of what it
	 * leads to. `isLast`: nothing runs inside that could put one there meanwhile.
	 */
	#setAside(given: string, isLast: boolean): void {
		const { quarantine, now } = this.#parts;
		const [link] = follow(dirname(given)).links;
		const path = link ?? given;
		const place = join(quarantine, `${now()}-${basename(path)}`);
		try {
			mkdirSync(quarantine, { recursive: true, mode: 0o700 });
			inFolder(path, (target, folder) => {
				if (folder !== dirname(path)) throw new Error(`${dirname(path)} leads elsewhere now.`);
				renameSync(target, place);
			});
		} catch {
			if (isLast) this.#copyAside(path, place);
		}
	}

	/** For another file system. What cannot be copied is removed all the same. */
	#copyAside(path: string, place: string): void {
		try {
			if (look(path)) cpSync(path, place, { recursive: true, verbatimSymlinks: true, force: true });
		} catch {
			// A pipe or a socket, or it is gone.
		}
		try {
			rmSync(path, { recursive: true, force: true });
		} catch {
			// The next look sees it.
		}
	}

	/** One end for all that is found meanwhile. After it nothing runs that could make again what was taken away, so that look is the last. */
	#breach(what: string): void {
		for (const facts of this.#running) facts.breach ??= `The sandbox was rebuilt because ${what}.`;
		this.#isEnding ??= this.#parts.endAll().finally(() => {
			this.#isEnding = undefined;
			this.#look({ isWhole: true, isLast: true });
		});
	}
}

const worktreeEntry = /\/\.git\/worktrees\/[^/]+$/;

/** A program outside that replaces a masked file takes the copy away from commands that run. */
const watchedIn = ({ protected: paths, placeholders, links, replaced = [] }: View) => [
	...paths,
	...placeholders.map(({ path }) => path),
	...links,
	...replaced.flatMap(({ path, isMasked }) => (isMasked ? [path] : [])),
];

function identityOf(path: string): Identity {
	const facts = look(path);
	if (!facts) return undefined;
	if (!facts.isSymbolicLink()) return `${facts.dev} ${facts.ino}`;
	try {
		return `link ${readlinkSync(path)}`;
	} catch {
		return undefined;
	}
}
