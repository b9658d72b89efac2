/** Makes a task's work a commit, and says what that commit does to HEAD and to the user's index. Nothing is changed yet. */
import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { differences, mergeTrees } from "../../snapshots/compare.ts";
import type { Git } from "../../snapshots/git.ts";
import { entries, listed, type RepositoryPath } from "../../snapshots/paths.ts";
import { type Change, copyIndex, putEntries } from "../../snapshots/shadow.ts";
import type { Part } from "../../snapshots/take.ts";

/** The files and objects of the work on one part. */
export interface CommitInput {
	part: Part;
	/** Trees of the shadow. */
	before: string;
	after: string;
	message: string;
	/** A directory of its own, removed afterwards. */
	scratch: string;
	/** Whether the filters that the configuration names may run. */
	runsFilters: boolean;
}

export interface Conflict {
	conflicts: RepositoryPath[];
}

/** A new state of a branch. */
export interface Step {
	old: string;
	new: string;
}

/** A filter that hangs must not hold the lock forever. */
const longestFilterMs = 600_000;

/** Git in the user's repository whose new objects go to the shadow until it is clear that they are needed. */
export function privateGit({ repository, shadow }: Part): Git {
	return repository.git.with({ variables: { GIT_OBJECT_DIRECTORY: shadow.objects } });
}

function privateFilteringGit({ repository, shadow }: Part): Git {
	return repository.filteringGit.with({ variables: { GIT_OBJECT_DIRECTORY: shadow.objects } });
}

/** A commit on top of the frozen HEAD with what was done. In a trusted project the files go through git's filters, as at any commit. */
export async function commitWork(input: CommitInput): Promise<Step | Conflict> {
	const { part, before, after, message, scratch } = input;
	const head = part.repository.head as string;
	const changes = await differences(part.shadow.git(), before, after, false);
	const base = await cleaned(
		input,
		changes.map(({ path, from }) => ({ path, ...(from ? { to: from } : {}) })),
	);
	const theirs = await cleaned(
		input,
		changes.map(({ path, to }) => ({ path, ...(to ? { to } : {}) })),
	);
	return commitOn(part, head, { base, theirs, message, scratch });
}

/** The commit once more, on what HEAD is now. */
export async function commitOnto(
	part: Part,
	current: string,
	work: Step,
	{ message, scratch }: Pick<CommitInput, "message" | "scratch">,
): Promise<Step | Conflict> {
	if (current === work.old) return work;
	return commitOn(part, current, { base: `${work.old}^{tree}`, theirs: `${work.new}^{tree}`, message, scratch });
}

interface OntoInput {
	base: string;
	theirs: string;
	message: string;
	scratch: string;
}

async function commitOn(part: Part, head: string, { base, theirs, message, scratch }: OntoInput): Promise<Step | Conflict> {
	const git = privateGit(part);
	const { changes, conflicts } = await mergeTrees(git, { base, ours: `${head}^{tree}`, theirs }, join(scratch, "lines"));
	if (conflicts.length > 0) return { conflicts };
	if (changes.length === 0) return { old: head, new: head };
	const tree = await withIndex(git, scratch, async (indexed) => {
		await indexed.run(["read-tree", head]);
		await putEntries(indexed, changes);
		return indexed.line(["write-tree", "--missing-ok"]);
	});
	const identified = await withIdentity(git);
	return { old: head, new: await identified.line(["commit-tree", tree, "-p", head, "-F", "-"], { input: Buffer.from(message).toString("latin1") }) };
}

/** HEAD's tree with some files replaced, as git would store them. Throws when a file needs a filter that may not run. */
async function cleaned({ part, scratch, runsFilters }: CommitInput, changes: readonly Change[]): Promise<string> {
	const { shadow, repository } = part;
	const files = join(scratch, "files");
	const list = join(scratch, "list");
	await mkdir(files, { recursive: true, mode: 0o700 });
	const present = changes.filter(({ to }) => to);
	const raw = shadow.git({ top: files, index: list });
	await raw.run(["read-tree", "--empty"]);
	await putEntries(raw, present);
	await raw.run(["checkout-index", "-a", "-q"]);
	// The files are on our disk, so it does not matter what the user's can hold.
	const settings = ["core.fileMode=true", "core.symlinks=true", "core.ignoreCase=false", "core.safecrlf=false", "core.sparseCheckout=false"];
	const git = (runsFilters ? privateFilteringGit(part) : privateGit(part)).with({
		cwd: files,
		variables: { GIT_DIR: repository.gitDir, GIT_WORK_TREE: files, GIT_LITERAL_PATHSPECS: "1" },
		settings,
	});
	const tree = await withIndex(git, scratch, async (indexed) => {
		await indexed.run(["read-tree", repository.head as string]);
		const zero = "0".repeat(repository.head?.length ?? 40);
		await putEntries(
			indexed,
			changes.filter(({ to }) => !to).map(({ path }) => ({ path, from: { mode: "0", oid: zero } })),
		);
		const input = present.map(({ path }) => `${path}\0`).join("");
		if (!runsFilters && repository.filters.length > 0) await refuseFiltered(indexed, input, repository.filters);
		if (input !== "")
			await indexed.run(["add", "-f", "--pathspec-from-file=-", "--pathspec-file-nul"], { input, signal: AbortSignal.timeout(longestFilterMs) });
		return indexed.line(["write-tree", "--missing-ok"]);
	});
	await rm(files, { recursive: true, force: true });
	await rm(list, { force: true });
	return tree;
}

/** A commit without its filter would hold another content than git means it to: the file itself instead of a pointer to it, for example. */
async function refuseFiltered(git: Git, input: string, filters: readonly string[]): Promise<void> {
	const fields = entries(await git.run(["check-attr", "-z", "--stdin", "filter"], { input }));
	const found: RepositoryPath[] = [];
	for (let at = 0; at + 2 < fields.length; at += 3) if (filters.includes(fields[at + 2] as string)) found.push(fields[at] as string);
	if (found.length === 0) return;
	throw new Error(
		`Git filters, which are programs, run only in a trusted project, and a commit of ${listed(found)} needs one. Trust the project, or set task.isolation.merge to patch.`,
	);
}

/** The user's index after the step: what they have staged stays staged. Returns its tree. */
export async function indexAfter(
	part: Part,
	step: Step,
	files: { copy: string; next: string; scratch: string },
): Promise<{ tree: string } | Conflict> {
	const index = join(part.repository.gitDir, "index");
	const git = privateGit(part);
	if (existsSync(index)) await copyIndex(index, files.copy);
	else await git.with({ variables: { GIT_INDEX_FILE: files.copy } }).run(["read-tree", "--empty"]);
	await copyIndex(files.copy, files.next);
	const indexed = git.with({ variables: { GIT_INDEX_FILE: files.next }, settings: ["core.splitIndex=false"] });
	const staged = await indexed.line(["write-tree", "--missing-ok"]);
	const { changes, conflicts } = await mergeTrees(
		git,
		{ base: `${step.old}^{tree}`, ours: staged, theirs: `${step.new}^{tree}` },
		join(files.scratch, "lines"),
	);
	if (conflicts.length > 0) return { conflicts };
	await putEntries(indexed, changes);
	return { tree: await indexed.line(["write-tree", "--missing-ok"]) };
}

/** Copies what these commits and trees need beyond what is known, and nothing else, into the user's repository. */
export async function publish(part: Part, wanted: readonly string[], known: readonly string[], scratch: string): Promise<void> {
	const input = [...wanted, ...known.map((commit) => `^${commit}`), ""].join("\n");
	const base = join(scratch, "new");
	const name = await privateGit(part).line(["pack-objects", "--revs", "-q", base], { input });
	// Without a name there is nothing new.
	if (name !== "") await part.repository.git.run(["unpack-objects", "-q"], { inputFile: `${base}-${name}.pack` });
}

async function withIndex<T>(git: Git, scratch: string, work: (git: Git) => Promise<T>): Promise<T> {
	const index = join(scratch, "index");
	await mkdir(scratch, { recursive: true, mode: 0o700 });
	try {
		return await work(git.with({ variables: { GIT_INDEX_FILE: index } }));
	} finally {
		await rm(index, { force: true });
		await rm(`${index}.lock`, { force: true });
	}
}

/** The user's name, or ours when git does not know it. */
async function withIdentity(git: Git): Promise<Git> {
	const { code } = await git.with({ settings: ["user.useConfigOnly=true"] }).ask(["var", "GIT_COMMITTER_IDENT"], { codes: [0, 128] });
	return git.with({ settings: ["i18n.commitEncoding=UTF-8", ...(code === 0 ? [] : ["user.name=Bowline", "user.email=bowline@localhost"])] });
}
