/** Brings back what a repository's history lost: all of it or nothing, and never so that a commit is lost by it. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CommandError } from "../protocol/command-error.ts";
import type { Git } from "../snapshots/git.ts";
import type { RepositoryPath } from "../snapshots/paths.ts";
import { type Exactly, joinedStashes, movedRefs, needsAncestry, type RefMove, stashRef, type Wanted } from "./commit-plan.ts";
import { type CommitRecord, headCommit, keptRefs, stashCommits, tipsOf } from "./commit-record.ts";
import { missingSettings, restoreSettings } from "./commit-settings.ts";
import { type CommitSteps, noSteps } from "./commit-steps.ts";
import { type CommitStore, isPartialClone } from "./commit-store.ts";
import { filesBelow, type GitPlace, targetOf, textOf } from "./git-place.ts";

export interface CommitPlan {
	steps: CommitSteps;
	/** For people. */
	restored: RefMove[];
	kept: string[];
	problems: string[];
}

export interface CommitRestoreInput {
	at: RepositoryPath;
	top: string;
	store: CommitStore;
	/** Names the rewind. */
	id: string;
	/** For files on their way. */
	staging: string;
}

/** Says that a `.git` as a whole came back. */
export const wholeName = ".git";
/** Says that commits and files of commits came back. */
const objectsName = ".git/objects";
/** Says that what was staged came back. */
const indexName = ".git/index";

/** What a repository lost, and what it would have afterwards. */
interface Loss {
	moves: RefMove[];
	/** The log of stashes, where some were lost. */
	stashes: string | undefined;
	head: CommitSteps["head"];
	after: Record<string, string>;
	isIndexGone: boolean;
}

/** Returns undefined where nothing was lost. */
async function lossOf(store: CommitStore, wanted: Wanted, current: CommitRecord, exactly: Exactly): Promise<Loss | undefined> {
	const moves: RefMove[] = [];
	const unsure = movedRefs(wanted, current, exactly);
	for (const move of unsure) {
		const { from, to } = move;
		const isAsked = needsAncestry(move, exactly) && unsure.length <= mostAsked;
		if (!isAsked || !(await contains(store.git(), to as string, from as string))) moves.push(move);
	}
	const stashes = exactly.has(stashRef) ? differing(wanted.stashes, current.stashes) : joinedStashes(wanted.stashes, current.stashes);
	const after: Record<string, string> = { ...current.refs };
	const last = stashes === undefined ? current.refs[stashRef] : stashCommits({ stashes }).at(-1);
	const from = current.refs[stashRef];
	if (stashes !== undefined) moves.push({ name: stashRef, ...(from ? { from } : {}), ...(last ? { to: last } : {}) });
	for (const { name, to } of moves) {
		if (to === undefined) delete after[name];
		else after[name] = to;
	}
	const head = await headToRestore(store, wanted, current, exactly);
	const isIndexGone = wanted.index !== undefined && current.index === undefined;
	return moves.length === 0 && stashes === undefined && !head && !isIndexGone ? undefined : { moves, stashes, head, after, isIndexGone };
}

/** More than this are put back without a look at what they are now: each look is a program. */
const mostAsked = 100;

const movesOf = ({ moves, head, after, isIndexGone }: Loss, current: CommitRecord): RefMove[] => [
	...(isIndexGone ? [{ name: indexName }] : []),
	...moves,
	...(head ? [{ name: "HEAD", ...headMove(current, { head: head.to, refs: after }) }] : []),
];

/** Returns what a rewind would bring back. */
export async function lostCommits(store: CommitStore, wanted: Wanted, current: CommitRecord): Promise<RefMove[]> {
	const loss = await lossOf(store, wanted, current, new Map());
	return loss ? movesOf(loss, current) : [];
}

interface PlanInput {
	wanted: Wanted;
	target: CommitRecord;
	current: CommitRecord;
	/** What an earlier rewind moved, which goes back exactly. */
	exactly: Exactly;
}

/** Plans a repository that is there. Returns undefined where it lost nothing. */
export async function planCommits(
	input: CommitRestoreInput,
	place: GitPlace,
	{ wanted, target, current, exactly }: PlanInput,
): Promise<CommitPlan | undefined> {
	const { store, staging, at, top } = input;
	const loss = await lossOf(store, wanted, current, exactly);
	if (!loss) return planObjects(input, place, current);
	const { moves, stashes, head, after } = loss;
	const { gitDir, commonDir } = place;
	const first = [...inTheWay(moves, after), ...moves.filter(({ to }) => to === undefined)];
	const last = moves.filter(({ from, to }) => to !== undefined && from !== to);
	const kept = await keptBy(input, [...first, ...last, ...leftHead(head, current)], after, exactly);
	await mkdir(staging, { recursive: true, mode: 0o700 });
	const files: CommitSteps["files"] = [];
	const replace = (path: string, name: string, text?: string) => {
		const to = join(staging, name);
		if (text !== undefined) writeFileSync(to, text, { mode: 0o600, encoding: "latin1" });
		files.push({ path, to, ...(existsSync(path) ? { from: `${to}.before` } : {}) });
	};
	if (stashes !== undefined && stashes !== "") replace(join(commonDir, "logs/refs/stash"), "stash", stashes);
	const commit = headCommit({ head: head?.to ?? current.head, refs: after });
	const isMoved = commit !== undefined && commit !== headCommit(current);
	const isWanted = commit === headCommit({ head: wanted.head, refs: Object.fromEntries(present(wanted.refs)) });
	const staged = isWanted && wanted.index !== undefined ? wanted.index : commit;
	if ((isMoved || loss.isIndexGone) && staged !== undefined) {
		await makeIndex(store, join(staging, "index"), staged);
		replace(join(gitDir, "index"), "index");
	}
	const settings = await missingSettings(store.git(), target.config, current.config, staging);
	const config = textOf(join(commonDir, "config")) ?? "";
	if (settings !== "") replace(join(commonDir, "config"), "config", `${config.replace(/\n?$/, "\n")}${settings}`);
	const tips = [
		...[...last, ...kept].flatMap(({ to }) => to ?? []),
		...(isMoved ? [commit] : []),
		...((isMoved || loss.isIndexGone) && staged !== undefined ? [staged] : []),
		...stashCommits({ stashes: stashes ?? "" }),
	];
	await bringObjects(input, place, tips, target, current);
	const steps: CommitSteps = { at, top, gitDir, commonDir, first: [...kept, ...first], last, files, ...(head ? { head } : {}) };
	return { steps, restored: movesOf(loss, current), kept: kept.map(({ name }) => name), problems: [] };
}

/** Brings objects back that were removed below names which are still there. */
async function planObjects(input: CommitRestoreInput, place: GitPlace, current: CommitRecord): Promise<CommitPlan | undefined> {
	const { gitDir, commonDir } = place;
	const { index: _, ...named } = current;
	const asked = `${tipsOf(named).join("\n")}\n`;
	if (!/ missing$/m.test(await input.store.at(place).run(["cat-file", "--batch-check"], { input: asked }))) return undefined;
	await bringObjects(input, place, tipsOf(current), current, current);
	return { steps: noSteps({ at: input.at, top: input.top, gitDir, commonDir }), restored: [{ name: objectsName }], kept: [], problems: [] };
}

/** A branch in the place of a folder of branches, or the other way round. They leave `after`. */
function inTheWay(moves: readonly RefMove[], after: Record<string, string>): RefMove[] {
	const found: RefMove[] = [];
	for (const { name } of moves.filter(({ from, to }) => from === undefined && to !== undefined)) {
		const others = Object.keys(after).filter((other) => other.startsWith(`${name}/`) || name.startsWith(`${other}/`));
		for (const other of others) {
			found.push({ name: other, from: after[other] as string });
			delete after[other];
		}
	}
	return found;
}

const leftHead = (head: CommitSteps["head"], current: CommitRecord): RefMove[] => {
	const from = head && !current.head.startsWith("ref: ") ? headCommit(current) : undefined;
	return from === undefined ? [] : [{ name: "HEAD", from }];
};

/** Names for commits that would have none afterwards, other than those that an earlier rewind brought. */
async function keptBy(
	{ store, id }: CommitRestoreInput,
	leaving: readonly RefMove[],
	after: Readonly<Record<string, string>>,
	exactly: Exactly,
): Promise<RefMove[]> {
	const kept: RefMove[] = [];
	const tips = [...new Set(Object.values(after))];
	for (const { name, from } of leaving) {
		if (from === undefined || name === stashRef || exactly.get(name) === from) continue;
		// The text of a tag is in no commit.
		const isLost =
			name.startsWith("refs/tags/") ||
			(await store.git().run(["rev-list", "-n", "1", "--stdin"], { input: `${[from, ...tips.map((oid) => `^${oid}`)].join("\n")}\n` })) !== "";
		if (isLost && !tips.includes(from)) kept.push({ name: `${keptRefs}before-rewind/${id}/${name.replace(/^refs\//, "")}`, to: from });
	}
	return kept;
}

const present = (refs: Wanted["refs"]) => [...refs].filter((each): each is [string, string] => each[1] !== undefined);

const differing = (wanted: string, current: string) => (wanted === current ? undefined : wanted);

function headMove(from: Pick<CommitRecord, "head" | "refs">, to: Pick<CommitRecord, "head" | "refs">): Omit<RefMove, "name"> {
	const [before, after] = [headCommit(from), headCommit(to)];
	return { ...(before ? { from: before } : {}), ...(after ? { to: after } : {}) };
}

/** Returns whether HEAD goes back: it no longer contains the commit that it had. */
async function headToRestore(store: CommitStore, { head, refs }: Wanted, current: CommitRecord, exactly: Exactly): Promise<CommitSteps["head"]> {
	if (head === current.head || head === "") return undefined;
	const back = { from: current.head, to: head };
	if (exactly.has("HEAD")) return back;
	const was = head.startsWith("ref: ") ? refs.get(head.slice(5)) : head;
	const is = headCommit(current);
	if (was === undefined) return undefined;
	return is !== undefined && (await contains(store.git(), was, is)) ? undefined : back;
}

/** Returns whether a commit is in the history of another; false for anything but commits. */
async function contains(git: Git, old: string, other: string): Promise<boolean> {
	return old === other || (await git.ask(["merge-base", "--is-ancestor", old, other], { codes: [0, 1, 128] })).code === 0;
}

async function makeIndex(store: CommitStore, file: string, tree: string): Promise<void> {
	await store
		.git()
		.with({ variables: { GIT_INDEX_FILE: file } })
		.run(["read-tree", tree]);
}

/** Writes objects that the repository no longer has. */
async function bringObjects(
	{ store }: CommitRestoreInput,
	place: GitPlace,
	tips: string[],
	record: CommitRecord,
	current: CommitRecord,
): Promise<void> {
	const git = store.at(place);
	const isThere = async () => {
		const input = `${tips.join("\n")}\n`;
		const options = ["--objects", "--quiet", ...(isPartialClone(record) ? ["--missing=allow-any"] : [])];
		return (await git.ask(["rev-list", ...options, "--stdin"], { input, codes: [0, 1, 128] })).code === 0;
	};
	if (tips.length === 0 || (await isThere())) return;
	await store.copyTo(join(place.commonDir, "objects"), { tips, without: tipsOf(current), record });
	if (await isThere()) return;
	// Also what is in the history that is left is gone.
	await store.copyTo(join(place.commonDir, "objects"), { tips, record });
	if (!(await isThere())) throw new CommandError("io", `Commits of ${place.top} could not be written to ${place.commonDir}. Nothing was rewound.`);
}

/** Plans a repository that is gone: makes all of its git directory. */
export async function planWhole(
	{ at, top, store, staging }: CommitRestoreInput,
	{ wanted, target }: Pick<PlanInput, "wanted" | "target">,
): Promise<CommitPlan> {
	const pointer = target.pointer;
	const entry = join(top, ".git");
	const gitDir = (pointer === undefined ? undefined : targetOf(top, pointer)) ?? entry;
	const steps = { ...noSteps({ at, top, gitDir, commonDir: gitDir }), ...(pointer === undefined || textOf(entry) === pointer ? {} : { pointer }) };
	const restored: RefMove[] = [{ name: wholeName }];
	if (pointer !== undefined && existsSync(join(gitDir, "HEAD"))) return { steps, restored, kept: [], problems: [] };
	if (pointer?.includes("/worktrees/"))
		return { steps: noSteps(steps), restored: [], kept: [], problems: [`${gitDir} is gone, which belongs to another repository`] };
	const whole = join(staging, "whole");
	for (const name of ["objects/info", "objects/pack", "refs/heads", "refs/tags", "info", "hooks", "logs/refs"])
		mkdirSync(join(whole, name), { recursive: true });
	const write = (name: string, text: string) => {
		mkdirSync(dirname(join(whole, name)), { recursive: true });
		writeFileSync(join(whole, name), text, "latin1");
	};
	const refs = present(wanted.refs).sort(([one], [two]) => (one < two ? -1 : 1));
	write("HEAD", `${wanted.head}\n`);
	write("packed-refs", `# pack-refs with: sorted \n${refs.map(([name, oid]) => `${oid} ${name}\n`).join("")}`);
	for (const [name, to] of Object.entries(target.links))
		if (/^refs\/[^\n]*$/.test(name) && !name.split("/").includes("..")) write(name, `ref: ${to}\n`);
	for (const [name, text] of Object.entries(target.info)) if (/^[\w-]+$/.test(name) && text !== "") write(`info/${name}`, text);
	if (wanted.stashes !== "") write("logs/refs/stash", wanted.stashes);
	if (target.shallow !== "") write("shallow", target.shallow);
	const problems = await restoreSettings(store.git(), { top, gitDir, whole, staging, pointer }, target);
	const tips = [
		...new Set([
			...refs.map(([, oid]) => oid),
			...stashCommits(wanted),
			...(wanted.head.startsWith("ref: ") || wanted.head === "" ? [] : [wanted.head]),
			...(wanted.index ? [wanted.index] : []),
		]),
	];
	if (tips.length > 0) await store.copyTo(join(whole, "objects"), { tips, record: target });
	const commit = headCommit({ head: wanted.head, refs: Object.fromEntries(refs) });
	const tree = wanted.index ?? commit;
	if (tree !== undefined) await makeIndex(store, join(whole, "index"), tree);
	const made = { head: `${wanted.head}\n`, loose: filesBelow(whole, "refs").length };
	return { steps: { ...steps, whole, made }, restored: [...restored, ...refs.map(([name, to]) => ({ name, to }))], kept: [], problems };
}
