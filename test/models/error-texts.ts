/**
 * Errors as real providers send them, each with its class and a public thread or page that shows it. Ids are replaced; nothing else is.
 * A row is: status (none when the text is all there is), body, source, and the wait in milliseconds where the words state one.
 */
export interface ErrorText {
	status: number | undefined;
	body: string;
	source: string;
	waitMs?: number;
	headers?: Record<string, string>;
	provider?: string;
}

type Row = [status: number | undefined, body: string | object, source: string, more?: Partial<ErrorText>];

const rows = (...all: Row[]): ErrorText[] =>
	all.map(([status, body, source, more]) => ({ status, body: typeof body === "string" ? body : JSON.stringify(body), source, ...more }));

const issue = (path: string) => `https://github.com/${path}`;
const groq = { type: "tokens", code: "rate_limit_exceeded" };
const dev = "Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing";
const claude = (type: string, message: string) => ({ type: "error", error: { type, message }, request_id: "req_1" });
const gemini = (code: number, status: string, message: string, details?: object[]) => ({
	error: { code, message, status, ...(details ? { details } : {}) },
});
const quotaFailure = (...ids: string[]) => ({
	"@type": "type.googleapis.com/google.rpc.QuotaFailure",
	violations: ids.map((quotaId) => ({ quotaId })),
});

/** Tried again: the same request may work later. */
export const transient = rows(
	// Groq
	[
		429,
		{
			error: {
				message: `Rate limit reached for model \`llama-3.1-8b-instant\` in organization \`org_1\` service tier \`on_demand\` on tokens per minute (TPM): Limit 6000, Used 5034, Requested 1443. Please try again in 4.77s. ${dev}`,
				...groq,
			},
		},
		issue("elizaOS/eliza/issues/4040"),
		{ waitMs: 4770 },
	],
	[
		429,
		{
			error: {
				message:
					"Rate limit reached for model `llama-3.3-70b-versatile` in organization `org_1` on tokens per minute (TPM): Limit 6000, Used 3513, Requested 3166. Please try again in 6.780999999s. Visit https://console.groq.com/docs/rate-limits for more information.",
				...groq,
			},
		},
		issue("openinterpreter/openinterpreter/issues/408"),
		{ waitMs: 6781 },
	],
	[
		429,
		{
			error: {
				message:
					"Rate limit reached for model `llama3-70b-8192` in organization `org_1` on tokens per minute (TPM): Limit 5000, Used 5747, Requested ~4251. Please try again in 59.977s.",
				...groq,
			},
		},
		issue("crewAIInc/crewAI/issues/494"),
		{ waitMs: 59_977 },
	],
	[
		429,
		{
			error: {
				message: `Rate limit reached for model \`llama-3.3-70b-versatile\` in organization \`org_1\` service tier \`on_demand\` on tokens per day (TPD): Limit 100000, Used 97050, Requested 3619. Please try again in 9m38.016s. ${dev}`,
				...groq,
			},
		},
		issue("continuedev/continue/issues/10920"),
		{ waitMs: 578_016 },
	],
	[
		429,
		{
			error: {
				message: `Rate limit reached for model \`llama-3.3-70b-versatile\` in organization \`org_1\` service tier \`on_demand\` on tokens per minute (TPM): Limit 12000, Used 2542, Requested 9855. Please try again in 1.984999999s. ${dev}`,
				...groq,
			},
		},
		issue("ago19800/HomeMind/issues/29"),
		{ headers: { "retry-after": "2" }, waitMs: 2000 },
	],
	[
		400,
		{
			error: {
				message: "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
				type: "invalid_request_error",
				code: "tool_use_failed",
				failed_generation: "<function>",
			},
		},
		issue("groq/groq-typescript/issues/28"),
	],
	[
		400,
		{
			error: {
				message: "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
				type: "invalid_request_error",
				code: "tool_use_failed",
				failed_generation: "web_search{}</function>",
			},
		},
		issue("huggingface/smolagents/issues/1119"),
	],
	// Cerebras
	[
		429,
		{
			message: "Tokens per minute limit exceeded - too many tokens processed.",
			type: "too_many_tokens_error",
			param: "quota",
			code: "token_quota_exceeded",
		},
		issue("continuedev/continue/issues/9800"),
	],
	[429, "Tokens per minute limit exceeded - too many tokens processed", issue("anomalyco/opencode/issues/7463")],
	// Anthropic
	[529, claude("overloaded_error", "Overloaded"), issue("anthropics/claude-code/issues/5184")],
	[529, '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', issue("cline/cline/issues/52")],
	[500, claude("api_error", "Internal server error"), issue("anthropics/claude-code/issues/35508")],
	[
		429,
		claude(
			"rate_limit_error",
			"This request would exceed the rate limit for your organization of 20,000 input tokens per minute. For details, refer to: https://docs.anthropic.com/en/api/rate-limits. You can see the response headers for current usage. Please reduce the prompt length or the maximum tokens requested, or try again later.",
		),
		issue("FoundationAgents/OpenManus/issues/746"),
	],
	[
		429,
		claude("rate_limit_error", "This request would exceed your organization's rate limit of 10,000 input tokens per minute"),
		issue("stephengpope/thepopebot/issues/123"),
		{ headers: { "retry-after": "31" }, waitMs: 31_000 },
	],
	[
		429,
		claude(
			"rate_limit_error",
			"This request would exceed your organization’s rate limit of 80,000 output tokens per minute. Please reduce the prompt length or the maximum tokens requested, or try again later.",
		),
		issue("bespokelabsai/curator/pull/256"),
	],
	// OpenAI and Azure
	[
		429,
		{
			error: {
				message:
					"Rate limit reached for gpt-4 in organization org-1 on tokens per min (TPM): Limit 10000, Used 8554, Requested 3082. Please try again in 9.816s. Visit https://platform.openai.com/account/rate-limits to learn more.",
				type: "tokens",
				param: null,
				code: "rate_limit_exceeded",
			},
		},
		issue("FoundationAgents/MetaGPT/issues/523"),
		{ waitMs: 9816 },
	],
	[
		429,
		"Rate limit reached for gpt-4.1 in organization org-1 on tokens per min (TPM): Limit 30000, Used 18928, Requested 11159. Please try again in 174ms. Visit https://platform.openai.com/account/rate-limits to learn more.",
		issue("continuedev/continue/issues/11472"),
		{ waitMs: 174 },
	],
	[
		undefined,
		"Rate limit reached for 10KTPM-200RPM in organization org-1 on tokens per min. Limit: 10000 / min. Please try again in 6ms. Contact us through our help center at help.openai.com if you continue to have issues.",
		issue("daveshap/Medical_Intake/issues/9"),
		{ waitMs: 6 },
	],
	[
		500,
		{ error: { message: "The server had an error while processing your request. Sorry about that!", type: "server_error", param: null, code: null } },
		issue("LlmKira/Openaibot/issues/177"),
	],
	[
		undefined,
		{
			code: "server_error",
			message:
				"An error occurred while processing your request. You can retry your request, or contact us through our help center at help.openai.com if the error persists.",
		},
		issue("Wei-Shaw/sub2api/issues/6714"),
	],
	[
		undefined,
		"stream disconnected before completion: An error occurred while processing your request. You can retry your request",
		issue("openai/codex/issues/18952"),
	],
	[undefined, "Selected model is at capacity", issue("openai/codex/issues/46142")],
	[
		429,
		{
			error: {
				code: "429",
				message:
					"Requests to the ChatCompletions_Create Operation under Azure OpenAI API version 2024-02-01 have exceeded token rate limit of your current OpenAI S0 pricing tier. Please retry after 60 seconds. Please go here: https://aka.ms/oai/quotaincrease if you would like to further increase the default rate limit.",
			},
		},
		issue("DmitryKatson/bc-code-interpreter/issues/2"),
		{ waitMs: 60_000 },
	],
	[
		429,
		"Requests to the Creates a completion for the chat message Operation under Azure OpenAI API version 2023-03-15-preview have exceeded token rate limit of your current OpenAI S0 pricing tier. Please retry after 9 seconds.",
		issue("microsoft/sample-app-aoai-chatGPT/issues/406"),
		{ waitMs: 9000 },
	],
	[
		429,
		{
			error: {
				code: "429",
				message:
					"Requests to the ChatCompletions_Create Operation under Azure OpenAI API version 2024-05-01-preview have exceeded token rate limit of your current OpenAI S0 pricing tier. Please retry after 86400 seconds.",
			},
		},
		issue("alex-wolf-ps/dbchatprov2/issues/2"),
		{ waitMs: 86_400_000 },
	],
	[
		429,
		"The system is currently experiencing high demand and cannot process your request. Your request exceeds the maximum usage size allowed during peak load. Please retry after 20 seconds.",
		issue("pollinations/pollinations/issues/6260"),
		{ waitMs: 20_000 },
	],
	// Google
	[503, gemini(503, "UNAVAILABLE", "The model is overloaded. Please try again later."), issue("google-gemini/gemini-cli/issues/5191")],
	[
		503,
		gemini(503, "UNAVAILABLE", "This model is currently experiencing high demand. Spikes in demand are usually temporary. Please try again later."),
		issue("continuedev/continue/issues/10639"),
	],
	[
		429,
		gemini(
			429,
			"RESOURCE_EXHAUSTED",
			"You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits.\n* Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_input_token_count, limit: 250000\nPlease retry in 30.638054576s.",
		),
		issue("dyad-sh/dyad/issues/1469"),
		{ waitMs: 30_639 },
	],
	[
		429,
		gemini(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan and billing details.", [
			quotaFailure("GenerateRequestsPerMinutePerProjectPerModel-FreeTier"),
			{ retryDelay: "27s" },
		]),
		"https://ai.google.dev/gemini-api/docs/rate-limits",
		{ waitMs: 27_000 },
	],
	[429, gemini(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."), issue("googleapis/python-genai/issues/2065")],
	[
		429,
		[
			gemini(
				429,
				"RESOURCE_EXHAUSTED",
				"Resource exhausted. Please try again later. Please refer to https://cloud.google.com/vertex-ai/generative-ai/docs/error-code-429 for more details.",
			),
		],
		issue("google-gemini/gemini-cli/issues/14831"),
	],
	[
		429,
		gemini(429, "RESOURCE_EXHAUSTED", "No capacity available for model on the server", [{ reason: "MODEL_CAPACITY_EXHAUSTED" }]),
		issue("google-gemini/gemini-cli/issues/26633"),
	],
	[
		503,
		gemini(503, "UNAVAILABLE", "No capacity available for model on the server", [{ reason: "MODEL_CAPACITY_EXHAUSTED" }]),
		issue("google-gemini/gemini-cli/issues/23520"),
	],
	[
		429,
		"Quota exceeded for aiplatform.googleapis.com/generate_content_requests_per_minute_per_project_per_base_model with base model: gemini-pro. Please submit a quota increase request.",
		issue("felixbinder/introspection_self_prediction/issues/66"),
	],
	[
		undefined,
		"the service reports an error with code RESOURCE_EXHAUSTED described as: Quota exceeded for aiplatform.googleapis.com/embed_content_input_tokens_per_minute_per_base_model",
		issue("cocoindex-io/cocoindex/issues/1151"),
	],
	[
		undefined,
		"RESOURCE_EXHAUSTED: Unable to submit request because the service is temporarily out of capacity. Try again later.",
		issue("googleapis/google-cloud-java/issues/11195"),
	],
	[undefined, "4 DEADLINE_EXCEEDED: Deadline exceeded", issue("googleapis/nodejs-ai-platform/issues/453")],
	[undefined, "The reply ended with: MALFORMED_FUNCTION_CALL", issue("google-gemini/gemini-cli/issues/12674")],
	[
		undefined,
		"The reply ended with: UNEXPECTED_TOOL_CALL: Unexpected tool call: Model tried to call an undeclared function: undeclaredTool",
		issue("epam/ai-dial-adapter-vertexai/issues/325"),
	],
	// OpenRouter
	[
		429,
		{
			error: {
				message: "Provider returned error",
				code: 429,
				metadata: {
					raw: "z-ai/glm-5.3-flash is temporarily rate-limited upstream. Please retry shortly, or add your own key to accumulate your rate limits",
					provider_name: "BaseTen",
				},
			},
		},
		issue("open-webui/computer/issues/293"),
	],
	[429, "Provider returned error", issue("continuedev/continue/issues/10442")],
	[undefined, "The reply ended with: error", issue("gethouston/houston/pull/1211")],
	[
		undefined,
		{ error: { message: "Provider disconnected during streaming", type: "server_error", code: "provider_disconnected" } },
		issue("Augustas11/macprovider/issues/186"),
	],
	[
		undefined,
		"Upstream error from Nvidia: ResourceExhausted: Worker local total request limit reached (32/32)",
		issue("NousResearch/hermes-agent/issues/73391"),
	],
	// Mistral
	[
		429,
		{ object: "error", message: "Service tier capacity exceeded for this model.", type: "invalid_request_error", param: null, code: null },
		issue("continuedev/continue/issues/6185"),
	],
	[
		429,
		{ object: "error", message: "Rate limit exceeded", type: "rate_limited", param: null, code: "1300", raw_status_code: 429 },
		issue("raycast/extensions/issues/31107"),
	],
	[429, { message: "Requests rate limit exceeded" }, issue("dnakov/anon-kode/issues/53")],
	// Moonshot
	[
		429,
		{ error: { message: "The engine is currently overloaded, please try again later", type: "engine_overloaded_error" } },
		issue("MoonshotAI/kimi-cli/issues/2209"),
	],
	[
		429,
		{ error: { type: "rate_limit_error", message: "The engine is currently overloaded, please try again later" }, type: "error" },
		issue("MoonshotAI/kimi-code/issues/3176"),
	],
	[
		429,
		{ error: { message: "We're receiving too many requests at the moment. Please wait a moment and try again.", type: "rate_limit_reached_error" } },
		issue("MoonshotAI/kimi-cli/issues/901"),
	],
	// DashScope
	[
		429,
		{
			error: {
				message:
					"You exceeded your current quota, please check your plan and billing details. For details, see: https://help.aliyun.com/zh/model-studio/error-code#token-limit",
				type: "insufficient_quota",
				code: "insufficient_quota",
			},
		},
		"https://help.aliyun.com/zh/model-studio/error-code",
	],
	[
		429,
		"Allocated quota exceeded, please increase your quota limit. For details, see: https://help.aliyun.com/zh/model-studio/error-code#token-limit",
		issue("QwenLM/Qwen/issues/2254"),
	],
	[429, "429 status code (no body)", issue("QwenLM/qwen-code/issues/882")],
	// Bedrock
	[429, { message: "Too many tokens, please wait before trying again." }, issue("anthropics/claude-code/issues/236")],
	[undefined, "ThrottlingException: Too many tokens, please wait before trying again.", issue("aws-samples/well-architected-iac-analyzer/issues/25")],
	// Others
	[429, { status: 429, title: "Too Many Requests" }, issue("Alishahryar1/free-claude-code/issues/1485")],
	[undefined, "ResourceExhausted: Worker local total request limit reached", issue("anomalyco/opencode/issues/35265")],
	[429, { error: { message: "Model busy, retry later" } }, issue("truefoundry/models/pull/862")],
	[429, { message: "Request was rejected due to rate limiting. Details: TPM limit reached.", data: null }, issue("AIDotNet/OpenDeepWiki/issues/269")],
	[429, "Request didn't generate first token before the given deadline", issue("vybestack/llxprt-code/issues/144")],
	[
		429,
		{ message: "Sorry, you have exceeded your Copilot token usage. Please review our Terms of Service.", code: "rate_limited" },
		issue("github/copilot-cli/issues/793"),
	],
	[
		429,
		"Sorry, you have exhausted this model's rate limit. Please wait a moment before trying again, or switch to a different model.",
		issue("microsoft/vscode-copilot-release/issues/11304"),
	],
	[429, "[rate_limit_exceeded] Rate limit exceeded. Please retry after a brief wait.", issue("ltmoerdani/opencode-copilot-chat/issues/221")],
	[
		524,
		'<!DOCTYPE html>\n<!--[if lt IE 7]> <html class="no-js ie6 oldie" lang="en-US"> <![endif]-->\n<head>\n<title>api.example.net | 524: A timeout occurred</title>\n</head><body><h1><span>A timeout occurred</span> <span>Error code 524</span></h1></body></html>',
		issue("langgenius/dify/issues/20016"),
	],
	[
		524,
		{ success: false, error: { message: "error code: 524", code: "UNKNOWN_ERROR" }, status: 524 },
		issue("pollinations/pollinations/issues/7211"),
	],
	[undefined, "TypeError: terminated", issue("anthropics/claude-code/issues/51076")],
	[undefined, "TypeError: fetch failed SocketError: other side closed", issue("nodejs/undici/issues/3300")],
	[500, "llama runner process has terminated: CUDA error", issue("ollama/ollama/issues/8271")],
);

/** Answered by a compaction: the conversation does not fit. */
export const overflow = rows(
	[
		400,
		claude(
			"invalid_request_error",
			"input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length or `max_tokens` and try again",
		),
		issue("docker/docker-agent/issues/569"),
	],
	[
		undefined,
		"input length and `max_tokens` exceed context limit: 143291 + 64000 > 200000, decrease input length or `max_tokens` and try again",
		issue("anomalyco/opencode/issues/798"),
	],
	[400, claude("invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum"), issue("anthropics/claude-code/issues/12186")],
	[
		500,
		'"{\\"type\\":\\"error\\",\\"error\\":{\\"type\\":\\"invalid_request_error\\",\\"message\\":\\"prompt is too long: 203052 tokens > 200000 maximum\\"}}"',
		issue("continuedev/continue/issues/11371"),
	],
	[400, { error: { code: "1261", message: "Prompt exceeds max length" } }, issue("zeroclaw-labs/zeroclaw/issues/4124")],
	[400, "Prompt exceeds max length", issue("farion1231/cc-switch/issues/6982")],
	[
		400,
		{
			error:
				"Trying to keep the first 14538 tokens when context the overflows. However, the model is loaded with context length of only 2048 tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input",
		},
		issue("dyad-sh/dyad/issues/925"),
	],
	[
		undefined,
		"Trying to keep the first 6547 tokens when context overflows. However, the model is loaded with a context length of only 4096 tokens, which is not enough.",
		issue("n4ze3m/page-assist/issues/356"),
	],
	[
		400,
		{
			error:
				"The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 13055>= n_ctx: 4096). Try to load the model with a larger context length, or provide a shorter input.",
		},
		issue("Gitlawb/openclaude/issues/353"),
	],
	[
		undefined,
		"Reached context length of 4096 tokens with model (arch: qwen3vlmoe) that does not currently support mid-generation context overflow. Try reloading with a larger context length or shortening the prompt/chat.",
		issue("lmstudio-ai/lmstudio-bug-tracker/issues/1251"),
	],
	[undefined, "Context size has been exceeded", issue("lmstudio-ai/lmstudio-bug-tracker/issues/2339")],
	[
		500,
		{
			detail:
				"[address=0.0.0.0:43769, pid=1065] The decoder prompt (length 66501) is longer than the maximum model length of 65536. Make sure that `max_model_len` is no smaller than the number of text tokens.",
		},
		issue("langchain-ai/deepagents/issues/468"),
	],
	[400, "The decoder prompt (length 337896) is longer than the maximum model length of 128000.", issue("EvolvingLMMs-Lab/lmms-eval/issues/711")],
	[
		422,
		{
			error: "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 2048. Given: 3474 `inputs` tokens and 60 `max_new_tokens`",
			error_type: "validation",
		},
		issue("huggingface/llm-vscode/issues/94"),
	],
	[
		422,
		{ error: "Input validation error: `inputs` must have less than 1024 tokens. Given: 1168", error_type: "validation" },
		issue("huggingface/text-generation-inference/issues/695"),
	],
	[
		400,
		{ error: { code: "InvalidParameter", message: "Input length 203743 exceeds the maximum length 202752" } },
		issue("langgenius/dify/issues/32221"),
	],
	[
		undefined,
		{
			error: {
				code: 500,
				message: "the request exceeds the available context size. try increasing the context size or enable context shift",
				type: "exceed_context_size_error",
				n_prompt_tokens: 1407,
				n_ctx: 256,
			},
		},
		issue("ggml-org/llama.cpp/pull/15780"),
	],
	[
		undefined,
		{
			error: {
				code: 400,
				message: "the request exceeds the available context size. try increasing the context size or enable context shift",
				type: "exceed_context_size_error",
				n_prompt_tokens: 14429,
				n_ctx: 8192,
			},
		},
		issue("oobabooga/textgen/issues/7257"),
	],
	[400, "the request exceeds the available context size, try increasing it", issue("continuedev/continue/issues/9797")],
	[undefined, "request (2358 tokens) exceeds the available context size (2048 tokens), try increasing it", issue("unslothai/unsloth/pull/9390")],
	[
		400,
		{ error: { message: "Prompt tokens (9000) exceeds context size (8192)", type: "context_exceeded", n_prompt_tokens: 9000, n_ctx: 8192 } },
		issue("antirez/ds4/pull/150"),
	],
	[400, "Requested tokens (2285) exceed context window of 2048", issue("fedora-copr/logdetective-website/pull/193")],
	[
		413,
		{
			error: {
				message: `Request too large for model \`llama-3.1-8b-instant\` in organization \`org_1\` service tier \`on_demand\` on tokens per minute (TPM): Limit 6000, Requested 12328, please reduce your message size and try again. ${dev}`,
				...groq,
			},
		},
		issue("HunorLaczko/ha-groq-cloud-api/issues/27"),
	],
	[
		413,
		"Request too large for model `moonshotai/kimi-k2-instruct` in organization `org_1` service tier `on_demand` on tokens per minute (TPM): Limit 10000, Requested 15088, please reduce your message size and try again.",
		issue("cline/cline/issues/4971"),
	],
	[
		429,
		{
			error: {
				message:
					"Rate limit reached for model `llama3-70b-8192` in organization `org_1` on tokens per minute (TPM): Limit 7000, Used 0, Requested ~12903. Please try again in 50.597142857s.",
				...groq,
			},
		},
		issue("danielmiessler/Fabric/issues/364"),
	],
	[
		429,
		{
			error: {
				message:
					"Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 31538. The input or output tokens must be reduced in order to run successfully.",
				type: "tokens",
				param: null,
				code: "rate_limit_exceeded",
			},
		},
		issue("TheR1D/shell_gpt/issues/653"),
	],
	[
		429,
		"Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 342389. The input or output tokens must be reduced in order to run successfully.",
		issue("vanna-ai/vanna-flask/issues/11"),
	],
	[413, "Request body too large for gpt-4.1 model. Max size: 8000 tokens.", issue("tashfeenahmed/freellmapi/issues/426")],
	[
		400,
		{
			error: {
				message:
					"This model's maximum context length is 131072 tokens. However, you requested 131134 tokens (122942 in the messages, 8192 in the completion). Please reduce the length of the messages or completion.",
				type: "invalid_request_error",
				param: null,
				code: "invalid_request_error",
			},
		},
		issue("evalstate/fast-agent/issues/621"),
	],
	[
		400,
		{
			error: {
				message:
					"This model's maximum context length is 4097 tokens. However, your messages resulted in 4301 tokens. Please reduce the length of the messages.",
				type: "invalid_request_error",
				param: "messages",
				code: "context_length_exceeded",
			},
		},
		issue("xtekky/gpt4free/issues/137"),
	],
	[400, "This model's maximum prompt length is 131072 but the request contains 136973 tokens.", issue("cline/cline/issues/3120")],
	[
		400,
		gemini(400, "INVALID_ARGUMENT", "The input token count (3475108) exceeds the maximum number of tokens allowed (1048576)."),
		issue("google-gemini/gemini-cli/issues/4231"),
	],
	[400, "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 204800]", issue("QwenLM/qwen-code/issues/98")],
	[
		400,
		{ code: "InvalidParameter", message: "Range of input length should be [1, 6000]", request_id: "x" },
		issue("LLM-Red-Team/qwen-free-api/issues/23"),
	],
	[400, claude("bad_request_error", "invalid params, context window exceeds limit (2013)"), issue("rowboatlabs/rowboat/issues/514")],
	[
		400,
		{ error: { message: "prompt token count of 138898 exceeds the limit of 64000", code: "model_max_prompt_tokens_exceeded" } },
		issue("microsoft/copilot-intellij-feedback/issues/94"),
	],
	[
		400,
		{
			object: "error",
			message: "The input (61709 tokens) is longer than the model's context length (40960 tokens).",
			type: "BadRequestError",
			param: null,
			code: 400,
		},
		issue("QwenLM/Qwen3/issues/1321"),
	],
	[400, "Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens).", issue("sgl-project/sglang/issues/4048")],
	[400, "Input prompt (9762 tokens) is too long and exceeds limit of 8192", issue("vllm-project/vllm/issues/7048")],
	[
		400,
		"too many tokens: total number of tokens (prompt and prediction) cannot exceed 2048 - received 6354. Try using a shorter prompt or a smaller max_tokens value.",
		issue("cohere-ai/sandbox-topically/issues/4"),
	],
);

/** The end of the run: asking again would give the same answer. */
export const permanent = rows(
	// Money
	[
		400,
		claude(
			"invalid_request_error",
			"Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",
		),
		issue("anthropics/claude-code/issues/66314"),
	],
	[429, claude("rate_limit_error", "Extra usage is required for long context requests."), issue("anthropics/claude-code/issues/53607")],
	[
		429,
		{ error: { message: "Extra usage is required for long context requests.", type: "rate_limit_error" }, type: "error" },
		issue("Wei-Shaw/sub2api/issues/572"),
	],
	[
		429,
		{
			error: {
				message:
					"You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors.",
				type: "insufficient_quota",
				param: null,
				code: "insufficient_quota",
			},
		},
		issue("chatanywhere/GPT_API_free/issues/229"),
	],
	[
		undefined,
		{
			error: {
				message: "You exceeded your current quota, please check your plan and billing details.",
				type: "insufficient_quota",
				param: null,
				code: null,
			},
		},
		issue("xtekky/gpt4free/issues/80"),
	],
	[
		402,
		{ error: { message: "Insufficient Balance", type: "unknown_error", param: null, code: "invalid_request_error" } },
		issue("continuedev/continue/issues/8439"),
	],
	[402, "Insufficient Balance", issue("continuedev/continue/issues/9942")],
	[500, claude("api_error", "insufficient balance (1008)"), issue("MiniMax-AI/MiniMax-M2/issues/62")],
	[
		429,
		claude(
			"rate_limit_error",
			"usage limit exceeded, 5-hour usage limit reached for Token Plan Starter (0/0 used), resets at 2026-05-15T15:00:00Z (2056)",
		),
		issue("MiniMax-AI/MiniMax-M2.7/issues/36"),
	],
	[
		429,
		{ type: "error", error: { type: "1113", message: "Insufficient balance or no resource package. Please recharge." } },
		issue("anthropics/claude-code/issues/9201"),
	],
	[429, "余额不足或无可用资源包,请充值。", issue("continuedev/continue/issues/11823")],
	[
		403,
		{
			error: {
				message: "Your account is not active, organization exceeded current quota, please check your plan and billing details",
				type: "exceeded_current_quota_error",
			},
		},
		issue("MoonshotAI/Kimi-K2/issues/5"),
	],
	[
		429,
		{
			error: {
				message: "Provider returned error",
				code: 429,
				metadata: {
					raw: '{"error":{"message":"Your account org-1 is suspended due to insufficient balance, please recharge your account or check your plan and billing details"}}',
				},
			},
		},
		issue("anomalyco/opencode/issues/24462"),
	],
	[
		429,
		'"Your team 1 has either used all available credits or reached its monthly spending limit. To continue making API requests, please purchase more credits or raise your spending limit."',
		issue("continuedev/continue/issues/10373"),
	],
	[
		403,
		"permission-denied: Your team 1 has either used all available credits or reached its monthly spending limit. To continue making API requests, please purchase more credits or raise your spending limit.",
		issue("Anantys-oss/koan/issues/2412"),
	],
	[
		403,
		{ code: "x", error: "You have run out of credits or need a Grok subscription. Add credits at https://grok.com/?_s=usage" },
		issue("Wei-Shaw/sub2api/issues/4069"),
	],
	[
		402,
		{
			error: {
				message:
					"This request requires more credits, or fewer max_tokens. You requested up to 32000 tokens, but can only afford 27342. To increase, visit https://openrouter.ai/settings/credits and upgrade to a paid account",
				code: 402,
				metadata: { provider_name: null },
			},
		},
		issue("Gitlawb/openclaude/issues/1125"),
	],
	[
		402,
		"Prompt tokens limit exceeded: 36163 > 29652. To increase, visit https://openrouter.ai/settings/credits and upgrade to a paid account",
		issue("continuedev/continue/issues/11540"),
	],
	[
		429,
		{ error: { message: "Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day", code: 429 } },
		issue("Gitlawb/openclaude/issues/936"),
	],
	[
		429,
		{ error: { message: "Rate limit exceeded: free-models-per-day-high-balance.", type: "rate_limit_error", code: "429" } },
		issue("Gitlawb/openclaude/issues/1549"),
	],
	[
		402,
		{ error: "You have exceeded your monthly included credits for Inference Providers. Subscribe to PRO to get 20x more monthly included credits." },
		issue("huggingface/agents-course/issues/386"),
	],
	[
		429,
		'"you (x) have reached your session usage limit, upgrade for higher limits: https://ollama.com/upgrade"',
		issue("continuedev/continue/issues/11444"),
	],
	[
		403,
		{
			error: {
				code: "AccountOverdueError",
				message: "The request failed because your account has an overdue balance. Request ID: 1",
				type: "Forbidden",
			},
		},
		"https://www.volcengine.com/docs/82379/1099476",
	],
	// Quotas of a day, whatever wait they state
	[
		429,
		gemini(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan and billing details.", [
			quotaFailure("GenerateRequestsPerMinutePerProjectPerModel-FreeTier", "GenerateRequestsPerDayPerProjectPerModel-FreeTier"),
			{ retryDelay: "13s" },
		]),
		issue("google-gemini/gemini-cli/issues/8437"),
	],
	[
		429,
		gemini(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota. Go to https://aistudio.google.com/apikey to upgrade your quota tier", [
			quotaFailure("GenerateRequestsPerDayPerProjectPerModel"),
		]),
		issue("langgenius/dify/issues/19838"),
	],
	[
		429,
		gemini(
			429,
			"RESOURCE_EXHAUSTED",
			"You exceeded your current quota, please check your plan and billing details.\n* Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 0, model: gemini-2.5-pro\nPlease retry in 20.04466179s.",
		),
		issue("continuedev/continue/issues/10062"),
	],
	// Keys, models, places
	[
		401,
		{
			error: {
				message: "Incorrect API key provided: sk-or-v1****. You can find your API key at https://platform.openai.com/account/api-keys.",
				type: "invalid_request_error",
				param: null,
				code: "invalid_api_key",
			},
		},
		issue("continuedev/continue/issues/10088"),
	],
	[401, { detail: "Unauthorized" }, issue("cline/cline/issues/6235")],
	[401, "", issue("continuedev/continue/issues/10277")],
	[
		403,
		{
			error: {
				code: "unsupported_country_region_territory",
				message: "Country, region, or territory not supported",
				param: null,
				type: "request_forbidden",
			},
		},
		issue("home-assistant/core/issues/120072"),
	],
	[
		403,
		gemini(403, "PERMISSION_DENIED", "Your API key was reported as leaked. Please use another API key."),
		issue("continuedev/continue/issues/10513"),
	],
	[
		404,
		{
			error: {
				message: "The model `gpt-4o` does not exist or you do not have access to it.",
				type: "invalid_request_error",
				param: null,
				code: "model_not_found",
			},
		},
		issue("Upsonic/Upsonic/issues/32"),
	],
	[
		400,
		{
			error: {
				message:
					"The model `gemma2-9b-it` has been decommissioned and is no longer supported. Please refer to https://console.groq.com/docs/deprecations for a recommendation on which model to use instead.",
				type: "invalid_request_error",
				code: "model_decommissioned",
			},
		},
		issue("continuedev/continue/issues/12741"),
	],
	// Requests that the provider does not take
	[
		400,
		{
			error: {
				message: "Provider returned error",
				code: 400,
				metadata: {
					raw: '{"error":{"message":"Response input messages must contain the word json","type":"invalid_request_error"}}',
					provider_name: "OpenAI",
				},
			},
		},
		issue("reVrost/go-openrouter/pull/21"),
	],
	[
		400,
		{
			error: {
				message: "Provider returned error",
				code: 400,
				metadata: {
					raw: '{"error":{"type":"invalid_request_error","message":"Model \'moonshotai/kimi-k2.6\' supports at most 1 image per prompt."}}',
					provider_name: "Crucible",
				},
			},
		},
		issue("diegosouzapw/OmniRoute/issues/3044"),
	],
	[400, "Provider returned error", issue("campfirein/byterover-cli/issues/43")],
	[
		404,
		{
			error: {
				message:
					"Item with id 'rs_1' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.",
				type: "invalid_request_error",
				param: "input",
				code: null,
			},
		},
		issue("can1357/oh-my-pi/issues/41"),
	],
	[
		422,
		{
			object: "Error",
			detail: [{ type: "extra_forbidden", loc: ["body", "tools"], msg: "Extra inputs are not permitted", input: [] }],
			type: "invalid_request_error",
			code: 3001,
		},
		issue("partITech/php-mistral/issues/76"),
	],
	[
		400,
		{
			object: "error",
			message: "Tool call id was call_search but must be a-z, A-Z, 0-9, with a length of 9.",
			type: "invalid_request_error",
			param: null,
			code: null,
		},
		issue("BibekBhusal0/zen-custom-js/pull/7"),
	],
	[
		400,
		{ object: "error", message: "Unexpected role 'user' after role 'tool'", type: "invalid_request_message_order", param: null, code: "3230" },
		issue("datapizza-labs/datapizza-ai/issues/98"),
	],
	[
		400,
		{ code: 20015, message: "thinking is enabled but reasoning_content is missing in assistant tool call message at index 32", data: null },
		issue("agentscope-ai/QwenPaw/issues/433"),
	],
	[
		400,
		{
			error: {
				message:
					"Missing `reasoning_content` field in the assistant message at message index 112. For more information, please refer to https://api-docs.deepseek.com/guides/thinking_mode#tool-calls",
				type: "invalid_request_error",
				param: null,
				code: "invalid_request_error",
			},
		},
		issue("HKUDS/nanobot/issues/946"),
	],
	[
		400,
		claude("invalid_request_error", "messages.1.content.0: Invalid `signature` in `thinking` block"),
		issue("anthropics/claude-code/issues/10627"),
	],
	[
		400,
		{ error: { message: "max_tokens for `llama-3.1-8b-instant` must be less than or equal to 8000", type: "invalid_request_error" } },
		issue("skapadia3214/groq-moa/issues/8"),
	],
	[
		400,
		{ error: { message: "max_tokens must be at least 16 for sonar.", type: "invalid_parameter", code: 400 } },
		issue("ITSpecialist111/ai_automation_suggester/issues/171"),
	],
	[400, { message: "The maximum tokens you requested exceeds the model limit of 32768" }, issue("charmbracelet/crush/issues/946")],
	[400, { error: { message: "requested tool does not exist", type: "invalid_request_error" } }, issue("BerriAI/litellm/issues/11001")],
	[
		400,
		{ error: { message: "registry.ollama.ai/library/gemma3:4b does not support tools", type: "api_error", param: null, code: null } },
		issue("louisho5/picobot/issues/6"),
	],
	[400, "Invalid combination of reasoning_effort and thinking type: high + disabled", issue("RooCodeInc/Roo-Code/issues/11395")],
	// Servers on the user's own machine that answer 500 and would again
	[500, { error: "model requires more system memory (5.0 GiB) than is available (3.9 GiB)" }, issue("continuedev/continue/issues/11715")],
	[
		500,
		{ error: { message: "model requires more system memory (164.8 GiB) than is available (13.4 GiB)", type: "api_error", param: null, code: null } },
		issue("ollama/ollama/issues/10920"),
	],
	[500, "llama runner process has terminated: CUDA error: out of memory", issue("ollama/ollama/issues/9782")],
	[500, { error: { code: 500, message: "tools param requires --jinja flag", type: "server_error" } }, issue("AstrBotDevs/AstrBot/issues/758")],
	[500, { code: 500, message: "Unsupported param: tools", type: "server_error" }, issue("ggml-org/llama.cpp/issues/10920")],
	[
		500,
		{
			error: {
				code: 500,
				message: "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",
				type: "server_error",
			},
		},
		issue("ggml-org/llama.cpp/issues/15377"),
	],
	[
		500,
		{ error: { code: 500, message: "image input is not supported by this server", type: "server_error" } },
		issue("ggml-org/llama.cpp/issues/13566"),
	],
	[
		500,
		{ error: { code: 500, message: "Failed to parse messages: Unsupported content part type", type: "server_error" } },
		issue("ngxson/smolvlm-realtime-webcam/issues/13"),
	],
);
