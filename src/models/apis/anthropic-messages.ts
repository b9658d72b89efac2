/** Anthropic Messages. */

import type { ModelMessage, ToolDefinition } from "../../agent/contracts.ts";
import { asksForLong } from "../../protocol/cache.ts";
import type { Image, Text } from "../../protocol/content.ts";
import type { AssistantMessage, ToolResultMessage } from "../../protocol/messages.ts";
import type { Usage } from "../../protocol/model.ts";
import { pricesOf } from "../../protocol/prices.ts";
import {
	type Api,
	type Call,
	type Decoder,
	type Ending,
	endpoint,
	imageOnly,
	imagesIn,
	noOutput,
	resultsFrom,
	saidIn,
	settled,
	textOf,
	thinks,
	type WireRequest,
} from "../api.ts";
import type { Blocks } from "../blocks.ts";
import { priced, type ReplyBuilder } from "../builder.ts";
import { claudeOf } from "../claude.ts";
import { readError } from "../error-body.ts";
import { count, type Json, object, parseEvent, text } from "../json.ts";
import { effortWord, supportedLevels } from "../thinking.ts";
import { withoutRootAlternatives } from "../tool-schemas.ts";

// ── Request ────────────────────────────────────────────────────────────────────────────────────────────

const smallestOutput = 1024;

/** `head` are the members that say which model and which version; a host may want others there. */
export function request(call: Call, head: Json = { model: call.modelId }): WireRequest {
	const thinking = thinkingOf(call);
	const mark = cacheMark(call);
	const body: Json = { ...head, max_tokens: thinking.maxTokens, stream: true, ...thinking.members };
	if (call.systemPrompt.trim() !== "") body.system = markedLast([{ type: "text", text: call.systemPrompt }], mark);
	if (call.tools.length > 0) body.tools = markedLast(call.tools.map(toolOf), mark);
	// The API refuses a tool choice while the model thinks.
	if (call.toolChoice && !thinks(call)) body.tool_choice = { type: "tool", name: call.toolChoice };
	body.messages = messagesOf(call, mark);
	const headers: Record<string, string> = { "anthropic-version": "2023-06-01" };
	if (thinking.betas.length > 0) headers["anthropic-beta"] = thinking.betas.join(",");
	return { url: endpoint(call.baseUrl, "/v1/messages"), headers, body };
}

/** The member that asks the provider to keep all up to here. */
type CacheMark = { cache_control: Json } | undefined;

function cacheMark(call: Call): CacheMark {
	if (call.retention === "none") return undefined;
	return { cache_control: { type: "ephemeral", ...(asksForLong(call, call.retention) ? { ttl: "1h" } : {}) } };
}

/** Puts the mark on the last object. */
function markedLast(objects: readonly Json[], mark: CacheMark): Json[] {
	return objects.map((one, index) => (index === objects.length - 1 ? { ...one, ...mark } : one));
}

// ── Messages ───────────────────────────────────────────────────────────────────────────────────────────

/** Returns undefined for a blank one. */
function replyBlock(block: AssistantMessage["content"][number]): Json | undefined {
	if (block.type === "redactedThinking") return { type: "redacted_thinking", data: block.data };
	if (block.type === "toolCall") return { type: "tool_use", id: block.id, name: block.name, input: block.arguments };
	if (block.type === "thinking" && block.thinkingSignature) return { type: "thinking", thinking: block.thinking, signature: block.thinkingSignature };
	const said = block.type === "text" ? block.text : block.thinking;
	return said.trim() === "" ? undefined : { type: "text", text: said };
}

function resultBlock({ toolCallId, content, isError }: ToolResultMessage): Json {
	const images = imagesIn(content);
	const words = textOf(content) || (images.length > 0 ? imageOnly : noOutput);
	const result: Json = { type: "tool_result", tool_use_id: toolCallId, content: words };
	if (isError) result.is_error = true;
	else if (images.length > 0) result.content = [{ type: "text", text: words }, ...images.map(imageBlock)];
	return result;
}

function imageBlock(image: Image): Json {
	return { type: "image", source: { type: "base64", media_type: image.mimeType, data: image.data } };
}

function userBlock(block: Text | Image): Json {
	return block.type === "image" ? imageBlock(block) : { type: "text", text: block.text };
}

/**
 * All results of one turn are one message. The last block of the last message in the user's role gets the mark, and so does the message that
 * was the last one before: a provider looks only 20 blocks back from a mark, and many calls at once are more.
 */
function messagesOf({ messages, isLast }: Call, mark: CacheMark): Json[] {
	const sent: { role: string; content: Json[] }[] = [];
	for (let index = 0; index < messages.length; index += 1) {
		const message = messages[index] as ModelMessage;
		let content: Json[];
		if (message.role === "assistant") content = message.content.map(replyBlock).filter((block) => block !== undefined);
		else if (message.role === "user") content = saidIn(message.content).map(userBlock);
		else {
			const results = resultsFrom(messages, index);
			content = results.map(resultBlock);
			// An error result may not contain images; they follow all results.
			for (const result of results) if (result.isError) content.push(...imagesIn(result.content).map(imageBlock));
			index += results.length - 1;
		}
		if (content.length > 0) sent.push({ role: message.role === "assistant" ? "assistant" : "user", content });
	}
	const last = sent.findLastIndex(({ role }) => role === "user");
	const reply = sent.findLastIndex(({ role }) => role === "assistant");
	const before = sent.findLastIndex(({ role }, index) => role === "user" && index < Math.min(reply, last));
	for (const message of sent.filter((_, index) => (index === last && !isLast) || index === before))
		message.content = markedLast(message.content, mark);
	return sent;
}

/** Only `[A-Za-z0-9_-]`, at most 64 characters. */
export function callId(id: string): string {
	return id.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64);
}

// ── Tools ──────────────────────────────────────────────────────────────────────────────────────────────

function toolOf(tool: ToolDefinition): Json {
	const { properties = {}, required = [], ...rest } = withoutRootAlternatives(tool.parameters);
	const { type: _, $schema: __, ...others } = rest;
	return { name: tool.name, description: tool.description, input_schema: { type: "object", properties, required, ...others } };
}

// ── Thinking ───────────────────────────────────────────────────────────────────────────────────────────

const interleaved = "interleaved-thinking-2025-05-14";
const contextManagement = "context-management-2025-06-27";
const bindingControls = "thinking-binding-controls-2026-08-01";

export interface Thinking {
	/** Members of the body. */
	members: Json;
	maxTokens: number;
	/** Values of the `anthropic-beta` header that the members need. */
	betas: string[];
}

export function thinkingOf(call: Call): Thinking {
	const { model, level, maxTokens, without } = call;
	const plain: Thinking = { members: {}, maxTokens, betas: [] };
	const claude = claudeOf(model.id);
	if (!model.reasoning) return plain;
	if (level === "off") return supportedLevels(model).includes("off") ? { ...plain, members: { thinking: { type: "disabled" } } } : plain;
	if (!call.mayThink) return plain;
	if (isAdaptive(call)) {
		const word = effortWord(model, level) ?? "high";
		const isBound = claude?.bindsThinking && !without.has("blockBinding");
		// Thinking behind a changed prefix is left out by the provider. Without this the request would be refused, and each one after it.
		const binding = isBound ? { block_binding: { prefix_mismatch_behavior: "drop_block" } } : {};
		const members = {
			thinking: { type: "adaptive", display: "summarized", ...binding },
			output_config: { effort: word === "minimal" ? "low" : word },
		};
		return { ...plain, members, betas: isBound ? [bindingControls] : [] };
	}
	const wanted = level === "xhigh" ? 2 * call.budgets.high : call.budgets[level];
	const limit = Math.min(maxTokens + wanted, Math.max(model.maxTokens, 1));
	const budget = limit <= wanted ? limit - smallestOutput : wanted;
	if (budget < smallestOutput) return plain;
	const keeps = claude?.forgetsThinking && !without.has("contextManagement");
	const members: Json = { thinking: { type: "enabled", budget_tokens: budget } };
	if (keeps) members.context_management = { edits: [{ type: "clear_thinking_20251015", keep: "all" }] };
	return { members, maxTokens: limit, betas: [...(claude ? [interleaved] : []), ...(keeps ? [contextManagement] : [])] };
}

function isAdaptive({ model, compat }: Pick<Call, "model" | "compat">): boolean {
	return (compat.thinkingMode ?? (claudeOf(model.id)?.isAdaptive ? "adaptive" : "budget")) === "adaptive";
}

/**
 * Models with a budget refuse to think in a turn that began without: one that another model began, whose thinking is not sent. A message of the
 * user that follows results belongs to their turn.
 */
export function mayThink(call: Pick<Call, "model" | "compat" | "messages">): boolean {
	const { model, messages } = call;
	if (isAdaptive(call) || messages.at(-1)?.role !== "toolResult") return true;
	const isPrompt = ({ role }: ModelMessage, index: number) => role === "user" && messages[index - 1]?.role !== "toolResult";
	const prompt = messages.findLastIndex(isPrompt);
	const reply = messages.slice(prompt + 1).find((message) => message.role === "assistant");
	if (reply?.provider === model.provider && reply.model === model.id) return true;
	const block = reply?.content[0];
	return block?.type === "redactedThinking" || (block?.type === "thinking" && block.thinkingSignature !== undefined);
}

// ── Reply ──────────────────────────────────────────────────────────────────────────────────────────────

/** The HTTP status of each error type, for errors inside a stream. */
const statuses: Record<string, number> = {
	invalid_request_error: 400,
	authentication_error: 401,
	billing_error: 402,
	permission_error: 403,
	not_found_error: 404,
	request_too_large: 413,
	rate_limit_error: 429,
	api_error: 500,
	timeout_error: 504,
	overloaded_error: 529,
};

class MessagesDecoder implements Decoder {
	#call: Call;
	#builder: ReplyBuilder;
	#blocks: Blocks;
	#tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
	#hourly = 0;
	#signatures = new Map<number, string>();
	#stopWord: string | undefined;
	#stopDetails: Json | undefined;
	#error: Extract<Ending, { error: string }> | undefined;
	isOver = false;

	constructor(call: Call, builder: ReplyBuilder, blocks: Blocks) {
		this.#call = call;
		this.#builder = builder;
		this.#blocks = blocks;
	}

	event(data: string): void {
		const event = parseEvent(data);
		if (!event) return;
		const isError = event.type === "error" || (event.type === undefined && event.error !== undefined);
		if (this.isOver) {
			if (isError && !this.isWhole && !this.#error) this.#fail(data);
			return;
		}
		const index = typeof event.index === "number" ? event.index : 0;
		if (event.type === "content_block_delta") this.#delta(index, object(event.delta) ?? {});
		else if (event.type === "content_block_start") this.#open(index, object(event.content_block) ?? {});
		else if (event.type === "content_block_stop") this.#blocks.close(index);
		else if (event.type === "message_start") this.#start(object(event.message) ?? {});
		else if (event.type === "message_delta") {
			this.#stopWord = text(object(event.delta)?.stop_reason) || this.#stopWord;
			this.#stopDetails = object(object(event.delta)?.stop_details) ?? this.#stopDetails;
			this.#count(object(event.usage));
		} else if (event.type === "message_stop") this.isOver = true;
		else if (isError) this.#fail(data);
	}

	get isComplete(): boolean {
		return this.isOver;
	}

	get isWhole(): boolean {
		return this.isOver && this.#stopWord !== "max_tokens";
	}

	finish(): Ending {
		if (this.#error) return this.#error;
		if (!this.isOver) return { cut: "The stream ended before message_stop" };
		const word = this.#stopWord ?? "end_turn";
		if (word === "end_turn" || word === "pause_turn" || word === "stop_sequence" || word === "tool_use" || word === "max_tokens") {
			this.#blocks.closeAll();
			return settled(this.#builder, word === "max_tokens" ? "length" : "stop");
		}
		return word === "refusal" ? this.#refusal() : { error: `The reply ended with: ${word}` };
	}

	/** The provider says which of its rules the request broke, and why. */
	#refusal(): Ending {
		if (this.#stopDetails) this.#builder.set({ stopDetails: this.#stopDetails });
		const category = text(this.#stopDetails?.category);
		const explanation = text(this.#stopDetails?.explanation);
		const error = `The model refused to answer (refusal${category ? `: ${category}` : ""})${explanation ? `: ${explanation}` : ""}`;
		return { error, failure: { kind: "permanent" } };
	}

	#start(message: Json): void {
		const id = text(message.id);
		if (id !== "") this.#builder.set({ responseId: id });
		this.#count(object(message.usage));
		this.#builder.start();
	}

	#open(index: number, block: Json): void {
		if (this.#blocks.has(index)) return;
		if (block.type === "text") {
			this.#blocks.open(index, { type: "text", text: "" });
			this.#blocks.append(index, text(block.text));
		} else if (block.type === "thinking") {
			this.#blocks.open(index, { type: "thinking", thinking: "" });
			this.#blocks.append(index, text(block.thinking));
			this.#sign(index, text(block.signature));
		} else if (block.type === "redacted_thinking") this.#blocks.open(index, { type: "redactedThinking", data: text(block.data) });
		else if (block.type === "tool_use") {
			this.#blocks.open(index, { type: "toolCall", id: text(block.id), name: text(block.name), arguments: object(block.input) ?? {} });
		}
	}

	#delta(index: number, delta: Json): void {
		if (delta.type === "text_delta") this.#blocks.append(index, text(delta.text));
		else if (delta.type === "input_json_delta") this.#blocks.append(index, text(delta.partial_json));
		else if (delta.type === "thinking_delta") this.#blocks.append(index, text(delta.thinking));
		else if (delta.type === "signature_delta") this.#sign(index, text(delta.signature));
	}

	#sign(index: number, piece: string): void {
		if (piece === "" || !this.#blocks.has(index)) return;
		const thinkingSignature = (this.#signatures.get(index) ?? "") + piece;
		this.#signatures.set(index, thinkingSignature);
		this.#blocks.change(index, { thinkingSignature });
	}

	#count(usage: Json | undefined): void {
		if (!usage) return;
		const tokens = this.#tokens;
		tokens.input = count(usage.input_tokens) || tokens.input;
		tokens.output = count(usage.output_tokens) || tokens.output;
		tokens.cacheRead = count(usage.cache_read_input_tokens) || tokens.cacheRead;
		tokens.cacheWrite = count(usage.cache_creation_input_tokens) || tokens.cacheWrite;
		this.#hourly = count(object(usage.cache_creation)?.ephemeral_1h_input_tokens) || this.#hourly;
		this.#builder.set({ usage: this.#priced() });
	}

	/** Writes that are kept for an hour cost twice the input price instead of one and a quarter times it. */
	#priced(): Usage {
		const usage = priced({ ...this.#tokens }, this.#call.model);
		if (this.#hourly === 0) return usage;
		const extra = (this.#hourly * pricesOf(this.#call.model, usage).cacheWrite * 0.6) / 1e6;
		return { ...usage, cost: { ...usage.cost, cacheWrite: usage.cost.cacheWrite + extra, total: usage.cost.total + extra } };
	}

	#fail(data: string): void {
		const { text: error, raw } = readError(data);
		const status = statuses[text(object(parseEvent(data)?.error)?.type)];
		this.#error = { error, raw, ...(status ? { status } : {}) };
		this.isOver = true;
	}
}

export const api: Api = {
	mayThink,
	request: (call) => request(call),
	decoder: (call, builder, blocks) => new MessagesDecoder(call, builder, blocks),
};
