/** One model call: its stream events become message events, and it always ends in exactly one message. */

import { linkedController, settleWithin } from "../lib/abort.ts";
import { emptyReply } from "../protocol/empty-reply.ts";
import type { AssistantMessage } from "../protocol/messages.ts";
import { abortedText } from "../protocol/texts.ts";
import { toModelMessages } from "./convert.ts";
import type { LoopInput } from "./loop.ts";
import type { Emit } from "./policy.ts";
import type { ProviderFailure, Setup, StreamEvent } from "./stream.ts";

export interface Reply {
	message: AssistantMessage;
	failure: ProviderFailure | undefined;
}

/** How long a provider may take to end after an abort; then the reply ends without it. */
const abortGraceMs = 1000;

export async function streamReply(input: LoopInput, setup: Setup, emit: Emit): Promise<Reply> {
	const { watch } = input.doors;
	const empty = emptyReply(setup.model, input.now());
	let partial: AssistantMessage | undefined;
	let reply: Reply | undefined;

	const begin = (message: AssistantMessage) => {
		if (partial) return;
		emit({ type: "message_start", message });
		partial = message;
	};
	// Ends the model call alone: cutting a reply must not end the run as an abort would.
	const { controller, release } = linkedController(input.signal);
	let cut: string | undefined;
	const onEvent = (event: StreamEvent) => {
		if (reply || cut !== undefined) return;
		switch (event.type) {
			case "start":
				return begin(event.partial);
			case "done":
				reply = { message: event.message, failure: undefined };
				return;
			case "error":
				reply = { message: event.error, failure: event.failure };
				return;
			default:
				if (!partial) begin(empty);
				partial = event.partial;
				emit({ type: "message_update", message: event.partial, usage: event.partial.usage, assistantMessageEvent: event });
				cut = watch?.(event);
				if (cut !== undefined) controller.abort();
		}
	};
	const ended = (errorMessage: string): Reply => {
		const isAborted = input.signal.aborted;
		return {
			message: {
				...(partial ?? empty),
				stopReason: isAborted ? "aborted" : "error",
				errorMessage: isAborted ? abortedText : errorMessage,
			},
			failure: { kind: isAborted ? "permanent" : "transient" },
		};
	};

	try {
		const context = input.context();
		const messages = toModelMessages(input.doors.context ? await input.doors.context(context, controller.signal) : context);
		const request = {
			model: setup.model,
			thinkingLevel: setup.thinkingLevel,
			systemPrompt: setup.systemPrompt,
			messages,
			tools: setup.tools,
			toolChoice: setup.toolChoice,
			sessionId: input.sessionId(),
			turn: input.turn,
		};
		const { flow } = input;
		const { signal } = controller;
		if (!signal.aborted) await settleWithin(input.stream(request, { signal, flow, onEvent }), signal, abortGraceMs, () => undefined);
		reply ??= ended("The stream ended without its last event.");
	} catch (error) {
		reply ??= ended(error instanceof Error ? error.message : String(error));
	}
	release();
	if (cut !== undefined) reply = { message: { ...(partial ?? empty), stopReason: "aborted", errorMessage: cut }, failure: { kind: "permanent" } };
	const { message, failure } = reply;
	begin({ ...message, content: [], stopReason: "stop", errorMessage: undefined });
	emit({ type: "message_end", message });
	return { message, failure };
}
