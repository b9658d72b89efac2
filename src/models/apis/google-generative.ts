/** Google Generative AI. */

import type { ModelMessage, ToolDefinition } from "../../agent/contracts.ts";
import type { Image, Text } from "../../protocol/content.ts";
import type { AssistantMessage, ToolResultMessage, UserMessage } from "../../protocol/messages.ts";
import type { Model } from "../../protocol/model.ts";
import { type Api, type Call, type Decoder, type Ending, imageOnly, noOutput, objectSchema, remembered, settled, type WireRequest } from "../api.ts";
import type { Blocks } from "../blocks.ts";
import { priced, type ReplyBuilder } from "../builder.ts";
import { readError } from "../error-body.ts";
import { Growing } from "../growing.ts";
import { count, type Json, list, object, parseEvent, text, wire } from "../json.ts";
import { pageMaker } from "../pages.ts";
import { levelMap } from "../thinking.ts";
import { googleSchema } from "../tool-schemas.ts";

// ── Request ────────────────────────────────────────────────────────────────────────────────────────────

const pagesOf = pageMaker();

export function request(call: Call): WireRequest {
	const members: string[] = [];
	if (call.systemPrompt.trim() !== "") members.push(`"systemInstruction":${wire({ parts: [{ text: call.systemPrompt }] })}`);
	if (call.tools.length > 0) members.push(`"tools":[{"functionDeclarations":[${call.tools.map((tool) => toolText(tool)).join(",")}]}]`);
	if (call.toolChoice) members.push(`"toolConfig":${wire({ functionCallingConfig: { mode: "ANY", allowedFunctionNames: [call.toolChoice] } })}`);
	members.push(`"generationConfig":${wire({ maxOutputTokens: call.maxTokens, ...thinkingOf(call.model, call.level) })}`);
	const pages = pagesOf(call.messages[0], contentTexts(call.messages, isThird(call.model)));
	return { url: address(call.baseUrl, call.modelId), headers: {}, body: [`{${members.join(",")},"contents":[`, ...pages, "]}"] };
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

function userText(message: UserMessage): string {
	const { content } = message;
	const blocks: (Text | Image)[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
	const parts = blocks.filter((block) => block.type === "image" || block.text.trim() !== "").map(part);
	return parts.length === 0 ? "" : wire({ role: "user", parts });
}

function assistantText(message: AssistantMessage, variant: string): string {
	const isUnsigned =
		variant === "3" && !message.content.some((block) => block.type === "toolCall" && signature(block.thoughtSignature).thoughtSignature);
	const parts = message.content.flatMap((block): unknown[] => {
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
	return parts.length === 0 ? "" : wire({ role: "model", parts });
}

/** Anything but base64 is refused. */
function signature(value: string | undefined): { thoughtSignature?: string } {
	return value && value.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(value) ? { thoughtSignature: value } : {};
}

function resultText(message: ToolResultMessage, variant: string): string {
	const images = message.content.filter((block) => block.type === "image");
	const words = message.content.flatMap((block) => (block.type === "text" && block.text.trim() !== "" ? [block.text] : [])).join("\n");
	const said = words || (images.length > 0 ? imageOnly : noOutput);
	const response = message.isError ? { error: said } : { output: said };
	const nested = variant === "3" && images.length > 0 ? { parts: images.map(part) } : {};
	return wire({ functionResponse: { name: message.toolName, response, ...nested } });
}

/** All results of one turn; the second generation takes their images in a message of their own after them. */
function resultsText(run: readonly ToolResultMessage[], variant: string): string {
	const results = `{"role":"user","parts":[${run.map((message) => resultText(message, variant)).join(",")}]}`;
	const images = variant === "3" ? [] : run.flatMap((message) => message.content.filter((block) => block.type === "image"));
	if (images.length === 0) return results;
	return `${results},${wire({ role: "user", parts: [{ text: "Images from the tool results above:" }, ...images.map(part)] })}`;
}

function part(block: Text | Image): unknown {
	return block.type === "text" ? { text: block.text } : { inlineData: { mimeType: block.mimeType, data: block.data } };
}

const sentBefore = new Growing<ModelMessage, string>();

function contentTexts(messages: readonly ModelMessage[], areThird: boolean): readonly string[] {
	const variant = areThird ? "3" : "";
	return sentBefore.make(messages, variant, (source, from, made, begin) => addTexts(source, from, made, begin, variant));
}

function addTexts(messages: readonly ModelMessage[], from: number, texts: string[], begin: (index: number) => void, variant: string): void {
	for (let index = from; index < messages.length; index += 1) {
		const message = messages[index] as ModelMessage;
		begin(index);
		if (message.role !== "toolResult") {
			const made = message.role === "user" ? userText(message) : assistantText(message, variant);
			if (made !== "") texts.push(made);
			continue;
		}
		const run: ToolResultMessage[] = [];
		for (let next: ModelMessage | undefined = message; next?.role === "toolResult"; next = messages[++index]) run.push(next);
		index -= 1;
		texts.push(resultsText(run, variant));
	}
}

/** Ids do not go over this wire; any will do. */
export function callId(id: string): string {
	return id;
}

// ── Tools ──────────────────────────────────────────────────────────────────────────────────────────────

const toolText = remembered((tool: ToolDefinition): string => {
	const parametersJsonSchema = objectSchema(googleSchema(tool.parameters));
	return wire({ name: tool.name, description: tool.description, parametersJsonSchema });
});

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
			if (this.#finish === undefined) this.#fail(data);
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
