/**
 * Keeps track of accepted prompts until each has its `prompt_result`: when the run that it started, or was delivered to, has ended;
 * when it is refused or taken by an extension; when the queue it waits in is emptied.
 */
import type { CommandResult } from "../../protocol/commands/index.ts";
import type { OmpEvent } from "../../protocol/dialect-events.ts";
import type { OutboundFrame, RequestId } from "../../protocol/frames.ts";
import type { AgentMessage, AssistantMessage } from "../../protocol/messages.ts";
import type { Answer, PromptReplies } from "./dialect.ts";

type Disposition = Exclude<CommandResult<"prompt">, undefined>;
type Result = Extract<OmpEvent, { type: "prompt_result" }>;
/** The id of a prompt: every prompt has an object of its own, whether or not it has an id. */
type Prompt = { id?: RequestId };

export class PromptResults {
	#tell: (frame: OmpEvent) => void;
	/** Prompts of the current run, or of the runs that follow it automatically. */
	#underWay: Prompt[] = [];
	/** Prompts that wait in a queue, by their message. */
	#queued = new Map<AgentMessage, Prompt>();
	#lastReply: AssistantMessage | undefined;
	/** Between a run's first event and the moment when nothing follows. */
	#isBusy = false;

	constructor(tell: (frame: OmpEvent) => void) {
		this.#tell = tell;
	}

	follow(id: RequestId | undefined, answer: Answer): PromptReplies {
		const prompt: Prompt = { id };
		return {
			accept: (data) => answer({ data: data && { ...data, agentInvoked: (data as Disposition).disposition !== "handled" } }),
			onDisposition: (disposition, messages) => {
				if (disposition === "handled") return this.#tell(this.#result(prompt, { agentInvoked: false, status: "completed" }));
				if (disposition === "queued") {
					for (const message of messages) this.#queued.set(message, prompt);
					return;
				}
				// A run that failed and waited has been taken over.
				for (const result of this.#ended(false)) this.#tell(result);
				this.#underWay = [prompt];
				this.#lastReply = undefined;
				this.#isBusy = true;
			},
			refuse: ({ text: error, code }) => {
				answer({ error });
				this.#tell(this.#result(prompt, { agentInvoked: false, status: code === "aborted" ? "aborted" : "error", error }));
			},
		};
	}

	hear(frame: OutboundFrame): void {
		if (frame.type === "agent_start") this.#isBusy = true;
		else if (frame.type === "message_start") this.#deliver(frame.message);
		else if (frame.type === "message_end" && frame.message.role === "assistant") this.#lastReply = frame.message;
		else if (frame.type === "queue_update" && frame.steering.length + frame.followUp.length === 0) this.#missWhatIsGone();
	}

	/** No further run follows: every pending prompt has ended. */
	settled(aborted: boolean): Result[] {
		this.#isBusy = false;
		return this.#ended(aborted);
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

	#ended(aborted: boolean): Result[] {
		const { stopReason, errorMessage } = this.#lastReply ?? {};
		const isError = stopReason === "error";
		const status = aborted || stopReason === "aborted" ? "aborted" : isError ? "error" : "completed";
		const error = isError && !aborted ? { error: errorMessage ?? "unknown error" } : {};
		return this.#underWay.splice(0).map((prompt) => this.#result(prompt, { agentInvoked: true, status, ...error }));
	}

	#result({ id }: Prompt, facts: Pick<Result, "agentInvoked" | "status" | "error">): Result {
		return { type: "prompt_result", ...(id === undefined ? {} : { id }), ...facts, sessionSettled: !this.#isBusy };
	}
}
