/**
 * What of a repository commands may write. Commits must work, but a command must not change what a person's next git would run: hooks, the
 * configuration, and the files that lead git to another configuration.
 */
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { inDirectory, isWithin, look, realPath } from "./paths.ts";

export interface Placeholder {
	path: string;
	kind: "file" | "directory";
}

export interface GitLayout {
	/** Directories outside the roots that commits need. */
	writable: string[];
	/** Existing paths that must not be written. */
	protected: string[];
	/** Paths that must not be written and may be missing: they are made empty, which means nothing to git. */
	placeholders: Placeholder[];
	/** Names that must not appear: they would lead git to another configuration. */
	forbidden: string[];
	/** Links in place of a git directory. */
	links: string[];
	/** Git directories, or parts of them, that commands may write: see git-traps.ts. */
	directories: string[];
	/** Every directory with a configuration and hooks that git would use, of those that commands may write. */
	stores: string[];
}

export const emptyLayout = (): GitLayout => ({
	writable: [],
	protected: [],
	placeholders: [],
	forbidden: [],
	links: [],
	directories: [],
	stores: [],
});

export interface LayoutOptions {
	/** Directories that may be written to. */
	roots: readonly string[];
	/** `read`: nothing of a git directory may be written. */
	git: "write" | "read";
	/** Links in git directories that were there before any command, and directories that are too large: nothing around them may be written. */
	closed: readonly string[];
}

const deepestModule = 4;

/** The layout of the repositories at these directories. Only what is inside a root is protected; only `trusted` ones get anything outside. */
export function gitLayout(repositories: readonly string[], trusted: readonly string[], options: LayoutOptions): GitLayout {
	const layout = emptyLayout();
	const pointers = repositories.map((top) => pointerOf(inDirectory(top, ".git")));
	for (const [index, top] of repositories.entries()) {
		const entry = inDirectory(top, ".git");
		const facts = look(entry);
		if (!facts) continue;
		if (facts.isDirectory()) addRepository(layout, entry, pointers, options, trusted.includes(top));
		else if (facts.isFile()) {
			const isKnown = repositories.some((other) => isWithin(pointers[index] ?? top, inDirectory(other, ".git")));
			addPointer(layout, entry, pointers[index], trusted.includes(top), pointers, { ...options, isKnown });
		} else if (facts.isSymbolicLink()) addLink(layout, entry, trusted.includes(top), pointers, options);
	}
	const isWritable = (path: string) => [...options.roots, ...layout.writable].some((root) => isWithin(path, root));
	const stores = new Set<string>();
	for (const [index, top] of repositories.entries()) addStore(stores, pointers[index] ?? realPath(inDirectory(top, ".git")), isWritable);
	layout.stores = [...stores];
	return layout;
}

/** Also those that git comes to from there: the common directory, and those of submodules. */
function addStore(stores: Set<string>, directory: string | undefined, isWritable: (path: string) => boolean): void {
	if (directory === undefined || stores.has(directory) || !isWritable(directory) || !look(directory)?.isDirectory()) return;
	stores.add(directory);
	const common = textOf(inDirectory(directory, "commondir"));
	if (common !== undefined) addStore(stores, realPath(resolve(directory, common)), isWritable);
	for (const module of modulesIn(inDirectory(directory, "modules"), 0)) addStore(stores, module, isWritable);
}

type Pointers = readonly (string | undefined)[];

/** A git directory. Where it is outside every root, `widen` decides whether it may be written at all. */
function addRepository(layout: GitLayout, directory: string, pointers: Pointers, options: LayoutOptions, widen = false): void {
	const { roots, git } = options;
	const isInside = roots.some((root) => isWithin(directory, root));
	if (!isInside && !widen) return;
	// A link can be replaced, whatever is mounted on its target. So can everything, when the user wants no commits.
	const linked =
		["config", "config.worktree", "hooks"].some((name) => look(inDirectory(directory, name))?.isSymbolicLink()) || isClosed(directory, options);
	if (git === "read" || linked) {
		if (isInside) layout.protected.push(directory);
		return;
	}
	if (!isInside) layout.writable.push(directory);
	layout.directories.push(directory);
	addOwnFiles(layout, directory);
	addWorktrees(layout, inDirectory(directory, "worktrees"), pointers);
	addModules(layout, inDirectory(directory, "modules"), 0);
}

const isClosed = (directory: string, { closed }: LayoutOptions) => closed.some((path) => isWithin(path, directory));

function addOwnFiles(layout: GitLayout, directory: string): void {
	addPlaceholder(layout, inDirectory(directory, "config"), "file");
	addPlaceholder(layout, inDirectory(directory, "config.worktree"), "file");
	addPlaceholder(layout, inDirectory(directory, "hooks"), "directory");
	// One that was there before any command is part of the user's own layout.
	const common = inDirectory(directory, "commondir");
	if (look(common)) layout.protected.push(common);
	else layout.forbidden.push(common);
}

function addPlaceholder(layout: GitLayout, path: string, kind: Placeholder["kind"]): void {
	if (look(path)) layout.protected.push(path);
	else layout.placeholders.push({ path, kind });
}

/** Entries of linked worktrees. Those of worktrees inside the roots may be written, but for the files that say where things are. */
function addWorktrees(layout: GitLayout, directory: string, pointers: Pointers): void {
	for (const name of namesIn(directory)) {
		const entry = inDirectory(directory, name);
		if (pointers.includes(entry)) addWorktreeFiles(layout, entry);
		else layout.protected.push(entry);
	}
}

function addWorktreeFiles(layout: GitLayout, entry: string): void {
	for (const name of ["commondir", "gitdir"]) if (look(inDirectory(entry, name))) layout.protected.push(inDirectory(entry, name));
	addPlaceholder(layout, inDirectory(entry, "config.worktree"), "file");
}

/** Git directories of submodules; their names may have slashes. */
function addModules(layout: GitLayout, directory: string, depth: number): void {
	for (const module of modulesIn(directory, depth)) {
		addOwnFiles(layout, module);
		addModules(layout, inDirectory(module, "modules"), depth + 1);
	}
}

function modulesIn(directory: string, depth: number): string[] {
	if (depth >= deepestModule) return [];
	return namesIn(directory).flatMap((name) => {
		const module = inDirectory(directory, name);
		if (!look(module)?.isDirectory()) return [];
		return look(inDirectory(module, "HEAD")) ? [module] : modulesIn(module, depth + 1);
	});
}

/** `.git` is a file: a linked worktree or a submodule. The file itself may not be written. */
function addPointer(
	layout: GitLayout,
	file: string,
	directory: string | undefined,
	isTrusted: boolean,
	pointers: Pointers,
	options: LayoutOptions & { isKnown: boolean },
): void {
	if (options.roots.some((root) => isWithin(file, root))) layout.protected.push(file);
	if (directory === undefined || options.isKnown) return;
	const common = textOf(inDirectory(directory, "commondir"));
	if (options.roots.some((root) => isWithin(directory, root))) {
		// A worktree of a bare repository: what git reads is in the repository.
		const store = common === undefined ? directory : realPath(resolve(directory, common));
		if (store === undefined || !options.roots.some((root) => isWithin(store, root))) layout.protected.push(directory);
		else if (!layout.directories.includes(store)) addRepository(layout, store, pointers, options);
		return;
	}
	if (!isTrusted || options.git === "read") return;
	if (common !== undefined) addLinkedWorktree(layout, file, directory, realPath(resolve(directory, common)), options);
	// The submodule's configuration must name this very place, or a file in the project could open any directory.
	else if (namesWorktree(directory, dirname(file))) addRepository(layout, directory, pointers, options, true);
}

/** Of the common directory only what commits add to. Both sides must agree that they belong together. */
function addLinkedWorktree(layout: GitLayout, file: string, entry: string, common: string | undefined, options: LayoutOptions): void {
	const back = textOf(inDirectory(entry, "gitdir"));
	if (common === undefined || back === undefined || realPath(resolve(entry, back)) !== realPath(file)) return;
	if (dirname(entry) !== inDirectory(common, "worktrees")) return;
	const parts = [...["objects", "refs", "logs"].map((name) => inDirectory(common, name)).filter((path) => look(path)?.isDirectory()), entry];
	if (parts.some((part) => isClosed(part, options))) return;
	layout.writable.push(...parts);
	layout.directories.push(...parts);
	addWorktreeFiles(layout, entry);
}

/** `.git` is a link. Its target is treated as the git directory; the guard watches the link itself. */
function addLink(layout: GitLayout, link: string, isTrusted: boolean, pointers: Pointers, options: LayoutOptions): void {
	const target = realPath(link);
	if (options.roots.some((root) => isWithin(link, root))) layout.links.push(link);
	if (target !== undefined && look(target)?.isDirectory()) addRepository(layout, target, pointers, options, isTrusted);
}

/** Where the file `.git` leads. */
function pointerOf(file: string): string | undefined {
	if (!look(file)?.isFile()) return undefined;
	const [, path] = /^gitdir: (.+?)\s*$/.exec(textOf(file) ?? "") ?? [];
	return path === undefined ? undefined : realPath(resolve(dirname(file), path));
}

function namesWorktree(directory: string, top: string): boolean {
	const [, path] = /^\s*worktree\s*=\s*(.+?)\s*$/m.exec(textOf(inDirectory(directory, "config")) ?? "") ?? [];
	return path !== undefined && realPath(resolve(directory, path)) === realPath(top) && basename(directory) !== ".git";
}

function textOf(path: string): string | undefined {
	try {
		const facts = look(path);
		return facts?.isFile() && facts.size <= 64 * 1024 ? readFileSync(path, "utf8").trim() : undefined;
	} catch {
		return undefined;
	}
}

function namesIn(directory: string): string[] {
	try {
		return look(directory)?.isDirectory() ? readdirSync(directory).sort() : [];
	} catch {
		return [];
	}
}
