/** What only one dialect says, in addition to the events that all share. */

import Type from "typebox";
import { agentSource, subagentFields } from "./commands/dialect-commands.ts";
import { SlashCommands } from "./commands/host.ts";
import { event, type Fields, flag, integer, jsonObject, number, optional, shape, text, words } from "./define.ts";
import { samples } from "./examples.ts";
import { Model, ThinkingLevelWord } from "./model.ts";

const subagent = { id: "0-Search", index: 0, agent: "task" };
const requestId = optional(Type.Union([text(), number()], { description: "The id of the command, if it had one." }));

export const piEvents = {
	summarization_retry_scheduled: event(
		"The provider failed while a summary was made; it will be asked again.",
		{
			attempt: integer({ description: "From 1." }),
			maxAttempts: integer(),
			delayMs: integer(),
			errorMessage: text(),
		},
		{ attempt: 1, maxAttempts: 3, delayMs: 2000, errorMessage: "529 overloaded" },
	),
	summarization_retry_attempt_start: event("The provider is asked again for a summary.", { attempt: integer() }, { attempt: 1 }),
	summarization_retry_finished: event(
		"The retries for a summary are over.",
		{
			success: flag(),
			attempt: integer(),
			finalError: optional(text()),
		},
		{ success: true, attempt: 1 },
	),
	bash_execution_update: event(
		"Output of a `bash` command as it comes, for display: at most every 100 ms and 16 KB each. What is more is left out; the response is authoritative.",
		{ id: requestId, delta: text() },
		{ id: "7", delta: "compiling\n" },
	),
	entry_appended: event(
		"An entry was added to the session.",
		{ entry: jsonObject },
		{ entry: { type: "session_info", id: "5f0c1e2b", parentId: "5f0c1e2a", timestamp: "2026-01-01T00:00:00.000Z", name: "repair the search" } },
	),
};

const PromptError = shape("PromptError", "Why a prompt failed, in dialect `omp`.", {
	message: text(),
	provider: optional(text({ description: "Like the members that follow: of the reply that failed." })),
	model: optional(text()),
	httpStatus: optional(integer({ description: "What the provider answered with." })),
	retryable: flag({ description: "The failure passes: the same prompt may succeed later. Automatic retries are over." }),
});

export const ompEvents = {
	prompt_result: event(
		"The outcome of a prompt that was accepted: once for each, after its last `agent_end`, and after the handler of a command has ended. Always sent, whatever the filter.",
		{
			id: requestId,
			agentInvoked: flag({ description: "Whether the model was asked because of it." }),
			status: words("completed", "aborted", "error"),
			error: optional(PromptError),
			sessionSettled: flag({ description: "Whether the session was idle with it." }),
		},
		{ id: "1", agentInvoked: true, status: "completed", sessionSettled: true },
	),
	session_settled: event("The session is idle; nothing will follow automatically.", {}, {}),
	available_commands_update: event(
		"The slash commands of this session: at the start, and when they have changed.",
		{ commands: SlashCommands },
		{ commands: [{ name: "review", description: "Review the last commit", source: "prompt" }] },
	),
	command_output: event(
		"What a built-in slash command answers. It comes before the acknowledgement of its prompt, which has `agentInvoked: false`.",
		{ text: text() },
		{ text: "The session is called repair the search." },
	),
	session_info_update: event(
		"The session has another name.",
		{ title: optional(text({ description: "Absent when it has none." })), sessionId: text() },
		{ title: "repair the search", sessionId: samples.sessionId },
	),
	model_changed: event("Another model is asked from now on; `get_state` and `config_update` say which.", {}, {}),
	config_update: event(
		"The model or the thinking level has changed.",
		{ model: optional(Model), thinkingLevel: ThinkingLevelWord },
		{ model: samples.model, thinkingLevel: "high" },
	),
	subagent_lifecycle: event(
		"A subagent begins or has ended, after `set_subagent_subscription`. `subagent_start` and `subagent_end` are sent as ever.",
		{ payload: Type.Object({ ...subagentFields, status: words("started", "completed", "failed", "aborted") }) },
		{ payload: { ...subagent, taskId: "Search", description: "Find the cause", isolated: false, status: "started" } },
	),
	subagent_progress: event(
		"What a subagent is doing, when it has changed. `progress` is a member of `details.progress` of the `task` tool, with `requests`.",
		{
			payload: Type.Object({
				index: optional(integer()),
				agent: text(),
				agentSource,
				task: optional(text({ description: "The assignment." })),
				parentToolCallId: optional(text()),
				sessionFile: optional(text()),
				progress: jsonObject,
			}),
		},
		{ payload: { index: 0, agent: "task", task: "Find out why it is slow.", progress: { id: "0-Search", status: "running", toolCount: 3 } } },
	),
	subagent_event: event(
		"An event of a subagent's session, with the level `events`, of subagents that start after that.",
		{ payload: Type.Object({ id: text(), event: jsonObject }) },
		{ payload: { id: "0-Search", event: { type: "turn_start" } } },
	),
	rpc_chunk: event(
		"A part of a frame of more than 1 MiB, after `negotiate_protocol` with version 2. Join the decoded parts in order.",
		{
			chunkId: text({ description: "The same for all parts of a frame." }),
			index: integer({ description: "From 0." }),
			count: integer(),
			byteLength: integer({ description: "Of the whole frame." }),
			data: text({ description: "base64" }),
		},
		{ chunkId: "0198c0de-7a11-7000-8000-0000000000e1", index: 0, count: 5, byteLength: 1300000, data: "eyJ0eXBlIjoi" },
	),
	rpc_frame_error: event(
		"An event of more than 64 MiB could not be sent. A response of that size becomes a failure with its id instead.",
		{
			frameType: text(),
			byteLength: integer(),
			error: text(),
		},
		{
			frameType: "message_end",
			byteLength: 70000000,
			error: "The frame has 70000000 bytes; at most 67108864 can be sent. Ask for less, for example with get_messages_page",
		},
	),
};

type Frames<Rows> = { [Name in keyof Rows]: { type: Name } & Fields<Rows[Name]> }[keyof Rows];
export type PiEvent = Frames<typeof piEvents>;
export type OmpEvent = Frames<typeof ompEvents>;
export type DialectEvent = PiEvent | OmpEvent;
