/** In what the hosts of one API differ. Every flag has a default; a row of `routes.ts`, a provider and a model may each override it. */

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
	/** Tools may say `strict`. */
	supportsStrictMode: boolean;
	thinkingFormat: ThinkingFormat;
	/** A stream without `finish_reason` was cut. */
	requiresFinishReason: boolean;
	/** Text blocks take Anthropic's cache marks. */
	supportsCacheControl: boolean;
	/** Takes `prompt_cache_key`. */
	supportsPromptCacheKey: boolean;
	openRouterRouting: Record<string, unknown> | undefined;
	vercelGatewayRouting: Record<string, unknown> | undefined;
	/** Claude models: `adaptive` thinks as much as it likes, `budget` is given tokens. Default: by the model's name. */
	thinkingMode: "adaptive" | "budget" | undefined;
}

/** What an unknown compatible host can be trusted with. */
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
	supportsStrictMode: true,
	thinkingFormat: "openai",
	requiresFinishReason: true,
	supportsCacheControl: false,
	supportsPromptCacheKey: false,
	openRouterRouting: undefined,
	vercelGatewayRouting: undefined,
	thinkingMode: undefined,
};

/** Merges flags, later ones winning; members of other kinds, such as a model's level map, are left aside, as are values of a wrong kind. */
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
