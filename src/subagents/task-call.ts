/** One call of the task tool, from its arguments to its result. Loaded with the first call. */

import { existsSync, realpathSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { ToolExecution } from "../agent/contracts.ts";
import { asSentence } from "../lib/as-sentence.ts";
import { isWithin } from "../lib/links.ts";
import { ToolFailure } from "../lib/tool-failure.ts";
import type { ToolResult } from "../protocol/messages.ts";
import type { TaskArguments } from "../protocol/subagents.ts";
import { type CheckedCall, checkCall } from "./check-call.ts";
import type { CapturedWork, Delta, Frozen, Merged } from "./contracts.ts";
import type { TaskParts } from "./dependencies.ts";
import { pathsOf, runTask, type TaskOutcome, unstarted } from "./one-task.ts";
import { Progress } from "./progress.ts";
import { detailsOf, reportOf } from "./report.ts";
import type { PlannedTask, TaskCall } from "./run-and-verify.ts";
import type { Slots } from "./slots.ts";

export async function runTasks(parts: TaskParts, slots: Slots, { toolCallId, args: given, signal, onUpdate }: ToolExecution): Promise<ToolResult> {
	const args = given as TaskArguments;
	const checked = await checkCall(args, parts);
	if ("problem" in checked) return refusal(parts, checked.problem);
	const frozen = checked.isIsolated ? await freeze(parts, signal) : undefined;
	if (frozen && "problem" in frozen) return refusal(parts, frozen.problem);
	try {
		return await runAll(parts, slots, { toolCallId, args, checked, frozen, signal, onUpdate });
	} finally {
		await frozen?.release().catch((error) => parts.log.error("copies of the repository could not be removed", error));
	}
}

/** Nothing after an abort: then no subagent starts, and each task reports that. */
async function freeze({ isolation }: TaskParts, signal: AbortSignal): Promise<Frozen | { problem: string } | undefined> {
	try {
		return await (await isolation()).freeze(signal);
	} catch (error) {
		if (signal.aborted) return undefined;
		throw error;
	}
}

function refusal({ agents }: TaskParts, problem: string): ToolResult {
	return { content: [{ type: "text", text: problem }], details: { projectAgentsDir: agents.projectDirectory, results: [], totalDurationMs: 0 } };
}

interface Running extends Pick<ToolExecution, "toolCallId" | "signal" | "onUpdate"> {
	args: TaskArguments;
	checked: CheckedCall;
	frozen: Frozen | undefined;
}

async function runAll(parts: TaskParts, slots: Slots, { toolCallId, args, checked, frozen, signal, onUpdate }: Running): Promise<ToolResult> {
	const { agents, artifacts, now } = parts;
	const startedAt = now();
	const directory = artifacts.directory();
	const tasks = args.tasks.map((item, index): PlannedTask => ({ index, item, id: artifacts.reserve(directory, item.id) }));
	const progress = new Progress({
		tasks: tasks.map(({ id, item }) => ({ id, agent: checked.agent.name, description: item.description })),
		details: (list) => ({ projectAgentsDir: agents.projectDirectory, results: [], totalDurationMs: now() - startedAt, progress: list }),
		onUpdate,
		now,
	});
	const call: TaskCall = { parts, args, checked, defaults: await parts.defaults(), directory, frozen, progress, toolCallId, signal };
	const outcomes = await Promise.all(
		tasks.map(async (task): Promise<TaskOutcome> => {
			const leave = await slots.enter(directory, signal);
			if (!leave) {
				progress.end(task.index, "aborted");
				return { result: unstarted(task, call, "Cancelled before start", "aborted") };
			}
			try {
				return await runTask(task, call);
			} finally {
				leave();
			}
		}),
	);
	progress.close();
	const merged = frozen ? await merge(outcomes, frozen, call) : [];
	const results = outcomes.map(({ result }) => result);
	const duration = now() - startedAt;
	const text = parts.redact(reportOf(results, merged, duration));
	const result: ToolResult = { content: [{ type: "text", text }], details: detailsOf(agents.projectDirectory, results, duration) };
	if (signal.aborted) throw new ToolFailure(result);
	return result;
}

/** Merges the work of tasks that succeeded, in their order. After an abort nothing is merged. */
async function merge(outcomes: readonly TaskOutcome[], frozen: Frozen, call: TaskCall): Promise<Merged[]> {
	const { args, parts, signal } = call;
	const done = outcomes.flatMap(({ result, delta }) => (delta ? [{ result, delta }] : []));
	const unchanged = done.filter(({ delta }) => pathsOf(delta).length === 0);
	const all = done.filter(({ delta }) => pathsOf(delta).length > 0);
	const refused = await refusedMerges(all, call);
	const changed = all.filter((each) => !refused.some(({ id }) => id === each.result.id));
	for (const { id, text } of refused) for (const { result } of all) if (result.id === id) result.error = text;
	const notes = [...refused, ...unchanged.map(({ result }): Merged => ({ id: result.id, status: "unchanged", text: "It changed nothing." }))];
	if (changed.length === 0 || signal.aborted) return notes;
	const captured = changed.map(({ result, delta }) => ({ id: result.id, description: args.tasks[result.index]?.description ?? result.id, delta }));
	const mode = parts.setting("task.isolation.merge") as "patch" | "branch";
	const work = mode === "branch" && parts.setting("task.isolation.commits") === "ai" ? await withMessages(captured, parts, signal) : captured;
	if (signal.aborted) return notes;
	let merged: Merged[];
	try {
		merged = await frozen.merge(work, mode);
	} catch (error) {
		const text = (paths: string[]) => `Its changes could not be merged: ${(error as Error).message} They are in ${paths.join(", ")}.`;
		merged = changed.map(({ result, delta }) => ({ id: result.id, status: "failed", text: text(pathsOf(delta)) }));
	}
	for (const { id, status, text, branchName } of merged) {
		const outcome = changed.find(({ result }) => result.id === id);
		if (!outcome) continue;
		if (branchName !== undefined) outcome.result.branchName = branchName;
		if (status === "merged") for (const path of pathsOf(outcome.delta)) parts.artifacts.release(path);
		else outcome.result.error = text;
	}
	return [...notes, ...merged];
}

/** A merge is a change of the session's own, so its rules hold for it. What they deny, and what is not approved, is kept as a patch. */
async function refusedMerges(
	work: readonly { result: TaskOutcome["result"]; delta: Delta }[],
	{ parts, toolCallId, signal }: TaskCall,
): Promise<Merged[]> {
	const { permissions } = parts;
	const refused: Merged[] = [];
	for (const { result, delta } of work) {
		const paths = pathsOf(delta);
		const patch = (await Promise.all(paths.map((path) => readFile(path, "utf8")))).join("");
		const refusal =
			closedBySandbox(delta.paths, parts) ?? (await permissions?.refusalOfMerge({ id: result.id, toolCallId, patch, paths: delta.paths }, signal));
		if (refusal === undefined) continue;
		const text = `${result.id} was not merged: ${asSentence(refusal)} Nothing was changed. Its work is in ${paths.join(", ")}.`;
		refused.push({ id: result.id, status: "conflict", text });
	}
	return refused;
}

/** A merge is no way around `sandbox.protected`: git lists real paths, and a setting may name a link. */
function closedBySandbox(paths: readonly string[], { setting }: TaskParts): string | undefined {
	if (setting("sandbox.mode") === "off") return undefined;
	const closed = setting("sandbox.protected").flatMap((path) => (existsSync(path) ? [path, realpathSync(path)] : [path]));
	const found = paths.find((path) => closed.some((place) => isWithin(path, place)));
	return found === undefined ? undefined : `sandbox.protected closes ${found} to changes`;
}

/** The same work, described by the model. */
async function withMessages(
	work: readonly CapturedWork[],
	{ stream, current, budget, redact, now }: TaskParts,
	signal: AbortSignal,
): Promise<CapturedWork[]> {
	const { model } = current();
	if (!model) return [...work];
	const { writeMessage } = await import("./commit-message.ts");
	return Promise.all(work.map(async (each) => ({ ...each, description: await writeMessage(each, { stream, model, budget, redact, now }, signal) })));
}
