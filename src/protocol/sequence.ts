/** Numbers and replay: what `--seq` adds to the frames, so that a reader that lost its connection misses nothing. */
import Type, { type Static } from "typebox";
import { BudgetSnapshot } from "./budget.ts";
import { flag, frame, integer, jsonObject, list, optional, orNull, shape, text, words } from "./define.ts";
import { ErrorCode } from "./error-code.ts";
import { samples } from "./examples.ts";
import { ExtensionUiRequest } from "./extension-ui.ts";
import { idleState } from "./live.ts";
import { AssistantMessage, ToolResult } from "./messages.ts";
import { Usage } from "./model.ts";
import { PermissionRequest } from "./permissions.ts";
import { TodoPhase } from "./todos.ts";

/** A member of every frame that all readers may see. */
export const seq = optional(integer({ description: "With `--seq`: the number of the frame, increasing within the session, with holes." }));
/** A member of every response. */
export const asOf = optional(integer({ description: "With `--seq`: all frames with `seq` up to this one were sent before." }));
export const epoch = optional(integer({ description: "With `--seq`: how many processes have written the log of this session." }));
export const runId = optional(text({ description: "With `--seq`: of the run, `r_` and a UUID." }));

export const RunStatus = words("completed", "aborted", "error", "budget", "interrupted");
export type RunStatus = Static<typeof RunStatus>;

export const RunError = shape("RunError", "Why a run failed.", {
	kind: text({ description: "`rate_limit`, `transient`, `overflow` or `permanent`; `refused` for a prompt that could not start; `interrupted`." }),
	message: text(),
	code: optional(ErrorCode),
	retryable: flag({ description: "Whether `resume_run` may succeed without any change." }),
	retryAfterMs: optional(integer({ description: "How long the provider asks to wait." })),
});
export type RunError = Static<typeof RunError>;

export const RunsLater = shape("RunsLater", "A changed file that runs later without being called by name; see docs/security.md.", {
	path: text({ description: "Relative to the `root` of `get_changes`." }),
	what: optional(
		text({
			description:
				"What of it counts, such as `scripts`; `instructions` for what the next agent reads; `link` for a link that leads out of the project.",
		}),
	),
});

/** The members of `run_result`. */
export const runResult = {
	runId: text(),
	key: optional(text({ description: "Of the command that was accepted." })),
	status: RunStatus,
	stopReason: optional(text({ description: "Of the last reply." })),
	error: optional(RunError),
	usage: { ...Usage, description: "Of all replies of the run." },
	output: optional(Type.Unknown({ description: "As on the last `agent_end`." })),
	outputError: optional(text()),
	runsLater: optional(
		list(RunsLater, { description: "With checkpoints: what the run changed of files that run later on their own. Absent when nothing." }),
	),
};
export const runResultSample = {
	runId: "r_0198c0de-7a11-7000-8000-0000000000f1",
	status: "completed" as const,
	stopReason: "stop",
	usage: samples.usage,
};

export const GapReason = words("ephemeral", "slow_reader", "restart", "hole", "log_trimmed", "log_missing");
export type GapReason = Static<typeof GapReason>;

export const Gap = frame(
	"gap",
	{
		title: "Gap",
		description: "To one reader: frames are missing here. Without it nothing that is kept is missing, whatever holes the numbers have.",
	},
	{
		from: integer(),
		to: integer(),
		reason: GapReason,
		durableLost: flag({ description: "True: frames that should have been kept are lost; read `get_entries` again." }),
	},
	{ from: 4713, to: 4790, reason: "ephemeral", durableLost: false },
);
export type Gap = Static<typeof Gap>;

export const LivePhase = words("idle", "running", "retrying", "compacting");
export type LivePhase = Static<typeof LivePhase>;

export const LiveTool = shape("LiveTool", "A tool call that has started and not ended.", {
	toolCallId: text(),
	toolName: text(),
	args: jsonObject,
	partialResult: optional(ToolResult),
});
export type LiveTool = Static<typeof LiveTool>;

export const LiveSubagent = shape("LiveSubagent", "A subagent that has started and not ended.", {
	id: text(),
	taskId: optional(text()),
	agent: text(),
	isolated: flag(),
});
export type LiveSubagent = Static<typeof LiveSubagent>;

export const LiveRetry = shape("LiveRetry", "The wait before the provider is asked again.", {
	attempt: integer(),
	maxAttempts: integer(),
	delayMs: integer(),
	errorMessage: text(),
});

export const LiveState = shape("LiveState", "What is going on: what a reader needs besides the finished messages.", {
	phase: LivePhase,
	runId: optional(text()),
	message: optional({ ...AssistantMessage, description: "The open reply so far." }),
	tools: list(LiveTool),
	dialogs: list(Type.Union([ExtensionUiRequest, PermissionRequest]), { description: "Open questions, in the order in which they were asked." }),
	queue: Type.Object({ steering: list(text()), followUp: list(text()) }),
	todoPhases: list(TodoPhase),
	budget: optional(BudgetSnapshot),
	subagents: list(LiveSubagent),
	status: Type.Record(text(), text(), { description: "Texts of `setStatus` by key." }),
	widgets: Type.Record(text(), list(text()), { description: "Lines of `setWidget` by key." }),
	retry: orNull(LiveRetry),
});
export type LiveState = Static<typeof LiveState>;

export const Snapshot = frame(
	"snapshot",
	{ title: "Snapshot", description: "To one reader, after the frames that were sent again: what is going on at the place `seq`." },
	{ seq: integer({ description: "A place, not a number of its own." }), epoch: integer(), live: LiveState },
	{
		seq: 4790,
		epoch: 3,
		live: {
			...idleState,
			phase: "running",
			runId: runResultSample.runId,
			message: { ...samples.assistant, content: [{ type: "text", text: "A small" }] },
		},
	},
);
export type Snapshot = Static<typeof Snapshot>;
