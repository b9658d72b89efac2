/** Files that a project's git configuration names: included configuration, and the directory of hooks. What git runs, a tool must not write unasked. */
import { execFile } from "node:child_process";
import { realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";

export interface GitNamedFile {
	/** Without links, where it exists. */
	path: string;
	/** As the configuration names it: links on the way can be replaced. */
	named: string;
	kind: "file" | "directory";
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
	for (let at = 0; at + 1 < parts.length; at += 2) {
		const origin = parts[at] as string;
		if (!origin.startsWith("file:")) continue;
		const file = resolve(cwd, origin.slice(5));
		sources.add(file);
		const [given = "", value = ""] = (parts[at + 1] as string).split("\n", 2);
		const name = given.toLowerCase();
		if (value === "") continue;
		if (name === "core.hookspath") named.push({ path: from(cwd, value), kind: "directory" });
		if (/^include(if\..*)?\.path$/s.test(name)) named.push({ path: from(dirname(file), value), kind: "file" });
	}
	const files = [...[...sources].map((path) => ({ path, kind: "file" as const })), ...named];
	return {
		files: files.map(({ path, kind }) => ({ path: realPath(path), named: path, kind })),
		sources: [...sources, ...named.map(({ path }) => path)],
	};
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
