/** What hosts of pi 1.5 expect: one answer per prompt, deltas only, compaction under its new name, entries and output as they come. */
import { isCommandError } from "../../lib/command-error.ts";
import type { CompactionResult } from "../../protocol/commands/compaction.ts";
import type { PiEvent } from "../../protocol/dialect-events.ts";
import type { AgentEvent, Response } from "../../protocol/events.ts";
import type { OutboundFrame } from "../../protocol/frames.ts";
import type { AssistantMessage } from "../../protocol/messages.ts";
import { outputPieces } from "./bash-output.ts";
import type { Dialect, Voice } from "./dialect.ts";

type Reason = Extract<PiEvent, { type: "compaction_start" }>["reason"];

export function piDialect({ tell }: Voice): Dialect {
	let reason: Reason = "threshold";
	return {
		ready: '{"type":"ready"}',
		updates: "delta",
		interruptMode: "wait",
		emitsTitle: true,
		hasMaxLevel: true,
		echoesIds: true,
		frames(frame) {
			switch (frame.type) {
				case "message_start":
					return [frame.message.role === "assistant" ? { ...frame, message: pending(frame.message) } : frame];
				case "message_update":
					return [withPendingSnapshots(frame)];
				case "auto_compaction_start":
					reason = frame.reason === "overflow" ? "overflow" : "threshold";
					return [{ type: "compaction_start", reason }];
				case "auto_compaction_end": {
					const { result, aborted, willRetry, errorMessage } = frame;
					return [compactionEnd({ reason, result: result ?? undefined, aborted, willRetry, errorMessage })];
				}
				case "response":
					return [withoutForkedText(frame)];
				default:
					return [frame];
			}
		},
		/** One answer, when it is known what becomes of the prompt. */
		prompt: (_, answer) => {
			let isPlainSuccess = false;
			return {
				accept: (data) => {
					isPlainSuccess = data === undefined;
				},
				onDisposition: (disposition) => answer(isPlainSuccess ? {} : { data: { disposition } }),
				refuse: ({ text }) => answer({ error: text }),
			};
		},
		async aroundCompaction(work, signal) {
			tell({ type: "compaction_start", reason: "manual" });
			const end = (outcome: Partial<Extract<PiEvent, { type: "compaction_end" }>>) =>
				tell(compactionEnd({ reason: "manual", aborted: false, willRetry: false, ...outcome }));
			try {
				const result = await work();
				end({ result });
				return result;
			} catch (error) {
				const isCancelled = signal.aborted || (isCommandError(error) && error.kind === "cancelled");
				end(isCancelled ? { aborted: true } : { errorMessage: error instanceof Error ? error.message : String(error) });
				throw error;
			}
		},
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

function compactionEnd(facts: { reason: Reason; result?: CompactionResult; aborted: boolean; willRetry: boolean; errorMessage?: string }): PiEvent {
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

/** A fork that an extension prevented tells no text. */
function withoutForkedText(response: Response): Response {
	const { command, data } = response;
	if ((command !== "fork" && command !== "branch") || !(data as { cancelled?: boolean } | undefined)?.cancelled) return response;
	return { ...response, data: { cancelled: true } };
}
