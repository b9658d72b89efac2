/** Why a prompt does not run, as a value: programs read the code, hosts the text. */
import type { ModelProblemCode } from "../agent/models.ts";
import { abortedText, busyText } from "../protocol/texts.ts";

export interface Refusal {
	text: string;
	code: "aborted" | "busy" | "halted" | "handled_elsewhere" | "no_model" | "not_stored" | "not_admitted" | "failed" | ModelProblemCode;
}

export const aborted: Refusal = { text: abortedText, code: "aborted" };
export const busy: Refusal = { text: busyText, code: "busy" };
export const notQueued: Refusal = {
	text: "The agent is working, and a prompt with outputSchema cannot be queued. Send it after agent_settled, or abort first.",
	code: "busy",
};
