/**
 * Between the loop and everybody else: a message is in the session file before anybody hears of it. When it cannot be stored, nobody does,
 * and the run ends with an error that says so. The loop itself knows no files; it only sees a model that fails.
 */
import type { Emit, Queues, StreamEvent, StreamFunction, ValidateArguments } from "../agent/contracts.ts";
import { isCommandError } from "../lib/command-error.ts";
import type { AgentMessage, AssistantMessage } from "../protocol/messages.ts";
import type { Conversation } from "./conversation.ts";
import type { Inbox, Queued, QueueName } from "./inbox.ts";

export interface StoringParts {
	conversation: Conversation;
	inbox: Inbox;
	emit: Emit;
	stream: StreamFunction;
	validate: ValidateArguments;
}

export interface Storing extends Pick<StoringParts, "emit" | "stream" | "validate"> {
	queues: Queues;
}

export function storing({ conversation, inbox, emit, stream, validate }: StoringParts): Storing {
	/** Why this run can store nothing any more. The next run tries again. */
	let problem: string | undefined;
	/** The reply that was stored when its stream ended. */
	let stored: AssistantMessage | undefined;
	const hidden = new Set<AgentMessage>();
	const queued = new Map<AgentMessage, QueueName>();
	const take = (queue: QueueName) => {
		// Where nothing can be stored, nothing is delivered.
		if (problem !== undefined) return [];
		const taken = queue === "steering" ? inbox.takeSteering() : inbox.takeFollowUps();
		for (const message of taken) queued.set(message, queue);
		return taken;
	};
	const hide = (message: AgentMessage) => {
		hidden.add(message);
		const queue = queued.get(message);
		if (!queue) return;
		// It waits on where it came from.
		inbox.add(queue, message as Queued);
		emit({ type: "queue_update", ...inbox.texts });
	};
	const isShown = (message: AgentMessage) => !hidden.has(message);
	const keep = (message: AgentMessage): boolean => {
		if (problem !== undefined) return false;
		try {
			conversation.add(message);
			return true;
		} catch (error) {
			// Whatever it is: a run that cannot store what is said must end, in good order.
			if (!isCommandError(error)) console.error("bowline: a message could not be stored:", error);
			problem = (error as Error).message;
			return false;
		}
	};

	return {
		emit(event) {
			switch (event.type) {
				case "agent_start":
					problem = undefined;
					hidden.clear();
					queued.clear();
					return emit(event);
				case "message_start":
					if (event.message.role !== "assistant" && !keep(event.message)) hide(event.message);
					return isShown(event.message) ? emit(event) : undefined;
				case "message_end": {
					const { message } = event;
					if (!isShown(message)) return undefined;
					// Replies that ended without an event of their stream: cut off, aborted, broken.
					if (message.role === "assistant" && message !== stored && !keep(message)) return emit({ ...event, message: failed(message, problem) });
					return emit(event);
				}
				case "turn_end":
					return emit({ ...event, toolResults: event.toolResults.filter(isShown) });
				case "agent_end":
					return emit({ ...event, messages: event.messages.filter(isShown) });
				default:
					return emit(event);
			}
		},
		async stream(request, options) {
			let isOver = false;
			const onEvent = (event: StreamEvent) => {
				if (isOver) return;
				isOver = event.type === "done" || event.type === "error";
				const reply = event.type === "done" ? event.message : event.type === "error" ? event.error : undefined;
				if (!reply || options.signal.aborted) return options.onEvent(event);
				if (!keep(reply)) return options.onEvent(failure(failed(reply, problem)));
				stored = reply;
				options.onEvent(event);
			};
			if (problem === undefined) return stream(request, { ...options, onEvent });
			const { provider, id, api } = request.model;
			options.onEvent(failure(failed(emptyReply(provider, id, api), problem)));
		},
		validate(tool, args) {
			// What a tool did could not be kept: it must not run.
			if (problem !== undefined) throw new Error(problem);
			return validate(tool, args);
		},
		queues: {
			get count() {
				return inbox.count;
			},
			hasSteering: () => inbox.hasSteering(),
			takeSteering: () => take("steering"),
			takeFollowUps: () => take("followUp"),
		},
	};
}

function failure(error: AssistantMessage): StreamEvent {
	return { type: "error", reason: "error", error, failure: { kind: "permanent" } };
}

/** The calls of a reply that is not stored are not run, and have no results. */
function failed(message: AssistantMessage, errorMessage: string | undefined): AssistantMessage {
	return { ...message, content: message.content.filter((block) => block.type !== "toolCall"), stopReason: "error", errorMessage };
}

function emptyReply(provider: string, model: string, api: string): AssistantMessage {
	const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
	const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost };
	return { role: "assistant", content: [], api, provider, model, usage, stopReason: "stop", timestamp: Date.now() };
}
