/** Files that a project's git configuration names: included configuration, directories of hooks, and programs. What git runs, a tool must not write unasked. */
import { execFile } from "node:child_process";
import { realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { programOf, programWords } from "./git-programs.ts";

export interface GitNamedFile {
	/** Without links, where it exists. */
	path: string;
	/** As the configuration names it: links on the way can be replaced. */
	named: string;
	/** `program`: one that may come into being later, and must not be made empty until then: it would be run all the same. */
	kind: "file" | "directory" | "program";
}

export interface GitNamedFilesInput {
	cwd: string;
	environment: () => Promise<Record<string, string | undefined>> | Record<string, string | undefined>;
	/** The program; default the one in PATH. */
	git?: string;
}

const patienceMs = 3000;

/** Keeps the answer until one of the files that it came from changes. Returns undefined when git gives none, and the next call asks again. */
export function gitNamedFiles({ cwd, environment, git = "git" }: GitNamedFilesInput): () => Promise<readonly GitNamedFile[] | undefined> {
	let known: { files: readonly GitNamedFile[]; sources: ReadonlyMap<string, number | undefined> } | undefined;
	return async () => {
		if (known && [...known.sources].every(([file, time]) => changedAt(file) === time)) return known.files;
		const variables = await environment();
		// Without git on this machine, nothing runs these files.
		const nothing = (error: Error) =>
			(error.cause as NodeJS.ErrnoException | undefined)?.code === "ENOENT" ? { files: [], sources: [] } : undefined;
		const answer = await askGitForNamedFiles({ cwd, environment: () => variables, git }).catch(nothing);
		if (!answer) return undefined;
		const { files, sources } = answer;
		// A repository that is made later has a configuration of its own.
		const watched = [...sources, join(cwd, ".git"), join(cwd, ".git/config"), join(cwd, ".git/config.worktree")];
		known = { files, sources: new Map(watched.map((file) => [file, changedAt(file)])) };
		return files;
	};
}

export interface NamedFiles {
	files: readonly GitNamedFile[];
	/** Files that the answer came from, and those that it names. */
	sources: readonly string[];
}

/**
 * Asks git now. The answer also names files that do not exist yet: whoever makes them decides what git runs. A configuration that git cannot read
 * names nothing. Rejects where git could not be started, or did not come to its end.
 */
export async function askGitForNamedFiles({ cwd, environment, git = "git" }: GitNamedFilesInput): Promise<NamedFiles> {
	const env = await environment();
	const output = await new Promise<string>((done, fail) => {
		const args = ["config", "--show-origin", "--includes", "-z", "--list"];
		execFile(git, args, { cwd, env, timeout: patienceMs, maxBuffer: 1 << 22 }, (error, stdout) => {
			if (error && typeof error.code !== "number")
				fail(new Error(`Git did not say which files the configuration of ${cwd} names: ${error.message}`, { cause: error }));
			else done(stdout);
		});
	});
	const parts = output.split("\0");
	const sources = new Set<string>();
	const named: Omit<GitNamedFile, "named">[] = [];
	const home = env.HOME ?? "/";
	const from = (base: string, value: string) =>
		value.startsWith("~/") ? join(home, value.slice(2)) : isAbsolute(value) ? value : resolve(base, value);
	// Git runs most programs at the top of the work tree, and some where it was started.
	const top = topOf(cwd);
	const places = [...new Set([top, cwd])];
	const looked = new Set<string>();
	for (let at = 0; at + 1 < parts.length; at += 2) {
		const origin = parts[at] as string;
		const file = origin.startsWith("file:") ? resolve(top, origin.slice(5)) : undefined;
		if (file !== undefined) sources.add(file);
		const [given = "", ...lines] = (parts[at + 1] as string).split("\n");
		const value = lines.join("\n");
		const name = given.toLowerCase();
		if (value === "") continue;
		if (name === "core.hookspath" || name === "init.templatedir")
			for (const place of places) named.push({ path: from(place, value), kind: "directory" });
		if (file !== undefined && /^include(if\..*)?\.path$/s.test(name)) named.push({ path: from(dirname(file), value), kind: "file" });
		const program = programOf(given, value);
		if (program === undefined) continue;
		const { words, programs } = programWords(program);
		for (const place of places) {
			for (const word of words) {
				// A path that a variable or another program begins is written without its beginning.
				for (const path of isAbsolute(word) ? [word, join(place, word)] : [from(place, word)]) {
					looked.add(path);
					if (isFile(path)) named.push({ path, kind: "file" });
				}
			}
			for (const path of programs.map((word) => from(place, word))) if (changedAt(path) === undefined) named.push({ path, kind: "program" });
		}
	}
	const files = [...[...sources].map((path) => ({ path, kind: "file" as const })), ...named];
	return {
		files: files.map(({ path, kind }) => ({ path: realPath(path), named: path, kind })),
		sources: [...new Set([...sources, ...named.map(({ path }) => path), ...looked])],
	};
}

/** Returns the directory with `.git`, or the given one where there is none. */
function topOf(directory: string): string {
	for (let at = directory; ; at = dirname(at)) {
		if (changedAt(join(at, ".git")) !== undefined) return at;
		if (at === dirname(at)) return directory;
	}
}

function isFile(path: string): boolean {
	try {
		return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
	} catch {
		return false;
	}
}

function realPath(path: string): string {
	try {
		return realpathSync(path);
	} catch {
		return path;
	}
}

function changedAt(file: string): number | undefined {
	try {
		return statSync(file, { throwIfNoEntry: false })?.mtimeMs;
	} catch {
		return undefined;
	}
}
