/** What the wire formats have in common: the call that each receives, and the request and reply that each makes from it. */
import type { ModelMessage, ProviderFailure, StoredRun, ToolDefinition } from "../agent/contracts.ts";
import type { PlainLevel } from "../protocol/levels.ts";
import type { Model } from "../protocol/model.ts";
import type { Blocks } from "./blocks.ts";
import type { ReplyBuilder } from "./builder.ts";
import type { Compat } from "./compat.ts";
import type { Target } from "./handoff.ts";

export type Retention = "none" | "short" | "long";
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
	/** The beginning of the conversation as this API's `stored` wrote it, without the first comma. */
	history: readonly Uint8Array[];
	/** What follows it. After handoff: every call has its result, and this model accepts every part. */
	messages: readonly ModelMessage[];
	tools: readonly ToolDefinition[];
	/** The tool that the model has to call, where its API can say so. */
	toolChoice?: string;
	sessionId: string;
	maxTokens: number;
	retention: Retention;
	budgets: Budgets;
	now: () => number;
}

/** Whether the model is asked to think. */
export const thinks = ({ model, level }: Pick<Call, "model" | "level">) => model.reasoning && level !== "off";

export interface WireRequest {
	url: string;
	headers: Record<string, string>;
	/** JSON in pieces: a conversation is mostly bytes that were sent before. */
	body: readonly (string | Uint8Array)[];
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

/** Writes the part of a conversation that does not change any more: each message with a comma in front of it, each byte as one character. */
export interface StoredWriter {
	/** Messages that were not read yet. Nothing when they must be. */
	run(run: StoredRun, target: Target): string | undefined;
	/** Messages after handoff. */
	messages(messages: readonly ModelMessage[]): string;
}

export interface Api {
	request(call: Call): WireRequest;
	/** Absent where all messages are read. */
	stored?: StoredWriter;
	/** How events are framed, when not as server-sent ones. */
	reader?(onEvent: (data: string) => void): EventReader;
	decoder(call: Call, builder: ReplyBuilder, blocks: Blocks): Decoder;
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
	if (word === "length") return { done: "length" };
	return { done: builder.partial.content.some((block) => block.type === "toolCall") ? "toolUse" : "stop" };
}

/** The parameters of a tool in full: providers refuse an object schema that does not name its type and properties. */
export function objectSchema(parameters: ToolDefinition["parameters"]): ToolDefinition["parameters"] {
	return "type" in parameters && "properties" in parameters ? parameters : { type: "object", properties: {}, ...parameters };
}

/** Remembers what was made of a value for as long as the value lives; makes it again when the variant changes. */
export function remembered<K extends object, V>(make: (key: K, variant: string) => V): (key: K, variant?: string) => V {
	const cache = new WeakMap<K, { variant: string; value: V }>();
	return (key, variant = "") => {
		const known = cache.get(key);
		if (known?.variant === variant) return known.value;
		const value = make(key, variant);
		cache.set(key, { variant, value });
		return value;
	};
}

/** Sent in place of a tool result without any text. */
export const noOutput = "(no output)";
export const imageOnly = "(see attached image)";
