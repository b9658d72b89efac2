/** Looking for the files that tell the agent something. What cannot be read is no reason to fail: it is reported or passed over. */
import { readdir, readFile, realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, resolve, sep } from "node:path";

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
	/** Named by somebody, who then wants to know that it is not there. */
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
 * The text of a file; nothing when there is none. Anything else that is wrong is reported. A link that leads out of `within` is not followed:
 * a repository must not put the user's own files into the prompt.
 */
export async function readText(path: string, warnings: string[], within?: string): Promise<string | undefined> {
	try {
		const facts = await stat(path);
		if (facts.isDirectory()) return undefined;
		// A pipe or a device may never end.
		if (!facts.isFile()) return void warnings.push(`${path} is not used: it is no plain file.`);
		if (facts.size > maxTextBytes) return void warnings.push(`${path} is not used: it is larger than ${maxTextBytes / 1024} KB.`);
		if (within !== undefined && !isInside(await realpath(path), await realpath(within)))
			return void warnings.push(`${path} is not used: it is a link out of a project that is not trusted (see --approve).`);
		return await readFile(path, "utf8");
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code !== "ENOENT" && code !== "ENOTDIR") warnings.push(`${path} cannot be read (${code}).`);
		return undefined;
	}
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

/** The directory of the repository that this one is in; the directory itself where there is none. */
export async function repositoryOf(start: string): Promise<string> {
	for (let directory = start; ; directory = dirname(directory)) {
		if ((await kindOf(join(directory, ".git"))) !== undefined) return directory;
		if (directory === dirname(directory)) return start;
	}
}

export interface Entry {
	name: string;
	path: string;
	kind: "file" | "directory";
}

/** What is in a directory, links followed, in an order that is the same everywhere. Empty when it cannot be entered. */
export async function entriesOf(directory: string): Promise<Entry[]> {
	const [listing] = await Promise.allSettled([readdir(directory, { withFileTypes: true })]);
	if (listing.status === "rejected") return [];
	const entries = await Promise.all(
		listing.value.map(async (entry): Promise<Entry | undefined> => {
			const path = join(directory, entry.name);
			const kind = entry.isDirectory() ? "directory" : entry.isFile() ? "file" : await kindOf(path);
			return kind && { name: entry.name, path, kind };
		}),
	);
	return entries.filter((entry) => entry !== undefined).sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** A path as people write it in settings and flags. */
export function namedPath(cwd: string, path: string): string {
	if (path === "~") return homedir();
	return path.startsWith("~/") ? join(homedir(), path.slice(2)) : resolve(cwd, path);
}

export const toSlashes = (path: string, separator: string = sep) => (separator === "/" ? path : path.replaceAll(separator, "/"));
