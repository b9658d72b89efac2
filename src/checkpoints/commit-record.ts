/** What a repository's history is at a moment: branches, tags, stashes, HEAD, what is staged. Pure, apart from reading it. */
import { createHash } from "node:crypto";
import { lstatSync, type Stats } from "node:fs";
import { join } from "node:path";
import type { Git } from "../snapshots/git.ts";
import { filesBelow, type GitPlace, textOf } from "./git-place.ts";

export interface CommitRecord {
	/** As in the file: `ref: refs/heads/main`, or a commit. */
	head: string;
	/** The names of commits, tags and so on; without our own. */
	refs: Readonly<Record<string, string>>;
	/** Names that stand for other names, such as `refs/remotes/origin/HEAD`. */
	links: Readonly<Record<string, string>>;
	/** The log of `refs/stash`: all stashes but the last are only there. */
	stashes: string;
	/** Tree of the staged files; undefined if there is no index or it has conflicts. */
	index?: string;
	/** Where the history of a shallow clone ends. */
	shallow: string;
	/** The repository's own settings. */
	config: string;
	/** Files of `info` that say which files are ignored or left out. */
	info: Readonly<Record<string, string>>;
	/** Hooks: they are not kept, only named. */
	hooks: readonly string[];
	/** The text of `.git` where that is a file. */
	pointer?: string;
}

/** Where a rewind keeps commits that were made after the point that it goes back to. */
export const keptRefs = "refs/bowline/";

/** Longer ones are not written by people. */
const longestConfig = 1024 * 1024;

export async function readRecord({ gitDir, commonDir, pointer }: GitPlace, git: Git, signal?: AbortSignal): Promise<CommitRecord> {
	const refs: Record<string, string> = {};
	const links: Record<string, string> = {};
	const listed = await git.run(["for-each-ref", "--format=%(refname) %(objectname) %(symref)"], { signal });
	for (const line of listed.split("\n")) {
		const [name = "", oid = "", link = ""] = line.split(" ");
		if (name === "" || name.startsWith(keptRefs)) continue;
		if (link === "") refs[name] = oid;
		else links[name] = link;
	}
	const config = textOf(join(commonDir, "config")) ?? "";
	return {
		head: await headOf(gitDir, git, signal),
		refs,
		links,
		stashes: textOf(join(commonDir, "logs/refs/stash")) ?? "",
		shallow: textOf(join(commonDir, "shallow")) ?? "",
		config: config.length > longestConfig ? "" : config,
		info: Object.fromEntries(["exclude", "sparse-checkout"].map((name) => [name, textOf(join(commonDir, "info", name)) ?? ""])),
		hooks: filesBelow(commonDir, "hooks").flatMap(({ path }) => (path.endsWith(".sample") ? [] : [path.slice(commonDir.length + 1)])),
		...(pointer === undefined ? {} : { pointer }),
	};
}

async function headOf(gitDir: string, git: Git, signal: AbortSignal | undefined): Promise<string> {
	const text = (textOf(join(gitDir, "HEAD")) ?? "").trim();
	// Repositories whose names are in tables have this in the file.
	if (text !== "ref: refs/heads/.invalid") return text;
	const link = await git.ask(["symbolic-ref", "-q", "HEAD"], { codes: [0, 1], signal });
	return link.code === 0 ? `ref: ${link.output.trim()}` : git.line(["rev-parse", "HEAD"], { signal });
}

/** The commit that HEAD is; nothing before the first. */
export function headCommit({ head, refs }: Pick<CommitRecord, "head" | "refs">): string | undefined {
	return head.startsWith("ref: ") ? refs[head.slice(5)] : head === "" ? undefined : head;
}

/** All stashes but the last, which is a name. */
export const stashCommits = ({ stashes }: Pick<CommitRecord, "stashes">): string[] =>
	stashes.split("\n").flatMap((line) => /^[0-9a-f]{40,64} ([0-9a-f]{40,64}) /.exec(line)?.[1] ?? []);

/** Everything that must be there for a record to be put back. */
export function tipsOf(record: CommitRecord): string[] {
	const { refs, index } = record;
	const head = headCommit(record);
	return [...new Set([...Object.values(refs), ...stashCommits(record), ...(head ? [head] : []), ...(index ? [index] : [])])];
}

/** Changes whenever a branch, a tag, HEAD or another part of the record may have. Costs a look at each file of the kind. */
export function fingerprintOf({ gitDir, commonDir, pointer = "" }: GitPlace): string {
	const hash = createHash("sha256").update(pointer);
	hash.update(printOf(gitDir)).update(printOf(join(gitDir, "HEAD")));
	for (const name of ["config", "packed-refs", "shallow", "logs/refs/stash", "info/exclude", "hooks", "reftable"])
		hash.update(printOf(join(commonDir, name)));
	for (const { path, stats } of filesBelow(commonDir, "refs")) hash.update(print(path, stats));
	return hash.digest("hex");
}

/** Fingerprints the index apart, because `git status` rewrites it. */
export const indexPrint = ({ gitDir }: GitPlace): string => printOf(join(gitDir, "index"));

function printOf(path: string): string {
	const stats = lstatSync(path, { throwIfNoEntry: false });
	if (!stats) return `${path}\n`;
	// The times of a folder change with whatever is put into it.
	return stats.isDirectory() && !/\/(hooks|reftable)$/.test(path) ? `${path},${stats.ino}\n` : print(path, stats);
}

const print = (path: string, { ino, size, mtimeMs, ctimeMs }: Stats) => `${path},${ino},${size},${mtimeMs},${ctimeMs}\n`;
