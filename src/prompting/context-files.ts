/** Standing instructions: AGENTS.md or CLAUDE.md of the user, and of every directory from the root down to the working directory. */
import { dirname, join } from "node:path";
import { readText, realPath } from "./files.ts";

export interface TextFile {
	path: string;
	content: string;
}

/** The first that is there speaks for its directory. */
const names = ["AGENTS.override.md", "AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD"];

/** The user's first, the nearest last. */
export async function loadContextFiles(userDirectory: string | undefined, cwd: string, warnings: string[]): Promise<TextFile[]> {
	const directories = [...(userDirectory === undefined ? [] : [userDirectory]), ...ancestors(cwd)];
	const found = await Promise.all(directories.map((directory) => contextFile(directory, warnings)));
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

async function contextFile(directory: string, warnings: string[]): Promise<TextFile | undefined> {
	for (const name of names) {
		const file = await textFile(join(directory, name), warnings);
		if (file) return file;
	}
	return undefined;
}

/** A file's text with LF line ends and nothing at its edges, so that the same words give the same prompt. */
export async function textFile(path: string, warnings: string[]): Promise<TextFile | undefined> {
	const text = await readText(path, warnings);
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
