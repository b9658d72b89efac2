/**
 * What a command leaves in the project that would act later without being called: names that editors and agents open, repositories that run
 * something, other permissions of the directory itself. It is undone after the command, and nothing ends because of it: an ordinary clone may bring
 * such a name.
 */
import { execFile } from "node:child_process";
import { chmodSync, copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { promisify } from "node:util";
import { programOf } from "../lib/git-programs.ts";
import { entriesOf, inDirectory, inFolder, isWithin, look } from "./paths.ts";
import type { Quarantine } from "./quarantine.ts";

/** What is there: compared with the same of another moment. */
export interface Standing {
	/** Files and folders that programs open on their own. */
	opened: ReadonlySet<string>;
	/** Directories with a configuration and hooks that git uses. */
	stores: ReadonlySet<string>;
	/** Directories that git takes for such a one by what is in them. No mount protects them, so those that commands made stay what they are. */
	bare: ReadonlySet<string>;
	/** Set where not all directories were looked at: what has not changed since is older than the first command. */
	since?: number;
}

export interface UndoParts {
	quarantine: Quarantine;
	/** Outside every root; without it nothing reads a configuration. */
	git: string | undefined;
	home: string | undefined;
	/** Directories that may be written to: a work tree of git elsewhere would be another one's files. */
	roots: readonly string[];
	/** Called before a path is moved, so that the move does not count as a change from outside. */
	onMove: (path: string) => void;
}

export interface Undone {
	/** Each as a part of a sentence. */
	texts: string[];
	/** What could not be moved while something runs. */
	left: string[];
}

const run = promisify(execFile);
const patienceMs = 3000;

/** Undoes what came between two looks. */
export async function undo(before: Standing, now: Standing, parts: UndoParts): Promise<Undone> {
	const undone: Undone = { texts: [], left: [] };
	const since = before.since ?? now.since;
	const isNew = (path: string) => since === undefined || (look(path)?.ctimeMs ?? 0) >= since;
	for (const path of now.opened)
		if (!before.opened.has(path) && isNew(path)) setAside(path, "because editors and agents use what is there on their own", undone, parts);
	const isKnown = (store: string) => before.stores.has(store) || before.bare.has(store);
	for (const store of new Set([...now.stores, ...now.bare])) if (!isKnown(store)) await cleanStore(store, isNew, undone, parts);
	return undone;
}

function setAside(path: string, why: string, undone: Undone, { quarantine, onMove }: UndoParts): void {
	if (!look(path)) return;
	onMove(path);
	const place = quarantine.move(path);
	if (place === undefined) undone.left.push(path);
	undone.texts.push(`${path} was moved to ${place ?? "quarantine"}, ${why}`);
}

/** A git directory that a command made: its hooks, and what its configuration runs. The rest of it stays, so the repository can be used. */
async function cleanStore(store: string, isNew: (path: string) => boolean, undone: Undone, parts: UndoParts): Promise<void> {
	const hooks = inDirectory(store, "hooks");
	const why = "because git runs it";
	if (look(hooks)?.isSymbolicLink()) setAside(hooks, why, undone, parts);
	else {
		const found = entriesOf(hooks).filter(({ name }) => !name.endsWith(".sample"));
		const template = found.length > 0 ? await templateHooks(parts) : undefined;
		for (const { name } of found) {
			const hook = inDirectory(hooks, name);
			if (isNew(hook) && !(template !== undefined && isSameFile(hook, join(template, name)))) setAside(hook, why, undone, parts);
		}
	}
	for (const name of ["config", "config.worktree"]) {
		const file = inDirectory(store, name);
		const facts = look(file);
		if (facts?.isSymbolicLink()) setAside(file, "because git reads it", undone, parts);
		else if (facts?.isFile() && isNew(file)) await cleanConfiguration(file, undone, parts);
	}
}

/** Takes the entries out that run something, or lead to another configuration. The original goes to the quarantine. */
async function cleanConfiguration(file: string, undone: Undone, parts: UndoParts): Promise<void> {
	const { git, quarantine, roots, onMove } = parts;
	if (git === undefined) return;
	const ask = (path: string, ...args: string[]) =>
		run(git, ["config", "--file", path, ...args], { cwd: "/", env: { PATH: "/usr/bin:/bin", GIT_CONFIG_NOSYSTEM: "1" }, timeout: patienceMs });
	const listed = await ask(file, "--no-includes", "-z", "--list").catch(() => undefined);
	// What git cannot read, it does not use.
	if (!listed) return;
	const keys = new Set<string>();
	for (const entry of listed.stdout.split("\0")) {
		const at = entry.indexOf("\n");
		const [key, value] = at < 0 ? [entry, ""] : [entry.slice(0, at), entry.slice(at + 1)];
		if (value !== "" && isDangerous(key, value, dirname(file), roots)) keys.add(key);
	}
	if (keys.size === 0) return;
	onMove(file);
	const place = quarantine.move(file);
	if (place === undefined) undone.left.push(file);
	else {
		const copy = `${place}.clean`;
		copyFileSync(place, copy);
		for (const key of keys) await ask(copy, "--unset-all", key).catch(() => writeFileSync(copy, ""));
		try {
			inFolder(file, (target, folder) => {
				if (folder === dirname(file)) writeFileSync(target, readFileSync(copy), { flag: "wx" });
			});
		} catch {
			// A command was faster. The next look sees what it made.
		}
	}
	undone.texts.push(`${[...keys].join(", ")} ${keys.size > 1 ? "were" : "was"} taken out of ${file}, because git would run or follow it`);
}

function isDangerous(key: string, value: string, store: string, roots: readonly string[]): boolean {
	const name = key.toLowerCase();
	if (name === "core.worktree") return !roots.some((root) => isWithin(resolve(store, value), root));
	return name === "core.hookspath" || name === "init.templatedir" || /^include(if\..*)?\.path$/s.test(name) || programOf(key, value) !== undefined;
}

/** The person's own hooks, which git copies into every new repository. */
async function templateHooks({ git, home, roots }: UndoParts): Promise<string | undefined> {
	if (git === undefined || home === undefined) return undefined;
	const env = { PATH: "/usr/bin:/bin", HOME: home };
	const said = await run(git, ["config", "--global", "--type=path", "--get", "init.templateDir"], { cwd: "/", env, timeout: patienceMs }).catch(
		() => undefined,
	);
	const directory = said?.stdout.trim();
	if (!directory || !isAbsolute(directory) || roots.some((root) => isWithin(directory, root))) return undefined;
	return join(directory, "hooks");
}

function isSameFile(one: string, other: string): boolean {
	try {
		return look(one)?.isFile() === true && readFileSync(one).equals(readFileSync(other));
	} catch {
		return false;
	}
}

/** Permissions of directories, as a person reads them. */
export const modeOf = (path: string): number | undefined => {
	const facts = look(path);
	return facts?.isDirectory() ? facts.mode & 0o7777 : undefined;
};

/** Sets the permissions of directories back, before anything else is looked at: without them nothing can be found. */
export function restoreModes(before: ReadonlyMap<string, number>): string[] {
	return [...before].flatMap(([path, mode]) => {
		const now = modeOf(path);
		if (now === undefined || now === mode) return [];
		try {
			chmodSync(path, mode);
			return [`the permissions of ${path} were set back from ${now.toString(8)} to ${mode.toString(8)}`];
		} catch {
			// It belongs to another user, and so it was not a command that changed it.
			return [];
		}
	});
}
