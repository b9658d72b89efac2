/** How the hosts of one API differ. Every flag has a default; a row of `routes.ts`, a provider and a model may each override it. */

export type ThinkingFormat = "openai" | "openrouter" | "deepseek" | "zai" | "qwen" | "qwen-chat-template" | "together" | "none";

export interface Compat {
	/** Takes `store`. */
	supportsStore: boolean;
	/** The system prompt of a reasoning model goes in as `developer`. */
	supportsDeveloperRole: boolean;
	/** Takes `reasoning_effort`. */
	supportsReasoningEffort: boolean;
	/** Level to word, over the model's own map. */
	reasoningEffortMap: Record<string, string>;
	/** Takes `stream_options.include_usage`. */
	supportsUsageInStreaming: boolean;
	maxTokensField: "max_completion_tokens" | "max_tokens";
	/** Tool results carry the tool's name. */
	requiresToolResultName: boolean;
	/** No user message may follow a tool result directly. */
	requiresAssistantAfterToolResult: boolean;
	/** Assistant messages with calls and no text need an empty string instead of null. */
	requiresAssistantContent: boolean;
	/** Reasoning is replayed as text. */
	requiresThinkingAsText: boolean;
	/** Ids of tool calls have exactly nine letters and digits. */
	requiresMistralToolIds: boolean;
	/** While the model thinks, each assistant message with tool calls needs `reasoning_content`. */
	requiresReasoningContentOnAssistantMessages: boolean;
	/** Tools may say `strict`. */
	supportsStrictMode: boolean;
	thinkingFormat: ThinkingFormat;
	/** A stream that has neither `finish_reason` nor `[DONE]` was cut. */
	requiresFinishReason: boolean;
	/** The output to ask for when the user set none: hosts count what is asked for against their rate limit. */
	defaultMaxTokens: number | undefined;
	/** Text blocks take Anthropic's cache marks. */
	supportsCacheControl: boolean;
	/** Takes `prompt_cache_key`. */
	supportsPromptCacheKey: boolean;
	openRouterRouting: Record<string, unknown> | undefined;
	vercelGatewayRouting: Record<string, unknown> | undefined;
	/** Claude models: `adaptive` thinks as much as it likes, `budget` is given tokens. Default: by the model's name. */
	thinkingMode: "adaptive" | "budget" | undefined;
}

/** The flags of a compatible host that is not known. */
export const plainCompat: Compat = {
	supportsStore: false,
	supportsDeveloperRole: false,
	supportsReasoningEffort: true,
	reasoningEffortMap: {},
	supportsUsageInStreaming: true,
	maxTokensField: "max_tokens",
	requiresToolResultName: false,
	requiresAssistantAfterToolResult: false,
	requiresAssistantContent: false,
	requiresThinkingAsText: false,
	requiresMistralToolIds: false,
	requiresReasoningContentOnAssistantMessages: false,
	supportsStrictMode: true,
	thinkingFormat: "openai",
	requiresFinishReason: true,
	defaultMaxTokens: undefined,
	supportsCacheControl: false,
	supportsPromptCacheKey: false,
	openRouterRouting: undefined,
	vercelGatewayRouting: undefined,
	thinkingMode: undefined,
};

/** Merges flags; later ones win. Ignores other members, such as a model's level map, and values of a wrong kind. */
export function mergeCompat(...parts: (Record<string, unknown> | undefined)[]): Compat {
	const merged: Record<string, unknown> = { ...plainCompat };
	for (const part of parts) {
		for (const [name, value] of Object.entries(part ?? {})) {
			const plain = plainCompat[name as keyof Compat];
			const isKnown = Object.hasOwn(plainCompat, name) && value !== undefined && value !== null;
			if (isKnown && (plain === undefined || typeof plain === typeof value)) merged[name] = value;
		}
	}
	return merged as unknown as Compat;
}
