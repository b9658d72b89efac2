/** Anthropic Messages. */

import type { ModelMessage, ToolDefinition } from "../../agent/contracts.ts";
import type { Image, Text } from "../../protocol/content.ts";
import type { AssistantMessage, ToolResultMessage, UserMessage } from "../../protocol/messages.ts";
import type { Model, Usage } from "../../protocol/model.ts";
import {
	type Api,
	type Call,
	type Decoder,
	type Ending,
	endpoint,
	imageOnly,
	noOutput,
	remembered,
	type StoredWriter,
	settled,
	thinks,
	type WireRequest,
} from "../api.ts";
import type { Blocks } from "../blocks.ts";
import { priced, type ReplyBuilder } from "../builder.ts";
import { readError } from "../error-body.ts";
import { Growing } from "../growing.ts";
import { isOwnReply, type Target } from "../handoff.ts";
import { asBytes, count, type Json, object, parseEvent, text, wire, withMember } from "../json.ts";
import { pageMaker } from "../pages.ts";
import { effortWord, supportedLevels } from "../thinking.ts";
import { withoutRootAlternatives } from "../tool-schemas.ts";
import { storedMessages } from "./anthropic-stored.ts";

// ── Request ────────────────────────────────────────────────────────────────────────────────────────────

const smallestOutput = 1024;
const pagesOf = pageMaker();

/** `head` are the members that say which model and which version; a host may want others there. */
export function request(call: Call, head = [`"model":${wire(call.modelId)}`]): WireRequest {
	const { model } = call;
	const thinking = thinkingOf(call);
	const mark = cacheMark(call);
	const members = [...head, `"max_tokens":${thinking.maxTokens}`, '"stream":true', ...thinking.members];
	if (call.systemPrompt.trim() !== "") {
		const block = wire({ type: "text", text: call.systemPrompt });
		members.push(`"system":[${mark ? withMember(block, "cache_control", mark) : block}]`);
	}
	const tools = call.tools.map((tool) => toolText(tool));
	if (tools.length > 0) {
		if (mark) tools.push(withMember(tools.pop() as string, "cache_control", mark));
		members.push(`"tools":[${tools.join(",")}]`);
	}
	// The API refuses a tool choice while the model thinks.
	if (call.toolChoice && !thinks(call)) members.push(`"tool_choice":${wire({ type: "tool", name: call.toolChoice })}`);
	const pages = pagesOf(call.messages[0], messageTexts(call.messages, mark));
	const comma = call.history.length > 0 && pages.length > 0 ? [","] : [];
	const headers: Record<string, string> = { "anthropic-version": "2023-06-01" };
	if (thinking.isBudget && isClaude(model)) headers["anthropic-beta"] = "interleaved-thinking-2025-05-14";
	return {
		url: endpoint(call.baseUrl, "/v1/messages"),
		headers,
		body: [`{${members.join(",")},"messages":[`, ...call.history, ...comma, ...pages, "]}"],
	};
}

function cacheMark(call: Call): string | undefined {
	if (call.retention === "none") return undefined;
	const isLong = call.retention === "long" && URL.canParse(call.baseUrl) && new URL(call.baseUrl).hostname === "api.anthropic.com";
	return isLong ? '{"type":"ephemeral","ttl":"1h"}' : '{"type":"ephemeral"}';
}

// ── Messages ───────────────────────────────────────────────────────────────────────────────────────────

/** A message in the user's role: whole, and in blocks so that the last one can get a cache mark. */
interface UserTurn {
	blocks: string[];
	text: string;
}

const userTurn = (message: UserMessage): UserTurn => turnOf(contentBlocks(message.content));

function turnOf(blocks: string[]): UserTurn {
	return { blocks, text: blocks.length === 0 ? "" : `{"role":"user","content":[${blocks.join(",")}]}` };
}

function assistantText(message: AssistantMessage): string {
	const blocks = message.content.flatMap((block): unknown[] => {
		if (block.type === "text") return block.text.trim() === "" ? [] : [{ type: "text", text: block.text }];
		if (block.type === "redactedThinking") return [{ type: "redacted_thinking", data: block.data }];
		if (block.type === "toolCall") return [{ type: "tool_use", id: block.id, name: block.name, input: block.arguments }];
		if (block.thinkingSignature) return [{ type: "thinking", thinking: block.thinking, signature: block.thinkingSignature }];
		return block.thinking.trim() === "" ? [] : [{ type: "text", text: block.thinking }];
	});
	return blocks.length === 0 ? "" : wire({ role: "assistant", content: blocks });
}

/** A result, and the images that must follow all results because an error result may not contain any. */
function resultBlocks(message: ToolResultMessage): { result: string; trailing: string[] } {
	const words = message.content.flatMap((block) => (block.type === "text" && block.text.trim() !== "" ? [block.text] : [])).join("\n");
	const images = message.content.filter((block) => block.type === "image");
	const base = { type: "tool_result", tool_use_id: message.toolCallId };
	const failed = message.isError ? { is_error: true } : {};
	if (images.length === 0 || message.isError) {
		const content = words || (images.length > 0 ? imageOnly : noOutput);
		return { result: wire({ ...base, content, ...failed }), trailing: images.map((image) => wire(imageBlock(image))) };
	}
	const content = [{ type: "text", text: words || imageOnly }, ...images.map(imageBlock)];
	return { result: wire({ ...base, content, ...failed }), trailing: [] };
}

/** All results of one turn are one message. */
function resultsTurn(run: readonly ToolResultMessage[]): UserTurn {
	const made = run.map((message) => resultBlocks(message));
	return turnOf([...made.map((one) => one.result), ...made.flatMap((one) => one.trailing)]);
}

function imageBlock(image: Image): unknown {
	return { type: "image", source: { type: "base64", media_type: image.mimeType, data: image.data } };
}

function contentBlocks(content: string | (Text | Image)[]): string[] {
	if (typeof content === "string") return content.trim() === "" ? [] : [wire({ type: "text", text: content })];
	return content.flatMap((block) => {
		if (block.type === "image") return [wire(imageBlock(block))];
		return block.text.trim() === "" ? [] : [wire({ type: "text", text: block.text })];
	});
}

/** A message of the request; a turn of the user also has its blocks, so that the last one can be marked. */
type Sent = string | UserTurn;

const sentBefore = new Growing<ModelMessage, Sent>();

function sentMessages(messages: readonly ModelMessage[], from: number, made: Sent[], begin: (index: number) => void): void {
	for (let index = from; index < messages.length; index += 1) {
		const message = messages[index] as ModelMessage;
		begin(index);
		if (message.role === "assistant") {
			const text = assistantText(message);
			if (text !== "") made.push(text);
			continue;
		}
		let user: UserTurn;
		if (message.role === "user") user = userTurn(message);
		else {
			const run: ToolResultMessage[] = [];
			for (let next: ModelMessage | undefined = message; next?.role === "toolResult"; next = messages[++index]) run.push(next);
			index -= 1;
			user = resultsTurn(run);
		}
		if (user.blocks.length > 0) made.push(user);
	}
}

function messageTexts(messages: readonly ModelMessage[], mark: string | undefined): string[] {
	const sent = sentBefore.make(messages, "", sentMessages);
	const texts = sent.map((one) => (typeof one === "string" ? one : one.text));
	const last = mark ? sent.findLastIndex((one) => typeof one !== "string") : -1;
	if (last >= 0) {
		const blocks = (sent[last] as UserTurn).blocks.slice();
		blocks.push(withMember(blocks.pop() as string, "cache_control", mark as string));
		texts[last] = turnOf(blocks).text;
	}
	return texts;
}

const stored: StoredWriter = {
	run: (run, target) => storedMessages(run, target, (message) => storedText(message, target)),
	messages: (messages) =>
		asBytes(
			messageTexts(messages, undefined)
				.map((text) => `,${text}`)
				.join(""),
		),
};

/** A stored message that can be sent to the model as it is: a result as a block, others whole. Images may have to be left out. */
function storedText(message: ModelMessage, target: Target): string | undefined {
	if (message.role === "assistant") return isOwnReply(message, target) ? assistantText(message) : undefined;
	if (typeof message.content !== "string" && message.content.some((block) => block.type === "image")) return undefined;
	return message.role === "user" ? userTurn(message).text : resultBlocks(message).result;
}

/** Only `[A-Za-z0-9_-]`, at most 64 characters. */
export function callId(id: string): string {
	return id.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64);
}

// ── Tools ──────────────────────────────────────────────────────────────────────────────────────────────

const toolText = remembered((tool: ToolDefinition): string => {
	const { properties = {}, required = [], ...rest } = withoutRootAlternatives(tool.parameters);
	const { type: _, $schema: __, ...others } = rest;
	return wire({ name: tool.name, description: tool.description, input_schema: { type: "object", properties, required, ...others } });
});

// ── Thinking ───────────────────────────────────────────────────────────────────────────────────────────

function isClaude(model: Model): boolean {
	return /claude/i.test(model.id);
}

/** Claude 4.6 and later decide how long they think; `claude-opus-4-6`, `claude-sonnet-5`, `anthropic/claude-opus-4.7`. */
export function isAdaptive(model: Model): boolean {
	const version = /claude-[a-z]+-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/i.exec(model.id);
	if (!version) return false;
	const [major, minor] = [Number(version[1]), Number(version[2] ?? 0)];
	return major > 4 || (major === 4 && minor >= 6);
}

export function thinkingOf(call: Call): { members: string[]; maxTokens: number; isBudget: boolean } {
	const { model, level, maxTokens } = call;
	const plain = { members: [] as string[], maxTokens, isBudget: false };
	if (!model.reasoning) return plain;
	if (level === "off") return supportedLevels(model).includes("off") ? { ...plain, members: ['"thinking":{"type":"disabled"}'] } : plain;
	const mode = call.compat.thinkingMode ?? (isAdaptive(model) ? "adaptive" : "budget");
	if (mode === "adaptive") {
		const word = effortWord(model, level) ?? "high";
		const members = [
			'"thinking":{"type":"adaptive","display":"summarized"}',
			`"output_config":{"effort":${wire(word === "minimal" ? "low" : word)}}`,
		];
		return { ...plain, members };
	}
	const wanted = level === "xhigh" ? 2 * call.budgets.high : call.budgets[level];
	const limit = Math.min(maxTokens + wanted, Math.max(model.maxTokens, 1));
	const budget = limit <= wanted ? limit - smallestOutput : wanted;
	if (budget < smallestOutput || !mayThink(call.messages)) return plain;
	return { members: [`"thinking":{"type":"enabled","budget_tokens":${budget}}`], maxTokens: limit, isBudget: true };
}

/** Models with a budget refuse to think in a turn whose last reply called tools without thinking. */
function mayThink(messages: readonly ModelMessage[]): boolean {
	if (messages.at(-1)?.role !== "toolResult") return true;
	const last = messages.findLast((message) => message.role === "assistant");
	const first = last?.content[0];
	return first?.type === "redactedThinking" || (first?.type === "thinking" && first.thinkingSignature !== undefined);
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

/** The members of a delta, by the type of its block. */
const usualMembers: ReadonlyMap<unknown, string> = new Map([
	["text", '"type":"text_delta","text"'],
	["thinking", '"type":"thinking_delta","thinking"'],
	["tool_use", '"type":"input_json_delta","partial_json"'],
]);

/** The text of a delta that begins as usual and has nothing after its text; nothing for all others. Reading the whole event costs twice as much. */
function textAfter(beginning: string, data: string): string | undefined {
	if (!data.startsWith(beginning)) return undefined;
	let end = data.length - 1;
	if (data.charCodeAt(end) !== 125) return undefined;
	// Between the last braces there may be blanks, which hide how long the text is.
	do end -= 1;
	while (data.charCodeAt(end) === 32);
	if (data.charCodeAt(end) !== 125 || data.charCodeAt(end - 1) !== 34) return undefined;
	try {
		return JSON.parse(data.slice(beginning.length - 1, end)) as string;
	} catch {
		// Something else than one text: whatever it is, the whole event shows it.
		return undefined;
	}
}

class MessagesDecoder implements Decoder {
	#call: Call;
	#builder: ReplyBuilder;
	#blocks: Blocks;
	#tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
	#hourly = 0;
	#signatures = new Map<number, string>();
	/** How the deltas of the newest block usually begin, up to their text. */
	#usual = "";
	#newest = 0;
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
		const piece = this.#usual !== "" && !this.isOver ? textAfter(this.#usual, data) : undefined;
		if (piece !== undefined) this.#blocks.append(this.#newest, piece);
		else this.#event(data);
	}

	#event(data: string): void {
		const event = parseEvent(data);
		if (!event || this.isOver) return;
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
		else if (event.type === "error" || (event.type === undefined && event.error !== undefined)) this.#fail(data);
	}

	get isComplete(): boolean {
		return this.isOver;
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
		const member = usualMembers.get(block.type);
		this.#usual = member ? `{"type":"content_block_delta","index":${index},"delta":{${member}:"` : "";
		this.#newest = index;
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
		const extra = (this.#hourly * this.#call.model.cost.cacheWrite * 0.6) / 1e6;
		return { ...usage, cost: { ...usage.cost, cacheWrite: usage.cost.cacheWrite + extra, total: usage.cost.total + extra } };
	}

	#fail(data: string): void {
		const { text: error, raw } = readError(data);
		const status = statuses[text(object(parseEvent(data)?.error)?.type)];
		this.#error = { error, raw, ...(status ? { status } : {}) };
		this.isOver = true;
	}
}

export const api: Api = { request: (call) => request(call), stored, decoder: (call, builder, blocks) => new MessagesDecoder(call, builder, blocks) };
