/** Adapts a conversation to the model that is asked next. Pure: it never alters the history, and messages that fit keep their identity. */
import type { ModelMessage } from "../agent/contracts.ts";
import type { Image, Text, ToolCall } from "../protocol/content.ts";
import type { AssistantMessage, ToolResultMessage, UserMessage } from "../protocol/messages.ts";
import { resultsFrom } from "./api.ts";
import { isKnownBlock, isSendable } from "./known-blocks.ts";

export interface Target {
	provider: string;
	api: string;
	/** Id of the model. */
	model: string;
	acceptsImages: boolean;
	/** The call id of another provider in the form that this API accepts. */
	callId: (id: string) => string;
	/** An image the provider has refused before. */
	isRefused?: (image: Image) => boolean;
	/** Thinking that the provider would not accept. */
	isThinkingLost?: (reply: AssistantMessage, index: number) => boolean;
}

export const imageNote = "[image left out: this model cannot see images]";
export const unknownNote = "[content left out: it is of a kind that cannot be sent]";
export const refusedNote = "[image left out: the provider could not read it]";
const orphanText = "No result provided";

type Content = (Text | Image)[];

/** Returns the messages that a request may contain: one result follows each call, and each result has a call. */
export function handoff(messages: readonly ModelMessage[], target: Target): ModelMessage[] {
	const sent: ModelMessage[] = [];
	/** Calls of the last reply that wait for their results, by the id they had. */
	let waiting = new Map<string, { call: ToolCall; reply: AssistantMessage }>();
	const flush = () => {
		if (waiting.size === 0) return;
		for (const { call, reply } of waiting.values()) sent.push(orphanResult(reply, call));
		waiting = new Map();
	};
	for (let index = 0; index < messages.length; index += 1) {
		const message = messages[index] as ModelMessage;
		if (message.role === "toolResult") {
			const asked = waiting.get(message.toolCallId);
			if (!asked) continue;
			waiting.delete(message.toolCallId);
			sent.push(adaptedResult(message, asked.call.id, target));
			continue;
		}
		flush();
		if (message.role === "user") {
			sent.push(adaptedUser(message, target));
			continue;
		}
		const { reply, calls } = adaptedReply(message, target, messages, index);
		if (reply.content.length === 0) continue;
		sent.push(reply);
		if (calls) for (const [id, call] of calls) waiting.set(id, { call, reply });
		else for (const call of reply.content) if (call.type === "toolCall") waiting.set(call.id, { call, reply });
	}
	flush();
	return sent;
}

// ── Replies ────────────────────────────────────────────────────────────────────────────────────────────

interface Adapted {
	reply: AssistantMessage;
	/** The calls as they are sent, by the id they had; absent when they are sent as they are. */
	calls?: Map<string, ToolCall>;
}

function adaptedReply(message: AssistantMessage, target: Target, messages: readonly ModelMessage[], index: number): Adapted {
	const isBroken = message.stopReason === "error" || message.stopReason === "aborted";
	const isOwn = message.provider === target.provider && message.api === target.api && message.model === target.model;
	if (isOwn && !isBroken) return { reply: withSendableBlocks(message, target.isThinkingLost?.(message, index) ?? false) };
	const answered = isBroken ? new Set(resultsFrom(messages, index + 1).map(({ toolCallId }) => toolCallId)) : undefined;
	return strip(message, target.callId, answered);
}

/** Returns the same reply if requests may hold all of its blocks. */
function withSendableBlocks(message: AssistantMessage, isThinkingLost: boolean): AssistantMessage {
	const stays = (block: AssistantMessage["content"][number]) =>
		isSendable(block) && !(isThinkingLost && (block.type === "thinking" || block.type === "redactedThinking"));
	return message.content?.every(stays) ? message : { ...message, content: (message.content ?? []).filter(stays) };
}

/** Drops thinking and signatures, and writes call ids as the target accepts them. `answered`: the only calls to keep of a broken reply. */
function strip(message: AssistantMessage, callId: Target["callId"], answered: ReadonlySet<string> | undefined): Adapted {
	const calls = new Map<string, ToolCall>();
	const used = new Set<string>();
	const content: AssistantMessage["content"] = [];
	for (const block of message.content ?? []) {
		if (block.type === "text" && block.text.trim() !== "") content.push({ type: "text", text: block.text });
		if (block.type !== "toolCall" || !isSendable(block) || (answered && !answered.has(block.id))) continue;
		const wanted = callId(block.id) || "call";
		let id = wanted;
		for (let copy = 2; used.has(id); copy += 1) id = `${wanted.slice(0, 36)}_${copy}`;
		used.add(id);
		const call: ToolCall = { type: "toolCall", id, name: block.name, arguments: block.arguments };
		calls.set(block.id, call);
		content.push(call);
	}
	return { reply: { ...message, content }, calls };
}

// ── Results and prompts ────────────────────────────────────────────────────────────────────────────────

function orphanResult({ timestamp }: AssistantMessage, { id, name }: ToolCall): ToolResultMessage {
	return { role: "toolResult", toolCallId: id, toolName: name, content: [{ type: "text", text: orphanText }], isError: true, timestamp };
}

/** Returns the same list if all of it can be sent. Nothing is said of blocks of an unknown kind unless they are all that there is. */
function sendable(content: Content, target: Target): Content {
	const isKnown = ({ type }: { type: string }) => isKnownBlock("user", type);
	const known = content.every(isKnown) ? content : content.filter(isKnown);
	if (known.length === 0 && content.length > 0) return [{ type: "text", text: unknownNote }];
	if (!known.some((block) => block.type === "image" && noteFor(block, target))) return known;
	return known.map((block) => {
		const note = block.type === "image" && noteFor(block, target);
		return note ? { type: "text", text: note } : block;
	});
}

/** Returns the text that takes the place of an image that the model does not get. */
function noteFor(image: Image, target: Target): string | undefined {
	if (!target.acceptsImages) return imageNote;
	return target.isRefused?.(image) ? refusedNote : undefined;
}

function adaptedUser(message: UserMessage, target: Target): UserMessage {
	if (typeof message.content === "string") return message;
	const content = sendable(message.content ?? [], target);
	return content === message.content ? message : { ...message, content };
}

function adaptedResult(message: ToolResultMessage, toolCallId: string, target: Target): ToolResultMessage {
	const content = sendable(message.content ?? [], target);
	return content === message.content && toolCallId === message.toolCallId ? message : { ...message, toolCallId, content };
}
