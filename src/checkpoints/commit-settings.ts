/** The settings of a repository that was lost. */
import { lstatSync, writeFileSync } from "node:fs";
import { cp, mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Git } from "../snapshots/git.ts";
import { entries, split, toText } from "../snapshots/paths.ts";
import type { CommitRecord } from "./commit-record.ts";
import { textOf } from "./git-place.ts";

/** Settings that run nothing and change no other place. All others of a lost repository are not put back. */
const harmless =
	/^(core\.(repositoryformatversion|filemode|bare|ignorecase|precomposeunicode|symlinks|logallrefupdates|sparsecheckout|sparsecheckoutcone|autocrlf|eol|safecrlf)|extensions\.(objectformat|partialclone)|remote\..*\.(url|pushurl|fetch|push|promisor|partialclonefilter|tagopt|mirror|prune)|branch\..*\.(remote|merge|rebase|pushremote)|user\.(name|email|signingkey)|submodule\..*\.(url|active)|push\.default|pull\.(rebase|ff)|merge\.ff|rebase\.autosquash|init\.defaultbranch)$/i;

interface Settings {
	top: string;
	gitDir: string;
	whole: string;
	staging: string;
	pointer: string | undefined;
}

/** What is left of a broken one stays. Else only what runs no program comes back, and the rest is named. */
export async function restoreSettings(
	git: Git,
	{ top, gitDir, whole, staging, pointer }: Settings,
	{ config, hooks }: CommitRecord,
): Promise<string[]> {
	const left = textOf(join(gitDir, "config"));
	const hooksLeft = lstatSync(join(gitDir, "hooks"), { throwIfNoEntry: false })?.isDirectory();
	if (hooksLeft) await cp(join(gitDir, "hooks"), join(whole, "hooks"), { recursive: true, verbatimSymlinks: true });
	const all = await settingsOf(git, config, staging);
	// The working tree of a submodule.
	const isOwn = ([name, value]: [string, string]) => name === "core.worktree" && pointer !== undefined && resolve(gitDir, toText(value)) === top;
	const back = all.filter((each) => harmless.test(each[0]) || isOwn(each));
	writeFileSync(join(whole, "config"), left !== undefined && left.trim() !== "" ? left : asConfig(back), "latin1");
	const lost = left !== undefined && left.trim() !== "" ? [] : all.filter((each) => !back.includes(each)).map(([name]) => name);
	return [
		...(lost.length > 0 ? [`settings that can run programs were not put back: ${[...new Set(lost)].map(toText).join(", ")}`] : []),
		...(hooks.length > 0 && !hooksLeft ? [`hooks were not put back: ${hooks.join(", ")}`] : []),
	];
}

async function settingsOf(git: Git, config: string, staging: string): Promise<[string, string][]> {
	await mkdir(staging, { recursive: true, mode: 0o700 });
	const file = join(staging, "settings");
	writeFileSync(file, config, { mode: 0o600, encoding: "latin1" });
	const { output } = await git.ask(["config", "--file", file, "--no-includes", "-z", "--list"], { codes: [0, 128] });
	return entries(output).map((each) => {
		const [name = "", value = "true"] = split(each, "\n");
		return [name, value];
	});
}

function asConfig(settings: readonly [string, string][]): string {
	const quoted = (text: string) => `"${text.replace(/[\\"]/g, "\\$&").replace(/\n/g, "\\n")}"`;
	return settings
		.map(([name, value]) => {
			const [section, last] = [name.slice(0, name.indexOf(".")), name.slice(name.lastIndexOf(".") + 1)];
			const middle = name.slice(section.length + 1, Math.max(section.length + 1, name.length - last.length - 1));
			return `[${section}${middle === "" ? "" : ` ${quoted(middle)}`}]\n\t${last} = ${quoted(value)}\n`;
		})
		.join("");
}

/** Servers and branches that are no longer known at all. */
export async function missingSettings(git: Git, target: string, current: string, staging: string): Promise<string> {
	if (target === current) return "";
	const isOne = ([name]: [string, string]) => /^(remote|branch)\./.test(name) && harmless.test(name);
	const of = (name: string) => name.slice(0, name.lastIndexOf("."));
	const there = new Set((await settingsOf(git, current, staging)).map(([name]) => of(name)));
	return asConfig((await settingsOf(git, target, staging)).filter((each) => isOne(each) && !there.has(of(each[0]))));
}
