/** Everything the agent reports without being asked. An event is a fact: it cannot be answered. */
import Type, { type Static } from "typebox";
import { BudgetScope, BudgetSnapshot } from "./budget.ts";
import { CompactionResult } from "./commands/compaction.ts";
import { event, type Fields, flag, integer, jsonObject, list, number, optional, orNull, text, words } from "./define.ts";
import { ErrorCode } from "./error-code.ts";
import { samples } from "./examples.ts";
import { optionalIdentity } from "./identity.ts";
import { McpStatus } from "./mcp.ts";
import { AgentMessage, AssistantMessage, ToolResult, ToolResultMessage } from "./messages.ts";
import { ThinkingLevelWord, Usage } from "./model.ts";
import { PermissionMode, permissionRequest, permissionResolved, permissionSamples } from "./permissions.ts";
import { asOf, epoch, runId, runResult, runResultSample } from "./sequence.ts";
import { AssistantMessageEvent } from "./stream.ts";
import { VerificationResult } from "./subagents.ts";
import { TodoItem } from "./todos.ts";

const call = { toolCallId: text(), toolName: text() };
const args = jsonObject;
const messageId = optional(text({ description: "Dialect `omp`: the same for all events of a message." }));
const task = {
	id: text({ description: "Unique within the session: a number and the task's id." }),
	taskId: optional(text({ description: "The id as given in `tasks[]`." })),
};
const compactionAction = optional(words("context-full", "handoff"));
const compactionReason = words("manual", "threshold", "overflow");
const budget = { scope: BudgetScope, snapshot: BudgetSnapshot };

const ran = { toolCallId: samples.call.toolCallId, toolName: samples.call.toolName };
const subagent = { id: "0-Search", taskId: "Search" };

export const events = {
	ready: event(
		"The first frame: commands are read. They are also read before it.",
		{
			...optionalIdentity,
			epoch,
			asOf: optional(integer({ description: "With `--seq`: the last number that was given before this process." })),
			protocolVersion: optional(integer({ description: "Dialect `omp`, like the members that follow: of its framing." })),
			supportedProtocolVersions: optional(list(integer())),
			maxFrameBytes: optional(integer()),
			maxReassembledFrameBytes: optional(integer()),
		},
		{ version: "0.1.0", protocol: 1, cwd: samples.cwd, capabilities: {} },
	),
	agent_start: event("A run begins.", { runId }, {}),
	agent_end: event(
		"A run is over. `messages` are those that this run added.",
		{
			messages: list(AgentMessage),
			willRetry: optional(flag({ description: "Another run will follow automatically." })),
			isTerminal: optional(flag({ description: "Dialect `omp`: the opposite of `willRetry`." })),
			yielded: optional(flag({ description: "Dialect `omp`: the agent has finished its turn; false while another run follows automatically." })),
			sessionId: optional(text()),
			sessionFile: optional(text()),
			output: optional(Type.Unknown({ description: "The value that `outputSchema` of the prompt asked for." })),
			outputError: optional(text({ description: "Why there is no such value." })),
		},
		{ messages: [samples.user, samples.assistant], willRetry: false, sessionId: samples.sessionId, sessionFile: samples.sessionFile },
	),
	agent_settled: event(
		"Nothing automatic will follow: the session is idle. Once per busy period that had a run.",
		{
			aborted: flag(),
			errorMessage: optional(text({ description: "Only in `--mode json`: why the prompt has no answer." })),
		},
		{ aborted: false },
	),
	turn_start: event(
		"A turn begins: one reply and the tool results it causes.",
		{ turnIndex: optional(integer({ description: "From 0." })), timestamp: optional(integer()) },
		{ turnIndex: 0, timestamp: samples.timestamp },
	),
	turn_end: event(
		"A turn is over.",
		{ message: AssistantMessage, toolResults: list(ToolResultMessage), turnIndex: optional(integer()) },
		{ turnIndex: 0, message: samples.assistant, toolResults: [] },
	),
	message_start: event(
		"A message enters the conversation. A reply is empty at this point.",
		{ messageId, message: AgentMessage },
		{ message: { ...samples.assistant, content: [] } },
	),
	message_update: event(
		"A reply grew. This example is of `--updates delta`; otherwise `message` and `assistantMessageEvent.partial` have the whole reply so far.",
		{
			messageId,
			message: optional(AssistantMessage),
			usage: optional(Usage),
			assistantMessageEvent: AssistantMessageEvent,
		},
		{ assistantMessageEvent: { type: "text_delta", contentIndex: 0, delta: "A small" } },
	),
	message_end: event(
		"A message is complete. Its content is authoritative, and it is on disk.",
		{ messageId, message: AgentMessage },
		{ message: samples.assistant },
	),
	tool_execution_start: event(
		"A tool call starts, or is about to be reported as skipped. `args` are the model's raw arguments.",
		{
			...call,
			args,
			intent: optional(text()),
			parentToolCallId: optional(text()),
		},
		{ ...ran, args: { path: "README.md" } },
	),
	tool_execution_update: event(
		"Progress. `partialResult` is cumulative: replace, do not append.",
		{ ...call, args, partialResult: ToolResult },
		{ ...ran, args: { path: "README.md" }, partialResult: samples.result },
	),
	tool_execution_end: event(
		"A tool call is over.",
		{
			...call,
			result: ToolResult,
			isError: flag(),
			durationMs: optional(number()),
		},
		{ ...ran, result: samples.result, isError: false, durationMs: 4 },
	),
	auto_compaction_start: event(
		"The conversation is about to be compacted.",
		{
			reason: words("threshold", "overflow", "idle"),
			action: compactionAction,
		},
		{ reason: "threshold", action: "context-full" },
	),
	auto_compaction_end: event(
		"Compaction is over; `result` is `null` when it was aborted or failed.",
		{
			result: orNull(CompactionResult),
			aborted: flag(),
			willRetry: flag(),
			errorMessage: optional(text()),
			action: compactionAction,
		},
		{ result: samples.compaction, aborted: false, willRetry: false, action: "context-full" },
	),
	compaction_start: event(
		"`compact` is about to compact the conversation. Dialect `pi` says so of every compaction, in place of `auto_compaction_start`; `omp` and `strict` never do.",
		{ reason: compactionReason },
		{ reason: "manual" },
	),
	compaction_end: event(
		"That compaction is over; there is no `result` when it was aborted or failed.",
		{
			reason: compactionReason,
			result: optional(CompactionResult),
			aborted: flag(),
			willRetry: flag(),
			errorMessage: optional(text()),
		},
		{ reason: "manual", result: samples.compaction, aborted: false, willRetry: false },
	),
	auto_retry_start: event(
		"The provider failed in a way that may be transient; waiting to ask again.",
		{
			attempt: integer({ description: "From 1." }),
			maxAttempts: integer(),
			delayMs: integer(),
			errorMessage: text(),
		},
		{ attempt: 1, maxAttempts: 3, delayMs: 2000, errorMessage: "529 overloaded" },
	),
	auto_retry_end: event(
		"The retries are over.",
		{ success: flag(), attempt: integer(), finalError: optional(text()) },
		{ success: true, attempt: 1 },
	),
	ttsr_triggered: event(
		"A stream rule matched and cut the reply.",
		{ rules: list(Type.Object({ name: text(), path: optional(text()), content: optional(text()) })) },
		{ rules: [{ name: "no-console", path: ".bowline/rules/no-console.md", content: "Do not use console.log." }] },
	),
	todo_reminder: event(
		"The agent stopped with open todos and is reminded of them.",
		{
			todos: list(TodoItem),
			attempt: integer(),
			maxAttempts: integer(),
		},
		{ todos: [{ id: "task-1", content: "Find the cause", status: "pending" }], attempt: 1, maxAttempts: 3 },
	),
	todo_auto_clear: event("Finished todos were removed; read them again with `get_state`.", {}, {}),
	subagent_start: event(
		"A subagent is about to start.",
		{ ...task, agent: text(), isolated: flag() },
		{ ...subagent, agent: "task", isolated: true },
	),
	subagent_end: event(
		"A subagent and its verification are finished.",
		{
			...task,
			agent: text(),
			exitCode: integer(),
			verification: optional(VerificationResult),
		},
		{
			...subagent,
			agent: "task",
			exitCode: 0,
			verification: { requested: true, profile: "ci", mode: "command", status: "passed", attempts: [], retriesUsed: 0 },
		},
	),
	subagent_verification_start: event(
		"An attempt to verify begins.",
		{ ...task, attempt: integer(), profile: optional(text()) },
		{ ...subagent, attempt: 1, profile: "ci" },
	),
	subagent_verification_command_start: event(
		"A check is about to run.",
		{ ...task, attempt: integer(), commandName: text() },
		{ ...subagent, attempt: 1, commandName: "tests" },
	),
	subagent_verification_command_end: event(
		"A check ended; `artifactId` is the path of its log.",
		{
			...task,
			attempt: integer(),
			commandName: text(),
			exitCode: integer(),
			durationMs: number(),
			artifactId: optional(text()),
		},
		{ ...subagent, attempt: 1, commandName: "tests", exitCode: 0, durationMs: 2140 },
	),
	subagent_verification_end: event(
		"An attempt to verify is over.",
		{
			...task,
			attempt: integer(),
			status: words("passed", "failed", "skipped", "budget_exceeded"),
		},
		{ ...subagent, attempt: 1, status: "passed" },
	),
	budget_warning: event("A counter came near its limit. Once per dimension.", budget, { scope: "session", snapshot: samples.budget }),
	budget_exceeded: event("A limit is reached: prompts are refused from now on.", budget, {
		scope: "session",
		snapshot: { ...samples.budget, status: "exceeded", costUsd: 1.02 },
	}),
	queue_update: event(
		"A queue changed; both are listed whole.",
		{ steering: list(text()), followUp: list(text()) },
		{ steering: ["Leave the database alone."], followUp: [] },
	),
	session_info_changed: event(
		"The session's name changed.",
		{ name: text({ description: "Empty when it has none." }) },
		{ name: "repair the search" },
	),
	thinking_level_changed: event(
		"The thinking level changed.",
		{ level: ThinkingLevelWord, thinkingLevel: optional({ ...ThinkingLevelWord, description: "Dialect `omp`: the same." }) },
		{ level: "high" },
	),
	mcp_server_update: event(
		"The status of an MCP server changed, or its list of tools.",
		{ name: text(), status: McpStatus, error: optional(text()), toolCount: optional(integer()) },
		{ name: "files", status: "ready", toolCount: 14 },
	),
	permission_request: event(
		"A tool call needs an approval. Answer with `permission_response`. Only for hosts that said `hello` with `permissions: 1`; `set_event_filter` does not hide it.",
		permissionRequest,
		permissionSamples.request,
	),
	permission_resolved: event(
		"A question about a tool call is closed: every `permission_request` has exactly one, before the call runs or ends. Close its dialog now.",
		permissionResolved,
		permissionSamples.resolved,
	),
	permission_mode_changed: event("`set_permission_mode` changed the mode.", { mode: PermissionMode }, { mode: "ask" }),
	run_result: event(
		"With `--seq`: the outcome of a run, exactly once for each, also when the agent was killed (then it is written when the session is opened again).",
		runResult,
		runResultSample,
	),
	run_takeover: event(
		"Of a fleet: another worker goes on with the run, from its last checkpoint. Frames of older epochs after `cutSeq` are void.",
		{ epoch: integer(), worker: text(), cutSeq: integer() },
		{ epoch: 2, worker: "w_0198c0de-7a11-7000-8000-0000000000f2", cutSeq: 4712 },
	),
	extension_error: event(
		"Code of an extension threw.",
		{ extensionPath: text(), event: text(), error: text() },
		{ extensionPath: "/home/ada/shop/.bowline/extensions/guard.ts", event: "tool_call", error: "Cannot read properties of undefined" },
	),
};

export type Events = typeof events;
export type EventName = keyof Events;
/** One event as it goes over the wire. */
export type AgentEvent = { [Name in EventName]: { type: Name; seq?: number } & Fields<Events[Name]> }[EventName];
export type EventOf<Name extends EventName> = Extract<AgentEvent, { type: Name }>;

export const Response = Type.Object(
	{
		asOf,
		id: optional(Type.Union([text(), number()], { description: "The id of the command, as sent." })),
		type: Type.Literal("response"),
		command: text(),
		success: flag(),
		data: optional(Type.Unknown()),
		error: optional(text({ description: "On failure: the reason in words." })),
		code: optional(ErrorCode),
		hint: optional(text({ description: "On failure: a guess for a person, such as the name that was probably meant. Not in dialect `strict`." })),
	},
	{
		title: "Response",
		description: "The answer to a command. `data` only on success, `error` only on failure.",
		examples: [
			{ id: "1", type: "response", command: "set_thinking_level", success: true },
			{ id: "2", type: "response", command: "get_last_assistant_text", success: true, data: { text: "A small web shop." } },
			{ id: "3", type: "response", command: "set_model", success: false, error: "Model not found: acme/m9", code: "unknown_model" },
		],
	},
);
export type Response = Static<typeof Response>;
