/** Files of the project that its git configuration names: included configuration, and the directory of hooks. What git runs, a tool must not write unasked. */
import { execFile } from "node:child_process";
import { realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";

const patienceMs = 3000;

/** The answer is kept until one of the files that it came from changes. */
export function gitNamedFiles(cwd: string, environment: () => Promise<Record<string, string | undefined>>): () => Promise<readonly string[]> {
	let known: { files: readonly string[]; sources: ReadonlyMap<string, number | undefined> } | undefined;
	return async () => {
		if (known && [...known.sources].every(([file, time]) => changedAt(file) === time)) return known.files;
		const { files, sources } = await ask(cwd, await environment());
		// A repository that is made later has a configuration of its own.
		const watched = [...sources, join(cwd, ".git"), join(cwd, ".git/config"), join(cwd, ".git/config.worktree")];
		known = { files, sources: new Map(watched.map((file) => [file, changedAt(file)])) };
		return files;
	};
}

async function ask(cwd: string, env: Record<string, string | undefined>): Promise<{ files: string[]; sources: string[] }> {
	const output = await new Promise<string>((done) => {
		const args = ["config", "--show-origin", "--includes", "-z", "--list"];
		execFile("git", args, { cwd, env, timeout: patienceMs, maxBuffer: 1 << 22 }, (_, stdout) => done(stdout));
	});
	const parts = output.split("\0");
	const sources = new Set<string>();
	const hooks: string[] = [];
	for (let at = 0; at + 1 < parts.length; at += 2) {
		const origin = parts[at] as string;
		if (!origin.startsWith("file:")) continue;
		const file = resolve(cwd, origin.slice(5));
		sources.add(file);
		const [name = "", value = ""] = (parts[at + 1] as string).split("\n", 2);
		if (name.toLowerCase() === "core.hookspath" && value !== "") hooks.push(isAbsolute(value) ? value : resolve(cwd, value));
	}
	const files = [...sources, ...hooks].map(realPath);
	return { files, sources: [...sources] };
}

function realPath(path: string): string {
	try {
		return realpathSync(path);
	} catch {
		return join(dirname(path), path.slice(path.lastIndexOf("/") + 1));
	}
}

function changedAt(file: string): number | undefined {
	return statSync(file, { throwIfNoEntry: false })?.mtimeMs;
}
