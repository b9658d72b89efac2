/** Every kind of message in a conversation, distinguished by `role`. */
import Type, { type Static } from "typebox";
import { RedactedThinking, Text, Thinking, ToolCall, UserContent } from "./content.ts";
import { flag, integer, list, optional, orNull, shape, text, words } from "./define.ts";
import { Usage } from "./model.ts";

const timestamp = integer({ description: "Unix time in milliseconds." });
const textOrBlocks = Type.Union([text(), UserContent]);

export const Attachment = shape("Attachment", "A file attached to a user message. Nothing produces it; the list is always empty.", {
	id: text(),
	type: words("image", "document"),
	fileName: text(),
	mimeType: text(),
	size: integer(),
	content: text({ description: "base64" }),
	extractedText: orNull(text()),
	preview: orNull(text()),
});

export const UserMessage = shape("UserMessage", "A prompt, a steering message or a follow-up.", {
	role: Type.Literal("user"),
	content: textOrBlocks,
	attachments: optional(list(Attachment)),
	attribution: optional(text()),
	synthetic: optional(flag()),
	timestamp,
});

export const DeveloperMessage = shape("DeveloperMessage", "A reminder made by the agent itself.", {
	role: Type.Literal("developer"),
	content: textOrBlocks,
	timestamp,
});

export const StopReason = words("stop", "length", "toolUse", "error", "aborted");
export type StopReason = Static<typeof StopReason>;

export const AssistantMessage = shape("AssistantMessage", "A reply of the model.", {
	role: Type.Literal("assistant"),
	content: list(Type.Union([Text, Thinking, RedactedThinking, ToolCall])),
	api: text(),
	provider: text(),
	model: text(),
	usage: Usage,
	stopReason: StopReason,
	errorMessage: optional(text()),
	stopDetails: optional(
		Type.Record(Type.String(), Type.Unknown(), { description: "What the provider says about a refusal: type, category, explanation." }),
	),
	responseId: optional(text()),
	duration: optional(integer({ description: "Milliseconds from request to end." })),
	ttft: optional(integer({ description: "Milliseconds from request to the first block." })),
	timestamp,
});

export const ToolResultMessage = shape("ToolResultMessage", "What a tool call gave.", {
	role: Type.Literal("toolResult"),
	toolCallId: text(),
	toolName: text(),
	content: UserContent,
	details: optional(Type.Unknown()),
	isError: flag(),
	timestamp,
});

export const BashExecutionMessage = shape("BashExecutionMessage", "A command that the host ran with `bash`.", {
	role: Type.Literal("bashExecution"),
	command: text(),
	output: text(),
	exitCode: optional(integer({ description: "Absent when the command was killed." })),
	cancelled: flag(),
	truncated: flag(),
	fullOutputPath: optional(text({ description: "Where everything is, when the output was cut." })),
	excludeFromContext: optional(flag()),
	timestamp,
});

export const CustomMessage = shape("CustomMessage", "A message made by an extension.", {
	role: Type.Literal("custom"),
	customType: text(),
	content: textOrBlocks,
	display: flag(),
	details: optional(Type.Unknown()),
	timestamp,
});

export const CompactionSummaryMessage = shape("CompactionSummaryMessage", "Replaces the part of the conversation that was compacted.", {
	role: Type.Literal("compactionSummary"),
	summary: text(),
	tokensBefore: integer(),
	shortSummary: optional(text()),
	timestamp,
});

export const BranchSummaryMessage = shape("BranchSummaryMessage", "Summarizes a branch that the session left.", {
	role: Type.Literal("branchSummary"),
	summary: text(),
	fromId: text(),
	timestamp,
});

export const FileMentionMessage = shape("FileMentionMessage", "Files named in a prompt, with their content.", {
	role: Type.Literal("fileMention"),
	files: list(Type.Object({ path: text(), content: text() })),
	timestamp,
});

export const LegacyMessage = shape("LegacyMessage", "Roles of older session files; kept, never made.", {
	role: words("pythonExecution", "hookMessage"),
	timestamp,
});

export const AgentMessage = Type.Union(
	[
		UserMessage,
		DeveloperMessage,
		AssistantMessage,
		ToolResultMessage,
		BashExecutionMessage,
		CustomMessage,
		CompactionSummaryMessage,
		BranchSummaryMessage,
		FileMentionMessage,
		LegacyMessage,
	],
	{ title: "AgentMessage", description: "Any message, distinguished by `role`." },
);

export type Attachment = Static<typeof Attachment>;
export type UserMessage = Static<typeof UserMessage>;
export type DeveloperMessage = Static<typeof DeveloperMessage>;
export type AssistantMessage = Static<typeof AssistantMessage>;
export type ToolResultMessage = Static<typeof ToolResultMessage>;
export type BashExecutionMessage = Static<typeof BashExecutionMessage>;
export type CustomMessage = Static<typeof CustomMessage>;
export type CompactionSummaryMessage = Static<typeof CompactionSummaryMessage>;
export type BranchSummaryMessage = Static<typeof BranchSummaryMessage>;
export type FileMentionMessage = Static<typeof FileMentionMessage>;
export type AgentMessage = Static<typeof AgentMessage>;

export const ToolResult = shape("ToolResult", "What a tool returns: blocks for the model, details for the host.", {
	content: UserContent,
	details: optional(Type.Unknown()),
});
export type ToolResult = Static<typeof ToolResult>;
