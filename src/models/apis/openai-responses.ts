/** OpenAI Responses. */
import type { ToolDefinition } from "../../agent/contracts.ts";
import type { Image, Text } from "../../protocol/content.ts";
import type { AssistantMessage, ToolResultMessage, UserMessage } from "../../protocol/messages.ts";
import { type Api, type Call, endpoint, imageOnly, imagesIn, noOutput, objectSchema, saidIn, textOf, type WireRequest } from "../api.ts";
import { hexHash } from "../hash.ts";
import { type Json, list, object, wire } from "../json.ts";
import { effortWord } from "../thinking.ts";
import { withoutRootAlternatives } from "../tool-schemas.ts";
import { ResponsesDecoder } from "./openai-responses-reply.ts";

// ── Request ────────────────────────────────────────────────────────────────────────────────────────────

export function request(call: Call): WireRequest {
	const { compat } = call;
	const body: Json = { model: call.modelId, stream: true, store: false, max_output_tokens: Math.max(16, call.maxTokens), ...thinkingOf(call) };
	if (call.retention !== "none" && compat.supportsPromptCacheKey && !call.without.has("promptCacheKey")) {
		body.prompt_cache_key = call.sessionId.slice(0, 64);
		if (call.retention === "long") body.prompt_cache_retention = "24h";
	}
	if (call.tools.length > 0) body.tools = call.tools.map((tool) => toolOf(tool, compat.supportsStrictMode));
	if (call.toolChoice) body.tool_choice = { type: "function", name: call.toolChoice };
	body.input = inputOf(call);
	return { url: endpoint(call.baseUrl, "/responses"), headers: {}, body };
}

// ── Messages ───────────────────────────────────────────────────────────────────────────────────────────

function userItems({ content }: UserMessage): Json[] {
	const parts = saidIn(content).map(inputPart);
	return parts.length === 0 ? [] : [{ role: "user", content: parts }];
}

/** `copy` tells replies of the same moment apart. */
function assistantItems(message: AssistantMessage, copy: string): Json[] {
	const reasoning = message.content.map((block) => (block.type === "thinking" ? reasoningItem(block.thinkingSignature) : undefined));
	// The provider refuses items of its own whose reasoning is missing; without their ids it accepts them as new ones.
	const isWhole = message.content.every((block, index) => block.type !== "thinking" || reasoning[index]);
	const madeId = (index: number) => `msg_${message.timestamp}_${index}${copy}`;
	const items = message.content.flatMap((block, index): Json[] => {
		if (block.type === "text") return block.text.trim() === "" ? [] : [messageItem(block, madeId(index), isWhole)];
		if (block.type === "toolCall") return [callItem(block.id, block.name, block.arguments, isWhole)];
		if (block.type !== "thinking") return [];
		const item = reasoning[index];
		if (block.thinkingSignature) return item ? [item] : [];
		return block.thinking.trim() === "" ? [] : [messageItem({ type: "text", text: block.thinking }, madeId(index), false)];
	});
	// Reasoning that nothing follows is refused.
	for (let last = items.at(-1); last && reasoning.includes(last); last = items.at(-1)) items.pop();
	return items;
}

/**
 * The item of reasoning in a signature, if it can go back. Nothing is stored at the provider, so the item has to bring its content:
 * encrypted, or in the open where an open model runs. An item without it is only an id that the provider does not find.
 */
function reasoningItem(stored: string | undefined): Json | undefined {
	if (!stored?.startsWith("{")) return undefined;
	try {
		const item = object(JSON.parse(stored));
		return item?.type === "reasoning" && (item.encrypted_content || list(item.content).length > 0) ? item : undefined;
	} catch {
		return undefined; // Another API made it under the same name, or the file is damaged.
	}
}

function messageItem(block: Text, madeId: string, hasOwnId: boolean): Json {
	const { id, phase } = readSignature(block.textSignature);
	return {
		type: "message",
		role: "assistant",
		id: shortId((hasOwnId && id) || madeId),
		...(phase ? { phase } : {}),
		status: "completed",
		content: [{ type: "output_text", text: block.text, annotations: [] }],
	};
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
function callItem(id: string, name: string, args: unknown, hasItemId: boolean): Json {
	const [callId, itemId] = id.split("|");
	return { type: "function_call", ...(hasItemId && itemId?.startsWith("fc") ? { id: itemId } : {}), call_id: callId, name, arguments: wire(args) };
}

function resultItem({ toolCallId, content }: ToolResultMessage): Json {
	const words = textOf(content);
	const images = imagesIn(content).map(inputPart);
	const output = images.length > 0 ? [inputPart({ type: "text", text: words || imageOnly }), ...images] : words || noOutput;
	return { type: "function_call_output", call_id: toolCallId.split("|")[0], output };
}

function inputPart(block: Text | Image): Json {
	if (block.type === "text") return { type: "input_text", text: block.text };
	return { type: "input_image", detail: "auto", image_url: `data:${block.mimeType};base64,${block.data}` };
}

function inputOf(call: Call): Json[] {
	const items: Json[] = [];
	if (call.systemPrompt.trim() !== "") {
		const role = call.model.reasoning && call.compat.supportsDeveloperRole ? "developer" : "system";
		items.push({ role, content: call.systemPrompt });
	}
	/** How many replies have a time. */
	const moments = new Map<number, number>();
	for (const message of call.messages) {
		if (message.role === "user") items.push(...userItems(message));
		else if (message.role === "toolResult") items.push(resultItem(message));
		else {
			const copies = (moments.get(message.timestamp) ?? 0) + 1;
			moments.set(message.timestamp, copies);
			items.push(...assistantItems(message, copies === 1 ? "" : `_${copies}`));
		}
	}
	return items;
}

/** The call id alone: the item id is paired with reasoning that another model does not get. */
export function callId(id: string): string {
	const cleaned = (id.split("|")[0] ?? id).replace(/[^A-Za-z0-9_-]/g, "_");
	return cleaned.slice(0, 64).replace(/_+$/, "") || "call";
}

// ── Tools ──────────────────────────────────────────────────────────────────────────────────────────────

function toolOf({ name, description, parameters }: ToolDefinition, isStrictKnown: boolean): Json {
	const schema = objectSchema(withoutRootAlternatives(parameters));
	return { type: "function", name, description, parameters: schema, ...(isStrictKnown ? { strict: false } : {}) };
}

// ── Thinking ───────────────────────────────────────────────────────────────────────────────────────────

function thinkingOf(call: Call): Json {
	const { compat, level, model } = call;
	if (!model.reasoning) return {};
	const include = ["reasoning.encrypted_content"];
	const word = compat.reasoningEffortMap[level] ?? effortWord(model, level);
	return { reasoning: level === "off" ? { effort: word ?? "none" } : { effort: word, summary: "auto" }, include };
}

// ── Reply ──────────────────────────────────────────────────────────────────────────────────────────────

export const api: Api = { request, decoder: (call, builder, blocks) => new ResponsesDecoder(call, builder, blocks) };
