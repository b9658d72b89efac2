/** Looks for the files that give the agent instructions. A file that cannot be read never fails the search: it is skipped and reported. */
import { opendir, realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, join, relative, resolve, sep } from "node:path";
import { openRegular, readWhole, UnsuitableFile } from "../lib/bounded-file.ts";
import { mayHoldSecrets } from "../lib/env-files.ts";
import type { Reading } from "./reading.ts";

/** How a file was found. */
export interface Origin {
	/** `temporary` is for what was named for this process only. */
	scope: "user" | "project" | "temporary";
	/** In words of the protocol: found in a usual place, through a setting, on the command line. */
	source: "auto" | "settings" | "cli";
	/** The package that brings it. */
	packageDirectory?: string;
}

export interface Place extends Origin {
	path: string;
	/** The user or the host named it, and wants to know when it is missing. */
	isNamed?: true;
	/** A directory that links must not lead out of: the project is not trusted. */
	within?: string;
}

/** No prompt has room for more. */
export const maxTextBytes = 1024 * 1024;

export function originOf({ scope, source, packageDirectory }: Place): Origin {
	return { scope, source, ...(packageDirectory === undefined ? {} : { packageDirectory }) };
}

/**
 * The text of a file; nothing when there is none. Anything else that is wrong is reported. A link that leads out of `within` or into its
 * `.git` is not followed: a repository must not put the user's own files into the prompt.
 */
export async function readText(path: string, reading: Reading, within?: string): Promise<string | undefined> {
	try {
		const facts = await stat(path);
		if (facts.isDirectory()) return undefined;
		if (!reading.take("files", 1, path)) return undefined;
		if (!facts.isFile()) throw new UnsuitableFile("it is not a regular file");
		const file = await openRegular(path);
		try {
			// The checks are about the open file, so that a link which changes meanwhile leads nowhere.
			const real = await realPathOf(path, await file.stat());
			if (within !== undefined) requireInside(real, await realpath(within));
			// A command can have made the link, to see what the sandbox masks.
			if (mayHoldSecrets(basename(real)) && !mayHoldSecrets(basename(path))) throw new UnsuitableFile("it is a link to a file of secrets");
			const bytes = await readWhole(file, maxTextBytes);
			return reading.take("bytes", bytes.length, path) ? bytes.toString("utf8") : undefined;
		} finally {
			await file.close();
		}
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (error instanceof UnsuitableFile) reading.warn(`${path} is not used: ${error.message}.`);
		else if (code !== "ENOENT" && code !== "ENOTDIR") reading.warn(`${path} cannot be read (${code}).`);
		return undefined;
	}
}

/** The path without links of the file that is open. */
async function realPathOf(path: string, open: { dev: number; ino: number }): Promise<string> {
	const real = await realpath(path);
	const { dev, ino } = await stat(real);
	if (dev !== open.dev || ino !== open.ino) throw new UnsuitableFile("it was replaced while it was read");
	return real;
}

function requireInside(real: string, directory: string): void {
	if (!isInside(real, directory)) throw new UnsuitableFile("it is a link out of a project that is not trusted (see --approve)");
	if (isGitInternal(real, directory)) throw new UnsuitableFile("it is a link into .git of a project that is not trusted (see --approve)");
}

const isGitInternal = (real: string, directory: string) => relative(directory, real).toLowerCase().split(sep).includes(".git");

/** Whether a directory may be searched: with links followed it is inside of `within`. */
export async function mayEnter(directory: string, within: string | undefined): Promise<boolean> {
	if (within === undefined) return true;
	const [real, border] = await Promise.all([realPath(directory), realPath(within)]);
	return isInside(real, border) && !isGitInternal(real, border);
}

export async function kindOf(path: string): Promise<"file" | "directory" | undefined> {
	const [facts] = await Promise.allSettled([stat(path)]);
	if (facts.status === "rejected") return undefined;
	if (facts.value.isDirectory()) return "directory";
	return facts.value.isFile() ? "file" : undefined;
}

/** Links followed; the path itself where that fails. */
export async function realPath(path: string): Promise<string> {
	const [real] = await Promise.allSettled([realpath(path)]);
	return real.status === "fulfilled" ? real.value : path;
}

function isInside(path: string, directory: string): boolean {
	return path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep);
}

export interface Entry {
	name: string;
	path: string;
	kind: "file" | "directory";
}

/** The contents of a directory, links followed, in the same order on every system. Empty when it cannot be read. */
export async function entriesOf(directory: string, reading: Reading): Promise<Entry[]> {
	const listing = await namesIn(directory, reading);
	const entries = await Promise.all(
		listing.map(async ({ name, kind }): Promise<Entry | undefined> => {
			const path = join(directory, name);
			const found = kind ?? (await kindOf(path));
			return found && { name, path, kind: found };
		}),
	);
	return entries.filter((entry) => entry !== undefined).sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function namesIn(directory: string, reading: Reading): Promise<{ name: string; kind?: Entry["kind"] }[]> {
	const names: { name: string; kind?: Entry["kind"] }[] = [];
	try {
		for await (const entry of await opendir(directory, { bufferSize: 256 })) {
			if (!reading.take("entries", 1, join(directory, entry.name))) break;
			const kind = entry.isDirectory() ? "directory" : entry.isFile() ? "file" : undefined;
			if (kind || entry.isSymbolicLink()) names.push({ name: entry.name, ...(kind ? { kind } : {}) });
		}
	} catch {
		// A directory that we may not enter, or that disappears meanwhile, has nothing for us.
	}
	return names;
}

/** A path as people write it in settings and flags. */
export function namedPath(cwd: string, path: string): string {
	if (path === "~") return homedir();
	return path.startsWith("~/") ? join(homedir(), path.slice(2)) : resolve(cwd, path);
}

export const toSlashes = (path: string, separator: string = sep) => (separator === "/" ? path : path.replaceAll(separator, "/"));
