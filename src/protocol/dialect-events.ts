/** What only one dialect says, in addition to the events that all share. */

import Type from "typebox";
import { Subagent } from "./commands/dialect-commands.ts";
import { SlashCommands } from "./commands/host.ts";
import { event, type Fields, flag, integer, jsonObject, number, optional, text, words } from "./define.ts";

const requestId = optional(Type.Union([text(), number()], { description: "The id of the command, if it had one." }));

export const piEvents = {
	summarization_retry_scheduled: event("The provider failed while a summary was made; it will be asked again.", {
		attempt: integer({ description: "From 1." }),
		maxAttempts: integer(),
		delayMs: integer(),
		errorMessage: text(),
	}),
	summarization_retry_attempt_start: event("The provider is asked again for a summary.", { attempt: integer() }),
	summarization_retry_finished: event("The retries for a summary are over.", {
		success: flag(),
		attempt: integer(),
		finalError: optional(text()),
	}),
	bash_execution_update: event(
		"Output of a `bash` command as it comes, for display: at most every 100 ms and 16 KB each. What is more is left out; the response is authoritative.",
		{ id: requestId, delta: text() },
	),
	entry_appended: event("An entry was added to the session.", { entry: jsonObject }),
};

export const ompEvents = {
	prompt_result: event("What became of a prompt that was accepted: once for each, behind its last `agent_end`. Always sent, whatever the filter.", {
		id: requestId,
		agentInvoked: flag({ description: "Whether the model was asked because of it." }),
		status: words("completed", "aborted", "error"),
		error: optional(text()),
		sessionSettled: flag({ description: "Whether the session was idle with it." }),
	}),
	session_settled: event("The session is idle; nothing will follow by itself.", {}),
	available_commands_update: event("The slash commands of this session: at the start, and when they have changed.", {
		commands: SlashCommands,
	}),
	subagent_lifecycle: event(
		"A subagent begins or has ended, after `set_subagent_subscription`. `subagent_start` and `subagent_end` are sent as ever.",
		{
			payload: Subagent,
		},
	),
	subagent_progress: event("What a subagent is doing: a member of `details.progress` of the `task` tool, when it has changed.", {
		payload: jsonObject,
	}),
	rpc_chunk: event("A part of a frame of more than 1 MiB, after `negotiate_protocol` with version 2. Join the decoded parts in order.", {
		chunkId: text({ description: "The same for all parts of a frame." }),
		index: integer({ description: "From 0." }),
		count: integer(),
		byteLength: integer({ description: "Of the whole frame." }),
		data: text({ description: "base64" }),
	}),
	rpc_frame_error: event("An event of more than 64 MiB could not be sent. A response of that size becomes a failure with its id instead.", {
		frameType: text(),
		byteLength: integer(),
		error: text(),
	}),
};

type Frames<Rows> = { [Name in keyof Rows]: { type: Name } & Fields<Rows[Name]> }[keyof Rows];
export type PiEvent = Frames<typeof piEvents>;
export type OmpEvent = Frames<typeof ompEvents>;
export type DialectEvent = PiEvent | OmpEvent;
