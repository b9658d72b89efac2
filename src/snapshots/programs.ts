/**
 * Programs that the configuration of a repository names for git to run. `git.ts` switches off those with fixed names (hooks, fsmonitor,
 * transports, pagers). The ones below have names of the repository's choice, so they are looked up before they can be switched off.
 */
import type { Git } from "./git.ts";
import { entries } from "./paths.ts";

/** The names of a section: `a.b` of `filter.a.b.clean`. */
function subsections(names: readonly string[], section: string): string[] {
	const start = `${section}.`;
	const found = names.filter((name) => name.startsWith(start) && name.lastIndexOf(".") > start.length - 1);
	return [...new Set(found.map((name) => name.slice(start.length, name.lastIndexOf("."))))];
}

/** Settings that switch off hooks with these names, which git 2.54 and newer runs in addition to those in the hooks directory. */
const hooksOff = (hooks: readonly string[]) => hooks.map((name) => `hook.${expressible(name)}.enabled=false`);

/** Not only commits run filters: git also compares files through them when it writes an index. */
const filtersOff = (filters: readonly string[]) =>
	filters.flatMap((name) => ["clean=", "smudge=", "process=", "required=false"].map((setting) => `filter.${expressible(name)}.${setting}`));

/** Git in one repository. */
export interface GuardedGit {
	/** Runs no program that a configuration names. */
	git: Git;
	/** The same, except for filters. Only for commits in a trusted project. */
	filteringGit: Git;
	/** The filters that are switched off. */
	filters: readonly string[];
}

/** `names` are those of the settings in the sections hook and filter. */
export function guard(git: Git, filteringGit: Git, names: readonly string[]): GuardedGit {
	const hooks = hooksOff(subsections(names, "hook"));
	const filters = subsections(names, "filter");
	return { git: git.with({ settings: [...hooks, ...filtersOff(filters)] }), filteringGit: filteringGit.with({ settings: hooks }), filters };
}

/** Looks the names up again: subagents share the configuration with the user, and may have changed it. */
export async function guardAgain<T extends Pick<GuardedGit, "git" | "filteringGit">>(repository: T): Promise<T & GuardedGit> {
	return { ...repository, ...guard(repository.git, repository.filteringGit, await programNames(repository.git)) };
}

/** Git that runs no hook of a configuration. */
export async function withoutHooks(git: Git): Promise<Git> {
	return guard(git, git, await programNames(git)).filteringGit;
}

async function programNames(git: Git): Promise<string[]> {
	return entries((await git.ask(["config", "-z", "--name-only", "--get-regexp", "^(hook|filter)\\."], { codes: [0, 1] })).output);
}

/** Git takes what comes after the first `=` of a setting for its value. */
function expressible(name: string): string {
	if (name.includes("=")) throw new Error(`The git configuration has a name that cannot be switched off: ${JSON.stringify(name)}.`);
	return name;
}
