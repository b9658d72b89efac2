/** OpenAI Chat Completions, and the many hosts that speak it. */
import type { ModelMessage, ToolDefinition } from "../../agent/contracts.ts";
import type { Image, Text } from "../../protocol/content.ts";
import type { AssistantMessage, ToolResultMessage, UserMessage } from "../../protocol/messages.ts";
import { type Api, type Call, endpoint, imageOnly, noOutput, remembered, thinks, type WireRequest } from "../api.ts";
import type { Compat } from "../compat.ts";
import { wire } from "../json.ts";
import { pageMaker } from "../pages.ts";
import { effortWord, levelMap } from "../thinking.ts";
import { ChatDecoder, reasoningFields } from "./openai-chat-reply.ts";

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
	const hasToolHistory = call.messages.some((message) => message.role === "toolResult");
	if (call.tools.length > 0 || hasToolHistory) members.push(`"tools":[${call.tools.map((tool) => toolText(tool)).join(",")}]`);
	// Several hosts refuse it for a model that thinks.
	if (call.toolChoice && !thinks(call)) members.push(`"tool_choice":${wire({ type: "function", function: { name: call.toolChoice } })}`);
	const pages = pagesOf(call.messages[0], messageTexts(call));
	return { url: endpoint(call.baseUrl, "/chat/completions"), headers: {}, body: [`{${members.join(",")},"messages":[`, ...pages, "]}"] };
}

// ── Messages ───────────────────────────────────────────────────────────────────────────────────────────

const userText = remembered((message: UserMessage): string => {
	const { content } = message;
	if (typeof content === "string") return content.trim() === "" ? "" : wire({ role: "user", content });
	const parts = content.filter((block) => block.type === "image" || block.text.trim() !== "");
	if (parts.length === 0) return "";
	if (parts.every((part) => part.type === "text")) return wire({ role: "user", content: parts.map((part) => part.text).join("\n") });
	return wire({ role: "user", content: parts.map(contentPart) });
});

const assistantText = remembered((message: AssistantMessage, variant: string): string => {
	const isThinkingText = variant.includes("t");
	const emptyContent = variant.includes("e") ? "" : null;
	const said = message.content.flatMap((block) => {
		if (block.type === "text") return [block.text];
		return block.type === "thinking" && (isThinkingText || !block.thinkingSignature) ? [block.thinking] : [];
	});
	const calls = message.content.filter((block) => block.type === "toolCall");
	const content = said.filter((part) => part.trim() !== "").join("\n");
	if (content === "" && calls.length === 0) return "";
	const thinking = isThinkingText ? {} : reasoningMembers(message);
	const details = calls.flatMap((call) => storedDetail(call.thoughtSignature));
	return wire({
		role: "assistant",
		content: content || emptyContent,
		...thinking,
		...(details.length > 0 ? { reasoning_details: details } : {}),
		...(calls.length > 0 ? { tool_calls: calls.map((call) => callPart(call.id, call.name, call.arguments)) } : {}),
	});
});

/** The thinking goes back under the name it came under. */
function reasoningMembers(message: AssistantMessage): Record<string, string> {
	const members: Record<string, string> = {};
	for (const block of message.content) {
		if (block.type !== "thinking" || !block.thinkingSignature || !reasoningFields.includes(block.thinkingSignature)) continue;
		const earlier = members[block.thinkingSignature];
		members[block.thinkingSignature] = earlier === undefined ? block.thinking : `${earlier}\n${block.thinking}`;
	}
	return members;
}

function storedDetail(signature: string | undefined): unknown[] {
	if (!signature?.startsWith("{")) return [];
	try {
		return [JSON.parse(signature)];
	} catch {
		return []; // Made by another API under the same name; without it the call is still valid.
	}
}

function callPart(id: string, name: string, args: unknown): unknown {
	return { id, type: "function", function: { name, arguments: wire(args) } };
}

const resultText = remembered((message: ToolResultMessage, variant: string): string => {
	const words = textOf(message.content);
	const hasImage = message.content.some((block) => block.type === "image");
	const name = variant.includes("n") ? { name: message.toolName } : {};
	return wire({ role: "tool", tool_call_id: message.toolCallId, ...name, content: words || (hasImage ? imageOnly : noOutput) });
});

function textOf(content: (Text | Image)[]): string {
	return content.flatMap((block) => (block.type === "text" && block.text.trim() !== "" ? [block.text] : [])).join("\n");
}

function contentPart(block: Text | Image): unknown {
	if (block.type === "text") return { type: "text", text: block.text };
	return { type: "image_url", image_url: { url: `data:${block.mimeType};base64,${block.data}` } };
}

function variantOf(compat: Compat): string {
	return [compat.requiresThinkingAsText ? "t" : "", compat.requiresAssistantContent ? "e" : "", compat.requiresToolResultName ? "n" : ""].join("");
}

function messageTexts(call: Call): string[] {
	const { compat, messages, model } = call;
	const variant = variantOf(compat);
	const isMarked = compat.supportsCacheControl && call.retention !== "none" && /claude/i.test(model.id);
	const texts: string[] = [];
	if (call.systemPrompt.trim() !== "") {
		const role = model.reasoning && compat.supportsDeveloperRole ? "developer" : "system";
		const content = isMarked ? [{ type: "text", text: call.systemPrompt, cache_control: cacheControl }] : call.systemPrompt;
		texts.push(wire({ role, content }));
	}
	let images: Image[] = [];
	const flush = () => {
		if (images.length > 0)
			texts.push(wire({ role: "user", content: [{ type: "text", text: "Images from the tool results above:" }, ...images.map(contentPart)] }));
		images = [];
	};
	messages.forEach((message, index) => {
		if (message.role === "toolResult") {
			texts.push(resultText(message, variant));
			for (const block of message.content) if (block.type === "image") images.push(block);
			return;
		}
		const isAfterResult = messages[index - 1]?.role === "toolResult";
		if (isAfterResult && message.role === "user" && compat.requiresAssistantAfterToolResult) {
			texts.push(wire({ role: "assistant", content: "Tool results received." }));
		}
		flush();
		const made = message.role === "user" ? userText(message) : assistantText(message, variant);
		if (made !== "") texts.push(made);
	});
	flush();
	return isMarked ? markLast(texts, messages) : texts;
}

/** Puts a cache mark on the text of the last message, when that is a plain one. */
function markLast(texts: string[], messages: readonly ModelMessage[]): string[] {
	if (messages.length === 0) return texts;
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

const toolText = remembered((tool: ToolDefinition): string => {
	return wire({ type: "function", function: { name: tool.name, description: tool.description, parameters: tool.parameters } });
});

// ── Thinking ───────────────────────────────────────────────────────────────────────────────────────────

function thinkingOf(call: Call): string[] {
	const { compat, level, model } = call;
	if (!model.reasoning) return [];
	const isOn = level !== "off";
	const word = compat.reasoningEffortMap[level] ?? effortWord(model, level);
	const effort = word !== undefined && compat.supportsReasoningEffort ? [`"reasoning_effort":${wire(word)}`] : [];
	// Hosts with a switch of their own take an effort only for models that name their words.
	const namedEffort = isOn && typeof levelMap(model)[level] === "string" ? effort : [];
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
