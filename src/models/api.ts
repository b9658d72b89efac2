/** What the wire formats have in common: the call that each receives, and the request and reply that each makes from it. */
import type { ModelMessage, ProviderFailure, ToolDefinition } from "../agent/contracts.ts";
import type { CacheRetention } from "../protocol/cache.ts";
import type { Image, Text } from "../protocol/content.ts";
import type { PlainLevel } from "../protocol/levels.ts";
import type { ToolResultMessage } from "../protocol/messages.ts";
import type { Model } from "../protocol/model.ts";
import type { Blocks } from "./blocks.ts";
import type { ReplyBuilder } from "./builder.ts";
import type { Compat } from "./compat.ts";
import type { Json } from "./json.ts";

/** A member of a request that some hosts do not know. A refusal that names it is answered with a request without it. */
export type Extra = "blockBinding" | "contextManagement" | "promptCacheKey";
export type Budgets = Record<"minimal" | "low" | "medium" | "high", number>;

/** One question to a model, ready to be written in the format of its API. */
export interface Call {
	model: Model;
	/** The id that goes over the wire, where it differs: an Azure deployment. */
	modelId: string;
	compat: Compat;
	baseUrl: string;
	level: PlainLevel;
	systemPrompt: string;
	/** The conversation after handoff: every call has its result, and this model accepts every part. */
	messages: readonly ModelMessage[];
	tools: readonly ToolDefinition[];
	/** The tool that the model has to call, where its API can say so. */
	toolChoice?: string;
	sessionId: string;
	maxTokens: number;
	retention: CacheRetention;
	/** The newest message need not be kept: no later request begins with it. */
	isLast?: boolean;
	budgets: Budgets;
	/** False for a turn that began without thinking: a turn keeps its configuration. */
	mayThink: boolean;
	/** Members that this host has refused. */
	without: ReadonlySet<Extra>;
	now: () => number;
}

/** Whether the model is asked to think. */
export const thinks = ({ model, level }: Pick<Call, "model" | "level">) => model.reasoning && level !== "off";

export interface WireRequest {
	url: string;
	headers: Record<string, string>;
	/** Shares objects with the conversation, so it must not be changed. */
	body: Json;
}

/** An error of the provider: in one line, as it was sent (for the classifier), and its class where the format defines it. */
interface ErrorEnding {
	error: string;
	raw?: string;
	status?: number;
	failure?: ProviderFailure;
}

/** How a reply ended. `cut`: the stream stopped before it said so. */
export type Ending = { done: "stop" | "length" | "toolUse" } | ErrorEnding | { cut: string };

/** Turns the events of one reply into blocks. May throw on an event that is not JSON. */
export interface Decoder {
	event(data: string): void;
	/** Nothing more is expected. */
	readonly isOver: boolean;
	/** The provider has said how the reply ended; only numbers may follow. */
	readonly isComplete: boolean;
	/** The provider has said that nothing is missing: an error that follows does not undo the reply. One that was cut at its limit is not whole. */
	readonly isWhole: boolean;
	/** Called once, after the last event. Closes what is open unless the reply failed. */
	finish(): Ending;
}

/** Finds events in bytes that are cut anywhere. */
export interface EventReader {
	/** How many events were delivered so far. */
	readonly events: number;
	push(chunk: Uint8Array): void;
	/** The bytes are over. */
	end(): void;
}

export interface Api {
	request(call: Call): WireRequest;
	/** How events are framed, when not as server-sent ones. */
	reader?(onEvent: (data: string) => void): EventReader;
	decoder(call: Call, builder: ReplyBuilder, blocks: Blocks): Decoder;
	/** Returns whether a turn in progress may continue with thinking. Absent where it always may. */
	mayThink?(call: Pick<Call, "model" | "compat" | "messages">): boolean;
}

/** What a file of `apis/` exports. */
export interface ApiModule {
	api: Api;
	/** The id of a tool call that another provider made, in the form that this API accepts. */
	callId: (id: string) => string;
}

/** The base URL followed by the path of the API; a base that already ends in (part of) the path gets only the rest. */
export function endpoint(baseUrl: string, path: string): string {
	const cut = baseUrl.indexOf("?");
	const query = cut === -1 ? "" : baseUrl.slice(cut);
	const base = (cut === -1 ? baseUrl : baseUrl.slice(0, cut)).replace(/\/+$/, "");
	if (base.endsWith(path)) return base + query;
	const first = path.slice(0, path.indexOf("/", 1) === -1 ? undefined : path.indexOf("/", 1));
	return (first !== path && base.endsWith(first) ? base.slice(0, -first.length) : base) + path + query;
}

/** Tool calls in a reply that ended well make it a `toolUse`, whatever word the provider used. */
export function settled(builder: ReplyBuilder, word: "stop" | "length" | "toolUse"): Ending {
	const calls = builder.partial.content.filter((block) => block.type === "toolCall");
	if (calls.some(({ name }) => name.trim() === "")) {
		return { error: "The provider sent a tool call without the name of a tool", failure: { kind: "transient" } };
	}
	if (word === "length") return { done: "length" };
	return { done: calls.length > 0 ? "toolUse" : "stop" };
}

/** The parameters of a tool in full: providers refuse an object schema that does not name its type and properties. */
export function objectSchema(parameters: ToolDefinition["parameters"]): ToolDefinition["parameters"] {
	return "type" in parameters && "properties" in parameters ? parameters : { type: "object", properties: {}, ...parameters };
}

/** Sent in place of a tool result without any text. */
export const noOutput = "(no output)";
export const imageOnly = "(see attached image)";

/** The texts of a content, a line end between them; blank ones are left out. */
export function textOf(content: readonly (Text | Image)[]): string {
	const texts = content.filter((block) => block.type === "text").map(({ text }) => text);
	return texts.filter((text) => text.trim() !== "").join("\n");
}

export function imagesIn(content: readonly (Text | Image)[]): Image[] {
	return content.filter((block) => block.type === "image");
}

/** The parts of a content that can be sent: providers refuse blank texts. */
export function saidIn(content: string | readonly (Text | Image)[]): (Text | Image)[] {
	const blocks: readonly (Text | Image)[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
	return blocks.filter((block) => block.type === "image" || block.text.trim() !== "");
}

/** The results that follow one another from an index on. */
export function resultsFrom(messages: readonly ModelMessage[], index: number): ToolResultMessage[] {
	const results: ToolResultMessage[] = [];
	for (let at = index, next = messages[at]; next?.role === "toolResult"; next = messages[++at]) results.push(next);
	return results;
}
