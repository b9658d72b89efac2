/** The shapes that several frames of dialect `strict` share: messages, models, verdicts. */
import type { AgentMessage } from "../../protocol/messages.ts";
import { type Allowed, eachOf, members, pick } from "./pick.ts";

/** Blocks keep their position, so that `contentIndex` refers to the same one. */
const block: Allowed = (value) => {
	const { type, data, mimeType } = value as Record<string, unknown>;
	switch (type) {
		case "text":
			return pick(value, members("type text"));
		case "thinking":
			return pick(value, members("type thinking"));
		case "toolCall":
			return pick(value, members("type id name arguments"));
		case "image":
			return { type, source: { type: "base64", mediaType: mimeType, data } };
		default:
			// Thinking that the provider keeps to itself.
			return { type: "thinking", thinking: "" };
	}
};
const content: Allowed = eachOf(block);

const tokens = members("input output cacheRead cacheWrite");

export const assistant: Allowed = {
	...members("role api provider model stopReason timestamp"),
	content,
	usage: { ...tokens, cost: { ...tokens, total: true } },
};
export const toolResultMessage: Allowed = { ...members("role toolCallId toolName isError timestamp"), content };
const user: Allowed = { ...members("role timestamp attachments"), content };
const bashExecution: Allowed = members("role command output exitCode cancelled truncated fullOutputPath timestamp");

/** There are four roles. Messages of the agent itself and of extensions appear as the model sees them: as user messages. */
export const anyMessage: Allowed = (value) => {
	const message = value as AgentMessage;
	switch (message.role) {
		case "assistant":
			return pick(message, assistant);
		case "toolResult":
			return pick(message, toolResultMessage);
		case "bashExecution":
			return pick(message, bashExecution);
		case "user":
			return pick(message, user);
		default:
			return pick({ ...message, role: "user", content: wordsOf(message), attachments: [] }, user);
	}
};

function wordsOf(message: AgentMessage): unknown {
	if ("content" in message) return message.content;
	return "summary" in message ? message.summary : "";
}

export const toolResult: Allowed = { content, details: true };
export const compaction: Allowed = members("summary firstKeptEntryId tokensBefore details");
export const model: Allowed = {
	...members("id name api provider baseUrl reasoning input contextWindow maxTokens"),
	cost: tokens,
};
export const modelChoice: Allowed = { model, ...members("thinkingLevel isScoped") };
export const stats: Allowed = {
	...members("sessionFile sessionId userMessages assistantMessages toolCalls toolResults totalMessages cost"),
	tokens: { ...tokens, total: true },
};
export const todoPhase: Allowed = { ...members("id name"), tasks: eachOf(members("id content status")) };

const checkResult = members("name command exitCode durationMs optional timedOut artifactPath outputPreview");
export const verification: Allowed = {
	...members("requested profile mode status retriesUsed onFailure"),
	attempts: eachOf({ ...members("attempt status startedAt endedAt error"), commandResults: eachOf(checkResult) }),
};
