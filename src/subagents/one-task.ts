/** One task of a call, from its start to its end: workspace, work, capture. The same way for isolated and other work. */
import { join } from "node:path";
import type { SingleResult, TaskArguments } from "../protocol/subagents.ts";
import { onlyReads } from "./agents.ts";
import { writeArtifact } from "./artifacts.ts";
import type { CheckedCall } from "./check-call.ts";
import type { Delta, Workspace } from "./contracts.ts";
import { shownOutput } from "./report.ts";
import { budgetText, type PlannedTask, prevented, refusedByBudget, runAndVerify, type TaskCall, type Verdict } from "./run-and-verify.ts";
import { summed } from "./usage.ts";

export interface TaskOutcome {
	result: SingleResult;
	/** What may be merged. */
	delta?: Delta;
}

/** Never rejects. */
export async function runTask(task: PlannedTask, call: TaskCall): Promise<TaskOutcome> {
	const { parts, checked, progress } = call;
	const { emit, now } = parts;
	const refusal = refusedByBudget(parts);
	if (refusal) {
		progress.end(task.index, "aborted");
		return { result: unstarted(task, call, budgetText(refusal), "budget_exceeded") };
	}
	const startedAt = now();
	const who = { id: task.id, taskId: task.item.id, agent: checked.agent.name };
	const { description, assignment } = task.item;
	const { source: agentSource } = checked.agent;
	parts.listener?.begins({ id: task.id, index: task.index, agentSource, description, assignment, parentToolCallId: call.toolCallId });
	emit({ type: "subagent_start", ...who, isolated: checked.isIsolated });
	progress.begin(task.index);
	let workspace: Workspace | undefined;
	let verdict: Verdict;
	try {
		workspace = await call.frozen?.checkOut(task.id, call.signal);
		verdict = await runAndVerify(task, call, workspace ?? { cwd: parts.cwd });
	} catch (error) {
		verdict = prevented((error as Error).message, call);
	}
	const captured = workspace ? await captureWork(workspace, verdict, call) : {};
	if (captured.problem !== undefined) {
		const error = [verdict.error, captured.problem].filter((text) => text !== undefined).join(" ");
		verdict = { ...verdict, exitCode: verdict.exitCode || 1, error };
	}
	const { exitCode, verification: verified } = verdict;
	const result = resultOf(task, call, verdict, now() - startedAt, captured);
	parts.listener?.ends(task.id, verdict.aborted === true);
	emit({ type: "subagent_end", ...who, exitCode, ...(verified ? { verification: verified } : {}) });
	progress.end(task.index, exitCode === 0 ? "completed" : verdict.aborted ? "aborted" : "failed");
	return { result, ...(captured.delta ? { delta: captured.delta } : {}) };
}

/** The result of a task that was never started. Its output file says so, too. */
export function unstarted(
	{ index, id, item }: PlannedTask,
	{ checked, args, directory }: TaskCall,
	error: string,
	abortReason: string,
): SingleResult {
	const outputPath = writeArtifact(join(directory, `${id}.md`), error);
	return {
		index,
		id,
		...described(item, checked, args),
		exitCode: 1,
		output: "",
		stderr: "",
		truncated: false,
		durationMs: 0,
		tokens: 0,
		error,
		aborted: true,
		abortReason,
		...(outputPath === undefined ? {} : { outputPath }),
	};
}

interface Captured {
	delta?: Delta;
	patchPath?: string;
	problem?: string;
}

/** Captures the work, then removes the workspace; it stays when its work could not be captured. */
async function captureWork(workspace: Workspace, verdict: Verdict, { checked, parts }: TaskCall): Promise<Captured> {
	const isWanted = !verdict.isDiscarded && !onlyReads(checked.agent);
	let delta: Delta | undefined;
	try {
		delta = isWanted ? await workspace.capture() : undefined;
	} catch (error) {
		return { problem: `The work could not be captured: ${(error as Error).message} It is still in ${workspace.cwd}.` };
	}
	// The result is valid although the copy stays; a later process removes it.
	await workspace.remove().catch((error) => parts.log.error(`${workspace.cwd} could not be removed`, error));
	if (!delta) return {};
	for (const path of pathsOf(delta)) parts.artifacts.keep(path);
	return { ...(verdict.exitCode === 0 ? { delta } : {}), ...(delta.patchPath === undefined ? {} : { patchPath: delta.patchPath }) };
}

/** Where the work of a task was written. */
export function pathsOf({ patchPath, nested }: Delta): string[] {
	return [...(patchPath === undefined ? [] : [patchPath]), ...nested.map((each) => each.patchPath)];
}

function described(item: PlannedTask["item"], { agent }: CheckedCall, args: TaskArguments) {
	const task = args.context ? `${args.context}\n\n${item.assignment}` : item.assignment;
	return { agent: agent.name, agentSource: agent.source, task, assignment: item.assignment, description: item.description };
}

function resultOf({ index, id, item }: PlannedTask, call: TaskCall, verdict: Verdict, durationMs: number, captured: Captured): SingleResult {
	const { parts, directory, checked, args } = call;
	const output = parts.redact(verdict.output);
	const outputPath = writeArtifact(join(directory, `${id}.md`), output === "" ? (verdict.error ?? "") : output);
	const { text, isTruncated } = shownOutput(output, parts.environment);
	const usage = summed(verdict.runs.map((run) => run.usage));
	const { error, aborted, abortReason, verification: verified } = verdict;
	return {
		index,
		id,
		...described(item, checked, args),
		exitCode: verdict.exitCode,
		output: text,
		stderr: verdict.runs
			.map((run) => run.stderr)
			.filter(Boolean)
			.join("\n"),
		truncated: isTruncated,
		durationMs,
		tokens: usage.totalTokens,
		...(error === undefined ? {} : { error }),
		...(aborted ? { aborted } : {}),
		...(abortReason === undefined ? {} : { abortReason }),
		...(verified ? { verification: verified } : {}),
		usage,
		toolCalls: verdict.runs.reduce((sum, run) => sum + run.toolCalls, 0),
		...(outputPath === undefined ? {} : { outputPath }),
		...(captured.patchPath === undefined ? {} : { patchPath: captured.patchPath }),
	};
}
