/** The work of one task and the verdict on it: the child runs, then the checks; after a failure perhaps a repair and the checks again. */

import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { asSentence } from "../lib/as-sentence.ts";
import { envFilesIn, otherNamesIn } from "../lib/env-files.ts";
import { gitPlaceVariables } from "../lib/git-variables.ts";
import type { BudgetReason } from "../protocol/budget.ts";
import type { TaskArguments, VerificationResult } from "../protocol/subagents.ts";
import type { VerificationPlan } from "../verification/contracts.ts";
import { failedChecks, repairContext, verification } from "../verification/index.ts";
import type { CheckedCall } from "./check-call.ts";
import { type ChildOutcome, runChild } from "./child-run.ts";
import type { Frozen, Workspace } from "./contracts.ts";
import { type TaskParts, taskToolName } from "./dependencies.ts";
import type { InheritedDefaults } from "./inheritance.ts";
import type { Progress } from "./progress.ts";
import { pathsInCopy, rulesInCopy } from "./rules-in-copy.ts";
import { noUsage } from "./usage.ts";

/** What all tasks of a call share. */
export interface TaskCall {
	parts: TaskParts;
	args: TaskArguments;
	checked: CheckedCall;
	defaults: InheritedDefaults;
	/** Where files of the tasks go. */
	directory: string;
	frozen: Frozen | undefined;
	progress: Progress;
	/** Of the task tool. */
	toolCallId: string;
	signal: AbortSignal;
}

/** Where a task works, and for an isolated one what that is a copy of. */
type Place = Pick<Workspace, "cwd"> & Partial<Pick<Workspace, "tops">>;

export interface PlannedTask {
	index: number;
	/** With its number. */
	id: string;
	item: TaskArguments["tasks"][number];
}

export type Verdict = Pick<ChildOutcome, "exitCode" | "output" | "error" | "aborted" | "abortReason"> & {
	runs: ChildOutcome[];
	verification?: VerificationResult;
	/** The work is not wanted, not even as a patch. */
	isDiscarded?: true;
};

export const budgetText = (reason: BudgetReason) => `Budget exceeded (${reason})`;

/** Checks the budget before money is spent. The host gets an event when the budget refuses. */
export function refusedByBudget({ budget, emit }: TaskParts): BudgetReason | undefined {
	const reason = budget?.gate();
	if (budget && reason) emit({ type: "budget_exceeded", scope: "task", snapshot: budget.snapshot });
	return reason;
}

/** What stopped the task, if it was not an abort. */
function failed(message: string, { signal }: TaskCall): Omit<Verdict, "runs"> {
	const { aborted } = signal;
	const error = aborted ? "The task was aborted." : message;
	return { exitCode: 1, output: "", error, ...(aborted ? { aborted, abortReason: "aborted" } : {}) };
}

/** The verdict on a task whose work never started. */
export function prevented(message: string, call: TaskCall): Verdict {
	const { verification: plan } = call.checked;
	return { ...failed(message, call), runs: [], ...(plan ? { verification: resultOf(plan, "skipped", []) } : {}) };
}

function resultOf(
	{ profile, onFailure }: VerificationPlan,
	status: VerificationResult["status"],
	attempts: VerificationResult["attempts"],
	retriesUsed = 0,
): VerificationResult {
	return { requested: true, ...(profile === undefined ? {} : { profile }), mode: "command", status, attempts, retriesUsed, onFailure };
}

/** Runs the child, then the checks, and perhaps a repair with the checks again. */
export async function runAndVerify(task: PlannedTask, call: TaskCall, place: Place): Promise<Verdict> {
	const { cwd } = place;
	const first = await child(task, call, place, task.id, promptOf(task, call));
	const { verification: plan } = call.checked;
	if (!plan) return { ...first, runs: [first] };
	const verified = (status: VerificationResult["status"], attempts: VerificationResult["attempts"], retriesUsed = 0) =>
		resultOf(plan, status, attempts, retriesUsed);
	if (first.exitCode !== 0) return { ...first, runs: [first], verification: verified("skipped", []) };

	const attempt = await verify(plan, 1, task, call, cwd);
	const runs = [first];
	if (attempt.status === "passed") return { ...first, runs, verification: verified("passed", [attempt]) };
	if (attempt.status === "skipped") return { ...failed("", call), output: first.output, runs, verification: verified("skipped", [attempt]) };
	const failure: Verdict = { ...first, exitCode: 1, error: failedText(attempt), runs, verification: verified("failed", [attempt]) };
	if (plan.onFailure === "discard_patch") return { ...failure, isDiscarded: true };
	if (plan.onFailure !== "retry_once" || plan.maxRetries < 1) return failure;

	const refusal = refusedByBudget(call.parts);
	if (refusal) {
		emitRefusedAttempt(task, call);
		return { ...failure, error: `${budgetText(refusal)}; repair skipped` };
	}
	const limit = call.parts.setting("task.verification.failureContextLineLimit");
	const repair = await child(task, call, place, `${task.id}-repair`, repairPrompt(promptOf(task, call), await repairContext(attempt, limit)));
	runs.push(repair);
	const output = [first.output.trimEnd(), repair.output].filter(Boolean).join("\n\nAfter the checks had failed:\n\n");
	if (repair.exitCode !== 0) {
		const { aborted, abortReason } = repair;
		const error = `${asSentence(failure.error ?? "It failed")} The repair failed too: ${repair.error}`;
		return { ...failure, output, error, aborted, abortReason, runs, verification: verified("failed", [attempt], 1) };
	}
	const second = await verify(plan, 2, task, call, cwd);
	const attempts = [attempt, second];
	if (second.status === "passed") return { ...repair, output, runs, verification: verified("passed", attempts, 1) };
	if (second.status === "skipped") return { ...failed("", call), output, runs, verification: verified("skipped", attempts, 1) };
	return { ...failure, output, error: failedText(second), runs, verification: verified("failed", attempts, 1) };
}

const failedText = (attempt: Parameters<typeof failedChecks>[0]) =>
	`Verification failed: ${failedChecks(attempt)
		.map(({ name }) => name)
		.join(", ")}`;

function emitRefusedAttempt({ id, item }: PlannedTask, { parts: { emit }, checked }: TaskCall): void {
	const facts = { id, taskId: item.id, attempt: 2 };
	const profile = checked.verification?.profile;
	emit({ type: "subagent_verification_start", ...facts, ...(profile === undefined ? {} : { profile }) });
	emit({ type: "subagent_verification_end", ...facts, status: "budget_exceeded" });
}

function verify(plan: VerificationPlan, attempt: number, { id, item }: PlannedTask, call: TaskCall, cwd: string) {
	const { parts, directory, progress, signal } = call;
	// The child's last progress is reported before the checks of its work.
	progress.flush();
	const artifact = (name: string) => join(directory, name);
	const { shell, beforeCommand, now } = parts;
	return verification({ shell, ...(beforeCommand ? { beforeCommand } : {}), now })(plan, attempt, {
		id,
		taskId: item.id,
		cwd,
		artifact,
		emit: parts.emit,
		signal,
	});
}

/** Runs a child to its end. `id` is also the name of its conversation; a repair has a separate one. */
async function child({ index, id: taskId }: PlannedTask, call: TaskCall, { cwd, tops }: Place, id: string, prompt: string): Promise<ChildOutcome> {
	const { parts, checked, args, defaults, directory, frozen, progress, toolCallId, signal } = call;
	const { agent, model, thinkingLevel } = checked;
	const budget = parts.budget?.remaining();
	const schema = args.schema ?? agent.output;
	const gate = parts.gate?.();
	const origin = { id, agent: agent.name, toolCallId };
	const refusal = await gate?.start(origin, signal);
	if (refusal !== undefined) return { exitCode: 1, output: "", stderr: "", usage: noUsage(), toolCalls: 0, error: refusal };
	return runChild({
		program: parts.program(),
		shell: await parts.childShell(),
		cwd,
		unset: frozen ? gitPlaceVariables : [],
		prompt,
		inheritance: {
			...defaults,
			// An isolated one writes to its copy and nowhere else, and the rules about the project hold there.
			...(tops ? { settings: { ...defaults.settings, "sandbox.writable": [], ...settingsForCopy(parts, tops) } } : {}),
			agent: agent.name,
			depth: parts.depth + 1,
			model,
			thinkingLevel,
			...(budget ? { budget } : {}),
			...(agent.tools ? { tools: [...agent.tools, ...(agent.spawns.length > 0 ? [taskToolName] : [])] } : {}),
			spawns: agent.spawns,
			systemPrompt: agent.prompt,
			...(schema ? { schema } : {}),
			artifacts: { directory, id },
		},
		sessionFile: parts.isStored ? join(directory, `${id}.jsonl`) : undefined,
		maxRuntimeMs: parts.setting("task.maxRuntimeMs"),
		softRequestLimit: parts.setting("task.softRequestLimit"),
		budget: parts.budget,
		...(parts.listener && { onEvent: (event) => parts.listener?.hears(taskId, event), isWatched: parts.listener.wantsAll() }),
		...(parts.permissions && { approvals: { permissions: parts.permissions, origin } }),
		...(gate && { onGate: gate.answers(origin) }),
		signal,
		watch: progress.watch(index),
	});
}

function settingsForCopy({ cwd, environment, setting }: TaskParts, { copy, original }: NonNullable<Place["tops"]>) {
	const real = realpathSync(cwd);
	const prefix = real.slice(original.length);
	const tops = [original, ...(cwd.endsWith(prefix) ? [cwd.slice(0, cwd.length - prefix.length)] : [])];
	const home = environment.HOME === undefined || !existsSync(environment.HOME) ? environment.HOME : realpathSync(environment.HOME);
	const project = { cwds: [...new Set([real, cwd])], home, tops: [...new Set(tops)], copy };
	const variables = setting("sandbox.envFiles") === "masked" ? envFilesIn([original]) : [];
	return {
		"permissions.rules": rulesInCopy(setting("permissions.rules"), project),
		"sandbox.protected": pathsInCopy(setting("sandbox.protected"), project),
		"sandbox.readable": pathsInCopy(setting("sandbox.readable"), project),
		// In the project itself a subagent has no business with them. In the copy they are masked.
		"sandbox.hidden": [...pathsInCopy([...setting("sandbox.hidden"), ...otherNamesIn(variables)], project), ...variables],
	};
}

function promptOf({ item }: PlannedTask, { args }: TaskCall): string {
	const context = args.context?.trim();
	// The heading also keeps an assignment that begins with a slash from being taken for a command.
	return `${context ? `Background:\n\n${context}\n\n` : ""}Your assignment:\n\n${item.assignment}`;
}

function repairPrompt(assignment: string, failures: string): string {
	return `Another agent worked on the assignment below in this directory, and the work is still here. It was checked, and the checks failed. Find out why, repair the work, and do not weaken the checks.\n\n${assignment}\n\nWhat failed:\n\n${failures}`;
}
