/** OpenAI Responses. */
import type { ModelMessage, ToolDefinition } from "../../agent/contracts.ts";
import type { Image, Text } from "../../protocol/content.ts";
import type { AssistantMessage, ToolResultMessage, UserMessage } from "../../protocol/messages.ts";
import { type Api, type Call, endpoint, imageOnly, noOutput, objectSchema, remembered, type WireRequest } from "../api.ts";
import { Growing } from "../growing.ts";
import { hexHash } from "../hash.ts";
import { list, object, wire } from "../json.ts";
import { pageMaker } from "../pages.ts";
import { effortWord } from "../thinking.ts";
import { withoutRootAlternatives } from "../tool-schemas.ts";
import { ResponsesDecoder } from "./openai-responses-reply.ts";

// ── Request ────────────────────────────────────────────────────────────────────────────────────────────

const pagesOf = pageMaker();

export function request(call: Call): WireRequest {
	const { compat } = call;
	const members = [`"model":${wire(call.modelId)}`, '"stream":true', '"store":false', `"max_output_tokens":${Math.max(16, call.maxTokens)}`];
	members.push(...thinkingOf(call));
	if (call.retention !== "none" && compat.supportsPromptCacheKey) members.push(`"prompt_cache_key":${wire(call.sessionId.slice(0, 64))}`);
	if (call.retention === "long" && compat.supportsPromptCacheKey) members.push('"prompt_cache_retention":"24h"');
	if (call.tools.length > 0) members.push(`"tools":[${call.tools.map((tool) => toolText(tool, compat.supportsStrictMode ? "s" : "")).join(",")}]`);
	if (call.toolChoice) members.push(`"tool_choice":${wire({ type: "function", name: call.toolChoice })}`);
	const pages = pagesOf(call.messages[0], inputTexts(call));
	return { url: endpoint(call.baseUrl, "/responses"), headers: {}, body: [`{${members.join(",")},"input":[`, ...pages, "]}"] };
}

// ── Messages ───────────────────────────────────────────────────────────────────────────────────────────

function userText(message: UserMessage): string {
	const { content } = message;
	const blocks: (Text | Image)[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
	const parts = blocks.filter((block) => block.type === "image" || block.text.trim() !== "").map(inputPart);
	return parts.length === 0 ? "" : wire({ role: "user", content: parts });
}

/** The items of a reply, joined by commas. `copy` tells replies of the same moment apart. */
function assistantText(message: AssistantMessage, copy: string): string {
	const isReasoning = message.content.map((block) => block.type === "thinking" && isReasoningItem(block.thinkingSignature));
	// The provider refuses items of its own whose reasoning is missing; without their ids it accepts them as new ones.
	const isWhole = message.content.every((block, index) => block.type !== "thinking" || isReasoning[index]);
	const madeId = (index: number) => `msg_${message.timestamp}_${index}${copy}`;
	const items = message.content.flatMap((block, index): { item: string; isReasoning?: true }[] => {
		if (block.type === "text") return block.text.trim() === "" ? [] : [{ item: messageItem(block, madeId(index), isWhole) }];
		if (block.type === "toolCall") return [{ item: wire(callItem(block.id, block.name, block.arguments, isWhole)) }];
		if (block.type !== "thinking") return [];
		if (block.thinkingSignature) return isReasoning[index] ? [{ item: block.thinkingSignature, isReasoning: true }] : [];
		return block.thinking.trim() === "" ? [] : [{ item: messageItem({ type: "text", text: block.thinking }, madeId(index), false) }];
	});
	// Reasoning that nothing follows is refused.
	while (items.at(-1)?.isReasoning) items.pop();
	return items.map(({ item }) => item).join(",");
}

/**
 * Whether a signature is an item of reasoning that can go back. Nothing is stored at the provider, so the item has to bring its content:
 * encrypted, or in the open where an open model runs. An item without it is only an id that the provider does not find.
 */
function isReasoningItem(stored: string | undefined): boolean {
	if (!stored?.startsWith("{")) return false;
	try {
		const item = object(JSON.parse(stored));
		return item?.type === "reasoning" && (Boolean(item.encrypted_content) || list(item.content).length > 0);
	} catch {
		return false; // Another API made it under the same name, or the file is damaged.
	}
}

function messageItem(block: Text, madeId: string, hasOwnId: boolean): string {
	const { id, phase } = readSignature(block.textSignature);
	const content = [{ type: "output_text", text: block.text, annotations: [] }];
	return wire({
		type: "message",
		role: "assistant",
		id: shortId((hasOwnId && id) || madeId),
		...(phase ? { phase } : {}),
		status: "completed",
		content,
	});
}

function readSignature(signature: string | undefined): { id?: string; phase?: string } {
	if (!signature) return {};
	if (!signature.startsWith("{")) return { id: signature };
	try {
		return JSON.parse(signature) as { id?: string; phase?: string };
	} catch {
		return {}; // The file is damaged; the text is worth more than its id.
	}
}

/** Ids above 64 characters are refused; a hash of them serves as well. */
function shortId(id: string): string {
	if (id.length <= 64) return id;
	return `msg_${hexHash(id)}`;
}

/** An engine id is `<call_id>|<item_id>`. */
function callItem(id: string, name: string, args: unknown, hasItemId: boolean): unknown {
	const [callId, itemId] = id.split("|");
	return { type: "function_call", ...(hasItemId && itemId?.startsWith("fc") ? { id: itemId } : {}), call_id: callId, name, arguments: wire(args) };
}

function resultText(message: ToolResultMessage): string {
	const blocks = message.content.filter((block) => block.type === "image" || block.text.trim() !== "");
	const hasImage = blocks.some((block) => block.type === "image");
	const words = blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
	const images = blocks.filter((block) => block.type === "image").map(inputPart);
	const output = hasImage ? [inputPart({ type: "text", text: words || imageOnly }), ...images] : words || noOutput;
	return wire({ type: "function_call_output", call_id: message.toolCallId.split("|")[0], output });
}

function inputPart(block: Text | Image): unknown {
	if (block.type === "text") return { type: "input_text", text: block.text };
	return { type: "input_image", detail: "auto", image_url: `data:${block.mimeType};base64,${block.data}` };
}

const sentBefore = new Growing<ModelMessage, string>();

function inputTexts(call: Call): string[] {
	const sent = sentBefore.make(call.messages, "", addTexts);
	if (call.systemPrompt.trim() === "") return sent.slice();
	const role = call.model.reasoning && call.compat.supportsDeveloperRole ? "developer" : "system";
	return [wire({ role, content: call.systemPrompt }), ...sent];
}

function addTexts(messages: readonly ModelMessage[], from: number, texts: string[], begin: (index: number) => void): void {
	/** How many replies have a time. */
	const moments = new Map<number, number>();
	for (let index = 0; index < messages.length; index += 1) {
		const message = messages[index] as ModelMessage;
		const copies = message.role === "assistant" ? (moments.get(message.timestamp) ?? 0) + 1 : 0;
		if (copies > 0) moments.set(message.timestamp, copies);
		if (index < from) continue;
		begin(index);
		let made: string;
		if (message.role === "assistant") made = assistantText(message, copies === 1 ? "" : `_${copies}`);
		else made = message.role === "user" ? userText(message) : resultText(message);
		if (made !== "") texts.push(made);
	}
}

/** The call id alone: the item id is paired with reasoning that another model does not get. */
export function callId(id: string): string {
	const cleaned = (id.split("|")[0] ?? id).replace(/[^A-Za-z0-9_-]/g, "_");
	return cleaned.slice(0, 64).replace(/_+$/, "") || "call";
}

// ── Tools ──────────────────────────────────────────────────────────────────────────────────────────────

const toolText = remembered((tool: ToolDefinition, variant: string): string => {
	const strict = variant === "s" ? { strict: false } : {};
	return wire({
		type: "function",
		name: tool.name,
		description: tool.description,
		parameters: objectSchema(withoutRootAlternatives(tool.parameters)),
		...strict,
	});
});

// ── Thinking ───────────────────────────────────────────────────────────────────────────────────────────

function thinkingOf(call: Call): string[] {
	const { compat, level, model } = call;
	if (!model.reasoning) return [];
	const include = '"include":["reasoning.encrypted_content"]';
	const word = compat.reasoningEffortMap[level] ?? effortWord(model, level);
	if (level === "off") return [`"reasoning":{"effort":${wire(word ?? "none")}}`, include];
	return [`"reasoning":{"effort":${wire(word)},"summary":"auto"}`, include];
}

// ── Reply ──────────────────────────────────────────────────────────────────────────────────────────────

export const api: Api = { request, decoder: (call, builder, blocks) => new ResponsesDecoder(call, builder, blocks) };
