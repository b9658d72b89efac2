/**
 * Adapts a conversation to the model that is asked next. Pure: it never alters the history. It remembers each adapted message by the
 * identity of the original, so that a long conversation costs little the next time.
 */
import type { ModelMessage } from "../agent/contracts.ts";
import type { Image, Text, ToolCall } from "../protocol/content.ts";
import type { AssistantMessage, ToolResultMessage, UserMessage } from "../protocol/messages.ts";
import { remembered } from "./api.ts";
import { Growing } from "./growing.ts";

export interface Target {
	provider: string;
	api: string;
	/** Id of the model. */
	model: string;
	acceptsImages: boolean;
	/** The call id of another provider in the form that this API accepts. */
	callId: (id: string) => string;
	/** An image the provider has refused before. */
	isRefused?: (image: Image) => boolean;
	/** How many there are. */
	refusals?: number;
}

export const imageNote = "[image left out: this model cannot see images]";
export const refusedNote = "[image left out: the provider could not read it]";
const orphanText = "No result provided";

type Content = readonly (Text | Image)[];

const sentBefore = new Growing<ModelMessage, ModelMessage>();

/** The messages a request may carry: one result follows each call, and each result has a call. */
export function handoff(messages: readonly ModelMessage[], target: Target): readonly ModelMessage[] {
	const { provider, api, model, acceptsImages, refusals = 0 } = target;
	return sentBefore.make(messages, [provider, api, model, acceptsImages, refusals].join(" "), (source, from, sent, begin) =>
		handOff(source, from, sent, begin, target),
	);
}

function handOff(messages: readonly ModelMessage[], from: number, sent: ModelMessage[], begin: (index: number) => void, target: Target): void {
	/** Calls of the last reply that wait for their results, by the id they had. */
	let waiting = new Map<string, { call: ToolCall; reply: AssistantMessage }>();
	const flush = () => {
		if (waiting.size === 0) return;
		for (const [id, { call, reply }] of waiting) sent.push(orphanResult(reply, id, call));
		waiting = new Map();
	};
	for (let index = from; index < messages.length; index += 1) {
		const message = messages[index] as ModelMessage;
		if (message.role === "toolResult") {
			const asked = waiting.get(message.toolCallId);
			if (!asked) continue;
			waiting.delete(message.toolCallId);
			sent.push(adaptedResult(message, asked.call.id, target));
			continue;
		}
		flush();
		begin(index);
		if (message.role === "user") {
			sent.push(adaptedUser(message, target));
			continue;
		}
		const { reply, calls } = adaptedReply(message, target, messages, index);
		if (reply.content.length === 0) continue;
		sent.push(reply);
		if (calls) for (const [id, call] of calls) waiting.set(id, { call, reply });
		else for (const call of reply.content) if (call.type === "toolCall") waiting.set(call.id, { call, reply });
	}
	flush();
}

// ── Replies ────────────────────────────────────────────────────────────────────────────────────────────

interface Adapted {
	reply: AssistantMessage;
	/** The calls as they are sent, by the id they had; absent when they are sent as they are. */
	calls?: Map<string, ToolCall>;
}

function adaptedReply(message: AssistantMessage, target: Target, messages: readonly ModelMessage[], index: number): Adapted {
	const isBroken = message.stopReason === "error" || message.stopReason === "aborted";
	if (isOwnReply(message, target)) return { reply: message.content ? message : withoutContent(message) };
	const answered = isBroken ? answeredCalls(messages, index) : undefined;
	return foreignReply(target)(message, `${target.api}${answered ? `|${answered.join("|")}` : ""}`);
}

/** Whether a reply of the same model that ended well can be sent as it is. */
export function isOwnReply(message: AssistantMessage, target: Target): boolean {
	const isSame = message.provider === target.provider && message.api === target.api && message.model === target.model;
	return isSame && message.stopReason !== "error" && message.stopReason !== "aborted";
}

const withoutContent = remembered((message: AssistantMessage): AssistantMessage => ({ ...message, content: [] }));

/** Ids of the results that follow a broken reply: only calls with a result are kept. */
function answeredCalls(messages: readonly ModelMessage[], index: number): string[] {
	const ids: string[] = [];
	for (let at = index + 1; at < messages.length; at += 1) {
		const message = messages[at] as ModelMessage;
		if (message.role !== "toolResult") break;
		ids.push(message.toolCallId);
	}
	return ids;
}

/** One memory per way of writing call ids: each API passes its own function. */
const foreignReplies = new WeakMap<Target["callId"], (message: AssistantMessage, variant: string) => Adapted>();

function foreignReply(target: Target): (message: AssistantMessage, variant: string) => Adapted {
	const known = foreignReplies.get(target.callId);
	if (known) return known;
	const made = remembered((message: AssistantMessage, variant: string) => strip(message, target.callId, variant.split("|").slice(1)));
	foreignReplies.set(target.callId, made);
	return made;
}

/** Drops thinking and signatures, and writes call ids as the target accepts them. Keeps only the answered calls of a broken reply. */
function strip(message: AssistantMessage, callId: Target["callId"], answered: string[]): Adapted {
	const isBroken = message.stopReason === "error" || message.stopReason === "aborted";
	const calls = new Map<string, ToolCall>();
	const used = new Set<string>();
	const content: AssistantMessage["content"] = [];
	for (const block of message.content ?? []) {
		if (block.type === "text" && block.text.trim() !== "") content.push({ type: "text", text: block.text });
		if (block.type !== "toolCall" || (isBroken && !isAnswered(block.id, answered))) continue;
		const wanted = callId(block.id) || "call";
		let id = wanted;
		for (let copy = 2; used.has(id); copy += 1) id = `${wanted.slice(0, 36)}_${copy}`;
		used.add(id);
		const call: ToolCall = { type: "toolCall", id, name: block.name, arguments: block.arguments };
		calls.set(block.id, call);
		content.push(call);
	}
	return { reply: { ...message, content }, calls };
}

/** Ids of the Responses API contain the bar that separates the list, so this compares the list as a whole. */
function isAnswered(id: string, answered: string[]): boolean {
	return `|${answered.join("|")}|`.includes(`|${id}|`);
}

// ── Results and prompts ────────────────────────────────────────────────────────────────────────────────

const orphans = remembered((_reply: AssistantMessage) => new Map<string, ToolResultMessage>());

function orphanResult(reply: AssistantMessage, id: string, call: ToolCall): ToolResultMessage {
	const known = orphans(reply).get(id);
	if (known) return known;
	const content = [{ type: "text" as const, text: orphanText }];
	const made: ToolResultMessage = {
		role: "toolResult",
		toolCallId: call.id,
		toolName: call.name,
		content,
		isError: true,
		timestamp: reply.timestamp,
	};
	orphans(reply).set(id, made);
	return made;
}

function imagesOf(content: Content, target: Target): string {
	let kinds = "";
	for (const block of content) {
		if (block.type === "image") kinds += !target.acceptsImages ? "n" : target.isRefused?.(block) ? "r" : "k";
	}
	return /[nr]/.test(kinds) ? kinds : "";
}

function withoutImages(content: Content, kinds: string): (Text | Image)[] {
	if (kinds === "") return [...content];
	let at = 0;
	return content.map((block) => {
		if (block.type !== "image") return block;
		const kind = kinds[at];
		at += 1;
		return kind === "k" ? block : { type: "text", text: kind === "n" ? imageNote : refusedNote };
	});
}

const userWithout = remembered((message: UserMessage, kinds: string): UserMessage => {
	return typeof message.content === "string" ? message : { ...message, content: withoutImages(message.content ?? [], kinds) };
});

function adaptedUser(message: UserMessage, target: Target): UserMessage {
	if (typeof message.content === "string") return message;
	if (!message.content) return userWithout(message, "");
	const kinds = imagesOf(message.content, target);
	return kinds === "" ? message : userWithout(message, kinds);
}

const resultWith = remembered((message: ToolResultMessage, variant: string): ToolResultMessage => {
	const [kinds = "", ...id] = variant.split(" ");
	return { ...message, toolCallId: id.join(" "), content: withoutImages(message.content ?? [], kinds) };
});

function adaptedResult(message: ToolResultMessage, id: string, target: Target): ToolResultMessage {
	const kinds = message.content ? imagesOf(message.content, target) : "";
	return kinds === "" && id === message.toolCallId && message.content ? message : resultWith(message, `${kinds} ${id}`);
}
