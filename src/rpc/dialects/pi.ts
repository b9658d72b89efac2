/** What hosts of pi 1.5 expect: one answer per prompt, deltas only, compaction under its new name, entries and output as they come. */
import type { CompactionResult } from "../../protocol/commands/compaction.ts";
import type { PiEvent } from "../../protocol/dialect-events.ts";
import type { AgentEvent, EventOf, Response } from "../../protocol/events.ts";
import type { OutboundFrame } from "../../protocol/frames.ts";
import type { AssistantMessage } from "../../protocol/messages.ts";
import type { Model } from "../../protocol/model.ts";
import { outputPieces } from "./bash-output.ts";
import type { Dialect, Voice } from "./dialect.ts";
import { withKnownCode } from "./known-codes.ts";

type Reason = EventOf<"compaction_start">["reason"];

export function piDialect({ tell, updates }: Voice): Dialect {
	/** Snapshots say of an unfinished reply what they said in the versions of pi that sent them. */
	const hasSnapshots = updates === "full";
	let reason: Reason = "threshold";
	return {
		ready: {},
		updates: "delta",
		interruptMode: "wait",
		emitsTitle: true,
		hasMaxLevel: true,
		awaitsCommands: true,
		echoesIds: true,
		endsWellAfterFailedReplies: true,
		frames(frame) {
			switch (frame.type) {
				case "message_start":
					return [frame.message.role === "assistant" && !hasSnapshots ? { ...frame, message: pending(frame.message) } : frame];
				case "message_update":
					return [hasSnapshots ? frame : withPendingSnapshots(frame)];
				case "auto_compaction_start":
					reason = frame.reason === "overflow" ? "overflow" : "threshold";
					return [{ type: "compaction_start", reason }];
				case "auto_compaction_end": {
					const { result, aborted, willRetry, errorMessage } = frame;
					return [compactionEnd({ reason, result: result ?? undefined, aborted, willRetry, errorMessage })];
				}
				case "response":
					return [withKnownCode(withoutForkedText(frame))];
				case "run_result":
					return [withKnownCode(frame)];
				default:
					return [frame];
			}
		},
		/** Sends one answer, once the outcome of the prompt is known. */
		prompt: (_, answer) => {
			let isPlainSuccess = false;
			return {
				accept: (data) => {
					isPlainSuccess = data === undefined;
				},
				onDisposition: (disposition) => answer(isPlainSuccess ? {} : { data: { disposition } }),
				refuse: ({ text, code }) => answer({ error: text, code }),
			};
		},
		handlers: (table) => ({
			async get_state(params, call) {
				const state = await table.get_state(params, call);
				return state.model ? state : { ...state, model: unknownModel };
			},
		}),
		bashOutput: (id) => outputPieces((delta) => tell({ type: "bash_execution_update", id, delta })),
		onEntry: (entry) => tell({ type: "entry_appended", entry: { ...entry } }),
		onSummaryRetry({ stage, ...facts }) {
			const type = {
				scheduled: "summarization_retry_scheduled",
				started: "summarization_retry_attempt_start",
				finished: "summarization_retry_finished",
			}[stage];
			tell({ type, ...facts } as PiEvent);
		},
	};
}

/** Newer hosts do not become ready before there is a model. A prompt still fails with the reason. */
const unknownModel: Model = {
	id: "unknown",
	name: "unknown",
	api: "unknown",
	provider: "unknown",
	baseUrl: "",
	reasoning: false,
	input: ["text"],
	contextWindow: 0,
	maxTokens: 0,
	cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
};

function compactionEnd(facts: {
	reason: Reason;
	result?: CompactionResult;
	aborted: boolean;
	willRetry: boolean;
	errorMessage?: string;
}): AgentEvent {
	return { type: "compaction_end", ...facts };
}

/** A reply that is not complete. */
function pending(message: AssistantMessage): AssistantMessage {
	return { ...message, stopReason: "pending" as never };
}

function withPendingSnapshots(update: Extract<AgentEvent, { type: "message_update" }>): OutboundFrame {
	const { partial } = update.assistantMessageEvent;
	return partial ? { ...update, assistantMessageEvent: { ...update.assistantMessageEvent, partial: pending(partial) } } : update;
}

/** The response to a fork that an extension cancelled contains no text. */
function withoutForkedText(response: Response): Response {
	const { command, data } = response;
	if ((command !== "fork" && command !== "branch") || !(data as { cancelled?: boolean } | undefined)?.cancelled) return response;
	return { ...response, data: { cancelled: true } };
}
