/** What the `task` tool takes and gives, and how its work is verified. */
import Type, { type Static } from "typebox";
import { flag, integer, jsonObject, list, number, optional, orNull, shape, text, words } from "./define.ts";
import { Usage } from "./model.ts";

export const OnFailure = words("return_failure", "discard_patch", "retry_once");

export const VerificationCommand = shape("VerificationCommand", "A command that checks isolated work.", {
	name: text(),
	command: text({ description: "Run by a login bash in the isolated workspace." }),
	timeoutMs: optional(integer()),
	optional: optional(flag({ description: "Its failure does not fail the attempt." })),
});

export const VerificationRequest = shape("VerificationRequest", "Which checks to run; laid over the named profile.", {
	profile: optional(text()),
	mode: optional(text()),
	commands: optional(list(VerificationCommand)),
	maxRetries: optional(integer()),
	onFailure: optional(OnFailure),
});

export const TaskArguments = shape("TaskArguments", "Arguments of the `task` tool.", {
	agent: text({ description: "The name of the agent to start." }),
	context: optional(text({ description: "Shared background, put before each assignment." })),
	schema: optional(
		Type.Unsafe<Record<string, unknown>>({
			type: "object",
			description: "The required shape of each result, as JSON Schema or JSON Type Definition.",
		}),
	),
	tasks: list(
		shape("TaskItem", "One piece of work.", {
			id: text({ description: "A CamelCase word of at most 48 characters, different for each task of the call." }),
			description: text({ description: "What it is about, in a few words, for a person who follows the run." }),
			assignment: text({ description: "Everything the agent must know: the goal, the places, the limits, how to know that it is done." }),
		}),
	),
	isolated: optional(flag({ description: "Work in a copy of the repository; what was changed is merged at the end." })),
	verify: optional(
		Type.Union([flag(), text(), VerificationRequest], {
			description: "Checks that isolated work must pass: true (the default profile), the name of a profile, or commands.",
		}),
	),
});

export const VerificationCommandResult = shape("VerificationCommandResult", "How one check ended.", {
	name: text(),
	command: text(),
	exitCode: integer(),
	durationMs: number(),
	optional: optional(flag()),
	timedOut: optional(flag()),
	artifactPath: optional(text()),
	outputPreview: optional(text({ description: "The last 20 lines, at most 4000 characters." })),
});

export const VerificationAttempt = shape("VerificationAttempt", "One run of all checks.", {
	attempt: integer(),
	status: words("passed", "failed", "skipped"),
	startedAt: integer(),
	endedAt: integer(),
	commandResults: list(VerificationCommandResult),
	error: optional(text()),
});

export const VerificationResult = shape("VerificationResult", "The verdict on one task.", {
	requested: flag(),
	profile: optional(text()),
	mode: optional(words("none", "command")),
	status: words("not_requested", "passed", "failed", "skipped"),
	attempts: list(VerificationAttempt),
	retriesUsed: integer(),
	onFailure: optional(OnFailure),
});

export const SingleResult = shape("SingleResult", "What became of one task.", {
	index: integer(),
	id: text(),
	agent: text(),
	agentSource: text(),
	task: text(),
	assignment: optional(text()),
	description: optional(text()),
	exitCode: integer(),
	output: text(),
	stderr: text(),
	truncated: flag(),
	durationMs: number(),
	tokens: integer(),
	error: optional(text()),
	aborted: optional(flag()),
	abortReason: optional(text()),
	verification: optional(VerificationResult),
	usage: optional(Usage),
	toolCalls: optional(integer()),
	outputPath: optional(text()),
	patchPath: optional(text()),
	branchName: optional(text()),
});

export const TaskDetails = shape("TaskDetails", "`details` of a `task` result.", {
	projectAgentsDir: orNull(text()),
	results: list(SingleResult),
	totalDurationMs: number(),
	usage: optional(Usage),
	toolCalls: optional(integer({ description: "Of all subagents, and of theirs." })),
	outputPaths: optional(list(text())),
	progress: optional(list(jsonObject)),
});

export type OnFailure = Static<typeof OnFailure>;
export type VerificationCommand = Static<typeof VerificationCommand>;
export type VerificationRequest = Static<typeof VerificationRequest>;
export type VerificationAttempt = Static<typeof VerificationAttempt>;
export type VerificationCommandResult = Static<typeof VerificationCommandResult>;
export type VerificationResult = Static<typeof VerificationResult>;
export type TaskArguments = Static<typeof TaskArguments>;
export type SingleResult = Static<typeof SingleResult>;
export type TaskDetails = Static<typeof TaskDetails>;
