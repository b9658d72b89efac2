/** The events of one streaming reply, the values of `message_update.assistantMessageEvent`. */
import Type, { type Static, type TProperties } from "typebox";
import { ToolCall } from "./content.ts";
import { integer, optional, shape, text } from "./define.ts";
import { AssistantMessage } from "./messages.ts";

const contentIndex = integer({ description: "Index in `message.content`." });
const partial = optional(AssistantMessage);

function delta<const T extends string, P extends TProperties>(type: T, description: string, fields: P) {
	return shape(type, description, { type: Type.Literal(type), contentIndex, ...fields, partial });
}

export const textStart = delta("text_start", "A text block opened.", {});
export const textDelta = delta("text_delta", "Append `delta` to the block.", { delta: text() });
export const textEnd = delta("text_end", "The block closed; `content` is its whole text.", { content: text() });
export const thinkingStart = delta("thinking_start", "A thinking block opened.", {});
export const thinkingDelta = delta("thinking_delta", "Append `delta` to the block.", { delta: text() });
export const thinkingEnd = delta("thinking_end", "The block closed; `content` is its whole thinking.", { content: text() });
export const toolcallStart = delta("toolcall_start", "A tool call opened.", { id: optional(text()), toolName: optional(text()) });
export const toolcallDelta = delta("toolcall_delta", "A raw JSON fragment of the arguments.", { delta: text() });
export const toolcallEnd = delta("toolcall_end", "The call is complete.", { toolCall: ToolCall });

export const AssistantMessageEvent = Type.Union(
	[textStart, textDelta, textEnd, thinkingStart, thinkingDelta, thinkingEnd, toolcallStart, toolcallDelta, toolcallEnd],
	{
		title: "AssistantMessageEvent",
		description:
			"One step of a streaming reply. `partial` is the reply so far and equals `message` of the event; both are left out with `--updates delta`. Several deltas of one block may arrive joined in one frame.",
	},
);
export type AssistantMessageEvent = Static<typeof AssistantMessageEvent>;
