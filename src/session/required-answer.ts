/** A value that a prompt asks for in place of a text. Types, and the policy that asks the model for it. */
import type { Queues } from "../agent/loop.ts";
import type { Policy } from "../agent/policy.ts";
import type { Tool } from "../agent/tool.ts";
import type { EventOf } from "../protocol/events.ts";
import type { AgentMessage, CustomMessage } from "../protocol/messages.ts";

export interface RequiredAnswer {
	/** How the model hands the value in. */
	tool: Tool;
	/** Says to the model what is asked for. Follows the prompt. */
	contract: string;
	/** Reminds the model. */
	policy: Policy;
	/** The end of a run with the value, or with the reason why there is none. `haltReason`: why a policy stopped the session, if one did. */
	concluded(event: EventOf<"agent_end">, haltReason: string | undefined): EventOf<"agent_end">;
}

/** The `customType` of the message with the contract. */
export const answerMessage = "bowline.answer";

/** Returns the message that says what is asked for. */
export function contractMessage({ contract }: RequiredAnswer, timestamp: number): CustomMessage {
	return { role: "custom", customType: answerMessage, content: contract, display: false, timestamp };
}

/**
 * The queues, where what is asked for comes first if a compaction took it out of the conversation: a summary does not keep a schema to the letter.
 */
export function restating(
	queues: Queues,
	current: () => RequiredAnswer | undefined,
	messages: () => readonly AgentMessage[],
	now: () => number,
): Queues {
	const missing = (): AgentMessage[] => {
		const answer = current();
		const isKnown = (message: AgentMessage) =>
			message.role === "custom" && message.customType === answerMessage && message.content === answer?.contract;
		return answer && !messages().some(isKnown) ? [contractMessage(answer, now())] : [];
	};
	return {
		get count() {
			return queues.count;
		},
		hasSteering: () => queues.hasSteering(),
		takeSteering: () => [...missing(), ...queues.takeSteering()],
		takeFollowUps: () => queues.takeFollowUps(),
	};
}

/** Takes part for the prompt that runs, where that prompt asks for a value. */
export function answerPolicy(current: () => RequiredAnswer | undefined): Policy {
	return {
		name: "required-answer",
		foresee: (outcome) => current()?.policy.foresee?.(outcome) ?? false,
		settle: async (...given) => current()?.policy.settle?.(...given),
	};
}
