/**
 * Programs that the configuration of a repository names for git to run. `git.ts` switches off those with fixed names (hooks, fsmonitor,
 * transports, pagers). The ones below have names of the repository's choice, so they are looked up before they can be switched off.
 */
import type { Git } from "./git.ts";
import { entries } from "./paths.ts";

/** The names of a section: `a.b` of `filter.a.b.clean`. */
export function subsections(names: readonly string[], section: string): string[] {
	const start = `${section}.`;
	const found = names.filter((name) => name.startsWith(start) && name.lastIndexOf(".") > start.length - 1);
	return [...new Set(found.map((name) => name.slice(start.length, name.lastIndexOf("."))))];
}

/** Every name of a section that the configuration sets, the user's own included. */
async function configured(git: Git, section: string, signal?: AbortSignal): Promise<string[]> {
	const { output } = await git.ask(["config", "-z", "--name-only", "--get-regexp", `^${section}\\.`], { codes: [0, 1], signal });
	return subsections(entries(output), section);
}

/** Git without hooks that are defined in a configuration, which git 2.54 and newer runs besides those in the hooks directory. */
export async function withoutHooks(git: Git, signal?: AbortSignal): Promise<Git> {
	return git.with({ settings: hooksOff(await configured(git, "hook", signal)) });
}

/** The settings that switch off hooks with these names. */
export const hooksOff = (names: readonly string[]) => names.map((name) => `${expressible(name)}.enabled=false`).map((each) => `hook.${each}`);

/** Git that converts no file through a program, and the filters that would have been used. */
export async function withoutFilters(git: Git): Promise<{ git: Git; filters: ReadonlySet<string> }> {
	const filters = await configured(git, "filter");
	const off = filters.flatMap((name) =>
		["clean=", "smudge=", "process=", "required=false"].map((setting) => `filter.${expressible(name)}.${setting}`),
	);
	return { git: git.with({ settings: off }), filters: new Set(filters) };
}

/** Git takes what comes after the first `=` of a setting for its value. */
function expressible(name: string): string {
	if (name.includes("=")) throw new Error(`The git configuration has a name that cannot be switched off: ${JSON.stringify(name)}.`);
	return name;
}
