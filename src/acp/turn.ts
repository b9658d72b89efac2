/** One prompt of the client, from its request to its response. */
import type { StopReason } from "@agentclientprotocol/sdk";
import { type Deferred, deferred } from "../lib/deferred.ts";
import type { BudgetReason } from "../protocol/budget.ts";
import { budgetRefusal } from "../protocol/budget-refusal.ts";
import type { AgentEvent } from "../protocol/events.ts";
import type { AssistantMessage } from "../protocol/messages.ts";
import type { Refusal } from "../session/refusal.ts";
import type { PromptContent } from "./content.ts";
import { codes, failed, RpcError } from "./errors.ts";

export class Turn {
	readonly content: PromptContent;
	/** Whether it is delivered into the turn that runs. */
	readonly isSteering: boolean;
	readonly cancelled: Deferred<void> = deferred();
	/** It was cancelled before it began, and those before it go on. */
	readonly withdrawn: Deferred<void> = deferred();
	isCancelled = false;
	#last: AssistantMessage | undefined;
	#isAborted = false;
	#exceeded: BudgetReason | undefined;

	constructor(content: PromptContent, isSteering: boolean) {
		this.content = content;
		this.isSteering = isSteering;
	}

	cancel(): void {
		this.isCancelled = true;
		this.cancelled.resolve();
	}

	observe(event: AgentEvent): void {
		if (event.type === "message_end" && event.message.role === "assistant") this.#last = event.message;
		else if (event.type === "agent_settled") this.#isAborted = event.aborted;
		else if (event.type === "budget_exceeded" && event.scope === "session") this.#exceeded = event.snapshot.reason;
	}

	/** Throws an RpcError for a turn that failed. */
	stopReason(refusal: Refusal | undefined): StopReason {
		if (this.isCancelled || refusal?.code === "aborted") return "cancelled";
		if (refusal) throw refused(refusal);
		if (this.#exceeded) throw failed(budgetRefusal(this.#exceeded));
		const reply = this.#last;
		if (reply?.stopReason === "error") throw failed(reply.errorMessage ?? "The provider failed without a word.");
		if (this.#isAborted || reply?.stopReason === "aborted") return "cancelled";
		return reply?.stopReason === "length" ? "max_tokens" : "end_turn";
	}
}

function refused({ text, code }: Refusal): RpcError {
	const hasNoCredential = code === "no_key" || code === "no_model" || code === "no_address";
	return new RpcError(hasNoCredential ? codes.authRequired : codes.internal, text);
}
