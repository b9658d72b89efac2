/** Google Generative AI. */

import type { ModelMessage, ToolDefinition } from "../../agent/contracts.ts";
import type { Image, Text } from "../../protocol/content.ts";
import type { AssistantMessage, ToolResultMessage } from "../../protocol/messages.ts";
import type { Model } from "../../protocol/model.ts";
import {
	type Api,
	type Call,
	type Decoder,
	type Ending,
	imageOnly,
	imagesIn,
	noOutput,
	objectSchema,
	resultsFrom,
	saidIn,
	settled,
	textOf,
	type WireRequest,
} from "../api.ts";
import type { Blocks } from "../blocks.ts";
import { priced, type ReplyBuilder } from "../builder.ts";
import { readError } from "../error-body.ts";
import { count, type Json, list, object, parseEvent, text } from "../json.ts";
import { levelMap } from "../thinking.ts";
import { googleSchema } from "../tool-schemas.ts";

// ── Request ────────────────────────────────────────────────────────────────────────────────────────────

export function request(call: Call): WireRequest {
	const body: Json = {};
	if (call.systemPrompt.trim() !== "") body.systemInstruction = { parts: [{ text: call.systemPrompt }] };
	if (call.tools.length > 0) body.tools = [{ functionDeclarations: call.tools.map(toolOf) }];
	if (call.toolChoice) body.toolConfig = { functionCallingConfig: { mode: "ANY", allowedFunctionNames: [call.toolChoice] } };
	body.generationConfig = { maxOutputTokens: call.maxTokens, ...thinkingOf(call.model, call.level) };
	body.contents = contentsOf(call.messages, isThird(call.model));
	return { url: address(call.baseUrl, call.modelId), headers: {}, body };
}

function address(baseUrl: string, id: string): string {
	const base = baseUrl.replace(/\?.*$/, "").replace(/\/+$/, "");
	if (/:streamGenerateContent$/.test(base)) return `${base}?alt=sse`;
	return `${base.replace(/\/models$/, "")}/models/${id.replace(/^models\//, "")}:streamGenerateContent?alt=sse`;
}

/** Gemini 3 and later: it wants signatures on calls and takes images inside results. */
export function isThird(model: Model): boolean {
	const version = /gemini-(\d+)/.exec(model.id);
	return version ? Number(version[1]) >= 3 : /gemini-(?:pro|flash|flash-lite)-latest/.test(model.id);
}

// ── Messages ───────────────────────────────────────────────────────────────────────────────────────────

/** Accepted instead of a signature for calls that another model made. */
const noSignature = "skip_thought_signature_validator";

function assistantParts(message: AssistantMessage, areThird: boolean): Json[] {
	const isUnsigned = areThird && !message.content.some((block) => block.type === "toolCall" && signature(block.thoughtSignature).thoughtSignature);
	return message.content.flatMap((block): Json[] => {
		if (block.type === "text") {
			const signed = signature(block.textSignature);
			return block.text.trim() === "" && !signed.thoughtSignature ? [] : [{ text: block.text, ...signed }];
		}
		if (block.type === "thinking") {
			const signed = signature(block.thinkingSignature);
			if (signed.thoughtSignature) return [{ thought: true, text: block.thinking, ...signed }];
			return block.thinking.trim() === "" ? [] : [{ text: block.thinking }];
		}
		if (block.type !== "toolCall") return [];
		const signed = isUnsigned ? { thoughtSignature: noSignature } : signature(block.thoughtSignature);
		return [{ functionCall: { name: block.name, args: block.arguments }, ...signed }];
	});
}

/** Anything but base64 is refused. */
function signature(value: string | undefined): { thoughtSignature?: string } {
	return value && value.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(value) ? { thoughtSignature: value } : {};
}

function resultPart(message: ToolResultMessage, areThird: boolean): Json {
	const images = imagesIn(message.content);
	const said = textOf(message.content) || (images.length > 0 ? imageOnly : noOutput);
	const response = message.isError ? { error: said } : { output: said };
	const nested = areThird && images.length > 0 ? { parts: images.map(part) } : {};
	return { functionResponse: { name: message.toolName, response, ...nested } };
}

/** Returns all results of one turn; the second generation takes their images in a message of their own after them. */
function resultContents(results: readonly ToolResultMessage[], areThird: boolean): Json[] {
	const contents: Json[] = [{ role: "user", parts: results.map((message) => resultPart(message, areThird)) }];
	const images = areThird ? [] : results.flatMap(({ content }) => imagesIn(content));
	if (images.length > 0) contents.push({ role: "user", parts: [{ text: "Images from the tool results above:" }, ...images.map(part)] });
	return contents;
}

function part(block: Text | Image): Json {
	return block.type === "text" ? { text: block.text } : { inlineData: { mimeType: block.mimeType, data: block.data } };
}

function contentsOf(messages: readonly ModelMessage[], areThird: boolean): Json[] {
	const contents: Json[] = [];
	for (let index = 0; index < messages.length; index += 1) {
		const message = messages[index] as ModelMessage;
		if (message.role === "toolResult") {
			const results = resultsFrom(messages, index);
			contents.push(...resultContents(results, areThird));
			index += results.length - 1;
			continue;
		}
		const parts = message.role === "user" ? saidIn(message.content).map(part) : assistantParts(message, areThird);
		if (parts.length > 0) contents.push({ role: message.role === "user" ? "user" : "model", parts });
	}
	return contents;
}

/** Ids do not go over this wire; any will do. */
export function callId(id: string): string {
	return id;
}

// ── Tools ──────────────────────────────────────────────────────────────────────────────────────────────

function toolOf({ name, description, parameters }: ToolDefinition): Json {
	return { name, description, parametersJsonSchema: objectSchema(googleSchema(parameters)) };
}

// ── Thinking ───────────────────────────────────────────────────────────────────────────────────────────

const proBudgets = { off: 128, minimal: 128, low: 2048, medium: 8192, high: 32768, xhigh: 32768 };
const flashBudgets = { off: 0, minimal: 128, low: 2048, medium: 8192, high: 24576, xhigh: 24576 };
const proWords = { minimal: "LOW", low: "LOW", medium: "HIGH", high: "HIGH", xhigh: "HIGH" };

function thinkingOf(model: Model, level: Call["level"]): object {
	if (!model.reasoning) return {};
	const word = levelMap(model)[level];
	if (level !== "off" && typeof word === "string") return { thinkingConfig: { includeThoughts: true, thinkingLevel: word.toUpperCase() } };
	if (isThird(model)) {
		if (level === "off") return {};
		const own = /pro/.test(model.id) ? proWords[level] : level === "xhigh" ? "HIGH" : level.toUpperCase();
		return { thinkingConfig: { includeThoughts: true, thinkingLevel: own } };
	}
	const thinkingBudget = budget(model.id, level);
	return { thinkingConfig: { ...(level === "off" ? {} : { includeThoughts: true }), thinkingBudget } };
}

function budget(id: string, level: Call["level"]): number {
	if (/2\.5-pro/.test(id)) return proBudgets[level];
	if (/2\.5-flash-lite/.test(id) && level !== "off") return Math.max(512, flashBudgets[level]);
	if (/2\.5-flash/.test(id)) return flashBudgets[level];
	return level === "off" ? 0 : -1;
}

// ── Reply ──────────────────────────────────────────────────────────────────────────────────────────────

class GenerativeDecoder implements Decoder {
	#call: Call;
	#builder: ReplyBuilder;
	#blocks: Blocks;
	#current: { kind: "text" | "thinking"; key: number } | undefined;
	#made = 0;
	#finish: string | undefined;
	#total: number | undefined;
	#error: Extract<Ending, { error: string }> | undefined;
	/** The stream has no last event; it ends when the connection closes. */
	isOver = false;

	constructor(call: Call, builder: ReplyBuilder, blocks: Blocks) {
		this.#call = call;
		this.#builder = builder;
		this.#blocks = blocks;
	}

	event(data: string): void {
		if (this.isOver || data.trim() === "[DONE]") return;
		const fragment = parseEvent(data);
		if (!fragment) return;
		if (object(fragment.error)) {
			this.isOver = true;
			if (!this.isWhole && !this.#error) this.#fail(data);
			return;
		}
		const id = text(fragment.responseId);
		if (id !== "" && this.#builder.partial.responseId === undefined) this.#builder.set({ responseId: id });
		this.#count(object(fragment.usageMetadata));
		this.#builder.start();
		const blocked = text(object(fragment.promptFeedback)?.blockReason);
		if (blocked !== "") this.#error = { error: `The prompt was blocked: ${blocked}` };
		const candidate = object(list(fragment.candidates)[0]);
		for (const piece of list(object(candidate?.content)?.parts)) this.#part(object(piece) ?? {});
		const word = text(candidate?.finishReason);
		if (word === "") return;
		this.#finish = word;
		const said = text(candidate?.finishMessage);
		if (word !== "STOP" && word !== "MAX_TOKENS") this.#error = { error: `The reply ended with: ${word}${said ? `: ${said}` : ""}` };
	}

	get isComplete(): boolean {
		return this.#finish !== undefined;
	}

	get isWhole(): boolean {
		return this.#finish === "STOP";
	}

	finish(): Ending {
		if (this.#error) return this.#error;
		if (this.#finish === undefined) return { cut: "The stream ended without a finishReason" };
		this.#blocks.closeAll();
		return settled(this.#builder, this.#finish === "MAX_TOKENS" ? "length" : "stop");
	}

	#fail(data: string): void {
		const { text: error, raw, status } = readError(data);
		this.#error = { error, raw, ...(status === undefined ? {} : { status }) };
	}

	#part(piece: Json): void {
		const thoughtSignature = text(piece.thoughtSignature) || undefined;
		const call = object(piece.functionCall);
		if (call) {
			this.#closeCurrent();
			const name = text(call.name);
			const id = text(call.id) || `${name}_${this.#call.now()}_${this.#made}`;
			this.#made += 1;
			const args = object(call.args) ?? {};
			this.#blocks.open(this.#made, { type: "toolCall", id, name, arguments: args, ...(thoughtSignature ? { thoughtSignature } : {}) });
			this.#blocks.append(this.#made, JSON.stringify(args));
			this.#blocks.close(this.#made);
		} else if (typeof piece.text === "string") this.#write(piece.thought === true ? "thinking" : "text", piece.text, thoughtSignature);
	}

	#write(kind: "text" | "thinking", said: string, thoughtSignature: string | undefined): void {
		if (said === "" && thoughtSignature === undefined) return;
		// A signature that follows the words comes in an empty part, which is not marked as thought.
		const goesOn = this.#current && (this.#current.kind === kind || said === "");
		if (!this.#current || !goesOn) {
			this.#closeCurrent();
			this.#made += 1;
			this.#current = { kind, key: this.#made };
			this.#blocks.open(this.#made, kind === "text" ? { type: "text", text: "" } : { type: "thinking", thinking: "" });
		}
		const { key } = this.#current;
		this.#blocks.append(key, said);
		if (thoughtSignature === undefined) return;
		this.#blocks.change(key, this.#current.kind === "text" ? { textSignature: thoughtSignature } : { thinkingSignature: thoughtSignature });
	}

	#closeCurrent(): void {
		if (this.#current) this.#blocks.close(this.#current.key);
		this.#current = undefined;
	}

	#count(usage: Json | undefined): void {
		const total = count(usage?.totalTokenCount);
		const prompt = (count(usage?.promptTokenCount) ?? 0) + (count(usage?.toolUsePromptTokenCount) ?? 0);
		const output = (count(usage?.candidatesTokenCount) ?? 0) + (count(usage?.thoughtsTokenCount) ?? 0);
		// Each fragment repeats the numbers.
		if (!usage || prompt + output === 0 || (total !== undefined && total === this.#total && output === this.#builder.partial.usage.output)) return;
		this.#total = total;
		const cacheRead = Math.min(prompt, count(usage.cachedContentTokenCount) ?? 0);
		const tokens = { input: prompt - cacheRead, output, cacheRead, cacheWrite: 0 };
		this.#builder.set({ usage: priced(tokens, this.#call.model, total || undefined) });
	}
}

export const api: Api = { request, decoder: (call, builder, blocks) => new GenerativeDecoder(call, builder, blocks) };
