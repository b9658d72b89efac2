/**
 * Keeps states of a working tree as git trees, byte for byte, without a trace in the user's repository: a git directory of our own whose
 * objects are added to theirs by reference. It knows none of their filters, line-end rules, hooks or settings, so nothing is converted
 * and nothing of theirs is run.
 */
import { statSync } from "node:fs";
import { copyFile, cp, mkdir, stat, utimes, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Git } from "./git.ts";
import { entries, fromText, type RepositoryPath, split } from "./paths.ts";
import type { Repository } from "./repository.ts";

/** What a tree has at a path. */
export interface Entry {
	mode: string;
	oid: string;
}

/** The change at a path. An absent side means that nothing was there before, or that nothing is there afterwards. */
export interface Change {
	path: RepositoryPath;
	from?: Entry;
	to?: Entry;
}

/** A working tree, and the index that describes it. */
export interface Place {
	top: string;
	index: string;
}

/** A line of an index. */
export interface IndexEntry extends Entry {
	path: RepositoryPath;
	/** Not to be checked out: a sparse working tree. */
	isSkipped: boolean;
	/** Marked in the index as unchanged, whatever the disk has. */
	isAssumed: boolean;
	isMerged: boolean;
}

export const isLink = ({ mode }: Entry) => mode === "160000";

export class Shadow {
	readonly directory: string;
	readonly #git: Git;

	constructor(git: Git, directory: string) {
		this.directory = directory;
		this.#git = git.with({
			variables: {
				GIT_DIR: directory,
				GIT_CONFIG_NOSYSTEM: "1",
				GIT_CONFIG_GLOBAL: "/dev/null",
				GIT_CONFIG_COUNT: undefined,
				GIT_ATTR_NOSYSTEM: "1",
				// Git before 2.32 finds the user's files from here only.
				HOME: directory,
				XDG_CONFIG_HOME: directory,
			},
		});
	}

	/** Makes one for a repository, or for files that are in none. `borrows`: objects that the repository has are not stored again. */
	static async create(git: Git, directory: string, repository?: Repository, signal?: AbortSignal, borrows = true): Promise<Shadow> {
		await Promise.all(["objects/info", "refs", "info"].map((name) => mkdir(join(directory, name), { recursive: true, mode: 0o700 })));
		const config = await configFor(repository, signal);
		const attributes = "* -text !crlf !eol !filter !ident !working-tree-encoding !diff !merge !whitespace\n";
		await Promise.all([
			writeFile(join(directory, "HEAD"), "ref: refs/heads/none\n"),
			writeFile(join(directory, "config"), config, "latin1"),
			writeFile(join(directory, "info/attributes"), attributes),
			...(repository && borrows ? [writeFile(join(directory, "objects/info/alternates"), `${quoted(repository.objects)}\n`)] : []),
		]);
		const exclude = repository && join(repository.commonDir, "info/exclude");
		if (exclude && statSync(exclude, { throwIfNoEntry: false })?.isFile()) await cp(exclude, join(directory, "info/exclude"), { dereference: true });
		return new Shadow(git, directory);
	}

	/** Where objects are put. */
	get objects(): string {
		return join(this.directory, "objects");
	}

	/** Git on a working tree of choice with an index of choice. */
	git(place: Partial<Place> = {}): Git {
		const { top = this.directory, index } = place;
		return this.#git.with({ cwd: top, variables: { GIT_WORK_TREE: top, ...(index === undefined ? {} : { GIT_INDEX_FILE: index }) } });
	}

	async list(place: Place, signal?: AbortSignal): Promise<IndexEntry[]> {
		return entries(await this.git(place).run(["ls-files", "-s", "-v", "-z"], { signal })).map((line) => {
			const [facts = "", path = ""] = split(line, "\t");
			const [tag = "", mode = "", oid = "", stage] = facts.split(" ");
			return { path, mode, oid, isSkipped: /s/i.test(tag), isAssumed: tag !== tag.toUpperCase(), isMerged: stage === "0" };
		});
	}

	/** Files that git does not know; repositories among them end with a slash. */
	async untracked(place: Place, signal?: AbortSignal): Promise<RepositoryPath[]> {
		return entries(await this.git(place).run(["ls-files", "-o", "--exclude-standard", "-z"], { signal }));
	}

	/** Ignored paths; directories as a whole, with a slash at the end. */
	async ignored(place: Place, signal?: AbortSignal): Promise<RepositoryPath[]> {
		return entries(await this.git(place).run(["ls-files", "-o", "-i", "--exclude-standard", "--directory", "-z"], { signal }));
	}

	/** Brings the index up to what is on the disk, except for some paths, and gives its tree. */
	async take(place: Place, except: readonly RepositoryPath[], signal?: AbortSignal): Promise<string> {
		const input = [".", ...except.map((path) => `:(exclude,literal)${path}`)].join("\0");
		await this.git(place).run(["add", "-A", "--pathspec-from-file=-", "--pathspec-file-nul"], { input, signal });
		// Not all that a partial clone knows is there.
		return this.git(place).line(["write-tree", "--missing-ok"], { signal });
	}
}

/** Changes entries of git's index. Git reads the files of changed entries again from the disk. */
export async function putEntries(git: Git, changes: readonly Change[], signal?: AbortSignal): Promise<void> {
	if (changes.length > 0) await git.run(["update-index", "-z", "--index-info"], { input: indexInfo(changes), signal });
}

/** Removals first: a file may take the place of a directory, or the other way round. */
function indexInfo(changes: readonly Change[]): string {
	const gone = changes.filter(({ to }) => !to).map(({ path, from }) => `0 ${"0".repeat(from?.oid.length ?? 40)}\t${path}\0`);
	const set = changes.map(({ path, to }) => (to ? `${to.mode} ${to.oid}\t${path}\0` : ""));
	return [...gone, ...set].join("");
}

/**
 * A copy that git trusts no more than the original. Git takes a file as unchanged when it is older than the index: a copy with a later
 * time would hide a change that was made right after the original was written.
 */
export async function copyIndex(from: string, to: string): Promise<void> {
	const { mtimeMs } = await stat(from);
	await copyFile(from, to);
	await utimes(to, Math.floor(mtimeMs / 1000), Math.floor(mtimeMs / 1000));
}

/** Found by probing the file system when the repository was made, or else decided by the user: the tree means something else without it. */
const kept = /^(core\.(filemode|symlinks|ignorecase|precomposeunicode|protecthfs|protectntfs)|extensions\.objectformat)$/;

async function configFor(repository: Repository | undefined, signal?: AbortSignal): Promise<string> {
	const values = new Map<string, string>();
	let excludes = "";
	if (repository) {
		const { git, settings } = repository;
		const file = await git.ask(["config", "--type=path", "--get", "core.excludesFile"], { codes: [0, 1], signal });
		for (const [name, value] of settings) if (kept.test(name)) values.set(name, value);
		const { XDG_CONFIG_HOME, HOME = homedir() } = git.environment();
		excludes = file.code === 0 ? file.output.replace(/\n$/, "") : fromText(join(XDG_CONFIG_HOME || join(HOME, ".config"), "git/ignore"));
	}
	const format = values.get("extensions.objectformat");
	const lines = [
		["core.repositoryformatversion", format ? "1" : "0"],
		...[...values].map(([name, value]) => [name, value === "" ? "true" : value]),
		...(excludes === "" ? [] : [["core.excludesFile", excludes]]),
		["core.bare", "false"],
		["core.autocrlf", "false"],
		["core.checkStat", "default"],
		["core.trustctime", "true"],
		["core.untrackedCache", "false"],
		["core.splitIndex", "false"],
		// They live for minutes: time is dearer than room.
		["core.looseCompression", "0"],
		["core.compression", "1"],
		["advice.addEmbeddedRepo", "false"],
		["diff.renames", "true"],
	];
	return lines.map(([name = "", value = ""]) => setting(name, value)).join("");
}

function setting(name: string, value: string): string {
	const [section = "", key = ""] = split(name, ".");
	return `[${section}]\n\t${key} = ${quoted(value, true)}\n`;
}

function quoted(text: string, isAlways = false): string {
	return isAlways || /^["#]|\n/.test(text) ? `"${text.replace(/[\\"]/g, "\\$&").replace(/\n/g, "\\n")}"` : text;
}
