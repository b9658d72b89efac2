/** OpenAI Chat Completions, and the many hosts that speak it. */

import type { ModelMessage, ToolDefinition } from "../../agent/contracts.ts";
import type { Image, Text } from "../../protocol/content.ts";
import type { AssistantMessage, ToolResultMessage, UserMessage } from "../../protocol/messages.ts";
import { type Api, type Call, endpoint, imageOnly, imagesIn, noOutput, objectSchema, saidIn, textOf, thinks, type WireRequest } from "../api.ts";
import { letterHash } from "../hash.ts";
import { type Json, wire } from "../json.ts";
import { effortWord, levelMap } from "../thinking.ts";
import { withoutRootAlternatives } from "../tool-schemas.ts";
import { ChatDecoder, reasoningFields } from "./openai-chat-reply.ts";
import { storedDetails } from "./reasoning-details.ts";

// ── Request ────────────────────────────────────────────────────────────────────────────────────────────

const cacheControl = { type: "ephemeral" };

export function request(call: Call): WireRequest {
	const { compat } = call;
	const body: Json = { model: call.modelId, stream: true };
	if (compat.supportsUsageInStreaming) body.stream_options = { include_usage: true };
	if (compat.supportsStore) body.store = false;
	if (compat.supportsPromptCacheKey && call.retention !== "none" && !call.without.has("promptCacheKey"))
		body.prompt_cache_key = call.sessionId.slice(0, 64);
	body[compat.maxTokensField] = call.maxTokens;
	Object.assign(body, thinkingOf(call));
	if (compat.openRouterRouting) body.provider = compat.openRouterRouting;
	if (compat.vercelGatewayRouting) body.providerOptions = { gateway: compat.vercelGatewayRouting };
	// Several hosts refuse an empty list, also when the conversation has tool calls in it.
	if (call.tools.length > 0) body.tools = call.tools.map((tool) => toolOf(tool, call.model.provider));
	// Several hosts refuse it for a model that thinks.
	if (call.toolChoice && !thinks(call)) body.tool_choice = { type: "function", function: { name: call.toolChoice } };
	body.messages = messagesOf(call);
	return { url: endpoint(call.baseUrl, "/chat/completions"), headers: {}, body };
}

// ── Messages ───────────────────────────────────────────────────────────────────────────────────────────

function userMessage({ content }: UserMessage): Json | undefined {
	const parts = saidIn(content);
	if (parts.length === 0) return undefined;
	if (parts.every((part) => part.type === "text")) return { role: "user", content: textOf(parts) };
	return { role: "user", content: parts.map(contentPart) };
}

function assistantMessage(message: AssistantMessage, call: Call): Json | undefined {
	const { requiresThinkingAsText, requiresAssistantContent, requiresReasoningContentOnAssistantMessages } = call.compat;
	const said = message.content.flatMap((block) => {
		if (block.type === "text") return [block.text];
		return block.type === "thinking" && (requiresThinkingAsText || !block.thinkingSignature) ? [block.thinking] : [];
	});
	const calls = message.content.filter((block) => block.type === "toolCall");
	const content = said.filter((part) => part.trim() !== "").join("\n");
	if (content === "" && calls.length === 0) return undefined;
	const needsReasoning = requiresReasoningContentOnAssistantMessages && thinks(call) && calls.length > 0;
	return {
		role: "assistant",
		content: content || (requiresAssistantContent ? "" : null),
		...(requiresThinkingAsText ? {} : reasoningMembers(message, needsReasoning)),
		...(calls.length > 0 ? { tool_calls: calls.map(({ id, name, arguments: args }) => callPart(wireId(id, call), name, args)) } : {}),
	};
}

/** Hosts accept a space where there was no reasoning; they refuse an empty text as missing. */
const noReasoning = " ";

/** The thinking goes back as it came: as a list of details, or under the name of its field. `isRequired`: it may not be missing. */
function reasoningMembers(message: AssistantMessage, isRequired: boolean): Record<string, unknown> {
	const stored = message.content.map((block) => storedDetails(signatureOf(block)));
	const details = stored.flatMap((one) => one.details);
	const ofDetails = stored.find(({ field }) => field !== undefined)?.field;
	if (details.length > 0 && (ofDetails === undefined || !reasoningFields.includes(ofDetails))) return { reasoning_details: details };
	const members: Record<string, string> = {};
	for (const block of message.content) {
		if (block.type !== "thinking") continue;
		const field = ofDetails ?? block.thinkingSignature;
		if (!field || !reasoningFields.includes(field)) continue;
		const earlier = members[field];
		members[field] = earlier === undefined ? block.thinking : `${earlier}\n${block.thinking}`;
	}
	if (details.length > 0) return { ...members, reasoning_details: details };
	const isSaid = Object.values(members).some((words) => words.trim() !== "");
	return isRequired && !isSaid ? { reasoning_content: noReasoning } : members;
}

function signatureOf(block: AssistantMessage["content"][number]): string | undefined {
	if (block.type === "text") return block.textSignature;
	if (block.type === "thinking") return block.thinkingSignature;
	return block.type === "toolCall" ? block.thoughtSignature : undefined;
}

/** Mistral takes ids of exactly nine letters and digits. Each other id has one such form, for the call and for its result. */
function wireId(id: string, { compat }: Call): string {
	return !compat.requiresMistralToolIds || /^[A-Za-z0-9]{9}$/.test(id) ? id : letterHash(id, 9);
}

function callPart(id: string, name: string, args: unknown): Json {
	return { id, type: "function", function: { name, arguments: wire(args) } };
}

function resultMessage(message: ToolResultMessage, call: Call): Json {
	const name = call.compat.requiresToolResultName ? { name: message.toolName } : {};
	const content = textOf(message.content) || (imagesIn(message.content).length > 0 ? imageOnly : noOutput);
	return { role: "tool", tool_call_id: wireId(message.toolCallId, call), ...name, content };
}

function contentPart(block: Text | Image): Json {
	if (block.type === "text") return { type: "text", text: block.text };
	return { type: "image_url", image_url: { url: `data:${block.mimeType};base64,${block.data}` } };
}

function messagesOf(call: Call): Json[] {
	const { compat, messages, model } = call;
	const isMarked = compat.supportsCacheControl && call.retention !== "none" && /claude/i.test(model.id);
	const sent: Json[] = [];
	if (call.systemPrompt.trim() !== "") {
		const role = model.reasoning && compat.supportsDeveloperRole ? "developer" : "system";
		const content = isMarked ? [{ type: "text", text: call.systemPrompt, cache_control: cacheControl }] : call.systemPrompt;
		sent.push({ role, content });
	}
	addConversation(sent, call);
	const last = sent.at(-1);
	// Only a plain text can get the mark.
	if (isMarked && messages.length > 0 && typeof last?.content === "string")
		last.content = [{ type: "text", text: last.content, cache_control: cacheControl }];
	return sent;
}

function addConversation(sent: Json[], call: Call): void {
	let isAfterResult = false;
	const add = (role: ModelMessage["role"], made: Json | undefined) => {
		if (!made) return;
		if (isAfterResult && role === "user" && call.compat.requiresAssistantAfterToolResult)
			sent.push({ role: "assistant", content: "Tool results received." });
		isAfterResult = role === "toolResult";
		sent.push(made);
	};
	let images: Image[] = [];
	const addImages = () => {
		const caption = { type: "text", text: "Images from the tool results above:" };
		if (images.length > 0) add("user", { role: "user", content: [caption, ...images.map(contentPart)] });
		images = [];
	};
	for (const message of call.messages) {
		if (message.role === "toolResult") {
			add("toolResult", resultMessage(message, call));
			images.push(...imagesIn(message.content));
			continue;
		}
		addImages();
		add(message.role, message.role === "user" ? userMessage(message) : assistantMessage(message, call));
	}
	addImages();
}

/** The part before `|`, only `[A-Za-z0-9_-]`, at most 40 characters. */
export function callId(id: string): string {
	return (id.split("|")[0] ?? id).replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 40);
}

// ── Tools ──────────────────────────────────────────────────────────────────────────────────────────────

/** OpenAI itself refuses alternatives at the root; others take them. */
function toolOf(tool: ToolDefinition, provider: string): Json {
	const parameters = objectSchema(provider === "openai" ? withoutRootAlternatives(tool.parameters) : tool.parameters);
	return { type: "function", function: { name: tool.name, description: tool.description, parameters } };
}

// ── Thinking ───────────────────────────────────────────────────────────────────────────────────────────

function thinkingOf(call: Call): Json {
	const { compat, level, model } = call;
	if (!model.reasoning) return {};
	const isOn = level !== "off";
	const word = compat.reasoningEffortMap[level] ?? effortWord(model, level);
	const effort: Json = word !== undefined && compat.supportsReasoningEffort ? { reasoning_effort: word } : {};
	// Hosts with a switch of their own accept an effort only for models that name their words; `xhigh` is the word of `max`.
	const map = levelMap(model);
	const isNamed = typeof map[level] === "string" || (level === "xhigh" && typeof map.max === "string");
	const namedEffort = isOn && isNamed ? effort : {};
	switch (compat.thinkingFormat) {
		case "openrouter":
			return { reasoning: word === undefined ? { enabled: false } : { effort: word } };
		case "deepseek":
		case "zai":
			return { thinking: { type: isOn ? "enabled" : "disabled" }, ...namedEffort };
		case "qwen":
			return { enable_thinking: isOn, ...namedEffort };
		case "qwen-chat-template":
			return { chat_template_kwargs: { enable_thinking: isOn } };
		case "together":
			return { reasoning: { enabled: isOn }, ...namedEffort };
		case "none":
			return {};
		default:
			return effort;
	}
}

// ── Reply ──────────────────────────────────────────────────────────────────────────────────────────────

export const api: Api = { request, decoder: (call, builder, blocks) => new ChatDecoder(call, builder, blocks) };
