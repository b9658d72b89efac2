/** Turns a path as models write it into one on disk. */
import { existsSync } from "node:fs";
import { type FileHandle, lstat, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** Files as a sandbox lets tools touch them. */
export interface ConfinedFiles {
	exists(path: string): Promise<boolean>;
	/** Where a path that may be read really is. Throws when it may not. */
	place(path: string): Promise<string>;
	/** Opens what may be read. The caller closes it. */
	open(path: string): Promise<FileHandle>;
	/** Entries of a directory; those that are directories end in a slash. */
	list(path: string): Promise<string[]>;
	/** Resolves with what the model should know about it. */
	write(path: string, content: Buffer): Promise<string | undefined>;
}

/** Returns the path that a call names; the working directory where it names none. */
export function pathArgument({ path }: Record<string, unknown>): string[] {
	return [typeof path === "string" ? path : "."];
}

const unusualSpaces = /[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g;

/** Absolute path: `@` mark removed, `~` expanded, unusual spaces made usual. */
export function resolvePath(cwd: string, path: string): string {
	return absolute(cwd, withoutMark(cwd, path).replace(unusualSpaces, " "));
}

/**
 * The path of something that is there. File names are made by people and by macOS, so a missing one is looked for in the spellings that
 * models cannot see: other spaces, decomposed accents, curly apostrophes.
 */
export async function resolveExisting(cwd: string, path: string, files?: ConfinedFiles): Promise<string> {
	const usual = resolvePath(cwd, path);
	const decomposed = usual.normalize("NFD");
	const spellings = [
		usual,
		absolute(cwd, withoutMark(cwd, path)),
		usual.replace(/ (AM|PM)\b/gi, "\u202f$1"),
		decomposed,
		usual.replace(/'/g, "\u2019"),
		decomposed.replace(/'/g, "\u2019"),
	];
	for (const spelling of new Set(spellings)) {
		if (await (files ? files.exists(spelling) : exists(spelling))) return files ? files.place(spelling) : spelling;
	}
	await requireDirectory(cwd);
	// Says why, where it is there and may not be read.
	if (files) await files.place(usual);
	throw new Error(`No such file or directory: ${path}`);
}

/** Throws when the working directory was removed. */
export async function requireDirectory(cwd: string): Promise<void> {
	if (!(await exists(cwd))) throw new Error(`The working directory does not exist any more: ${cwd}`);
}

async function exists(path: string): Promise<boolean> {
	try {
		// A dangling link is something to report as what it is, not as missing.
		await lstat(path);
		return true;
	} catch (error) {
		const code = (error as NodeJS.ErrnoException).code;
		if (code === "ENOENT" || code === "ENOTDIR" || code === "ENAMETOOLONG") return false;
		throw error;
	}
}

export async function isDirectory(path: string): Promise<boolean> {
	return (await stat(path)).isDirectory();
}

function absolute(cwd: string, path: string): string {
	if (path === "~") return homedir();
	if (path.startsWith("~/")) return join(homedir(), path.slice(2));
	return resolve(cwd, path);
}

/** Hosts mark mentioned files with `@`, but `@types` is also a name: the mark goes unless only the marked name leads anywhere. */
function withoutMark(cwd: string, path: string): string {
	if (!path.startsWith("@") || path === "@") return path;
	const first = (each: string) => resolve(cwd, each.split("/", 1)[0] as string);
	const bare = path.slice(1);
	return existsSync(first(path)) && !existsSync(first(bare)) ? path : bare;
}
