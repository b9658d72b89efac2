/** Standing instructions: AGENTS.md or CLAUDE.md of the user, and of every directory from the root down to the working directory. */
import { dirname, join } from "node:path";
import { readText, realPath } from "./files.ts";

export interface TextFile {
	path: string;
	content: string;
}

/** The first that is there speaks for its directory. */
const names = ["AGENTS.override.md", "AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD"];

export interface ContextPlaces {
	userDirectory: string;
	cwd: string;
	/** The repository, whose links must not lead out of it; absent when it is trusted. */
	repository: string | undefined;
}

/** The user's first, the nearest last. */
export async function loadContextFiles({ userDirectory, cwd, repository }: ContextPlaces, warnings: string[]): Promise<TextFile[]> {
	/** A directory above the repository answers for itself. */
	const border = (directory: string) => (repository === undefined || directory.startsWith(repository) ? repository : directory);
	const places = [{ directory: userDirectory, within: undefined }, ...ancestors(cwd).map((directory) => ({ directory, within: border(directory) }))];
	const found = await Promise.all(places.map(({ directory, within }) => contextFile(directory, warnings, within)));
	const files: TextFile[] = [];
	const seen = new Set<string>();
	for (const file of found) {
		if (!file) continue;
		const real = await realPath(file.path);
		if (seen.has(real)) continue;
		seen.add(real);
		if (file.content !== "") files.push(file);
	}
	return files;
}

async function contextFile(directory: string, warnings: string[], within: string | undefined): Promise<TextFile | undefined> {
	for (const name of names) {
		const file = await textFile(join(directory, name), warnings, within);
		if (file) return file;
	}
	return undefined;
}

/** A file's text with LF line ends and nothing at its edges, so that the same words give the same prompt. */
export async function textFile(path: string, warnings: string[], within?: string): Promise<TextFile | undefined> {
	const text = await readText(path, warnings, within);
	return text === undefined
		? undefined
		: {
				path,
				content: text
					.replace(/^\uFEFF/, "")
					.replace(/\r\n?/g, "\n")
					.trim(),
			};
}

/** From the root down. */
function ancestors(cwd: string): string[] {
	const directories = [cwd];
	for (let directory = cwd; directory !== dirname(directory); directory = dirname(directory)) directories.unshift(dirname(directory));
	return directories;
}
