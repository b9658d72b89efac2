/**
 * Between the loop and all observers: a message is in the session file before an observer receives it. When a message cannot be stored, no
 * observer receives it, and the run ends with an error that says so. The loop itself knows no files; it only sees a model that fails.
 */

import type { Queues } from "../agent/loop.ts";
import type { Emit, Policy } from "../agent/policy.ts";
import type { StreamEvent, StreamFunction } from "../agent/stream.ts";
import type { Log } from "../lib/log.ts";
import { isCommandError } from "../protocol/command-error.ts";
import { emptyReply } from "../protocol/empty-reply.ts";
import type { AgentMessage, AssistantMessage } from "../protocol/messages.ts";
import type { Conversation } from "./conversation.ts";
import type { Inbox, Queued, QueueName } from "./inbox.ts";

export class WriteAhead {
	#conversation: Conversation;
	#inbox: Inbox;
	#emit: Emit;
	#log: Log;
	/** Why this run can no longer store anything. The next run tries again. */
	#problem: string | undefined;
	/** The reply that was stored when its stream ended. */
	#stored: AssistantMessage | undefined;
	#hidden = new Set<AgentMessage>();
	#taken = new Map<AgentMessage, QueueName>();

	constructor(conversation: Conversation, inbox: Inbox, emit: Emit, log: Log) {
		this.#conversation = conversation;
		this.#inbox = inbox;
		this.#emit = emit;
		this.#log = log;
	}

	/** The results of tools could not be stored: no tool may run. */
	readonly policy: Policy = {
		name: "write-ahead",
		beforeTool: async () => (this.#problem === undefined ? undefined : { denied: this.#problem }),
	};

	/** Queues that deliver nothing while nothing can be stored. */
	get queues(): Queues {
		const inbox = this.#inbox;
		return {
			get count() {
				return inbox.count;
			},
			hasSteering: () => inbox.hasSteering(),
			takeSteering: () => this.#take("steering"),
			takeFollowUps: () => this.#take("followUp"),
		};
	}

	emit: Emit = (event) => {
		const emit = this.#emit;
		switch (event.type) {
			// First: a reply has thousands of them.
			case "message_update":
				return emit(event);
			case "agent_start":
				this.#problem = undefined;
				this.#hidden.clear();
				this.#taken.clear();
				return emit(event);
			case "message_start":
				if (event.message.role !== "assistant" && !this.#keep(event.message)) this.#hide(event.message);
				return this.#isShown(event.message) ? emit(event) : undefined;
			case "message_end": {
				const { message } = event;
				if (!this.#isShown(message)) return undefined;
				// Replies that ended without an event of their stream: cut off, aborted, broken.
				const isMissing = message.role === "assistant" && message !== this.#stored && !this.#keep(message);
				return emit(isMissing ? { ...event, message: failed(message as AssistantMessage, this.#problem) } : event);
			}
			case "turn_end":
				return emit({ ...event, toolResults: event.toolResults.filter((message) => this.#isShown(message)) });
			case "agent_end": {
				const { sessionId, file: sessionFile } = this.#conversation.transcript;
				return emit({ ...event, messages: event.messages.filter((message) => this.#isShown(message)), sessionId, sessionFile });
			}
			default:
				return emit(event);
		}
	};

	/** The same model, whose replies are stored before their last event is reported. */
	storing(stream: StreamFunction): StreamFunction {
		return async (request, options) => {
			let isOver = false;
			const onEvent = (event: StreamEvent) => {
				if (isOver) return;
				if (event.type !== "done" && event.type !== "error") return options.onEvent(event);
				isOver = true;
				const reply = event.type === "done" ? event.message : event.error;
				if (options.signal.aborted) return options.onEvent(event);
				if (!this.#keep(reply)) return options.onEvent(failure(failed(reply, this.#problem)));
				this.#stored = reply;
				options.onEvent(event);
			};
			if (this.#problem === undefined) return stream(request, { ...options, onEvent });
			options.onEvent(failure(failed(emptyReply(request.model, Date.now()), this.#problem)));
		};
	}

	#take(queue: QueueName): AgentMessage[] {
		if (this.#problem !== undefined) return [];
		const taken = queue === "steering" ? this.#inbox.takeSteering() : this.#inbox.takeFollowUps();
		for (const message of taken) this.#taken.set(message, queue);
		return taken;
	}

	#keep(message: AgentMessage): boolean {
		if (this.#problem !== undefined) return false;
		try {
			this.#conversation.add(message);
			return true;
		} catch (error) {
			// Whatever the cause: a run that cannot store its messages must end, in good order.
			if (!isCommandError(error)) this.#log.error("a message could not be stored", error);
			this.#problem = (error as Error).message;
			return false;
		}
	}

	#hide(message: AgentMessage): void {
		this.#hidden.add(message);
		const queue = this.#taken.get(message);
		if (!queue) return;
		// It goes back to the queue it came from.
		this.#inbox.add(queue, message as Queued);
		this.#emit({ type: "queue_update", ...this.#inbox.texts });
	}

	#isShown(message: AgentMessage): boolean {
		return !this.#hidden.has(message);
	}
}

function failure(error: AssistantMessage): StreamEvent {
	return { type: "error", reason: "error", error, failure: { kind: "permanent" } };
}

/** The calls of a reply that is not stored do not run, and have no results. */
function failed(message: AssistantMessage, errorMessage: string | undefined): AssistantMessage {
	return { ...message, content: message.content.filter((block) => block.type !== "toolCall"), stopReason: "error", errorMessage };
}
