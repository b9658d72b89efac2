/** Why a prompt does not run, as a value: programs read the code, people the text. */
import type { Halt } from "../agent/policy.ts";
import type { ErrorCode } from "../protocol/errors.ts";
import { abortedText, busyText } from "../protocol/texts.ts";

export interface Refusal {
	text: string;
	code: ErrorCode;
}

export const aborted: Refusal = { text: abortedText, code: "aborted" };
export const busy: Refusal = { text: busyText, code: "busy" };
export const halted = ({ message, code }: Halt): Refusal => ({ text: message, code });
export const notQueued: Refusal = {
	text: "The agent is working, and a prompt with outputSchema cannot be queued. Send it after agent_settled, or abort first.",
	code: "busy",
};
