/** Reads the events of a response. */
import type { Usage } from "../../protocol/model.ts";
import { type Call, type Decoder, type Ending, settled } from "../api.ts";
import type { Blocks } from "../blocks.ts";
import { priced, type ReplyBuilder } from "../builder.ts";
import { readError } from "../error-body.ts";
import { count, type Json, list, object, parseEvent, text } from "../json.ts";

const tierFactor: Record<string, number> = { flex: 0.5, priority: 2 };

interface Item {
	kind: "text" | "thinking" | "toolCall";
	hasText: boolean;
	isDone: boolean;
}

export class ResponsesDecoder implements Decoder {
	#call: Call;
	#builder: ReplyBuilder;
	#blocks: Blocks;
	#items = new Map<number, Item>();
	#ending: Ending | undefined;
	isOver = false;

	constructor(call: Call, builder: ReplyBuilder, blocks: Blocks) {
		this.#call = call;
		this.#builder = builder;
		this.#blocks = blocks;
	}

	event(data: string): void {
		if (this.isWhole || data.trim() === "[DONE]") return;
		const event = parseEvent(data);
		if (!event) return;
		const isError = event.type === "error" || (event.type === undefined && Boolean(event.error));
		if (isError) this.#fail(object(event.error) ?? event, data);
		if (this.isOver) return;
		const index = typeof event.output_index === "number" ? event.output_index : 0;
		switch (event.type) {
			case "response.output_text.delta":
			case "response.refusal.delta":
			case "response.reasoning_summary_text.delta":
			case "response.reasoning_text.delta":
			case "response.function_call_arguments.delta":
				this.#write(index, text(event.delta));
				break;
			case "response.output_item.added":
				this.#open(index, object(event.item) ?? {});
				break;
			case "response.output_item.done":
				this.#close(index, object(event.item) ?? {});
				break;
			case "response.reasoning_summary_part.added":
				if (this.#items.get(index)?.hasText) this.#write(index, "\n\n");
				break;
			case "response.created":
				this.#start(object(event.response) ?? {});
				break;
			case "response.completed":
			case "response.done":
			case "response.incomplete":
			case "response.failed":
			case "response.cancelled":
				this.#end(object(event.response) ?? {}, event.type.slice("response.".length));
				break;
		}
	}

	get isComplete(): boolean {
		return this.isOver;
	}

	get isWhole(): boolean {
		return this.#ending !== undefined && !("done" in this.#ending && this.#ending.done === "length");
	}

	finish(): Ending {
		if (!this.#ending) return { cut: "The stream ended before response.completed" };
		if (!("done" in this.#ending)) return this.#ending;
		const isOpen = [...this.#items.values()].some((item) => item.kind === "toolCall" && !item.isDone);
		if (isOpen && this.#ending.done !== "length") return { cut: "The stream ended before a tool call was finished" };
		this.#blocks.closeAll();
		return settled(this.#builder, this.#ending.done);
	}

	#start(response: Json): void {
		const id = text(response.id);
		if (id !== "") this.#builder.set({ responseId: id });
		this.#builder.start();
	}

	#open(index: number, item: Json): void {
		if (this.#items.has(index)) return;
		if (item.type === "message") {
			this.#items.set(index, { kind: "text", hasText: false, isDone: false });
			this.#blocks.open(index, { type: "text", text: "" });
		} else if (item.type === "reasoning") {
			this.#items.set(index, { kind: "thinking", hasText: false, isDone: false });
			this.#blocks.open(index, { type: "thinking", thinking: "" });
		} else if (item.type === "function_call") {
			this.#items.set(index, { kind: "toolCall", hasText: false, isDone: false });
			const itemId = text(item.id);
			const id = itemId === "" ? text(item.call_id) : `${text(item.call_id)}|${itemId}`;
			this.#blocks.open(index, { type: "toolCall", id, name: text(item.name), arguments: {} });
			this.#write(index, text(item.arguments));
		}
	}

	#write(index: number, piece: string): void {
		const item = this.#items.get(index);
		if (!item || item.isDone || piece === "") return;
		item.hasText = true;
		this.#blocks.append(index, piece);
	}

	#close(index: number, done: Json): void {
		this.#open(index, done);
		const item = this.#items.get(index);
		if (!item || item.isDone) return;
		if (item.kind === "toolCall") {
			if (!item.hasText) this.#write(index, text(done.arguments));
			this.#blocks.close(index);
		} else if (item.kind === "thinking") {
			if (!item.hasText) this.#write(index, wordsOf(done.summary) || wordsOf(done.content));
			this.#blocks.close(index, { thinkingSignature: JSON.stringify({ type: "reasoning", ...done, status: undefined }) });
		} else {
			if (!item.hasText) this.#write(index, wordsOf(done.content));
			const phase = text(done.phase);
			this.#blocks.close(index, { textSignature: JSON.stringify({ v: 1, id: text(done.id), ...(phase ? { phase } : {}) }) });
		}
		item.isDone = true;
	}

	#end(response: Json, word: string): void {
		this.isOver = true;
		this.#count(object(response.usage), text(response.service_tier));
		const status = text(response.status) || (word === "done" ? "completed" : word);
		if (status === "completed") this.#ending = { done: "stop" };
		else if (status === "incomplete") {
			const reason = text(object(response.incomplete_details)?.reason);
			this.#ending = reason === "max_output_tokens" ? { done: "length" } : { error: `The reply ended with: ${reason || status}` };
		} else this.#fail(object(response.error) ?? {}, `The reply ended with: ${status}`);
	}

	#count(usage: Json | undefined, tier: string): void {
		const prompt = count(usage?.input_tokens) ?? 0;
		const output = count(usage?.output_tokens) ?? 0;
		if (!usage || prompt + output === 0) return;
		const details = object(usage.input_tokens_details);
		const cacheRead = Math.min(prompt, count(details?.cached_tokens) ?? 0);
		const cacheWrite = Math.min(prompt - cacheRead, count(details?.cache_write_tokens) ?? 0);
		const tokens = { input: prompt - cacheRead - cacheWrite, output, cacheRead, cacheWrite };
		const known = priced(tokens, this.#call.model, count(usage.total_tokens) || undefined);
		this.#builder.set({ usage: scaled(known, tierFactor[tier] ?? 1) });
	}

	#fail(error: Json, otherwise: string): void {
		this.isOver = true;
		if (text(error.message) === "" && text(error.code) === "") {
			this.#ending = { error: otherwise };
			return;
		}
		const { text: words, raw, status } = readError(JSON.stringify(error));
		this.#ending = { error: words, raw, ...(status === undefined ? {} : { status }) };
	}
}

function wordsOf(parts: unknown): string {
	return list(parts)
		.map((part) => text(object(part)?.text) || text(object(part)?.refusal))
		.filter((words) => words !== "")
		.join("\n\n");
}

function scaled(usage: Usage, factor: number): Usage {
	if (factor === 1) return usage;
	const { input, output, cacheRead, cacheWrite, total } = usage.cost;
	const cost = {
		input: input * factor,
		output: output * factor,
		cacheRead: cacheRead * factor,
		cacheWrite: cacheWrite * factor,
		total: total * factor,
	};
	return { ...usage, cost };
}
