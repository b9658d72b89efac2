/** Amazon Bedrock, ConverseStream: one format for the models of all vendors there. */

import type { ModelMessage, ToolDefinition } from "../../agent/contracts.ts";
import { EventStreamReader } from "../../lib/event-stream.ts";
import type { Image, Text } from "../../protocol/content.ts";
import type { AssistantMessage, ToolResultMessage } from "../../protocol/messages.ts";
import type { Model, Usage } from "../../protocol/model.ts";
import { pricesOf } from "../../protocol/prices.ts";
import {
	type Api,
	type Call,
	type Decoder,
	type Ending,
	imageOnly,
	imagesIn,
	noOutput,
	saidIn,
	settled,
	textOf,
	thinks,
	type WireRequest,
} from "../api.ts";
import type { Blocks } from "../blocks.ts";
import { priced, type ReplyBuilder } from "../builder.ts";
import { claudeOf } from "../claude.ts";
import { count, type Json, list, object, parseEvent, text } from "../json.ts";
import { effortWord } from "../thinking.ts";
import { withoutRootAlternatives } from "../tool-schemas.ts";
import { callId as claudeCallId, mayThink as claudeMayThink, thinkingOf as claudeThinking } from "./anthropic-messages.ts";

// ── Request ────────────────────────────────────────────────────────────────────────────────────────────

export function request(call: Call): WireRequest {
	const { model } = call;
	const mark = cacheMark(call);
	const thinking = thinkingOf(call);
	const body: Json = {};
	if (thinking.maxTokens !== undefined) body.inferenceConfig = { maxTokens: thinking.maxTokens };
	if (Object.keys(thinking.members).length > 0) body.additionalModelRequestFields = thinking.members;
	if (call.systemPrompt.trim() !== "") body.system = [{ text: call.systemPrompt }, ...mark];
	const tools = call.tools.length > 0 ? call.tools.map(toolOf) : missingTools(call.messages);
	if (tools.length > 0) {
		// A model that thinks may not be told which tool to call, and most of the others cannot be.
		const choice = call.toolChoice && isClaude(model) && !thinks(call) ? { toolChoice: { tool: { name: call.toolChoice } } } : {};
		body.toolConfig = { tools: [...tools, ...(isClaude(model) ? mark : [])], ...choice };
	}
	body.messages = messagesOf(call, mark);
	return { url: address(call.baseUrl, call.modelId), headers: { accept: "application/vnd.amazon.eventstream" }, body };
}

function address(baseUrl: string, id: string): string {
	const base = baseUrl.replace(/\?.*$/, "").replace(/\/+$/, "");
	return /\/converse-stream$/.test(base) ? base : `${base}/model/${encodeURIComponent(id)}/converse-stream`;
}

const isClaude = (model: Model) => /claude/i.test(model.id);
const isGpt = (model: Model) => /\bopenai\.gpt-(?!oss)/i.test(model.id);
const isNova = (model: Model) => /\bnova-/i.test(model.id);

/** The block that says "keep all up to here", for models that can; an empty list otherwise. */
function cacheMark({ model, retention, compat }: Call): Json[] {
	const version = claudeOf(model.id)?.version ?? 0;
	const canCache = compat.supportsCacheControl || version >= 3.07 || /claude-3-5-haiku|claude-3-5-sonnet-20241022/.test(model.id) || isNova(model);
	if (retention === "none" || !canCache) return [];
	return [{ cachePoint: { type: "default", ...(retention === "long" && version >= 4.05 ? { ttl: "1h" } : {}) } }];
}

// ── Messages ───────────────────────────────────────────────────────────────────────────────────────────

function assistantBlocks(message: AssistantMessage, model: Model): Json[] {
	return message.content.flatMap((block): Json[] => {
		if (block.type === "text") return block.text.trim() === "" ? [] : [{ text: block.text }];
		if (block.type === "toolCall") return [{ toolUse: { toolUseId: block.id, name: block.name, input: block.arguments } }];
		if (block.type === "redactedThinking") return isClaude(model) || isGpt(model) ? [{ reasoningContent: { redactedContent: block.data } }] : [];
		// Other models take no thinking back: the service refuses what has no signature.
		if (!isClaude(model)) return [];
		const { thinking, thinkingSignature: signature } = block;
		if (signature) return [{ reasoningContent: { reasoningText: { text: thinking, signature } } }];
		return thinking.trim() === "" ? [] : [{ text: thinking }];
	});
}

function resultBlock({ content, toolCallId, isError }: ToolResultMessage, knowsErrors: boolean): Json {
	const images = imagesIn(content).map(imageBlock);
	const said = [{ text: textOf(content) || (images.length > 0 ? imageOnly : noOutput) }, ...images];
	return { toolResult: { toolUseId: toolCallId, content: said, ...(isError && knowsErrors ? { status: "error" } : {}) } };
}

function userBlock(block: Text | Image): Json {
	return block.type === "image" ? imageBlock(block) : { text: block.text };
}

function imageBlock({ mimeType, data }: Image): Json {
	const kind = mimeType.replace(/^image\//, "");
	return { image: { format: kind === "jpg" ? "jpeg" : kind, source: { bytes: data } } };
}

/** The roles must alternate, so neighbours of one role become one message. */
function messagesOf(call: Call, mark: readonly Json[]): Json[] {
	const knowsErrors = isClaude(call.model) || isNova(call.model);
	const blocksOf = (message: ModelMessage) => {
		if (message.role === "assistant") return assistantBlocks(message, call.model);
		return message.role === "user" ? saidIn(message.content).map(userBlock) : [resultBlock(message, knowsErrors)];
	};
	const turns: { role: "user" | "assistant"; content: Json[] }[] = [];
	for (const message of call.messages) {
		const role = message.role === "assistant" ? "assistant" : "user";
		const blocks = blocksOf(message);
		if (blocks.length === 0) continue;
		const last = turns.at(-1);
		if (last?.role === role) last.content.push(...blocks);
		else turns.push({ role, content: blocks });
	}
	// The second mark is on the last message of the request before: a provider looks only some blocks back from a mark.
	for (const turn of turns.filter(({ role }) => role === "user").slice(-2, call.isLast ? -1 : undefined)) turn.content.push(...mark);
	return turns;
}

export const callId = claudeCallId;

// ── Tools ──────────────────────────────────────────────────────────────────────────────────────────────

function toolOf(tool: ToolDefinition): Json {
	const { $schema: _, ...schema } = withoutRootAlternatives(tool.parameters);
	return toolSpec(tool.name, tool.description, { ...schema, type: "object" });
}

function toolSpec(name: string, description: string, schema: object): Json {
	return { toolSpec: { name, ...(description.trim() === "" ? {} : { description }), inputSchema: { json: schema } } };
}

/** A conversation with calls in it is refused when it comes without tools, so the tools that were called are named. */
function missingTools(messages: readonly ModelMessage[]): Json[] {
	const calls = messages.flatMap((message) => (message.role === "assistant" ? message.content.filter((block) => block.type === "toolCall") : []));
	const names = [...new Set(calls.map(({ name }) => name))];
	return names.map((name) => toolSpec(name, "Cannot be called any more.", { type: "object", properties: {} }));
}

// ── Thinking ───────────────────────────────────────────────────────────────────────────────────────────

function thinkingOf(call: Call): { members: Json; maxTokens: number | undefined } {
	const { model, level, maxTokens } = call;
	if (isClaude(model)) {
		const { members, maxTokens: limit, betas } = claudeThinking(call);
		// Models before the fourth generation refuse the request instead of ignoring the wish.
		const beta = betas.length > 0 && (claudeOf(model.id)?.version ?? 0) >= 4 ? { anthropic_beta: betas } : {};
		return { members: { ...members, ...beta }, maxTokens: limit };
	}
	const word = effortWord(model, level);
	if (isGpt(model) && model.reasoning && word !== undefined) return { members: { reasoning: { effort: word } }, maxTokens };
	if (!thinks(call)) return { members: {}, maxTokens };
	const effort = word === "minimal" ? "low" : word === "xhigh" || word === "max" ? "high" : word;
	if (/gpt-oss/i.test(model.id)) return { members: { reasoning_effort: effort }, maxTokens };
	if (!/nova-2/i.test(model.id)) return { members: {}, maxTokens };
	// With the highest effort Nova takes no limit of its own.
	return { members: { reasoningConfig: { type: "enabled", maxReasoningEffort: effort } }, maxTokens: effort === "high" ? undefined : maxTokens };
}

// ── Reply ──────────────────────────────────────────────────────────────────────────────────────────────

/** The HTTP statuses of exceptions that arrive in a running stream. */
const statuses: Readonly<Record<string, number>> = {
	validationexception: 400,
	accessdeniedexception: 403,
	resourcenotfoundexception: 404,
	modeltimeoutexception: 408,
	throttlingexception: 429,
	modelnotreadyexception: 429,
	servicequotaexceededexception: 429,
	internalserverexception: 500,
	modelstreamerrorexception: 500,
	serviceunavailableexception: 503,
};

class ConverseDecoder implements Decoder {
	#call: Call;
	#builder: ReplyBuilder;
	#blocks: Blocks;
	#signatures = new Map<number, string>();
	#redacted = new Map<number, Buffer[]>();
	#stopWord: string | undefined;
	#error: { error: string; status?: number } | undefined;
	/** The numbers come last. */
	isOver = false;

	constructor(call: Call, builder: ReplyBuilder, blocks: Blocks) {
		this.#call = call;
		this.#builder = builder;
		this.#blocks = blocks;
	}

	event(data: string): void {
		const event = parseEvent(data);
		if (!event) return;
		const [[kind, value] = ["", undefined]] = Object.entries(event);
		const body = object(value) ?? {};
		if (kind.startsWith("!")) {
			if (!this.isWhole && !this.#error) this.#fail(kind.slice(1), body);
			return;
		}
		if (this.isOver) return;
		const index = typeof body.contentBlockIndex === "number" ? body.contentBlockIndex : 0;
		if (kind === "contentBlockDelta") this.#delta(index, object(body.delta) ?? {});
		else if (kind === "contentBlockStart") this.#open(index, object(body.start) ?? {});
		else if (kind === "contentBlockStop") this.#blocks.close(index);
		else if (kind === "messageStart") this.#builder.start();
		else if (kind === "messageStop") this.#stopWord = text(body.stopReason) || "end_turn";
		else if (kind === "metadata") {
			this.#count(object(body.usage));
			this.isOver = this.#stopWord !== undefined;
		}
	}

	get isComplete(): boolean {
		return this.#stopWord !== undefined;
	}

	get isWhole(): boolean {
		return this.#stopWord !== undefined && this.#stopWord !== "max_tokens";
	}

	finish(): Ending {
		if (this.#error) return this.#error;
		const word = this.#stopWord;
		if (word === undefined) return { cut: "The stream ended before messageStop" };
		if (word === "end_turn" || word === "stop_sequence" || word === "tool_use" || word === "max_tokens") {
			this.#blocks.closeAll();
			return settled(this.#builder, word === "max_tokens" ? "length" : "stop");
		}
		if (word === "guardrail_intervened") return { error: "A guardrail of Amazon Bedrock stopped the reply (guardrail_intervened)" };
		return { error: word === "refusal" ? "The model refused to answer (refusal)" : `The reply ended with: ${word}` };
	}

	/** Only calls are announced; texts and thinking begin with their first piece. */
	#open(index: number, start: Json): void {
		const use = object(start.toolUse);
		if (!use || this.#blocks.has(index)) return;
		this.#blocks.open(index, { type: "toolCall", id: text(use.toolUseId), name: text(use.name), arguments: {} });
	}

	#delta(index: number, delta: Json): void {
		const thought = object(delta.reasoningContent);
		if (typeof delta.text === "string") {
			if (!this.#blocks.has(index)) this.#blocks.open(index, { type: "text", text: "" });
			this.#blocks.append(index, delta.text);
		} else if (delta.toolUse !== undefined) this.#blocks.append(index, text(object(delta.toolUse)?.input));
		else if (thought) this.#think(index, thought);
	}

	#think(index: number, thought: Json): void {
		if (typeof thought.redactedContent === "string") {
			const pieces = [...(this.#redacted.get(index) ?? []), Buffer.from(thought.redactedContent, "base64")];
			this.#redacted.set(index, pieces);
			const data = Buffer.concat(pieces).toString("base64");
			if (this.#blocks.has(index)) this.#blocks.change(index, { data } as object);
			else this.#blocks.open(index, { type: "redactedThinking", data });
			return;
		}
		if (!this.#blocks.has(index)) this.#blocks.open(index, { type: "thinking", thinking: "" });
		this.#blocks.append(index, text(thought.text));
		const piece = text(thought.signature);
		if (piece === "") return;
		const thinkingSignature = (this.#signatures.get(index) ?? "") + piece;
		this.#signatures.set(index, thinkingSignature);
		this.#blocks.change(index, { thinkingSignature });
	}

	#count(usage: Json | undefined): void {
		if (!usage) return;
		const tokens = {
			input: count(usage.inputTokens) ?? 0,
			output: count(usage.outputTokens) ?? 0,
			cacheRead: count(usage.cacheReadInputTokens) ?? 0,
			cacheWrite: count(usage.cacheWriteInputTokens) ?? 0,
		};
		const hourly = list(usage.cacheDetails).reduce<number>((sum, entry) => {
			const detail = object(entry);
			return detail?.ttl === "1h" ? sum + (count(detail.inputTokens) ?? 0) : sum;
		}, 0);
		this.#builder.set({ usage: this.#priced(priced(tokens, this.#call.model, count(usage.totalTokens) || undefined), hourly) });
	}

	/** Writes that are kept for an hour cost twice the input price instead of one and a quarter times it. */
	#priced(usage: Usage, hourly: number): Usage {
		if (hourly === 0) return usage;
		const extra = (hourly * pricesOf(this.#call.model, usage).cacheWrite * 0.6) / 1e6;
		return { ...usage, cost: { ...usage.cost, cacheWrite: usage.cost.cacheWrite + extra, total: usage.cost.total + extra } };
	}

	#fail(type: string, body: Json): void {
		const words = text(body.message) || text(body.Message) || text(body.originalMessage);
		const status = count(body.originalStatusCode) || statuses[type.toLowerCase()];
		const name = type.charAt(0).toUpperCase() + type.slice(1);
		this.#error = { error: words === "" ? name : `${name}: ${words}`, ...(status ? { status } : {}) };
		this.isOver = true;
	}
}

/** Each message becomes one object with one member: its kind; that of an exception begins with `!`. */
function reader(onEvent: (data: string) => void): EventStreamReader {
	return new EventStreamReader(({ headers, payload }) => {
		const kind = headers[":message-type"] ?? "event";
		const body = payload.length === 0 ? "{}" : payload.toString("utf8");
		if (kind === "event") onEvent(`{${JSON.stringify(headers[":event-type"] ?? "")}:${body}}`);
		else if (kind === "exception") onEvent(`{${JSON.stringify(`!${headers[":exception-type"] ?? "exception"}`)}:${body}}`);
		else onEvent(JSON.stringify({ [`!${headers[":error-code"] ?? "error"}`]: { message: headers[":error-message"] ?? body } }));
	});
}

const mayThink: Api["mayThink"] = (call) => !isClaude(call.model) || claudeMayThink(call);

export const api: Api = { request, reader, mayThink, decoder: (call, builder, blocks) => new ConverseDecoder(call, builder, blocks) };
