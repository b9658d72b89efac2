/** Reads the chunks of a chat completion. */
import { type Call, type Decoder, type Ending, settled } from "../api.ts";
import type { Blocks } from "../blocks.ts";
import { priced, type ReplyBuilder } from "../builder.ts";
import { readError } from "../error-body.ts";
import { count, type Json, list, object, parseEvent, text } from "../json.ts";
import { ReasoningDetails } from "./reasoning-details.ts";

/** Where hosts put reasoning. Only the first that is filled counts: some fill two with the same words. */
export const reasoningFields = ["reasoning_content", "reasoning", "reasoning_text"];

interface OpenCall {
	key: string;
	id: string;
	name: string;
}

export class ChatDecoder implements Decoder {
	#call: Call;
	#builder: ReplyBuilder;
	#blocks: Blocks;
	/** The text or thinking block that is being written. */
	#current: { kind: "text" | "thinking"; key: string } | undefined;
	#byIndex = new Map<number, OpenCall>();
	#byId = new Map<string, OpenCall>();
	#lastCall: OpenCall | undefined;
	#made = 0;
	#finish: string | undefined;
	#isDone = false;
	#error: Extract<Ending, { error: string }> | undefined;
	#details = new ReasoningDetails();
	/** Where the reasoning of this reply came. */
	#field: string | undefined;
	/** The block that carries the details of the reply: its first thinking, else its first call, else its first text. */
	#carriers: Partial<Record<"thinking" | "call" | "text", string>> = {};
	isOver = false;

	constructor(call: Call, builder: ReplyBuilder, blocks: Blocks) {
		this.#call = call;
		this.#builder = builder;
		this.#blocks = blocks;
	}

	event(data: string): void {
		if (this.isOver) return;
		if (data.trim() === "[DONE]") {
			this.#isDone = true;
			this.isOver = true;
			return;
		}
		const chunk = parseEvent(data);
		if (!chunk) return;
		const groq = object(chunk.x_groq);
		// Groq says there why it stopped a reply early.
		const error = text(groq?.error);
		if (isError(chunk) || error !== "") {
			this.#fail(error === "" ? data : JSON.stringify({ error }));
			return;
		}
		const id = text(chunk.id);
		if (id !== "" && this.#builder.partial.responseId === undefined) this.#builder.set({ responseId: id });
		this.#builder.start();
		const choice = firstChoice(chunk);
		this.#count(object(chunk.usage) ?? object(choice?.usage) ?? object(groq?.usage));
		if (!choice) return;
		this.#delta(object(choice.delta) ?? {});
		const word = text(choice.finish_reason);
		if (word === "") return;
		const failure = object(choice.error);
		if (failure) this.#fail(JSON.stringify({ error: failure }));
		if (!this.isWhole || goodWords.includes(word)) this.#finish = word;
	}

	get isComplete(): boolean {
		return this.#finish !== undefined;
	}

	get isWhole(): boolean {
		return this.#finish !== undefined && this.#finish !== "length" && goodWords.includes(this.#finish);
	}

	finish(): Ending {
		if (this.#error) return this.#error;
		const word = this.#finish ?? (this.#isSaid() ? "stop" : undefined);
		if (word === undefined) return { cut: "The stream ended without a finish_reason" };
		if (!goodWords.includes(word)) return { error: `The reply ended with: ${word}` };
		this.#keepDetails();
		this.#blocks.closeAll();
		return settled(this.#builder, word === "length" ? "length" : "stop");
	}

	/** Some hosts send no finish_reason: `[DONE]` after a reply without open arguments ends it as well. */
	#isSaid(): boolean {
		if (!this.#call.compat.requiresFinishReason) return true;
		const calls = [...this.#byIndex.values(), ...this.#byId.values()];
		return this.#isDone && this.#made > 0 && calls.every(({ key }) => this.#blocks.isUsable(key));
	}

	#delta(delta: Json): void {
		const field = reasoningFields.find((name) => text(delta[name]) !== "");
		if (field !== undefined) {
			this.#field ??= field;
			this.#write("thinking", text(delta[field]), field);
		}
		if (typeof delta.content === "string") this.#write("text", delta.content);
		else for (const part of list(delta.content)) this.#part(object(part) ?? {});
		this.#write("text", text(delta.refusal));
		for (const piece of list(delta.tool_calls)) if (object(piece)) this.#callPiece(piece as Json);
		for (const detail of list(delta.reasoning_details)) this.#details.add(detail);
	}

	/** Mistral sends parts: text, and thinking made of parts. */
	#part(part: Json): void {
		if (part.type === "text") this.#write("text", text(part.text));
		for (const thought of list(part.thinking)) this.#write("thinking", text(object(thought)?.text), "reasoning_content");
	}

	#write(kind: "text" | "thinking", piece: string, signature?: string): void {
		if (piece === "") return;
		if (this.#current?.kind !== kind) {
			this.#closeFinished();
			this.#made += 1;
			this.#current = { kind, key: `${kind}${this.#made}` };
			const block = kind === "text" ? { type: "text" as const, text: "" } : { type: "thinking" as const, thinking: "", thinkingSignature: signature };
			this.#blocks.open(this.#current.key, block);
			this.#carriers[kind] ??= this.#current.key;
		}
		this.#blocks.append(this.#current.key, piece);
	}

	/** Closes what precedes a new block, but no call that still waits for arguments: hosts may interleave the pieces of calls. */
	#closeFinished(): void {
		if (this.#current) this.#blocks.close(this.#current.key);
		this.#current = undefined;
		for (const { key } of this.#byIndex.values()) if (this.#blocks.isWhole(key)) this.#blocks.close(key);
		if (this.#lastCall && this.#blocks.isWhole(this.#lastCall.key)) this.#blocks.close(this.#lastCall.key);
	}

	#callPiece(piece: Json): void {
		const made = object(piece.function) ?? {};
		const name = text(made.name);
		const args = object(made.arguments) ? JSON.stringify(made.arguments) : text(made.arguments);
		const known = this.#find(piece, name);
		if (!known && name === "" && args === "" && text(piece.id) === "") return;
		// A whole call that is named again is another call: some hosts give all calls one id.
		const isAnother = known && name !== "" && args.trim() !== "" && this.#blocks.isWhole(known.key);
		const call = known && !isAnother ? known : this.#open(piece, name);
		if (call.name === "" && name !== "") {
			call.name = name;
			this.#blocks.change(call.key, { name });
		}
		this.#blocks.append(call.key, args);
	}

	/** By index first, then by id. Another id under a known index is another call: some hosts number every call 0. */
	#find(piece: Json, name: string): OpenCall | undefined {
		const id = text(piece.id);
		if (typeof piece.index === "number") {
			const known = this.#byIndex.get(piece.index);
			return known && (id === "" || known.id === id || known.id === "") ? known : undefined;
		}
		if (id !== "") return this.#byId.get(id);
		return name === "" ? this.#lastCall : undefined;
	}

	#open(piece: Json, name: string): OpenCall {
		this.#closeFinished();
		this.#made += 1;
		const id = text(piece.id);
		const call: OpenCall = { key: `call${this.#made}`, id, name };
		if (typeof piece.index === "number") this.#byIndex.set(piece.index, call);
		if (id !== "") this.#byId.set(id, call);
		this.#lastCall = call;
		this.#blocks.open(call.key, { type: "toolCall", id, name, arguments: {} });
		this.#carriers.call ??= call.key;
		return call;
	}

	/** Details belong to the whole reply, and may come before the block that they describe; one block carries them all. */
	#keepDetails(): void {
		const { thinking, call, text: words } = this.#carriers;
		const signature = this.#details.signature(thinking === undefined ? undefined : this.#field);
		if (signature === undefined) return;
		if (thinking !== undefined) this.#blocks.change(thinking, { thinkingSignature: signature });
		else if (call !== undefined) this.#blocks.change(call, { thoughtSignature: signature });
		else if (words !== undefined) this.#blocks.change(words, { textSignature: signature });
	}

	#count(usage: Json | undefined): void {
		const prompt = count(usage?.prompt_tokens) ?? 0;
		const said = count(usage?.completion_tokens) ?? 0;
		if (!usage || prompt + said === 0) return;
		const details = object(usage.prompt_tokens_details);
		const cacheRead = Math.min(prompt, count(details?.cached_tokens) ?? count(usage.prompt_cache_hit_tokens) ?? count(usage.cached_tokens) ?? 0);
		const cacheWrite = Math.min(prompt - cacheRead, count(details?.cache_write_tokens) ?? 0);
		const reasoning = count(object(usage.completion_tokens_details)?.reasoning_tokens) ?? 0;
		const total = count(usage.total_tokens);
		// A host whose total shows that reasoning is not in the completion.
		const output = reasoning > 0 && total === prompt + said + reasoning ? said + reasoning : said;
		const tokens = { input: prompt - cacheRead - cacheWrite, output, cacheRead, cacheWrite };
		this.#builder.set({ usage: priced(tokens, this.#call.model, total || undefined) });
	}

	#fail(data: string): void {
		this.isOver = true;
		if (this.isWhole) return;
		const { text: error, raw, status } = readError(data);
		this.#error = { error, raw, ...(status === undefined ? {} : { status }) };
	}
}

const goodWords = ["stop", "end", "eos", "length", "tool_calls", "function_call"];

/** An error chunk, also in the words of hosts that do not nest it. */
function isError(chunk: Json): boolean {
	if (chunk.error !== undefined && chunk.error !== null) return true;
	return !Array.isArray(chunk.choices) && (text(chunk.error_message) !== "" || (chunk.object === "error" && text(chunk.message) !== ""));
}

/** Hosts that were not asked for several choices may still send others; only the first is the reply. */
function firstChoice(chunk: Json): Json | undefined {
	return list(chunk.choices)
		.map(object)
		.find((choice) => choice !== undefined && (choice.index === undefined || choice.index === null || choice.index === 0));
}
