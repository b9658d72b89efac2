/** Does what a rewind has planned for a repository, and undoes it. */

import { existsSync, lstatSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { copyFile, cp, mkdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { asSentence } from "../lib/as-sentence.ts";
import { CommandError } from "../protocol/command-error.ts";
import { type Git, GitError } from "../snapshots/git.ts";
import { type RepositoryPath, split, toText } from "../snapshots/paths.ts";
import { withoutHooks } from "../snapshots/programs.ts";
import type { RefMove } from "./commit-plan.ts";
import { filesBelow, textOf } from "./git-place.ts";

/** What is done to one repository, as it is written down before. */
export interface CommitSteps {
	at: RepositoryPath;
	top: string;
	gitDir: string;
	commonDir: string;
	/** A git directory that takes its place. */
	whole?: string;
	/** What is in it, if it was made from what is kept. */
	made?: { head: string; loose: number };
	/** The text of a missing `.git` file. */
	pointer?: string;
	/** Where a `.git` goes that was not there. */
	aside?: string;
	/** Names that are removed and made before those of `last`: a name can be in the way of another. */
	first: readonly RefMove[];
	last: readonly RefMove[];
	head?: { from: string; to: string };
	/** Files that take the place of others: the new one, and where the old one is kept. */
	files: { path: string; to: string; from?: string }[];
}

/** Steps that do nothing yet. */
export const noSteps = (where: Pick<CommitSteps, "at" | "top" | "gitDir" | "commonDir">): CommitSteps => ({
	...where,
	first: [],
	last: [],
	files: [],
});

/** Does the steps. After a failure they are undone by `undoCommits`. */
export async function applyCommits(git: (top: string) => Git, steps: CommitSteps): Promise<void> {
	const { top, gitDir, whole, pointer, aside, first, last, head, files } = steps;
	const entry = join(top, ".git");
	if (!isStraight(top) || !isStraight(gitDir))
		throw new CommandError("io", `There is a link on the way to ${gitDir}. Remove it and try again; nothing was rewound.`);
	if (aside !== undefined) return moveAll(entry, aside);
	if (whole !== undefined) {
		if (existsSync(gitDir)) await moveAll(gitDir, join(whole, "bowline-before-rewind"));
		await mkdir(dirname(gitDir), { recursive: true });
		await moveAll(whole, gitDir);
	}
	if (pointer) writeFileSync(entry, pointer, { flag: "wx", encoding: "latin1" });
	if (first.length + last.length + files.length === 0 && !head) return;
	const safe = await withoutHooks(git(top));
	await moveRefs(safe, first);
	await moveRefs(safe, last);
	if (head) await setHead(safe, head.to);
	for (const { path, to, from } of files) {
		if (from !== undefined) await copyFile(path, from);
		await replaceFile(to, path);
	}
}

/** Undoes the steps that were done, by this process or by one that was killed. What has changed since stays. */
export async function undoCommits(git: (top: string) => Git, steps: CommitSteps): Promise<void> {
	const { top, gitDir, whole, made, pointer, aside, first, last, head, files } = steps;
	const entry = join(top, ".git");
	if (aside !== undefined) {
		if (existsSync(aside) && !existsSync(entry)) await moveAll(aside, entry);
		return;
	}
	if (pointer && textOf(entry) === pointer) rmSync(entry);
	if (whole !== undefined) {
		// Somebody has worked with it since.
		if (made && (textOf(join(gitDir, "HEAD")) !== made.head || filesBelow(gitDir, "refs").length !== made.loose)) return;
		if (!existsSync(whole) && existsSync(gitDir)) await moveAll(gitDir, whole);
		const broken = join(whole, "bowline-before-rewind");
		if (existsSync(broken) && !existsSync(gitDir)) await moveAll(broken, gitDir);
		return;
	}
	for (const { path, to, from } of files.toReversed()) {
		const done = textsAreSame(path, to);
		if (!done) continue;
		if (from === undefined) rmSync(path);
		else if (existsSync(from)) await replaceFile(from, path);
	}
	if (first.length + last.length === 0 && !head) return;
	const safe = await withoutHooks(git(top));
	if (head && (await headText(safe)) === head.to) await setHead(safe, head.from);
	const back = ({ name, from, to }: RefMove): RefMove => ({ name, ...(to ? { from: to } : {}), ...(from ? { to: from } : {}) });
	for (const moves of [last, first]) {
		const now = await valuesOf(safe, moves);
		await moveRefs(safe, moves.filter(({ name, to }) => now.get(name) === to).map(back));
	}
}

/** Whether no link leads to a place, as far as it is there. */
export function isStraight(path: string): boolean {
	for (let at = path; ; at = dirname(at)) {
		if (at === dirname(at)) return true;
		if (lstatSync(at, { throwIfNoEntry: false })) return realpathSync(at) === at;
	}
}

async function moveRefs(git: Git, moves: readonly RefMove[]): Promise<void> {
	if (moves.length === 0) return;
	const lines = moves.map(({ name, from, to }) => {
		const none = "0".repeat((from ?? to ?? "").length);
		return to === undefined ? `delete ${name}\0${from ?? ""}\0` : `update ${name}\0${to}\0${from ?? none}\0`;
	});
	try {
		await git.run(["update-ref", "-m", "rewind", "-z", "--stdin"], { input: lines.join("") });
	} catch (error) {
		if (!(error instanceof GitError)) throw error;
		const lock = /'([^']*\.lock)': File exists/.exec(error.stderr)?.[1];
		if (lock !== undefined) throw locked(lock);
		throw new CommandError("io", `The branches of ${git.cwd} could not be put back: ${asSentence(error.message)} Nothing was rewound.`);
	}
}

async function valuesOf(git: Git, moves: readonly RefMove[]): Promise<Map<string, string>> {
	if (moves.length === 0) return new Map();
	const output = await git.run(["for-each-ref", "--format=%(refname) %(objectname)"]);
	return new Map(output.split("\n").map((line) => split(line, " ") as [string, string]));
}

async function headText(git: Git): Promise<string> {
	const link = await git.ask(["symbolic-ref", "-q", "HEAD"], { codes: [0, 1] });
	return link.code === 0 ? `ref: ${link.output.trim()}` : git.line(["rev-parse", "HEAD"]);
}

const setHead = (git: Git, to: string) =>
	to.startsWith("ref: ")
		? git.run(["symbolic-ref", "-m", "rewind", "HEAD", toText(to.slice(5))])
		: git.run(["update-ref", "-m", "rewind", "--no-deref", "HEAD", to]);

const locked = (lock: string) =>
	new CommandError(
		"conflict",
		`Another git works on ${lock.slice(0, -5)}, or was killed while it did. If none does, remove ${lock}. Nothing was rewound.`,
	);

/** The way git does it: whoever has the lock writes. */
async function replaceFile(from: string, to: string): Promise<void> {
	const lock = `${to}.lock`;
	await mkdir(dirname(to), { recursive: true });
	try {
		writeFileSync(lock, readFileSync(from), { flag: "wx" });
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
		throw locked(lock);
	}
	renameSync(lock, to);
}

function textsAreSame(one: string, other: string): boolean {
	return existsSync(one) && existsSync(other) && readFileSync(one).equals(readFileSync(other));
}

/** Moves a file or folder, also to another disk. */
async function moveAll(from: string, to: string): Promise<void> {
	await mkdir(dirname(to), { recursive: true, mode: 0o700 });
	try {
		await rename(from, to);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw error;
		const partial = `${to}.partial`;
		await rm(partial, { recursive: true, force: true });
		await cp(from, partial, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
		await rename(partial, to);
		await rm(from, { recursive: true, force: true });
	}
}
