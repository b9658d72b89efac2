/** A value that a prompt asks for in place of a text. Types, and the policy that asks the model for it. */
import type { Policy } from "../agent/policy.ts";
import type { Tool } from "../agent/tool.ts";
import type { EventOf } from "../protocol/events.ts";

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

/** Takes part for the prompt that runs, where that prompt asks for a value. */
export function answerPolicy(current: () => RequiredAnswer | undefined): Policy {
	return {
		name: "required-answer",
		foresee: (outcome) => current()?.policy.foresee?.(outcome) ?? false,
		settle: async (...given) => current()?.policy.settle?.(...given),
	};
}
