/** Whatever happens inside a run, a bug included: every event that opens something has its end. */

import type { Emit, Outcome } from "../agent/policy.ts";
import type { Log } from "../lib/log.ts";
import { emptyReply } from "../protocol/empty-reply.ts";
import type { AgentEvent } from "../protocol/events.ts";
import type { AgentMessage, AssistantMessage, ToolResultMessage } from "../protocol/messages.ts";

export interface ClosingParts {
	emit: Emit;
	log: Log;
	now: () => number;
}

/** Runs the loop. When it fails unexpectedly, emits the events that are missing and gives a failed outcome. */
export async function closeOpenEvents(run: (emit: Emit) => Promise<Outcome>, { emit, log, now }: ClosingParts): Promise<Outcome> {
	const open = new OpenEvents();
	try {
		return await run((event) => {
			emit(event);
			open.hear(event);
		});
	} catch (error) {
		log.error("the agent loop failed unexpectedly", error);
		for (const event of open.endings(`The run failed unexpectedly: ${error instanceof Error ? error.message : String(error)}`, now())) {
			try {
				emit(event);
			} catch (again) {
				log.error(`${event.type} could not be emitted`, again);
			}
		}
		return { messages: open.messages, last: undefined, failure: { kind: "permanent" } };
	}
}

/** What has begun and not ended. */
class OpenEvents {
	readonly messages: AgentMessage[] = [];
	#turnIndex: number | undefined;
	/** The reply that is being streamed. */
	#partial: AssistantMessage | undefined;
	/** The reply of the turn. */
	#reply: AssistantMessage | undefined;
	#results: ToolResultMessage[] = [];
	/** Names of tools by the id of the call. */
	#running = new Map<string, string>();
	#owed = new Map<string, string>();

	hear(event: AgentEvent): void {
		switch (event.type) {
			// First: a reply has thousands of them.
			case "message_update":
				this.#partial = event.message ?? this.#partial;
				return;
			case "turn_start":
				this.#turnIndex = event.turnIndex ?? 0;
				this.#reply = undefined;
				this.#results = [];
				return;
			case "turn_end":
				this.#turnIndex = undefined;
				return;
			case "message_start":
				if (event.message.role === "assistant") this.#partial = event.message;
				return;
			case "message_end":
				this.messages.push(event.message);
				if (event.message.role === "assistant") {
					this.#reply = event.message;
					this.#partial = undefined;
				} else if (event.message.role === "toolResult") {
					this.#results.push(event.message);
					this.#owed.delete(event.message.toolCallId);
				}
				return;
			case "tool_execution_start":
				this.#running.set(event.toolCallId, event.toolName);
				this.#owed.set(event.toolCallId, event.toolName);
				return;
			case "tool_execution_end":
				this.#running.delete(event.toolCallId);
				return;
		}
	}

	/** The events that are missing, in their order. */
	*endings(errorMessage: string, timestamp: number): Generator<AgentEvent> {
		const content = [{ type: "text" as const, text: errorMessage }];
		for (const [toolCallId, toolName] of this.#running)
			yield { type: "tool_execution_end", toolCallId, toolName, result: { content, details: {} }, isError: true };
		for (const [toolCallId, toolName] of this.#owed) {
			const result: ToolResultMessage = { role: "toolResult", toolCallId, toolName, content, details: {}, isError: true, timestamp };
			yield { type: "message_start", message: result };
			yield this.#ended(result);
			this.#results.push(result);
		}
		if (this.#turnIndex !== undefined) {
			if (this.#partial || !this.#reply) {
				const shell = this.#partial ?? emptyReply({ api: "", provider: "", id: "" }, timestamp);
				if (!this.#partial) yield { type: "message_start", message: shell };
				this.#reply = { ...shell, stopReason: "error", errorMessage };
				yield this.#ended(this.#reply);
			}
			yield { type: "turn_end", message: this.#reply as AssistantMessage, toolResults: this.#results, turnIndex: this.#turnIndex };
		}
		yield { type: "agent_end", messages: this.messages, willRetry: false };
	}

	#ended(message: AgentMessage): AgentEvent {
		this.messages.push(message);
		return { type: "message_end", message };
	}
}
