/**
 * Keeps states of a working tree as git trees in the user's directory, with or without a repository around the files. The project's own git
 * is only asked which files it ignores. Objects are stored in full, so that nothing the user does to their repository can lose one.
 */

import { createHash, randomBytes } from "node:crypto";
import { accessSync, constants, existsSync, lstatSync, mkdirSync, readdirSync, realpathSync, renameSync, statSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { asSentence } from "../lib/as-sentence.ts";
import { differences, isSame } from "../snapshots/compare.ts";
import { Git, GitError, type GitOptions } from "../snapshots/git.ts";
import { asFileName, below, entries, inside, onDisk, type RepositoryPath } from "../snapshots/paths.ts";
import { checkVersion, findRepository, problemOf, type Repository } from "../snapshots/repository.ts";
import { type Change, copyIndex, putEntries, Shadow } from "../snapshots/shadow.ts";
import { presentIn } from "../snapshots/take.ts";
import { unlock } from "../snapshots/unlock.ts";
import { CommitHistory, type History } from "./commit-history.ts";
import { IgnoredFiles } from "./ignored.ts";

/** A tree for the working tree, under the empty name, and for each repository inside it. */
export type State = Readonly<Record<RepositoryPath, string>>;

/** The files, and what the repositories among them have of commits, branches and the like. */
export interface Taken {
	state: State;
	history: History;
	/** The name of what is ignored. */
	ignored?: string;
	/** Who may do what with the directory itself. */
	mode: number;
}

export interface TreeStoreOptions extends GitOptions {
	/** Where the agent works. */
	cwd: string;
	/** `<user dir>/checkpoints`. */
	root: string;
	/** Our own files and directories, which may be inside the tree: absolute paths. */
	own: () => readonly string[];
	/** More than this is not copied: checkpoints must not make an agent slow. */
	limits?: Limits;
}

export interface Limits {
	files: number;
	/** Of all new files together, and of one. */
	bytes: number;
	fileBytes: number;
	/** Of the commits of a repository. */
	commitBytes: number;
}

/** Why no state can be taken here. */
export class CannotTake extends Error {
	override readonly name = "CannotTake";
}

const usual: Limits = { files: 30_000, bytes: 512 * 1024 * 1024, fileBytes: 16 * 1024 * 1024, commitBytes: 256 * 1024 * 1024 };
/** Objects are collected after a day at the earliest. */
const trustMs = 60 * 60 * 1000;
/** Repositories inside the tree. */
const mostInner = 20;

interface Part {
	/** Where it is in the working tree; empty for the tree itself. */
	at: RepositoryPath;
	top: string;
}

export class TreeStore {
	/** Everything that belongs to this working tree. */
	readonly directory: string;
	/** The directory whose files are kept. */
	readonly top: string;
	readonly shadow: Shadow;
	readonly commits: CommitHistory;
	readonly ignored: IgnoredFiles;
	#own: () => readonly string[];
	#limits: Limits;
	#index: string;
	#trees = new Map<RepositoryPath, string>();
	/** When all objects that an index names were last looked for. */
	#checkedAt = new Map<RepositoryPath, number>();
	/** Files that are too large to keep. */
	#leftOut = new Set<RepositoryPath>();
	/** New files of the last state that were too many. */
	#crowd = new Set<RepositoryPath>();
	/** Repositories that the last state does not hold. */
	#unlisted = new Set<RepositoryPath>();
	/** What was ignored before the agent changed anything. */
	#ignoredBefore: string | undefined;
	#empty: string | undefined;

	private constructor(directory: string, top: string, own: () => readonly string[], shadow: Shadow, limits: Limits, git: Git) {
		this.directory = directory;
		this.top = top;
		this.#own = own;
		this.shadow = shadow;
		this.#limits = limits;
		this.#index = join(directory, "indexes", randomBytes(6).toString("hex"));
		this.ignored = new IgnoredFiles(join(directory, "ignored"), top);
		this.commits = new CommitHistory({ directory: join(directory, "commits"), top, git, mostBytes: limits.commitBytes });
	}

	/** Throws a CannotTake with the reason. */
	static async open({ cwd, root, own, limits = usual, ...options }: TreeStoreOptions, signal?: AbortSignal): Promise<TreeStore> {
		const git = new Git(options, cwd);
		const wrong = await checkVersion(git, signal);
		if (wrong) throw new CannotTake(`${asSentence(wrong.problem)} ${wrong.remedy}.`);
		try {
			const found = await findRepository(git, signal);
			const repository = "problem" in found ? undefined : found;
			await mkdir(root, { recursive: true, mode: 0o700 });
			const known = lostTop(realpathSync(root), realpathSync(cwd), repository?.top);
			const top = known ?? repository?.top ?? realpathSync(cwd);
			const directory = directoryOf(realpathSync(root), top);
			await mkdir(join(directory, "indexes"), { recursive: true, mode: 0o700 });
			const shadow = known === undefined ? await shadowIn(directory, git, repository, signal) : new Shadow(git, join(directory, "git"));
			return new TreeStore(directory, top, own, shadow, limits, git);
		} catch (error) {
			signal?.throwIfAborted();
			const { problem, remedy } = problemOf(error, cwd);
			throw new CannotTake(`${asSentence(problem)} ${remedy}.`);
		}
	}

	/** Files that the last state does not hold, because they are too large or too many. */
	get leftOut(): ReadonlySet<RepositoryPath> {
		return this.#crowd.size === 0 ? this.#leftOut : new Set([...this.#leftOut, ...this.#crowd]);
	}

	/**
	 * The state of the files and of the repositories now. `isBefore`: also what is ignored, which is then only looked at again. Throws a CannotTake
	 * when there are too many files, unless `mayLeaveOut` is true and an earlier state can be gone back to.
	 */
	async takeAll(signal?: AbortSignal, isBefore = false, mayLeaveOut = true): Promise<Taken> {
		const mode = statSync(this.top).mode & 0o7777;
		const state = await this.take(signal, mayLeaveOut);
		const history = await this.commits.take(Object.keys(state), this.#unlisted, signal);
		if (isBefore) this.#ignoredBefore = await this.takeIgnored(state, signal);
		const ignored = isBefore ? this.#ignoredBefore : this.#ignoredBefore && this.ignored.takeAgain(this.#ignoredBefore);
		return { state, history, mode, ...(ignored === undefined ? {} : { ignored }) };
	}

	/** Keeps what git ignores now in the directories of a state. Returns the name of the record. */
	async takeIgnored(state: State, signal?: AbortSignal): Promise<string> {
		return this.ignored.take(await this.#ignoredIn(Object.keys(state), signal));
	}

	/** Without our own files. */
	async #ignoredIn(places: readonly RepositoryPath[], signal: AbortSignal | undefined): Promise<RepositoryPath[]> {
		const own = this.#own().flatMap((path) => inside(this.top, path) ?? []);
		const found: RepositoryPath[] = [];
		for (const at of places) {
			const listed = await this.shadow.ignored({ top: onDisk(this.top, at).toString(), index: this.#indexOf(at) }, signal);
			found.push(
				...listed
					.map((path) => below(at, path))
					.filter((path) => !own.some((each) => `${each}/`.startsWith(path) || `${path}/`.startsWith(`${each}/`))),
			);
		}
		return found;
	}

	/** The state of the files now. Throws a CannotTake when there are too many. `mayLeaveOut`: leaves out those that no earlier state has. */
	async take(signal?: AbortSignal, mayLeaveOut = false): Promise<State> {
		this.#unlisted.clear();
		this.#crowd.clear();
		const state: Record<RepositoryPath, string> = {};
		const parts: Part[] = [{ at: "", top: this.top }];
		for (const part of parts) {
			const { tree, inner } = await this.#takePart(part, signal, mayLeaveOut);
			state[part.at] = tree;
			for (const path of inner) {
				const place = onDisk(part.top, path);
				// The name of a directory that is not UTF-8 cannot be given to git as its working tree.
				if (parts.length <= mostInner && Buffer.from(place.toString()).equals(place)) parts.push({ at: below(part.at, path), top: place.toString() });
				else this.#unlisted.add(below(part.at, path));
			}
		}
		return state;
	}

	async #takePart(
		part: Part,
		signal: AbortSignal | undefined,
		mayLeaveOut: boolean,
		isAgain = false,
	): Promise<{ tree: string; inner: RepositoryPath[] }> {
		const { at, top } = part;
		const place = { top, index: this.#indexOf(at) };
		if (!existsSync(place.index)) await this.#startIndex(at, place.index);
		const git = this.shadow.git(place);
		const listed = new Set(entries(await git.run(["ls-files", "-m", "-d", "-o", "--exclude-standard", "-z"], { signal })));
		const inner: RepositoryPath[] = [];
		const found: RepositoryPath[] = [];
		const own = at === "" ? this.#own().flatMap((path) => inside(top, path) ?? []) : [];
		for (const path of listed) {
			if (own.some((each) => path === each || path.startsWith(`${each}/`))) continue;
			if (!path.endsWith("/")) found.push(path);
			else if (!path.split("/").includes("node_modules")) inner.push(path.slice(0, -1));
		}
		const known = this.#trees.get(at);
		const { changed, gone } = await this.#sortedWithin(part, found, mayLeaveOut ? git : undefined);
		if (known !== undefined && changed.length + gone.length === 0) return { tree: known, inner };
		try {
			await putEntries(
				git,
				gone.map((path) => ({ path })),
				signal,
			);
			const input = changed.map((path) => `${path}\0`).join("");
			if (changed.length > 0) await git.run(["update-index", "--add", "--replace", "-z", "--stdin"], { input, signal });
			// Looking for every object costs more than writing the new ones. Those that were there a while ago are not collected yet.
			const wasChecked = known !== undefined && performance.now() - (this.#checkedAt.get(at) ?? 0) < trustMs;
			const tree = await git.line(["write-tree", ...(wasChecked ? ["--missing-ok"] : [])], { signal });
			if (!wasChecked) this.#checkedAt.set(at, performance.now());
			this.#trees.set(at, tree);
			return { tree, inner };
		} catch (error) {
			// An index from long ago may name objects that are no longer kept.
			if (isAgain || !(error instanceof GitError) || !/invalid object|unable to read/i.test(error.stderr)) throw error;
			await git.run(["read-tree", "--empty"], { signal });
			this.#trees.delete(at);
			return this.#takePart(part, signal, mayLeaveOut, true);
		}
	}

	/** As `#sorted`. `git`: where there are too many files, leaves out those that no earlier state has, so that the others can be put back. */
	async #sortedWithin(
		part: Part,
		found: readonly RepositoryPath[],
		git: Git | undefined,
	): Promise<{ changed: RepositoryPath[]; gone: RepositoryPath[] }> {
		try {
			return this.#sorted(part, found);
		} catch (error) {
			if (!git || !(error instanceof CannotTake)) throw error;
			const known = new Set(entries(await git.run(["ls-files", "-z"])));
			if (known.size === 0) throw error;
			const sorted = this.#sorted(
				part,
				found.filter((path) => known.has(path)),
			);
			for (const path of found) if (!known.has(path)) this.#crowd.add(below(part.at, path));
			return sorted;
		}
	}

	/** Which of the listed paths are to be stored, and which are gone or not to be stored any more. */
	#sorted({ at, top }: Part, found: readonly RepositoryPath[]): { changed: RepositoryPath[]; gone: RepositoryPath[] } {
		const { files, bytes: mostBytes, fileBytes } = this.#limits;
		if (found.length > files) throw new CannotTake(`there are more than ${files} files in ${top}`);
		const present = presentIn(top);
		const changed: RepositoryPath[] = [];
		const gone: RepositoryPath[] = [];
		let bytes = 0;
		for (const path of found) {
			const place = onDisk(top, path);
			const stats = orClosed(() => {
				const found = present(path) ? lstatSync(place, { throwIfNoEntry: false }) : undefined;
				if (found?.isFile()) accessSync(place, constants.R_OK);
				return found;
			});
			// What cannot be read counts as it was: a locked file must not keep the others from being noted.
			if (stats === "closed") continue;
			const full = below(at, path);
			// A directory in the place of a file: what is in it is listed too. Pipes and sockets have no content.
			if (!stats?.isFile() && !stats?.isSymbolicLink()) {
				gone.push(path);
				this.#leftOut.delete(full);
			} else if (stats.size > fileBytes) {
				if (!this.#leftOut.has(full)) gone.push(path);
				this.#leftOut.add(full);
			} else {
				changed.push(path);
				this.#leftOut.delete(full);
				bytes += stats.size;
			}
		}
		if (bytes > mostBytes) throw new CannotTake(`the files in ${top} have more than ${mostBytes} bytes`);
		return { changed, gone };
	}

	#indexOf(at: RepositoryPath): string {
		return at === "" ? this.#index : `${this.#index}.${createHash("sha256").update(at).digest("hex").slice(0, 8)}`;
	}

	/** The newest index of another process saves reading every file again. */
	async #startIndex(at: RepositoryPath, index: string): Promise<void> {
		const suffix = this.#indexOf(at).slice(this.#index.length);
		const directory = join(this.directory, "indexes");
		const isSamePart = (name: string) => (suffix === "" ? /^\w+$/.test(name) : name.endsWith(suffix));
		const others = readdirSync(directory).filter(isSamePart);
		const newest = others.map((name) => join(directory, name)).sort((one, two) => modified(two) - modified(one))[0];
		// Without a copy git builds the index from the files, which takes longer and gives the same result.
		if (newest !== undefined) await copyIndex(newest, index).catch(() => undefined);
	}

	/** Protects a state from being collected, under a name of its own. */
	keep(id: string, state: State): void {
		const directory = join(this.shadow.directory, "refs/checkpoints", id);
		mkdirSync(directory, { recursive: true, mode: 0o700 });
		for (const [number, tree] of Object.values(state).entries()) {
			const file = join(directory, String(number));
			// Git takes no notice of a file with this ending, so it never reads half a name.
			writeFileSync(`${file}.lock`, `${tree}\n`, { mode: 0o600 });
			renameSync(`${file}.lock`, file);
		}
	}

	/** Whether everything of a state is still there. */
	async has(state: State, signal?: AbortSignal): Promise<boolean> {
		const input = Object.values(state)
			.map((tree) => `${tree}\n`)
			.join("");
		return !/ missing$/m.test(await this.shadow.git().run(["cat-file", "--batch-check"], { input, signal }));
	}

	/** What happened from one state to another, by part. */
	async changes(from: State, to: State): Promise<{ at: RepositoryPath; before: string; after: string; changes: Change[] }[]> {
		const found = [];
		for (const at of new Set([...Object.keys(from), ...Object.keys(to)])) {
			const before = from[at] ?? (await this.#emptyTree());
			const after = to[at] ?? (await this.#emptyTree());
			if (before !== after) found.push({ at, before, after, changes: await differences(this.shadow.git(), before, after, false) });
		}
		return found;
	}

	/** The same with each path once: a directory may have become a repository of its own, or none any more. */
	async fileChanges(from: State, to: State): Promise<Change[]> {
		const found = new Map<RepositoryPath, Change>();
		for (const { at, changes } of await this.changes(from, to)) {
			for (const { path, ...sides } of changes) {
				const full = below(at, path);
				found.set(full, { ...found.get(full), ...sides, path: full });
			}
		}
		return [...found.values()].filter(({ from: before, to: after }) => !isSame(before, after));
	}

	/** Unlocks files and folders of a state that have been locked since. */
	async unlock(state: State): Promise<void> {
		// Outer folders first: what is in a locked one cannot be looked at.
		for (const at of Object.keys(state).sort()) {
			const list = entries(await this.shadow.git().run(["ls-tree", "-r", "-z", state[at] as string]));
			const known = list.map((line) => ({ mode: line.slice(0, 6), path: below(at, line.slice(line.indexOf("\t") + 1)) }));
			unlock(this.top, known);
		}
	}

	/** Folders of a state that have a repository of their own. Those with files from before are in no list of git's. */
	async repositoriesIn(state: State): Promise<RepositoryPath[]> {
		const found: RepositoryPath[] = [];
		for (const [at, tree] of Object.entries(state)) {
			const folders = entries(await this.shadow.git().run(["ls-tree", "-r", "-d", "-z", "--name-only", tree])).map((path) => below(at, path));
			found.push(...folders.filter((path) => existsSync(onDisk(this.top, `${path}/.git`))));
		}
		return found;
	}

	async #emptyTree(): Promise<string> {
		this.#empty ??= await this.shadow.git().line(["hash-object", "-t", "tree", "-w", "--stdin"], { input: "" });
		return this.#empty;
	}
}

async function shadowIn(directory: string, git: Git, repository: Repository | undefined, signal: AbortSignal | undefined): Promise<Shadow> {
	return Shadow.create(git, join(directory, "git"), repository, signal, false);
}

const directoryOf = (root: string, top: string) =>
	join(root, `${asFileName(basename(top))}-${createHash("sha256").update(top).digest("hex").slice(0, 12)}`);

/** The nearest directory, up to the repository that is found, whose own repository is gone. */
function lostTop(root: string, cwd: string, found: string | undefined): string | undefined {
	for (let at = cwd; at !== found; at = dirname(at)) {
		if (!existsSync(join(at, ".git", "HEAD")) && CommitHistory.isIn(join(directoryOf(root, at), "commits"))) return at;
		if (at === dirname(at)) return undefined;
	}
	return undefined;
}

function orClosed<T>(look: () => T): T | "closed" {
	try {
		return look();
	} catch (error) {
		if (["EACCES", "EPERM"].includes((error as NodeJS.ErrnoException).code ?? "")) return "closed";
		throw error;
	}
}

function modified(file: string): number {
	return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
