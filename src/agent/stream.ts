/** What the agent asks of a model, and how a reply arrives. Types only. */
import type { AssistantMessage, StopReason, ToolResultMessage, UserMessage } from "../protocol/messages.ts";
import type { Model, ThinkingLevel } from "../protocol/model.ts";
import type { AssistantMessageEvent } from "../protocol/stream.ts";
import type { Tool, ToolDefinition } from "./tool.ts";

/** Whether the reader of our output keeps up. Producers wait here before they make more. */
export interface Flow {
	readonly isOpen: boolean;
	/** Resolves when there is room again, or when the signal fires. */
	whenOpen(signal?: AbortSignal): Promise<void>;
}

/** The roles that reach a provider. Every other role has been turned into one of these. */
export type ModelMessage = UserMessage | AssistantMessage | ToolResultMessage;

export interface ModelRequest {
	model: Model;
	thinkingLevel: ThinkingLevel;
	systemPrompt: string;
	messages: readonly ModelMessage[];
	tools: readonly ToolDefinition[];
	/** The longest reply wanted, in tokens, where the model would allow more. */
	maxTokens?: number;
	/** The tool that the reply must call, where the model supports that. */
	toolChoice?: string;
	/** Opaque key for provider-side caches. */
	sessionId: string;
	/**
	 * What a provider whose requests mark it is asked to keep for later ones: all of it unless this says otherwise. `earlier`: only what it was
	 * asked to keep before. A summary is the last request that holds its text, and writing a cache costs a quarter more than not doing so.
	 */
	keep?: "earlier" | "nothing";
	/** The turn that this request belongs to. Absent for requests outside of the conversation. */
	turn?: Turn;
	/** When the system prompt or the tools changed last. Some models do not take back thinking that is older. */
	prefixSince?: number;
	/** Minutes by which the user's clock was ahead of UTC when the session began: the messages say which day it is there. */
	utcOffset?: number;
}

/**
 * One turn of a model: from a prompt to the reply that ends its tool calls. Providers take one configuration of thinking for a turn. The
 * request writes down here what later requests of the turn have to keep.
 */
export interface Turn {
	/** Provider and id of the model that the other members hold for. */
	model?: string;
	level?: ThinkingLevel;
	/** False if the turn began without thinking, or the provider refused it. */
	thinks?: boolean;
}

/** What kind of failure ended a reply. The provider code decides, because it has the facts. */
export interface ProviderFailure {
	kind: "transient" | "overflow" | "permanent";
	status?: number;
	/** The provider asks for at least this wait. */
	retryAfterMs?: number;
}

type BlockEvent = AssistantMessageEvent & { partial: AssistantMessage };

export type StreamEvent =
	| { type: "start"; partial: AssistantMessage }
	| BlockEvent
	| { type: "done"; reason: Exclude<StopReason, "error" | "aborted">; message: AssistantMessage }
	| { type: "error"; reason: "error" | "aborted"; error: AssistantMessage; failure: ProviderFailure };

export interface StreamOptions {
	signal: AbortSignal;
	flow: Flow;
	/** Called synchronously for every event, in order. Each `partial` is a value: it never changes afterwards. */
	onEvent: (event: StreamEvent) => void;
}

/**
 * Asks a model. Must not throw and must not reject: a failure is the last event. Sends `start`, then per block `x_start`, `x_delta`*,
 * `x_end`, then exactly one `done` or `error`, and resolves after it. Ends promptly with `error`/`aborted` when the signal fires.
 * Waits on `flow` instead of reading on while the host lags behind.
 */
export type StreamFunction = (request: ModelRequest, options: StreamOptions) => Promise<void>;

/** What a model call is made with. The loop reads it again before each call. */
export interface Setup {
	model: Model;
	thinkingLevel: ThinkingLevel;
	systemPrompt: string;
	tools: readonly Tool[];
	/** The tool that the reply must call. */
	toolChoice?: string;
}
