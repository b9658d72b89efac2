/** OpenAI Chat Completions, and the many hosts that speak it. */

import type { ModelMessage, ToolDefinition } from "../../agent/contracts.ts";
import type { Image, Text } from "../../protocol/content.ts";
import type { AssistantMessage, ToolResultMessage, UserMessage } from "../../protocol/messages.ts";
import { type Api, type Call, endpoint, imageOnly, noOutput, objectSchema, remembered, thinks, type WireRequest } from "../api.ts";
import { Growing } from "../growing.ts";
import { letterHash } from "../hash.ts";
import { wire } from "../json.ts";
import { pageMaker } from "../pages.ts";
import { effortWord, levelMap } from "../thinking.ts";
import { withoutRootAlternatives } from "../tool-schemas.ts";
import { ChatDecoder, reasoningFields } from "./openai-chat-reply.ts";
import { storedDetails } from "./reasoning-details.ts";

// ── Request ────────────────────────────────────────────────────────────────────────────────────────────

const cacheControl = { type: "ephemeral" };
const pagesOf = pageMaker();

export function request(call: Call): WireRequest {
	const { compat } = call;
	const members = [`"model":${wire(call.modelId)}`, '"stream":true'];
	if (compat.supportsUsageInStreaming) members.push('"stream_options":{"include_usage":true}');
	if (compat.supportsStore) members.push('"store":false');
	if (compat.supportsPromptCacheKey && call.retention !== "none") members.push(`"prompt_cache_key":${wire(call.sessionId.slice(0, 64))}`);
	members.push(`"${compat.maxTokensField}":${call.maxTokens}`, ...thinkingOf(call));
	if (compat.openRouterRouting) members.push(`"provider":${wire(compat.openRouterRouting)}`);
	if (compat.vercelGatewayRouting) members.push(`"providerOptions":${wire({ gateway: compat.vercelGatewayRouting })}`);
	// Several hosts refuse an empty list, also when the conversation has tool calls in it.
	if (call.tools.length > 0) members.push(`"tools":[${call.tools.map((tool) => toolText(tool, call.model.provider)).join(",")}]`);
	// Several hosts refuse it for a model that thinks.
	if (call.toolChoice && !thinks(call)) members.push(`"tool_choice":${wire({ type: "function", function: { name: call.toolChoice } })}`);
	const pages = pagesOf(call.messages[0], messageTexts(call));
	return { url: endpoint(call.baseUrl, "/chat/completions"), headers: {}, body: [`{${members.join(",")},"messages":[`, ...pages, "]}"] };
}

// ── Messages ───────────────────────────────────────────────────────────────────────────────────────────

function userText(message: UserMessage): string {
	const { content } = message;
	if (typeof content === "string") return content.trim() === "" ? "" : wire({ role: "user", content });
	const parts = content.filter((block) => block.type === "image" || block.text.trim() !== "");
	if (parts.length === 0) return "";
	if (parts.every((part) => part.type === "text")) return wire({ role: "user", content: parts.map((part) => part.text).join("\n") });
	return wire({ role: "user", content: parts.map(contentPart) });
}

function assistantText(message: AssistantMessage, variant: string): string {
	const isThinkingText = variant.includes("t");
	const emptyContent = variant.includes("e") ? "" : null;
	const said = message.content.flatMap((block) => {
		if (block.type === "text") return [block.text];
		return block.type === "thinking" && (isThinkingText || !block.thinkingSignature) ? [block.thinking] : [];
	});
	const calls = message.content.filter((block) => block.type === "toolCall");
	const content = said.filter((part) => part.trim() !== "").join("\n");
	if (content === "" && calls.length === 0) return "";
	return wire({
		role: "assistant",
		content: content || emptyContent,
		...(isThinkingText ? {} : reasoningMembers(message, variant.includes("r") && calls.length > 0)),
		...(calls.length > 0 ? { tool_calls: calls.map((call) => callPart(wireId(call.id, variant), call.name, call.arguments)) } : {}),
	});
}

/** Hosts accept a space where there was no reasoning; they refuse an empty text as missing. */
const noReasoning = " ";

/** The thinking goes back as it came: as a list of details, or under the name of its field. `isRequired`: it may not be missing. */
function reasoningMembers(message: AssistantMessage, isRequired: boolean): Record<string, unknown> {
	const details = message.content.flatMap((block) => storedDetails(signatureOf(block)));
	if (details.length > 0) return { reasoning_details: details };
	const members: Record<string, string> = {};
	for (const block of message.content) {
		if (block.type !== "thinking" || !block.thinkingSignature || !reasoningFields.includes(block.thinkingSignature)) continue;
		const earlier = members[block.thinkingSignature];
		members[block.thinkingSignature] = earlier === undefined ? block.thinking : `${earlier}\n${block.thinking}`;
	}
	if (!isRequired) return members;
	return { reasoning_content: Object.values(members).find((words) => words.trim() !== "") ?? noReasoning };
}

function signatureOf(block: AssistantMessage["content"][number]): string | undefined {
	if (block.type === "text") return block.textSignature;
	if (block.type === "thinking") return block.thinkingSignature;
	return block.type === "toolCall" ? block.thoughtSignature : undefined;
}

/** Mistral takes ids of exactly nine letters and digits. Each other id has one such form, for the call and for its result. */
function wireId(id: string, variant: string): string {
	return !variant.includes("m") || /^[A-Za-z0-9]{9}$/.test(id) ? id : letterHash(id, 9);
}

function callPart(id: string, name: string, args: unknown): unknown {
	return { id, type: "function", function: { name, arguments: wire(args) } };
}

function resultText(message: ToolResultMessage, variant: string): string {
	const words = textOf(message.content);
	const hasImage = message.content.some((block) => block.type === "image");
	const name = variant.includes("n") ? { name: message.toolName } : {};
	return wire({ role: "tool", tool_call_id: wireId(message.toolCallId, variant), ...name, content: words || (hasImage ? imageOnly : noOutput) });
}

function textOf(content: (Text | Image)[]): string {
	return content.flatMap((block) => (block.type === "text" && block.text.trim() !== "" ? [block.text] : [])).join("\n");
}

function contentPart(block: Text | Image): unknown {
	if (block.type === "text") return { type: "text", text: block.text };
	return { type: "image_url", image_url: { url: `data:${block.mimeType};base64,${block.data}` } };
}

/** The flags that change how a message is written, a letter each. */
function variantOf(call: Call): string {
	const { compat } = call;
	const flags = {
		t: compat.requiresThinkingAsText,
		e: compat.requiresAssistantContent,
		n: compat.requiresToolResultName,
		m: compat.requiresMistralToolIds,
		r: compat.requiresReasoningContentOnAssistantMessages && thinks(call),
		a: compat.requiresAssistantAfterToolResult,
	};
	return Object.entries(flags)
		.flatMap(([letter, isSet]) => (isSet ? [letter] : []))
		.join("");
}

const sentBefore = new Growing<ModelMessage, string>();

function messageTexts(call: Call): string[] {
	const { compat, messages, model } = call;
	const variant = variantOf(call);
	const isMarked = compat.supportsCacheControl && call.retention !== "none" && /claude/i.test(model.id);
	const sent = sentBefore.make(messages, variant, (source, from, made, begin) => addTexts(source, from, made, begin, variant));
	if (call.systemPrompt.trim() === "") return isMarked ? markLast(sent.slice(), messages) : sent.slice();
	const role = model.reasoning && compat.supportsDeveloperRole ? "developer" : "system";
	const content = isMarked ? [{ type: "text", text: call.systemPrompt, cache_control: cacheControl }] : call.systemPrompt;
	const texts = [wire({ role, content }), ...sent];
	return isMarked ? markLast(texts, messages) : texts;
}

function addTexts(messages: readonly ModelMessage[], from: number, texts: string[], begin: (index: number) => void, variant: string): void {
	const needsReply = variant.includes("a");
	let isAfterResult = false;
	const add = (role: ModelMessage["role"], made: string) => {
		if (made === "") return;
		if (isAfterResult && role === "user" && needsReply) texts.push(wire({ role: "assistant", content: "Tool results received." }));
		isAfterResult = role === "toolResult";
		texts.push(made);
	};
	let images: Image[] = [];
	const addImages = () => {
		const caption = { type: "text", text: "Images from the tool results above:" };
		if (images.length > 0) add("user", wire({ role: "user", content: [caption, ...images.map(contentPart)] }));
		images = [];
	};
	for (let index = from; index < messages.length; index += 1) {
		const message = messages[index] as ModelMessage;
		if (message.role === "toolResult") {
			add("toolResult", resultText(message, variant));
			for (const block of message.content) if (block.type === "image") images.push(block);
			continue;
		}
		addImages();
		if (!needsReply || !isAfterResult) begin(index);
		add(message.role, message.role === "user" ? userText(message) : assistantText(message, variant));
	}
	addImages();
}

/** Puts a cache mark on the text of the last message, when that is a plain one. */
function markLast(texts: string[], messages: readonly ModelMessage[]): string[] {
	if (messages.length === 0 || texts.length === 0) return texts;
	const last = JSON.parse(texts.pop() as string) as { content: unknown };
	if (typeof last.content === "string") last.content = [{ type: "text", text: last.content, cache_control: cacheControl }];
	texts.push(wire(last));
	return texts;
}

/** The part before `|`, only `[A-Za-z0-9_-]`, at most 40 characters. */
export function callId(id: string): string {
	return (id.split("|")[0] ?? id).replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 40);
}

// ── Tools ──────────────────────────────────────────────────────────────────────────────────────────────

/** OpenAI itself refuses alternatives at the root; others take them. */
const toolText = remembered((tool: ToolDefinition, variant: string): string => {
	const parameters = objectSchema(variant === "openai" ? withoutRootAlternatives(tool.parameters) : tool.parameters);
	return wire({ type: "function", function: { name: tool.name, description: tool.description, parameters } });
});

// ── Thinking ───────────────────────────────────────────────────────────────────────────────────────────

function thinkingOf(call: Call): string[] {
	const { compat, level, model } = call;
	if (!model.reasoning) return [];
	const isOn = level !== "off";
	const word = compat.reasoningEffortMap[level] ?? effortWord(model, level);
	const effort = word !== undefined && compat.supportsReasoningEffort ? [`"reasoning_effort":${wire(word)}`] : [];
	// Hosts with a switch of their own accept an effort only for models that name their words; `xhigh` is the word of `max`.
	const map = levelMap(model);
	const isNamed = typeof map[level] === "string" || (level === "xhigh" && typeof map.max === "string");
	const namedEffort = isOn && isNamed ? effort : [];
	switch (compat.thinkingFormat) {
		case "openrouter":
			return [`"reasoning":${wire(word === undefined ? { enabled: false } : { effort: word })}`];
		case "deepseek":
		case "zai":
			return [`"thinking":{"type":"${isOn ? "enabled" : "disabled"}"}`, ...namedEffort];
		case "qwen":
			return [`"enable_thinking":${isOn}`, ...namedEffort];
		case "qwen-chat-template":
			return [`"chat_template_kwargs":{"enable_thinking":${isOn}}`];
		case "together":
			return [`"reasoning":{"enabled":${isOn}}`, ...namedEffort];
		case "none":
			return [];
		default:
			return effort;
	}
}

// ── Reply ──────────────────────────────────────────────────────────────────────────────────────────────

export const api: Api = { request, decoder: (call, builder, blocks) => new ChatDecoder(call, builder, blocks) };
