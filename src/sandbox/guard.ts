/**
 * Four things that no mount can stop. A name that must not appear: `.git/commondir` leads git to another configuration. A protected file that a
 * program outside replaces by a rename, as `git config` does: its mount is gone then, and the new file can be written inside. What git outside
 * would act on later, see git-traps.ts. And what programs would open on their own, see leavings.ts. So the folders of protected paths are watched for as long as anything may run inside, and looked at before
 * and after each command; git directories are searched after each command and at the end.
 */
import { copyFileSync, type FSWatcher, readlinkSync, symlinkSync, watch, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isOpenedByPrograms } from "../lib/protected-names.ts";
import type { EnclosureFacts } from "../lib/shell/confinement.ts";
import { type GitTrap, withoutTraps } from "./git-traps.ts";
import { modeOf, restoreModes, type Standing, type Undone } from "./leavings.ts";
import { look } from "./paths.ts";
import type { Quarantine } from "./quarantine.ts";
import type { View } from "./view.ts";

export interface GuardParts {
	/** Where names that must not appear are moved to. */
	quarantine: Quarantine;
	/** Ends everything inside. */
	endAll: () => Promise<void>;
	/** Returns whether a program still runs inside after its command. */
	hasBackground: () => Promise<boolean>;
	/** Searches the project. */
	inspect: () => { traps: readonly GitTrap[]; standing: Standing };
	undo: (before: Standing, now: Standing, onMove: (path: string) => void) => Promise<Undone>;
	/** From now on no git directory may be written: one cannot be searched. */
	giveUp: () => void;
}

const searchDelayMs = 100;
/** More are counted. */
const mostTold = 5;

interface Running {
	view: View;
	breach?: string;
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
	/** Views of directories that are removed again: they are watched only while a command runs there. */
	readonly #passing = new WeakSet<View>();
	/** The paths of all other views. */
	readonly #lasting = new Set<string>();
	/** Commands that run now, each with what happened to the walls meanwhile. */
	readonly #running = new Set<Running>();
	/** What was there when nothing ran inside: what a person has changed meanwhile is the person's. */
	#standing: Standing | undefined;
	/** Permissions of the writable directories at the same moment. */
	#modes: ReadonlyMap<string, number> = new Map();
	/** Directories like a bare repository that came while a command ran: each search looks into them. */
	readonly #madeBare = new Set<string>();
	/** What the last search found. */
	#seen: Standing | undefined;
	/** Nothing has run inside since the standing was taken, or all of it has ended. */
	#isQuiet = true;
	/** Said at the end of the next command. */
	#untold: string[] = [];
	#undoing: Promise<void> = Promise.resolve();
	#isEnding: Promise<void> | undefined;
	#search: NodeJS.Timeout | undefined;
	#isClosed = false;

	constructor(parts: GuardParts) {
		this.#parts = parts;
	}

	/** Notes what a command is about to see. Without a standing, its directory is removed after the command. Returns false where the folders cannot be watched. */
	prepare(view: View, standing?: Standing): boolean {
		const isPassing = standing === undefined;
		if (isPassing) this.#passing.add(view);
		else if (this.#isQuiet) {
			const bare = [...standing.bare].filter((path) => !this.#madeBare.has(path));
			this.#standing = { ...standing, bare: new Set(bare) };
			this.#modes = new Map(view.writable.flatMap((path) => (modeOf(path) === undefined ? [] : [[path, modeOf(path) as number]])));
		}
		for (const path of view.forbidden) this.#forbidden.add(path);
		const paths = watchedIn(view);
		if (!isPassing) for (const path of [...paths, ...view.forbidden]) this.#lasting.add(path);
		for (const path of paths) this.#known.set(path, identityOf(path));
		return [...new Set([...paths, ...this.#forbidden].map((path) => dirname(path)))].every((folder) => this.#watch(folder));
	}

	/** Looks at everything now. Resolves once what ran inside has ended, where something was found. `isWhole`: the project is searched, too. */
	async check(isWhole = false): Promise<void> {
		this.#look({ isWhole });
		await this.#isEnding;
		if (isWhole && !this.#isQuiet) await this.#undo();
	}

	/** A person lets a tool write this path while commands may run. */
	allow(path: string): void {
		const { opened } = this.#standing ?? {};
		const names = path.split("/");
		const at = names.findIndex(isOpenedByPrograms);
		if (opened && at > 0 && this.#standing) this.#standing = { ...this.#standing, opened: new Set([...opened, names.slice(0, at + 1).join("/")]) };
	}

	/** A command begins. The returned function says at its end what happened. */
	follow(view: View): () => Promise<Pick<EnclosureFacts, "breach" | "undone">> {
		const running: Running = { view };
		this.#running.add(running);
		const isWriting = view.writable.length > 0 && !this.#passing.has(view);
		if (isWriting) this.#isQuiet = false;
		return async () => {
			this.#look({ isWhole: true });
			await this.#isEnding;
			if (isWriting) await this.#undo();
			this.#running.delete(running);
			if (this.#passing.has(view)) this.#release(view);
			await this.#isEnding;
			if (isWriting && this.#running.size === 0 && !(await this.#parts.hasBackground())) this.#isQuiet = this.#running.size === 0;
			const undone = isWriting ? this.#untold.splice(0) : [];
			return { ...(running.breach !== undefined && { breach: running.breach }), ...(undone.length > 0 && { undone: sentenceOf(undone) }) };
		};
	}

	/** One after the other: two commands that end together must not move the same thing. */
	#undo(): Promise<void> {
		this.#undoing = this.#undoing.then(async () => {
			const [before, now] = [this.#standing, this.#seen];
			if (!before || !now) return;
			for (const path of now.bare) if (!before.bare.has(path)) this.#madeBare.add(path);
			const { texts, left } = await this.#parts.undo(before, now, (path) => void this.#known.delete(path));
			this.#untold.push(...texts);
			if (left.length === 0) return;
			// It is on another file system, where it can be moved safely only once nothing runs.
			await this.#parts.endAll();
			for (const path of left) if (look(path)) this.#parts.quarantine.moveAtLast(path);
		});
		return this.#undoing;
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
		if (!this.#isQuiet) this.#untold.push(...restoreModes(this.#modes));
		const found: string[] = [];
		for (const path of this.#forbidden) {
			if (!look(path)) continue;
			this.#parts.quarantine[isLast ? "moveAtLast" : "move"](path);
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
		const { traps, standing } = this.#parts.inspect();
		this.#seen = standing;
		if (isLast) {
			for (const { kind, path } of traps) if (kind === "link" || kind === "file") this.#parts.quarantine.moveAtLast(path);
			for (const path of new Set(traps.flatMap((trap) => (trap.kind === "line" ? [trap.path] : [])))) this.#repair(path, traps);
			if (traps.some(({ kind }) => kind === "limit")) this.#parts.giveUp();
		}
		return traps.map(({ text }) => text);
	}

	/** Keeps the rest of a list of a rebase, so that a person can go on with it. */
	#repair(path: string, traps: readonly GitTrap[]): void {
		const { quarantine } = this.#parts;
		try {
			copyFileSync(path, quarantine.place(path));
			writeFileSync(path, withoutTraps(path, traps));
		} catch {
			quarantine.moveAtLast(path);
		}
	}

	#restore(path: string, target: string, isLast: boolean): void {
		if (look(path)) this.#parts.quarantine[isLast ? "moveAtLast" : "move"](path);
		try {
			symlinkSync(target, path);
		} catch {
			// Its folder is gone, or a command was faster. The look after the end of all commands sees it.
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

function sentenceOf(undone: readonly string[]): string {
	const more = undone.length > mostTold ? `; and ${undone.length - mostTold} more` : "";
	return `Undone after the command: ${undone.slice(0, mostTold).join("; ")}${more}.`;
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
