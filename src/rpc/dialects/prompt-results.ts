/**
 * Keeps track of accepted prompts until each has its `prompt_result`: when the run that it started, or was delivered to, has ended;
 * when it is refused or taken by an extension; when the queue it waits in is emptied. A command of an extension has its result when its handler
 * has ended, and the run that it began.
 */
import type { ProviderFailure } from "../../agent/contracts.ts";
import type { CommandResult } from "../../protocol/commands/index.ts";
import type { OmpEvent } from "../../protocol/dialect-events.ts";
import type { OutboundFrame, RequestId } from "../../protocol/frames.ts";
import type { AgentMessage, AssistantMessage } from "../../protocol/messages.ts";
import type { Answer, PromptReplies } from "./dialect.ts";

type Disposition = Exclude<CommandResult<"prompt">, undefined>;
type Result = Extract<OmpEvent, { type: "prompt_result" }>;
type Facts = Pick<Result, "agentInvoked" | "status" | "error">;
/** The id of a prompt: every prompt has an object of its own, whether or not it has an id. */
type Prompt = { id?: RequestId };

/** A command of an extension that has no result yet. */
interface CommandPrompt {
	hasEnded: boolean;
	/** Outcome of the run that it began, while the command still runs. */
	facts?: Facts;
}

const local: Facts = { agentInvoked: false, status: "completed" };

export class PromptResults {
	#tell: (frame: OmpEvent) => void;
	/** Prompts of the current run, or of the runs that follow it automatically. */
	#underWay: Prompt[] = [];
	/** Prompts that wait in a queue, by their message. */
	#queued = new Map<AgentMessage, Prompt>();
	#commands = new Map<Prompt, CommandPrompt>();
	#lastReply: AssistantMessage | undefined;
	/** The provider failed in a way that passes: a retry was announced or given up. */
	#isTransient = false;
	/** How the provider failed when the last run ended, where the session says it. */
	failure: ProviderFailure | undefined;
	/** Whether the session has accepted a prompt whose run has not begun. */
	isAboutToRun: () => boolean = () => false;
	/** Between a run's first event and the moment when nothing follows. */
	#isBusy = false;

	constructor(tell: (frame: OmpEvent) => void) {
		this.#tell = tell;
	}

	follow(id: RequestId | undefined, answer: Answer): PromptReplies {
		const prompt: Prompt = { id };
		return {
			accept: (data) => {
				const isCommand = (data as Disposition | undefined)?.disposition === "handled";
				if (isCommand) this.#commands.set(prompt, { hasEnded: false });
				answer({ data: data && !isCommand ? { ...data, agentInvoked: true } : data });
			},
			onDisposition: (disposition, messages) => {
				if (disposition === "handled") return this.#handled(prompt);
				if (disposition === "queued") {
					for (const message of messages) this.#queued.set(message, prompt);
					return;
				}
				// A run that failed and waited has been taken over.
				for (const result of this.#ended(false)) this.#tell(result);
				this.#releaseCommands();
				this.#underWay = [prompt];
				this.#lastReply = undefined;
				this.#isBusy = true;
			},
			refuse: ({ text: message, code }) => {
				answer({ error: message, code });
				this.#commands.delete(prompt);
				const outcome = code === "aborted" ? { status: "aborted" as const } : { status: "error" as const, error: { message, retryable: false } };
				this.#tell(this.#result(prompt, { agentInvoked: false, ...outcome }));
				this.#releaseCommands();
			},
		};
	}

	hear(frame: OutboundFrame): void {
		switch (frame.type) {
			case "agent_start":
				return this.#begin();
			case "message_start":
				return this.#deliver(frame.message);
			case "message_end":
				if (frame.message.role === "assistant") this.#lastReply = frame.message;
				return;
			case "auto_retry_start":
				this.#isTransient = true;
				return;
			case "auto_retry_end":
				this.#isTransient = !frame.success;
				return;
			case "queue_update":
				if (frame.steering.length + frame.followUp.length === 0) this.#missWhatIsGone();
				return;
			case "response":
				// A message that a command sent could not be taken: no run follows. Told when the host has read why.
				if (frame.command.startsWith("extension_send")) queueMicrotask(() => this.#releaseCommands());
				return;
		}
	}

	/** No further run follows: every pending prompt has ended. */
	settled(aborted: boolean): Result[] {
		this.#isBusy = false;
		return this.#ended(aborted);
	}

	/** A run that no prompt of the host began belongs to the commands that are going on. */
	#begin(): void {
		this.#isBusy = true;
		this.#isTransient = false;
		this.failure = undefined;
		if (this.#underWay.length > 0 || this.#commands.size === 0) return;
		this.#lastReply = undefined;
		for (const [prompt, { hasEnded }] of this.#commands) {
			this.#underWay.push(prompt);
			if (hasEnded) this.#commands.delete(prompt);
		}
	}

	#deliver(message: AgentMessage): void {
		const prompt = this.#queued.get(message);
		if (!prompt) return;
		this.#queued.delete(message);
		this.#underWay.push(prompt);
	}

	/** Messages are delivered in the tick in which they leave their queue; those that were not have been thrown away. */
	#missWhatIsGone(): void {
		if (this.#queued.size === 0) return;
		const waiting = [...this.#queued];
		setImmediate(() => {
			for (const [message, prompt] of waiting) {
				if (this.#queued.delete(message)) this.#tell(this.#result(prompt, { agentInvoked: false, status: "aborted" }));
			}
		});
	}

	/** An extension took a prompt, or its command has ended. */
	#handled(prompt: Prompt): void {
		const command = this.#commands.get(prompt);
		if (!command) return this.#tell(this.#result(prompt, local));
		command.hasEnded = true;
		if (command.facts) return this.#conclude(prompt, command.facts);
		if (this.#underWay.includes(prompt)) this.#commands.delete(prompt);
		// What the command sent at its end is accepted by then.
		else setImmediate(() => this.#commands.has(prompt) && !this.isAboutToRun() && this.#conclude(prompt, local));
	}

	/** No run comes of the commands that have ended. */
	#releaseCommands(): void {
		for (const [prompt, { hasEnded }] of this.#commands) if (hasEnded) this.#conclude(prompt, local);
	}

	#conclude(prompt: Prompt, facts: Facts): void {
		this.#commands.delete(prompt);
		this.#tell(this.#result(prompt, facts));
	}

	#ended(aborted: boolean): Result[] {
		const facts = this.#factsOf(this.#lastReply, aborted);
		return this.#underWay.splice(0).flatMap((prompt) => {
			const command = this.#commands.get(prompt);
			if (!command) return [this.#result(prompt, facts)];
			command.facts = facts;
			return [];
		});
	}

	#factsOf(last: AssistantMessage | undefined, aborted: boolean): Facts {
		if (aborted || last?.stopReason === "aborted") return { agentInvoked: true, status: "aborted" };
		if (last?.stopReason !== "error") return { agentInvoked: true, status: "completed" };
		const { errorMessage: message = "unknown error", provider, model } = last;
		const httpStatus = this.failure?.status;
		const retryable = this.#isTransient || this.failure?.kind === "transient";
		const error = { message, provider, model, ...(httpStatus !== undefined && { httpStatus }), retryable };
		return { agentInvoked: true, status: "error", error };
	}

	#result({ id }: Prompt, facts: Facts): Result {
		return { type: "prompt_result", ...(id === undefined ? {} : { id }), ...facts, sessionSettled: !this.#isBusy };
	}
}
