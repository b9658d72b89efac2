/** Finds the repository that a directory is in, or says why there is none to work with. */
import { readFileSync, realpathSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Git, GitError } from "./git.ts";
import { entries, inside, type RepositoryPath, split } from "./paths.ts";
import { type GuardedGit, guard } from "./programs.ts";

/** Git works at its top. */
export interface Repository extends GuardedGit {
	/** The top of the working tree, without links on the way. */
	top: string;
	/** Where this working tree keeps its index and HEAD. */
	gitDir: string;
	/** What all working trees of the repository share. */
	commonDir: string;
	objects: string;
	/** The commit that HEAD is; none before the first. */
	head?: string;
	/** Where in it the directory is. */
	prefix: RepositoryPath;
	/** Its settings, among them all of the sections core and extensions; the last value of each. */
	settings: ReadonlyMap<string, string>;
}

/** Why no snapshot can be taken, and what the user can do about it. Both are sentences without a full stop. */
export interface Problem {
	problem: string;
	remedy: string;
}

export async function findRepository(git: Git, signal?: AbortSignal): Promise<Repository | Problem> {
	const { cwd } = git;
	let facts: string;
	try {
		const asked = ["--is-bare-repository", "--is-inside-work-tree", "--absolute-git-dir", "--git-common-dir", "--git-path", "objects"];
		facts = await git.run(["rev-parse", ...asked], { signal });
	} catch (error) {
		return problemOf(error, cwd);
	}
	const [isBare, isInside, gitDir = "", commonDir = "", objects = "", ...more] = Buffer.from(facts, "latin1").toString().trimEnd().split("\n");
	if (more.length > 0) return { problem: `A repository whose path has a line break cannot be used: ${JSON.stringify(gitDir)}`, remedy: "Move it" };
	if (isInside !== "true") {
		const what = isBare === "true" ? "is a bare repository, without files to work on" : "is inside the .git directory";
		return { problem: `${cwd} ${what}`, remedy: "Start in a working tree of it" };
	}
	const [top, head, config] = await Promise.all([
		git.line(["rev-parse", "--show-toplevel"], { signal }).then((text) => realpathSync(Buffer.from(text, "latin1").toString())),
		git.ask(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], { codes: [0, 1, 128], signal }),
		git.ask(["config", "-z", "--get-regexp", "^(core|extensions|hook|filter)\\."], { codes: [0, 1], signal }),
	]);
	const absolute = (path: string) => realpathSync(path.startsWith("/") ? path : join(cwd, path));
	if (gitDirectoryOf(top) !== absolute(gitDir))
		return { problem: `The repository at ${gitDir} says that its files are in ${top}`, remedy: "Unset core.worktree there" };
	const settings = new Map(
		entries(config.output)
			.map((each) => split(each, "\n") as [string, string | undefined])
			.map(([name, value = ""]) => [name, value]),
	);
	const atTop = git.with({ cwd: top });
	return {
		...guard(atTop, atTop, [...settings.keys()]),
		settings,
		top,
		gitDir: absolute(gitDir),
		commonDir: absolute(commonDir),
		objects: absolute(objects),
		...(head.code === 0 ? { head: head.output.trim() } : {}),
		prefix: inside(top, realpathSync(cwd)) ?? "",
	};
}

/** The git directory that `.git` in a directory points to. The setting core.worktree can name any other directory, such as the user's home. */
function gitDirectoryOf(top: string): string | undefined {
	const path = join(top, ".git");
	const stats = statSync(path, { throwIfNoEntry: false });
	if (stats?.isDirectory()) return realpathSync(path);
	const target = stats?.isFile() && stats.size < 65_536 ? /^gitdir: (.*?)\n*$/s.exec(readFileSync(path, "utf8"))?.[1] : undefined;
	return target === undefined ? undefined : realpathSync(resolve(top, target));
}

/** The repository that is exactly here, not one around it. */
export async function repositoryAt(git: Git, top: string, signal?: AbortSignal): Promise<Repository | undefined> {
	if (!statSync(join(top, ".git"), { throwIfNoEntry: false })) return undefined;
	const found = await findRepository(git.with({ cwd: top }), signal);
	return "problem" in found || found.top !== realpathSync(top) ? undefined : found;
}

/** Git from before this has no lists of paths on stdin. */
const oldest = [2, 25] as const;

export async function checkVersion(git: Git, signal?: AbortSignal): Promise<Problem | undefined> {
	let text: string;
	try {
		text = await git.line(["version"], { signal });
	} catch (error) {
		return problemOf(error, git.cwd);
	}
	const [, major = 0, minor = 0] = /(\d+)\.(\d+)/.exec(text)?.map(Number) ?? [];
	if (major > oldest[0] || (major === oldest[0] && minor >= oldest[1])) return undefined;
	return { problem: `Git ${oldest.join(".")} or newer is needed, and this is ${text}`, remedy: "Update git" };
}

/** Throws aborts and everything else that does not come from git or the system. */
export function problemOf(error: unknown, cwd: string): Problem {
	const { code, syscall, message } = error as NodeJS.ErrnoException;
	if (code === "ENOENT" && syscall?.startsWith("spawn")) return { problem: "Git is needed, and it is not on the PATH", remedy: "Install it" };
	if (isDiskFull(error)) return { problem: "The disk is full: no copy of the repository can be made", remedy: "Make room" };
	if (typeof code === "string") return { problem: `No copy of the repository can be made: ${message}`, remedy: "Put that right" };
	if (!(error instanceof GitError)) throw error;
	if (/not a git repository/.test(error.stderr))
		return { problem: `A git repository is needed, and ${cwd} is not in one`, remedy: "Run git init and commit" };
	// Git from 2.38 on heeds the setting.
	if (/safe\.bareRepository/.test(error.stderr))
		return { problem: `${cwd} is a bare repository or a .git directory, without files to work on`, remedy: "Start in a working tree of it" };
	if (/dubious ownership/.test(error.stderr))
		return { problem: `The repository at ${cwd} belongs to another user`, remedy: "Run git config --global --add safe.directory for it" };
	return { problem: `The repository at ${cwd} cannot be used: ${error.message}`, remedy: "Repair it" };
}

export const isDiskFull = (error: unknown) =>
	(error as NodeJS.ErrnoException).code === "ENOSPC" ||
	(error instanceof GitError && /No space left on device|Disk quota exceeded/.test(error.stderr));
