/** Merges the work of tasks into the live tree, one after another: a task's work is merged as a whole, or not at all. */
import { join } from "node:path";
import type { ProgramStarter } from "../../snapshots/git.ts";
import { asFileName, below, firstFree, listed, type RepositoryPath } from "../../snapshots/paths.ts";
import { guardAgain } from "../../snapshots/programs.ts";
import { removeTree } from "../../snapshots/remove.ts";
import { aloneIn } from "../../snapshots/repository-lock.ts";
import type { Part } from "../../snapshots/take.ts";
import type { CapturedWork, Merged } from "../contracts.ts";
import type { Captured } from "./capture.ts";
import { commitWork, publish, type Step } from "./commit.ts";
import { headOf, inProgress, type PlannedMerge, planCommit, planFiles, undoMerge, type Work } from "./merge-plan.ts";
import { deleteBranch, type WorkFile } from "./work-record.ts";

export interface MergeInput {
	parts: readonly Part[];
	/** Of the frozen state. */
	directory: string;
	shell: () => Promise<ProgramStarter>;
	/** Whether programs that the repository's configuration names may run. */
	isTrusted: boolean;
}

/** What is known about one task when it is merged. */
interface Task extends CapturedWork {
	works: Work[];
	/** Records the progress of the merge. */
	file: WorkFile;
	/** The patches with its work, for the text of a failure. */
	patches: string;
	/** A sentence about repositories that the task made. */
	histories: string;
}

/** The captured work of a task, and the file with its record. */
export interface KeptWork {
	captured: Captured;
	file: WorkFile;
}

export async function mergeTask(input: MergeInput, work: CapturedWork, kept: KeptWork | undefined, mode: "patch" | "branch"): Promise<Merged> {
	const { id, delta } = work;
	if (!kept) return { id, status: "failed", text: `${id} was not merged: its work was never captured.` };
	const { captured, file } = kept;
	if (captured.trees.length === 0) return { id, status: "unchanged", text: `${id} changed nothing.` };
	const [main] = input.parts as [Part];
	const scratch = join(input.directory, "merge");
	const staging = `bowline-${input.directory.split("-").at(-1)}`;
	const works = captured.trees.map(({ at, before, after }): Work => {
		const part = input.parts.find((each) => each.at === at) as Part;
		return {
			part,
			before,
			after,
			message: messageOf(work),
			runsFilters: input.isTrusted,
			scratch: join(scratch, String(input.parts.indexOf(part))),
			staging: join(part.repository.gitDir, staging),
		};
	});
	const patches = [delta.patchPath, ...delta.nested.map(({ patchPath }) => patchPath)].filter((path) => path !== undefined).join(", ");
	try {
		const repositories = [main, ...works.map(({ part }) => part)].map(({ repository }) => repository.commonDir);
		file.note({ repositories, staging: works.map((each) => each.staging) });
		const histories =
			captured.histories.length === 0
				? ""
				: ` A repository that was made there came as plain files; its history is in ${captured.histories.join(", ")}.`;
		const task = { ...work, works, file, patches, histories };
		return await aloneIn(repositories, () => (mode === "patch" ? mergePatch(task) : mergeBranch(task)));
	} catch (error) {
		return { id, status: "failed", text: `${id} was not merged: ${sentence(error)} Its work is in ${patches}.` };
	} finally {
		await removeTree(input.shell, scratch);
	}
}

async function mergePatch(task: Task): Promise<Merged> {
	const { id, patches, histories } = task;
	const conflicts = await mergeAll(task, planFiles);
	if (conflicts) return { id, status: "conflict", text: `${id} was not merged: ${conflictText(conflicts)} ${byHand(patches)}` };
	return { id, status: "merged", text: `${id} is in the working tree, not committed. The patch is ${patches}.${histories}` };
}

async function mergeBranch(captured: Task): Promise<Merged> {
	const { id, patches, histories } = captured;
	const works = await Promise.all(captured.works.map(async (work) => ({ ...work, part: await guardedPart(work.part) })));
	const task = { ...captured, works };
	const steps = new Map<Work, Step>();
	for (const work of works) {
		if (!work.part.repository.head) continue;
		const step = await commitWork(work);
		if ("conflicts" in step) {
			const paths = step.conflicts.map((path) => below(work.part.at, path));
			const why = `it builds on uncommitted changes of ${listed(paths)}, so that it cannot be a commit of its own.`;
			return { id, status: "conflict", text: `${id} was not merged: ${why} Commit them before the next call. ${byHand(patches)}` };
		}
		steps.set(work, step);
	}
	const own = works.find(({ part }) => part.at === "");
	const made = own && steps.get(own);
	const branchName = made && made.new !== made.old ? await makeBranch(own.part, id, made, own.scratch) : undefined;
	const kept = branchName === undefined ? {} : { branchName };
	const branch = branchName !== undefined && made && own ? { top: own.part.repository.top, name: branchName, commit: made.new } : undefined;
	if (branch) task.file.note({ branch });
	const where = branchName === undefined ? `The work is in ${patches}.` : `It is on the branch ${branchName} (patch: ${patches}).`;
	try {
		const busy = branchName === undefined || !own ? undefined : await whyNoCommit(own.part);
		if (busy) return { id, status: "failed", ...kept, text: `${id} was not merged: ${busy}, then run git cherry-pick ${branchName}. ${where}` };
		const commits: string[] = [];
		const conflicts = await mergeAll(task, async (work) => {
			const head = await headOf(work.part.repository.git);
			const step = steps.get(work);
			// An inner repository where no commit can be made gets the files.
			if (!head || !step || step.new === step.old || (await whyNoCommit(work.part))) return planFiles(work);
			const merge = await planCommit(work, step, head);
			const commit = "record" in merge ? merge.record.commit?.new : undefined;
			if (commit !== undefined && commit !== head) commits.push(commit.slice(0, 10));
			return merge;
		});
		if (conflicts) return { id, status: "conflict", ...kept, text: `${id} was not merged: ${conflictText(conflicts)} ${where}` };
		const isGone = !branch || !own || (await deleteBranch(own.part.repository.git, branch));
		const what = commits.length > 0 ? `committed as ${commits.join(", ")}` : "in the working tree; there was nothing to commit";
		const left = isGone ? "" : ` The branch ${branchName} could not be deleted.`;
		return { id, status: "merged", ...(isGone ? {} : kept), text: `${id} is ${what}. The patch is ${patches}.${histories}${left}` };
	} catch (error) {
		return { id, status: "failed", ...kept, text: `${id} was not merged: ${sentence(error)} ${where}` };
	}
}

const guardedPart = async (part: Part): Promise<Part> => ({ ...part, repository: await guardAgain(part.repository) });

/** Plans everything before the first file is touched. Returns the conflicting paths. */
async function mergeAll(
	{ works, file }: Task,
	plan: (work: Work) => Promise<PlannedMerge | { conflicts: RepositoryPath[] }>,
): Promise<RepositoryPath[] | undefined> {
	const merges: PlannedMerge[] = [];
	const applied: PlannedMerge[] = [];
	try {
		const conflicts: RepositoryPath[] = [];
		for (const work of works) {
			const planned = await plan(work);
			if ("conflicts" in planned) conflicts.push(...planned.conflicts);
			else merges.push(planned);
		}
		if (conflicts.length > 0) return conflicts;
		file.note({ merges: merges.map(({ record }) => record) });
		for (const merge of merges) {
			await merge.apply();
			applied.unshift(merge);
		}
		file.note({ isMerged: true });
		return undefined;
	} catch (error) {
		const left: string[] = [];
		for (const { record } of applied) {
			const git = (works[0] as Work).part.repository.git.with({ cwd: record.top });
			if (!(await undoMerge(git, record).catch(() => false))) left.push(record.top);
		}
		if (left.length === 0) {
			file.note({ merges: [] });
			throw error;
		}
		throw new Error(`${sentence(error)} What was changed in ${left.join(", ")} could not be undone: see git status there.`, { cause: error });
	} finally {
		for (const merge of merges) await merge.discard();
	}
}

/** A branch for the work, with a name that is not in use. */
async function makeBranch(main: Part, id: string, step: Step, scratch: string): Promise<string> {
	await publish(main, [step.new], [step.old], scratch);
	const { git } = main.repository;
	const name = asFileName(id)
		.replace(/\.{2,}/g, ".")
		.replace(/(\.lock)+$|\.$|^\./g, "");
	return firstFree(`bowline/task/${name}`, async (branch) => {
		const { code } = await git.ask(["show-ref", "--verify", "--quiet", `refs/heads/${branch}`], { codes: [0, 1] });
		if (code === 0) return undefined;
		await git.run(["update-ref", "-m", "bowline: task", `refs/heads/${branch}`, step.new, "0".repeat(step.new.length)]);
		return branch;
	});
}

/** Why nothing can be committed now, and what to do first. */
async function whyNoCommit(part: Part): Promise<string | undefined> {
	const busy = inProgress(part.repository.gitDir);
	if (busy) return `a ${busy} is in progress. Finish it`;
	return (await headOf(part.repository.git)) ? undefined : "HEAD is a branch without commits. Check out one that has some";
}

const sentence = (error: unknown) => (error as Error).message.replace(/[^.]$/, "$&.");

const conflictText = (paths: readonly RepositoryPath[]) => `its changes do not fit what is there now in ${listed(paths)}. Nothing was changed.`;

const byHand = (patches: string) => `Its work is in ${patches}: make these changes by hand, or send a new task.`;

function messageOf({ id, description }: CapturedWork): string {
	const text = description.trim();
	return `${text === "" ? `Task ${id}` : text}\n`;
}
