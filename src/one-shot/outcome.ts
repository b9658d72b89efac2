/** The outcome of a prompt, as the events report it, and the resulting exit code. */

import { exitCodes } from "../lib/exit-codes.ts";
import type { Refusal } from "../live/dispatch.ts";
import type { BudgetReason } from "../protocol/budget.ts";
import { budgetRefusal } from "../protocol/budget-refusal.ts";
import { exitCodeOf } from "../protocol/errors.ts";
import type { AgentEvent, EventOf } from "../protocol/events.ts";
import type { AssistantMessage } from "../protocol/messages.ts";

export interface Result {
	code: number;
	/** The answer, even if it was cut or cost too much. */
	answer?: string;
	/** The value that the prompt asked for, as JSON. */
	output?: string;
	problem?: string;
}

export class Outcome {
	#last: AssistantMessage | undefined;
	/** The value that the prompt asked for, or why there is none. */
	#output: Pick<EventOf<"agent_end">, "output" | "outputError"> = {};
	#exceeded: BudgetReason | undefined;

	/** Whether the prompt asked for a value. */
	#isValue = false;
	#mayFail: boolean;

	/** `mayFail`: a reply that failed counts as success. */
	constructor(mayFail = false) {
		this.#mayFail = mayFail;
	}

	hear = (event: AgentEvent): void => {
		if (event.type === "message_end" && event.message.role === "assistant") this.#last = event.message;
		else if (event.type === "agent_end") this.#output = { output: event.output, outputError: event.outputError };
		else if (event.type === "budget_exceeded" && event.scope === "session") this.#exceeded = event.snapshot.reason;
	};

	/** The next prompt is asked. */
	begin(isValue: boolean): void {
		this.#last = undefined;
		this.#output = {};
		this.#isValue = isValue;
	}

	/** Adds to the last event of a prompt why it failed. */
	explained(event: AgentEvent): AgentEvent {
		if (event.type !== "agent_settled" || event.aborted) return event;
		const { problem } = this.result();
		return problem === undefined ? event : { ...event, errorMessage: problem };
	}

	/** `refusal`: why no run began. No reply, because an extension took the prompt, counts as success, unless a value was asked for. */
	result(refusal?: Refusal): Result {
		const { output, outputError = "An extension handled the prompt." } = this.#output;
		const result = this.#plain(refusal);
		if (!this.#isValue)
			return this.#mayFail && refusal === undefined && result.code === exitCodes.failed ? { ...result, code: exitCodes.done } : result;
		if (output !== undefined) return { ...result, answer: undefined, output: JSON.stringify(output) };
		const hasFailed = result.code !== exitCodes.done;
		return {
			code: hasFailed ? result.code : exitCodes.noOutput,
			problem: hasFailed ? result.problem : `There is no value that fits the schema. ${outputError}`,
		};
	}

	#plain(refusal: Refusal | undefined): Result {
		const reply = this.#last;
		const hasAnswer = refusal === undefined && reply && reply.stopReason !== "error" && reply.stopReason !== "aborted";
		const answer = hasAnswer ? textOf(reply) : undefined;
		if (this.#exceeded) return { code: exitCodeOf("budget_exceeded"), answer, problem: refusal?.text ?? budgetRefusal(this.#exceeded) };
		if (refusal) return { code: exitCodeOf(refusal.code), problem: refusal.text };
		if (reply && !hasAnswer) return { code: exitCodes.failed, problem: reply.errorMessage ?? "The reply was aborted." };
		if (reply?.stopReason === "length")
			return { code: exitCodes.failed, answer, problem: "The answer was cut: it reached the model's limit for one reply." };
		return { code: exitCodes.done, answer };
	}
}

function textOf({ content }: AssistantMessage): string {
	return content
		.flatMap((block) => (block.type === "text" ? [block.text] : []))
		.join("")
		.trim();
}
