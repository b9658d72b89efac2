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

/** The answer is kept until one of the files that it came from changes. It also names files that do not exist yet: whoever makes them decides what git runs. */
export function gitNamedFiles({ cwd, environment, git = "git" }: GitNamedFilesInput): () => Promise<readonly GitNamedFile[]> {
	let known: { files: readonly GitNamedFile[]; sources: ReadonlyMap<string, number | undefined> } | undefined;
	return async () => {
		if (known && [...known.sources].every(([file, time]) => changedAt(file) === time)) return known.files;
		const { files, sources } = await ask(git, cwd, await environment());
		// A repository that is made later has a configuration of its own.
		const watched = [...sources, join(cwd, ".git"), join(cwd, ".git/config"), join(cwd, ".git/config.worktree")];
		known = { files, sources: new Map(watched.map((file) => [file, changedAt(file)])) };
		return files;
	};
}

async function ask(git: string, cwd: string, env: Record<string, string | undefined>): Promise<{ files: GitNamedFile[]; sources: string[] }> {
	const output = await new Promise<string>((done) => {
		const args = ["config", "--show-origin", "--includes", "-z", "--list"];
		execFile(git, args, { cwd, env, timeout: patienceMs, maxBuffer: 1 << 22 }, (_, stdout) => done(stdout));
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
