/** A prompt that asks for a value of a given shape. The value, or the reason why there is none, goes with the last `agent_end`. */
import type { ValidateArguments } from "../agent/tool.ts";
import { schemaProblem } from "../lib/tool-definition.ts";
import type { EventOf } from "../protocol/events.ts";
import type { AgentMessage, AssistantMessage } from "../protocol/messages.ts";
import type { JsonSchema } from "./answer-schema.ts";
import { declared, type Submission, submission, submitToolName, valueChecker } from "./submit-result.ts";

export type Concluded = { output: unknown } | { outputError: string };

export interface RequiredAnswer extends Pick<Submission, "tool" | "policy" | "contract"> {
	/** The event with the value, or with the reason why there is none. `haltReason`: why a policy stopped the session, if one did. */
	concluded(event: EventOf<"agent_end">, haltReason: string | undefined): EventOf<"agent_end">;
}

export const maxSchemaBytes = 64 * 1024;
const limits = { refusals: 2, mayOverride: false, reminders: 2 };

interface Parts {
	schema: JsonSchema;
	validate: ValidateArguments;
	now: () => number;
}

/** Why a value cannot be checked against this schema; nothing when it can. */
export async function problemWithSchema({ schema, validate }: Omit<Parts, "now">): Promise<string | undefined> {
	const bytes = Buffer.byteLength(JSON.stringify(schema));
	if (bytes > maxSchemaBytes) return `the schema has ${bytes} bytes; at most ${maxSchemaBytes} are allowed`;
	const wrong = schemaProblem(schema, "schema");
	if (wrong !== undefined) return `the schema is not a valid JSON Schema: ${wrong}`;
	try {
		await validate({ name: submitToolName, description: "", parameters: valueChecker(schema) }, { data: null });
		return undefined;
	} catch (error) {
		const reason = /\((.*)\)\.$/s.exec((error as Error).message)?.[1] ?? (error as Error).message;
		return `the schema cannot be used (${reason})`;
	}
}

export function requiredAnswer({ schema, validate, now }: Parts): RequiredAnswer {
	const shape = Object.keys(schema).length > 0 ? schema : undefined;
	const { tool, policy, contract, submitted } = submission({ shape, limits, validate, now });
	const outcome = (messages: readonly AgentMessage[], haltReason: string | undefined): Concluded => {
		const handedIn = submitted();
		if (handedIn?.status === "success") return { output: handedIn.data };
		return { outputError: handedIn ? handedIn.error : reasonOf(messages, haltReason) };
	};
	return {
		tool: { ...tool, ...declared },
		policy,
		contract,
		concluded: (event, haltReason) => (event.willRetry ? event : { ...event, ...outcome(event.messages, haltReason) }),
	};
}

/** Why the model handed nothing in. */
function reasonOf(messages: readonly AgentMessage[], haltReason: string | undefined): string {
	const last = messages.findLast((message): message is AssistantMessage => message.role === "assistant");
	if (!last) return "The run was aborted before the model answered.";
	if (last.stopReason === "aborted") return "The run was aborted before the model handed in a value.";
	if (last.stopReason === "error") return `The run failed before the model handed in a value: ${last.errorMessage ?? "unknown error"}`;
	if (haltReason !== undefined) return `The run was stopped before the model handed in a value: ${haltReason}`;
	return `The model stopped without calling ${submitToolName}, after ${limits.reminders} reminders.`;
}
