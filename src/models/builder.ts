/**
 * Builds one reply for every provider: the start, delta and end events, and the partial message.
 * Each event carries its own snapshot; text grows as a rope and unchanged blocks are shared, so a snapshot costs no copy of the reply.
 */
import type { ProviderFailure, StreamEvent } from "../agent/contracts.ts";
import type { ToolCall } from "../protocol/content.ts";
import type { AssistantMessage } from "../protocol/messages.ts";
import type { Model, Usage } from "../protocol/model.ts";
import { pricesOf } from "../protocol/prices.ts";
import { abortedText } from "../protocol/texts.ts";

type Content = AssistantMessage["content"][number];

export const noUsage: Usage = Object.freeze({
	input: 0,
	output: 0,
	cacheRead: 0,
	cacheWrite: 0,
	totalTokens: 0,
	cost: Object.freeze({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 }),
});

type Tokens = Pick<Usage, "input" | "output" | "cacheRead" | "cacheWrite">;

/** Adds the price to token counts. `totalTokens` is the provider's own number where it has one. */
export function priced(tokens: Tokens, model: Model, totalTokens?: number): Usage {
	const prices = pricesOf(model, tokens);
	const price = (kind: keyof Tokens) => (tokens[kind] * prices[kind]) / 1e6;
	const cost = { input: price("input"), output: price("output"), cacheRead: price("cacheRead"), cacheWrite: price("cacheWrite") };
	return {
		...tokens,
		totalTokens: totalTokens ?? tokens.input + tokens.output + tokens.cacheRead + tokens.cacheWrite,
		cost: { ...cost, total: cost.input + cost.output + cost.cacheRead + cost.cacheWrite },
	};
}

export class ReplyBuilder {
	#message: AssistantMessage;
	#send: (event: StreamEvent) => void;
	#started = false;
	#ended = false;

	constructor(model: Model, timestamp: number, send: (event: StreamEvent) => void) {
		this.#send = send;
		this.#message = {
			role: "assistant",
			content: [],
			api: model.api,
			provider: model.provider,
			model: model.id,
			usage: noUsage,
			stopReason: "stop",
			timestamp,
		};
	}

	/** The reply so far. A value: later events do not change it. */
	get partial(): AssistantMessage {
		return this.#message;
	}

	get hasEnded(): boolean {
		return this.#ended;
	}

	start(): void {
		if (this.#started) return;
		this.#started = true;
		this.#send({ type: "start", partial: this.#message });
	}

	/** Sets members of the message other than its blocks: usage, responseId, timing. */
	set(members: Partial<Omit<AssistantMessage, "content" | "role">>): void {
		this.#message = { ...this.#message, ...members };
	}

	/** Opens a block and gives its index. */
	open(block: Content): number {
		this.start();
		const contentIndex = this.#message.content.length;
		this.#message = { ...this.#message, content: [...this.#message.content, block] };
		const partial = this.#message;
		if (block.type === "text") this.#send({ type: "text_start", contentIndex, partial });
		else if (block.type === "thinking") this.#send({ type: "thinking_start", contentIndex, partial });
		else if (block.type === "toolCall") this.#send({ type: "toolcall_start", contentIndex, id: block.id, toolName: block.name, partial });
		return contentIndex;
	}

	/** Replaces members of a block without an event; the next event shows them. */
	change(contentIndex: number, members: Partial<Content>): void {
		this.#put(contentIndex, { ...this.#message.content[contentIndex], ...members } as Content);
	}

	#put(contentIndex: number, block: Content): void {
		const content = this.#message.content.slice();
		content[contentIndex] = block;
		this.#message = { ...this.#message, content };
	}

	/** Appends to a text or thinking block. */
	append(contentIndex: number, delta: string): void {
		if (delta === "") return;
		const block = this.#message.content[contentIndex];
		if (block?.type === "text") {
			this.#put(contentIndex, { ...block, text: block.text + delta });
			this.#send({ type: "text_delta", contentIndex, delta, partial: this.#message });
		} else if (block?.type === "thinking") {
			this.#put(contentIndex, { ...block, thinking: block.thinking + delta });
			this.#send({ type: "thinking_delta", contentIndex, delta, partial: this.#message });
		}
	}

	/** Reports a raw fragment of a call's arguments, with their best reading so far when there is a new one. */
	appendArguments(contentIndex: number, delta: string, reading?: ToolCall["arguments"]): void {
		const block = reading && this.#message.content[contentIndex];
		if (block?.type === "toolCall") this.#put(contentIndex, { ...block, arguments: reading as ToolCall["arguments"] });
		this.#send({ type: "toolcall_delta", contentIndex, delta, partial: this.#message });
	}

	/** Closes a block; `members` are its final ones (a signature, the parsed arguments). */
	close(contentIndex: number, members?: Partial<Content>): void {
		if (members) this.change(contentIndex, members);
		const block = this.#message.content[contentIndex];
		const partial = this.#message;
		if (block?.type === "text") this.#send({ type: "text_end", contentIndex, content: block.text, partial });
		else if (block?.type === "thinking") this.#send({ type: "thinking_end", contentIndex, content: block.thinking, partial });
		else if (block?.type === "toolCall") this.#send({ type: "toolcall_end", contentIndex, toolCall: block, partial });
	}

	done(reason: "stop" | "length" | "toolUse"): void {
		if (this.#ended) return;
		this.start();
		this.#ended = true;
		this.set({ stopReason: reason });
		this.#send({ type: "done", reason, message: this.#message });
	}

	fail(errorMessage: string, failure: ProviderFailure): void {
		this.#end("error", errorMessage, failure);
	}

	abort(): void {
		this.#end("aborted", abortedText, { kind: "permanent" });
	}

	#end(reason: "error" | "aborted", errorMessage: string, failure: ProviderFailure): void {
		if (this.#ended) return;
		this.#ended = true;
		this.set({ stopReason: reason, errorMessage });
		this.#send({ type: "error", reason, error: this.#message, failure });
	}
}
