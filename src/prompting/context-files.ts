/** Standing instructions: AGENTS.md or CLAUDE.md of the user, and of every directory from the root down to the working directory. */
import { dirname, join } from "node:path";
import { readText, realPath } from "./files.ts";
import type { Reading } from "./reading.ts";

export interface TextFile {
	path: string;
	content: string;
}

/** Of each directory the first of these that exists is used. */
const names = ["AGENTS.override.md", "AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD"];

/** Directories above the working directory that are looked at, the nearest first. */
const maxLevels = 64;
/** All of them together are part of every request. */
const maxContextBytes = 1024 * 1024;

export interface ContextPlaces {
	userDirectory: string;
	cwd: string;
	/** Links of a project that is not trusted must not lead out of the directory that they are in. */
	isTrusted: boolean;
}

/** The user's first, the nearest last. */
export async function loadContextFiles({ userDirectory, cwd, isTrusted }: ContextPlaces, reading: Reading): Promise<TextFile[]> {
	const places = [
		{ directory: userDirectory, within: undefined },
		...ancestors(cwd).map((directory) => ({ directory, within: isTrusted ? undefined : directory })),
	];
	const found = await Promise.all(places.map(({ directory, within }) => contextFile(directory, reading, within)));
	const files: TextFile[] = [];
	const seen = new Set<string>();
	for (const file of found) {
		if (!file) continue;
		const real = await realPath(file.path);
		if (seen.has(real)) continue;
		seen.add(real);
		if (file.content !== "") files.push(file);
	}
	return fitting(files, reading);
}

/** The nearest files are the ones that matter most, so they are kept. */
function fitting(files: readonly TextFile[], reading: Reading): TextFile[] {
	let room = maxContextBytes;
	const kept = files.toReversed().filter(({ path, content }) => {
		room -= Buffer.byteLength(content);
		if (room < 0) reading.warn(`${path} is not used: the context files have more than ${maxContextBytes / 1024} KB together.`);
		return room >= 0;
	});
	return kept.reverse();
}

async function contextFile(directory: string, reading: Reading, within: string | undefined): Promise<TextFile | undefined> {
	for (const name of names) {
		const file = await textFile(join(directory, name), reading, within);
		if (file) return file;
	}
	return undefined;
}

/** A file's text with LF line ends and nothing at its edges, so that the same words give the same prompt. */
export async function textFile(path: string, reading: Reading, within?: string): Promise<TextFile | undefined> {
	const text = await readText(path, reading, within);
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

/** From the top down. */
function ancestors(cwd: string): string[] {
	const directories = [cwd];
	for (let directory = cwd; directory !== dirname(directory) && directories.length < maxLevels; directory = dirname(directory))
		directories.unshift(dirname(directory));
	return directories;
}
