/** Takes the state of a repository, and of those inside it, as trees. */
import { existsSync, lstatSync, readdirSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Git } from "./git.ts";
import { ignoredRepositories } from "./inner-repositories.ts";
import { below, entries, onDisk, type RepositoryPath } from "./paths.ts";
import { type Repository, repositoryAt } from "./repository.ts";
import { copyIndex, type IndexEntry, isLink, type Place, putEntries, Shadow } from "./shadow.ts";

export interface Part {
	/** Where it is in the user's repository; empty for that one itself. */
	at: RepositoryPath;
	repository: Repository;
	shadow: Shadow;
	/** Describes the live working tree as it was. */
	index: string;
	/** The user's own index: what is staged. None when nothing was ever added. */
	staged?: string;
	/** The state, as a tree. */
	tree: string;
	/** Entries that a sparse working tree omits. */
	skipped: IndexEntry[];
	/** Submodules that have a directory. */
	links: RepositoryPath[];
	/** Paths inside it that belong to other parts or to Bowline. */
	apart: RepositoryPath[];
}

export interface FreezeInput {
	/** Where its shadow and index go. */
	directory: string;
	/** Our own files, which may be inside the repository. */
	own?: RepositoryPath;
	signal: AbortSignal;
}

/** The repository and all that are inside it, outer ones first. */
export async function freezeParts(repository: Repository, at: RepositoryPath, input: FreezeInput): Promise<Part[]> {
	const { part, nested } = await freezePart(repository, at, input);
	const parts = [part];
	for (const [number, path] of nested.entries()) {
		const inner = await repositoryAt(repository.git, onDisk(repository.top, path).toString(), input.signal);
		// A worktree of the same repository has its files from elsewhere.
		if (!inner || inner.commonDir === repository.commonDir) continue;
		part.apart.push(path);
		parts.push(...(await freezeParts(inner, below(at, path), { directory: `${input.directory}.${number}`, signal: input.signal })));
	}
	return parts;
}

async function freezePart(repository: Repository, at: RepositoryPath, { directory, own, signal }: FreezeInput) {
	const { git, top } = repository;
	await mkdir(directory, { recursive: true, mode: 0o700 });
	const shadow = await Shadow.create(git, join(directory, "git"), repository, signal);
	const index = join(directory, "index");
	const place = { top, index };
	const staged = await copyStaged(repository, join(directory, "staged"), signal);
	if (staged) await copyIndex(staged, index);
	else await shadow.git(place).run(["read-tree", "--empty"], { signal });

	const list = await shadow.list(place, signal);
	const submodules = list.filter(isLink);
	const links = submodules.map(({ path }) => path).filter((path) => lstatSync(onDisk(top, path), { throwIfNoEntry: false })?.isDirectory());
	const skipped = list.filter((entry) => entry.isSkipped && !isLink(entry));
	const [converted, ignored] = await Promise.all([convertedPaths(git, list, signal), shadow.ignored(place, signal)]);
	// Git would not look at these files, or would find in the index what its filters made of them.
	const unsure = list.filter((entry) => entry.isMerged && !entry.isSkipped && !isLink(entry) && (entry.isAssumed || converted(entry.path)));
	// Submodules are repositories like any other in here: what is in them counts, not where they point.
	const changes = [...submodules.map(({ path, ...from }) => ({ path, from })), ...unsure.map(({ path, ...to }) => ({ path, to }))];
	await putEntries(shadow.git(place), changes, signal);
	const apart = own === undefined ? [] : [own];
	const { tree, nested } = await takeTree({ shadow, skipped, apart }, place, signal);

	const part: Part = { at, repository, shadow, index, tree, skipped, links, apart, ...(staged ? { staged } : {}) };
	const all = new Set([...links, ...nested, ...(await ignoredRepositories(top, ignored))]);
	return { part, nested: [...all].filter((path) => !path.split("/").includes("node_modules") && !isWithin(path, own)) };
}

/** Brings an index of a part up to a working tree of it, the live one or a copy. Gives the tree, what new repositories it found, and which of its files are not on the disk. */
export async function takeTree({ shadow, skipped, apart }: Pick<Part, "shadow" | "skipped" | "apart">, place: Place, signal?: AbortSignal) {
	const present = presentIn(place.top);
	// A file that a sparse working tree omits counts when it is there all the same.
	const appeared: IndexEntry[] = [];
	const absent = new Set<RepositoryPath>();
	for (const entry of skipped) {
		if (present(entry.path)) appeared.push(entry);
		else absent.add(entry.path);
	}
	await putEntries(
		shadow.git(place),
		appeared.map(({ path, ...to }) => ({ path, to })),
		signal,
	);
	const untracked = await shadow.untracked(place, signal);
	// Git refuses to leave out what it ignores anyway.
	const visible = apart.filter((each) => untracked.some((path) => isWithin(path, each)));
	const nested = untracked.filter((path) => path.endsWith("/") && !apart.some((each) => isWithin(path, each))).map((path) => path.slice(0, -1));
	return { tree: await shadow.take(place, [...visible, ...nested], signal), nested, absent };
}

const isWithin = (path: RepositoryPath, directory: RepositoryPath | undefined) => directory !== undefined && `${path}/`.startsWith(`${directory}/`);

/** A copy of the user's index in one piece. */
export async function copyStaged({ git, gitDir }: Pick<Repository, "git" | "gitDir">, to: string, signal?: AbortSignal): Promise<string | undefined> {
	const index = join(gitDir, "index");
	if (!existsSync(index)) return undefined;
	await copyIndex(index, to);
	if (readdirSync(gitDir).some((name) => name.startsWith("sharedindex."))) {
		const settings = ["core.splitIndex=false"];
		await git.with({ variables: { GIT_INDEX_FILE: to }, settings }).run(["update-index", "--no-split-index", "--force-write-index"], { signal });
	}
	return to;
}

/** Whether git changes a file's content between the disk and its store. */
async function convertedPaths(git: Git, list: readonly IndexEntry[], signal: AbortSignal): Promise<(path: RepositoryPath) => boolean> {
	const input = list.map(({ path }) => `${path}\0`).join("");
	const [attributes, autocrlf] = await Promise.all([
		git.run(["check-attr", "-z", "-a", "--stdin"], { input, signal }),
		git.ask(["config", "--get", "core.autocrlf"], { codes: [0, 1], signal }),
	]);
	if (autocrlf.code === 0 && !/^(false|no|off|0)$/i.test(autocrlf.output.trim())) return () => true;
	const found = new Set<RepositoryPath>();
	const fields = entries(attributes);
	for (let at = 0; at + 2 < fields.length; at += 3) {
		const [path = "", name = "", value] = fields.slice(at, at + 3);
		if (/^(text|crlf|eol|filter|ident|working-tree-encoding)$/.test(name) && value !== "unset") found.add(path);
	}
	return (path) => found.has(path);
}

/** Whether there is something at a path. A missing directory is checked once. */
export function presentIn(top: string): (path: RepositoryPath) => boolean {
	const known = new Map<RepositoryPath, boolean>([["", true]]);
	const parentOf = (path: RepositoryPath) => path.slice(0, Math.max(0, path.lastIndexOf("/")));
	const look = (path: RepositoryPath) => lstatSync(onDisk(top, path), { throwIfNoEntry: false });
	const isDirectory = (path: RepositoryPath): boolean => {
		const before = known.get(path);
		if (before !== undefined) return before;
		const is = isDirectory(parentOf(path)) && (look(path)?.isDirectory() ?? false);
		known.set(path, is);
		return is;
	};
	return (path) => isDirectory(parentOf(path)) && look(path) !== undefined;
}
