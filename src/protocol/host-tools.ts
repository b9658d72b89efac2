/** The conversation in which the model calls tools that live in the host. */
import Type, { type Static } from "typebox";
import { flag, jsonObject, optional, shape, text } from "./define.ts";
import { ToolResult } from "./messages.ts";

export const HostToolDefinition = shape("HostToolDefinition", "A tool that the host offers.", {
	name: text({ description: "Non-empty, unique, not the name of another tool." }),
	label: optional(text({ description: "Default: the name." })),
	description: text(),
	parameters: Type.Record(text(), Type.Unknown(), { description: "JSON Schema of the arguments, sent to the model as it is." }),
	hidden: optional(flag({ description: "Registered but not offered to the model." })),
});
export type HostToolDefinition = Static<typeof HostToolDefinition>;

export const HostToolCall = shape("HostToolCall", "The model calls a host tool; answer with `host_tool_result` and the same id.", {
	type: Type.Literal("host_tool_call"),
	id: text({ description: "A UUID." }),
	toolCallId: text(),
	toolName: text(),
	arguments: jsonObject,
});

export const HostToolCancel = shape("HostToolCancel", "The call `targetId` is no longer wanted; a later result is ignored.", {
	type: Type.Literal("host_tool_cancel"),
	id: text(),
	targetId: text(),
});

export const HostToolUpdate = shape("HostToolUpdate", "Progress of a call; `partialResult` is forwarded as it is.", {
	type: Type.Literal("host_tool_update"),
	id: text(),
	partialResult: ToolResult,
});

export const HostToolResult = shape("HostToolResult", "The end of a call.", {
	type: Type.Literal("host_tool_result"),
	id: text(),
	result: ToolResult,
	isError: optional(flag()),
});

export type HostToolCall = Static<typeof HostToolCall>;
export type HostToolCancel = Static<typeof HostToolCancel>;
export type HostToolUpdate = Static<typeof HostToolUpdate>;
export type HostToolResult = Static<typeof HostToolResult>;
