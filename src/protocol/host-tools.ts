/** The conversation in which the model calls tools that live in the host. */
import Type, { type Static } from "typebox";
import { flag, frame, jsonObject, list, optional, shape, text, words } from "./define.ts";
import { samples } from "./examples.ts";
import { ToolResult } from "./messages.ts";

export const HostToolEffect = shape("HostToolEffect", "What a tool of the host does, for rules, modes and checkpoints.", {
	kind: words("read", "write", "run", "ask", "none"),
	paths: optional(
		list(text(), {
			description: "With `read` and `write`: the names of the arguments that are paths, relative to the session's directory or absolute.",
		}),
	),
});
export type HostToolEffect = Static<typeof HostToolEffect>;

export const HostToolDefinition = shape("HostToolDefinition", "A tool that the host offers.", {
	name: text({ description: "Non-empty, unique, not the name of another tool." }),
	label: optional(text({ description: "Default: the name." })),
	description: text(),
	parameters: Type.Record(text(), Type.Unknown(), { description: "JSON Schema of the arguments, sent to the model as it is." }),
	hidden: optional(flag({ description: "Registered but not offered to the model." })),
	effect: optional(HostToolEffect),
});
export type HostToolDefinition = Static<typeof HostToolDefinition>;

export const HostToolCall = frame(
	"host_tool_call",
	{ title: "HostToolCall", description: "The model calls a host tool; answer with `host_tool_result` and the same id." },
	{ id: text({ description: "A UUID." }), toolCallId: text(), toolName: text(), arguments: jsonObject },
	{ id: samples.callId, toolCallId: "call_2", toolName: "ask_stock", arguments: { article: "A-17" } },
);

export const HostToolCancel = frame(
	"host_tool_cancel",
	{ title: "HostToolCancel", description: "The call `targetId` is no longer wanted; a later result is ignored." },
	{ id: text({ description: "Of this frame." }), targetId: text({ description: "The `id` of the `host_tool_call`." }) },
	{ id: "0198c0de-7a11-7000-8000-0000000000c2", targetId: samples.callId },
);

export const HostToolUpdate = frame(
	"host_tool_update",
	{ title: "HostToolUpdate", description: "Progress of a call, optional and as often as the host likes; `partialResult` is forwarded as it is." },
	{ id: text({ description: "The `id` of the `host_tool_call`." }), partialResult: ToolResult },
	{ id: samples.callId, partialResult: { content: [{ type: "text", text: "asking the warehouse" }] } },
);

export const HostToolResult = frame(
	"host_tool_result",
	{ title: "HostToolResult", description: "The end of a call. The model reads the texts and images of `result.content`." },
	{
		id: text({ description: "The `id` of the `host_tool_call`." }),
		result: ToolResult,
		isError: optional(flag({ description: "The call failed; the content says why, for the model. The run goes on." })),
	},
	{ id: samples.callId, result: { content: [{ type: "text", text: "12 in stock" }] } },
	{ id: samples.callId, result: { content: [{ type: "text", text: "the warehouse does not answer" }] }, isError: true },
);

export type HostToolCall = Static<typeof HostToolCall>;
export type HostToolCancel = Static<typeof HostToolCancel>;
export type HostToolUpdate = Static<typeof HostToolUpdate>;
export type HostToolResult = Static<typeof HostToolResult>;
