/** The wire APIs, and the providers that speak them: addresses, keys, differences. One row per API, one row per provider. */
import type { ApiModule } from "./api.ts";
import type { Compat } from "./compat.ts";

/** Whose credentials a provider takes besides a key. */
export type Cloud = "aws" | "google" | "azure";

/** The header that carries a key. */
export type Auth = "bearer" | "x-api-key" | "x-goog-api-key" | "api-key" | "cf-aig-authorization";

interface WireApi {
	/** Loads the module when the first request needs it. */
	load: () => Promise<ApiModule>;
	/** Where the key goes. The default is a bearer token. */
	auth?: Auth;
	/** Other names that `models.jsonc` may use. */
	aliases?: readonly string[];
}

/** A new wire API is a file in `apis/` and a row here: the names, the checks of `models.jsonc` and the types all come from this table. */
export const apis = {
	"anthropic-messages": { load: () => import("./apis/anthropic-messages.ts"), auth: "x-api-key" },
	"openai-completions": { load: () => import("./apis/openai-chat.ts"), aliases: ["openai-chat", "openai-chat-completions"] },
	"openai-responses": { load: () => import("./apis/openai-responses.ts") },
	"google-generative-ai": { load: () => import("./apis/google-generative.ts"), auth: "x-goog-api-key", aliases: ["google"] },
	"bedrock-converse": { load: () => import("./apis/bedrock-converse.ts") },
	"anthropic-vertex": { load: () => import("./apis/anthropic-vertex.ts"), auth: "x-goog-api-key" },
} as const satisfies Record<string, WireApi>;

export type ApiName = keyof typeof apis;

const apiRows: Readonly<Record<string, WireApi>> = apis;

/** The row of an API, by its name. */
function wireApi(name: string): WireApi | undefined {
	return Object.hasOwn(apiRows, name) ? apiRows[name] : undefined;
}

/** The module that speaks an API, or nothing when no row has the name. */
export async function loadApi(name: string): Promise<ApiModule | undefined> {
	return wireApi(name)?.load();
}

/** The API that a name or an alias means. */
export function apiName(name: unknown): ApiName | undefined {
	const found = Object.entries(apiRows).find(([key, row]) => key === name || row.aliases?.some((alias) => alias === name));
	return found?.[0] as ApiName | undefined;
}

export interface Route {
	/** The API of ids that the catalogue does not know. */
	api: ApiName;
	/** May hold `{NAME}` parts that the environment fills. */
	baseUrl: string;
	/** Variables that may hold the key, the first that is set wins. */
	keys: readonly string[];
	/** The header of the key, when it is not the one of the API. */
	auth?: Auth;
	/** Variables whose key is sent as a bearer token instead. */
	bearerKeys?: readonly string[];
	/** The variable that replaces the base URL. */
	baseUrlVariable: string;
	/** Another variable that other programs read the address from. */
	otherUrlVariable?: string;
	/** Has credentials of its own kind when there is no key. */
	cloud?: Cloud;
	/** Variables with secrets that other programs use too: kept from commands only once this provider is asked. */
	sharedSecrets?: readonly string[];
	/** Runs on the user's own machine and needs no key. */
	isLocal?: true;
	compat?: Partial<Compat>;
	/** The flags of models that other companies made and this provider also serves, over those of the row. */
	others?: { ids: RegExp; compat: Partial<Compat> };
}

type Options = Partial<Omit<Route, "api" | "baseUrl" | "baseUrlVariable">> & { base?: string };

/** `moonshotai-cn` to `MOONSHOTAI_CN`. */
const shout = (name: string) => name.replace(/[^A-Za-z0-9]+/g, "_").toUpperCase();

function row(name: string, api: ApiName, baseUrl: string, { base, ...options }: Options = {}): [string, Route] {
	const keys = options.keys ?? [`${shout(name)}_API_KEY`];
	return [name, { ...options, api, baseUrl, keys, baseUrlVariable: base ?? `${shout(name)}_BASE_URL` }];
}

const chat = (name: string, baseUrl: string, options?: Options) => row(name, "openai-completions", baseUrl, options);
const local = (name: string, port: number) => chat(name, `http://127.0.0.1:${port}/v1`, { isLocal: true });

const openai: Partial<Compat> = {
	supportsStore: true,
	supportsDeveloperRole: true,
	maxTokensField: "max_completion_tokens",
	supportsPromptCacheKey: true,
};
/** They count the output that is asked for against the tokens of a minute, used or not. */
const reservesOutput: Partial<Compat> = { maxTokensField: "max_completion_tokens", defaultMaxTokens: 16384 };
const mistral: Partial<Compat> = {
	supportsUsageInStreaming: false,
	requiresAssistantAfterToolResult: true,
	requiresThinkingAsText: true,
	requiresMistralToolIds: true,
};
/** DeepSeek, Moonshot and Kimi. */
const deepseek: Partial<Compat> = { thinkingFormat: "deepseek", requiresReasoningContentOnAssistantMessages: true };
const zai: Partial<Compat> = { thinkingFormat: "zai", supportsReasoningEffort: false };
const qwen: Partial<Compat> = { thinkingFormat: "qwen" };
const qwenPlan = { compat: qwen };
const xiaomi = { compat: { thinkingFormat: "deepseek", supportsReasoningEffort: false } as const };

/** In the order in which the search for a first model goes. */
export const routes: ReadonlyMap<string, Route> = new Map([
	row("anthropic", "anthropic-messages", "https://api.anthropic.com", {
		keys: ["ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY"],
		bearerKeys: ["ANTHROPIC_AUTH_TOKEN"],
	}),
	row("openai", "openai-responses", "https://api.openai.com/v1", { compat: openai }),
	row("google", "google-generative-ai", "https://generativelanguage.googleapis.com/v1beta", {
		keys: ["GEMINI_API_KEY"],
		base: "GEMINI_BASE_URL",
	}),
	chat("openrouter", "https://openrouter.ai/api/v1", { auth: "bearer", compat: { thinkingFormat: "openrouter", supportsCacheControl: true } }),
	row("xai", "openai-responses", "https://api.x.ai/v1", { compat: { supportsReasoningEffort: true } }),
	chat("groq", "https://api.groq.com/openai/v1", { compat: reservesOutput }),
	chat("cerebras", "https://api.cerebras.ai/v1", { compat: reservesOutput }),
	chat("mistral", "https://api.mistral.ai/v1", { compat: mistral }),
	chat("deepseek", "https://api.deepseek.com", { compat: deepseek }),
	chat("zai", "https://api.z.ai/api/coding/paas/v4", { compat: zai }),
	chat("zai-coding-cn", "https://open.bigmodel.cn/api/coding/paas/v4", { compat: zai }),
	chat("moonshotai", "https://api.moonshot.ai/v1", { keys: ["MOONSHOTAI_API_KEY", "MOONSHOT_API_KEY"], compat: deepseek }),
	chat("moonshotai-cn", "https://api.moonshot.cn/v1", {
		keys: ["MOONSHOTAI_CN_API_KEY", "MOONSHOT_CN_API_KEY"],
		compat: deepseek,
	}),
	chat("kimi-coding", "https://api.kimi.com/coding/v1", { keys: ["KIMI_API_KEY"], compat: deepseek }),
	row("minimax", "anthropic-messages", "https://api.minimax.io/anthropic"),
	row("minimax-cn", "anthropic-messages", "https://api.minimaxi.com/anthropic"),
	chat("together", "https://api.together.ai/v1", { compat: { thinkingFormat: "together" } }),
	chat("fireworks", "https://api.fireworks.ai/inference/v1"),
	chat("baseten", "https://inference.baseten.co/v1"),
	chat("nvidia", "https://integrate.api.nvidia.com/v1"),
	chat("huggingface", "https://router.huggingface.co/v1", { keys: ["HUGGINGFACE_HUB_TOKEN", "HF_TOKEN"] }),
	row("vercel-ai-gateway", "anthropic-messages", "https://ai-gateway.vercel.sh", { keys: ["AI_GATEWAY_API_KEY"], base: "AI_GATEWAY_BASE_URL" }),
	chat("opencode", "https://opencode.ai/inference/openai/v1"),
	chat("opencode-go", "https://opencode.ai/inference/go/openai/v1", { keys: ["OPENCODE_API_KEY"] }),
	row("meta", "openai-responses", "https://api.meta.ai/v1"),
	chat("qwen-token-plan", "https://token-plan.ap-southeast-1.maas.aliyuncs.com/compatible-mode/v1", qwenPlan),
	chat("qwen-token-plan-individual", "https://token-plan.ap-southeast-1.maas.aliyuncs.com/compatible-mode/v1", qwenPlan),
	chat("qwen-token-plan-individual-cn", "https://token-plan.cn-beijing.maas.aliyuncs.com/compatible-mode/v1", qwenPlan),
	chat("qwen-token-plan-cn", "https://token-plan.cn-beijing.maas.aliyuncs.com/compatible-mode/v1", qwenPlan),
	chat("xiaomi", "https://api.xiaomimimo.com/v1", xiaomi),
	chat("xiaomi-token-plan-ams", "https://token-plan-ams.xiaomimimo.com/v1", xiaomi),
	chat("xiaomi-token-plan-cn", "https://token-plan-cn.xiaomimimo.com/v1", xiaomi),
	chat("xiaomi-token-plan-sgp", "https://token-plan-sgp.xiaomimimo.com/v1", xiaomi),
	chat("ant-ling", "https://api.ant-ling.com/v1"),
	chat("cloudflare-workers-ai", "https://api.cloudflare.com/client/v4/accounts/{CLOUDFLARE_ACCOUNT_ID}/ai/v1", {
		keys: ["CLOUDFLARE_API_KEY"],
	}),
	chat("cloudflare-ai-gateway", "https://gateway.ai.cloudflare.com/v1/{CLOUDFLARE_ACCOUNT_ID}/{CLOUDFLARE_GATEWAY_ID}/compat", {
		keys: ["CLOUDFLARE_API_KEY"],
		auth: "cf-aig-authorization",
	}),
	row("azure", "openai-responses", "https://{AZURE_OPENAI_RESOURCE_NAME}.openai.azure.com/openai/v1", {
		keys: ["AZURE_OPENAI_API_KEY", "AZURE_OPENAI_AD_TOKEN"],
		auth: "api-key",
		bearerKeys: ["AZURE_OPENAI_AD_TOKEN"],
		base: "AZURE_OPENAI_BASE_URL",
		otherUrlVariable: "AZURE_OPENAI_ENDPOINT",
		cloud: "azure",
		sharedSecrets: ["AZURE_CLIENT_SECRET", "IDENTITY_HEADER"],
		compat: { ...openai, supportsStore: false },
		others: {
			ids: /deepseek|kimi|grok|llama|mi(?:ni)?stral|codestral|phi-|cohere|command-|qwen|jamba|glm-/i,
			compat: { supportsDeveloperRole: false, supportsPromptCacheKey: false, maxTokensField: "max_tokens" },
		},
	}),
	row("google-vertex", "google-generative-ai", "https://aiplatform.googleapis.com/v1/publishers/google", {
		keys: ["GOOGLE_CLOUD_API_KEY"],
		cloud: "google",
	}),
	row("amazon-bedrock", "bedrock-converse", "https://bedrock-runtime.amazonaws.com", {
		keys: ["AWS_BEARER_TOKEN_BEDROCK"],
		auth: "bearer",
		cloud: "aws",
		sharedSecrets: ["AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_CONTAINER_AUTHORIZATION_TOKEN"],
	}),
	chat("venice", "https://api.venice.ai/api/v1"),
	chat("nanogpt", "https://nano-gpt.com/api/v1"),
	chat("synthetic", "https://api.synthetic.new/openai/v1"),
	chat("qianfan", "https://qianfan.baidubce.com/v2"),
	chat("zenmux", "https://zenmux.ai/api/v1"),
	chat("litellm", "http://127.0.0.1:4000/v1", { isLocal: true }),
	local("ollama", 11434),
	local("lm-studio", 1234),
	local("llama.cpp", 8080),
	local("vllm", 8000),
]);

/** Other names for rows. */
const aliases: Record<string, string> = {
	"azure-openai-responses": "azure",
	"azure-openai": "azure",
	gemini: "google",
	vertex: "google-vertex",
	"google-vertex-anthropic": "google-vertex",
	bedrock: "amazon-bedrock",
	moonshot: "moonshotai",
	"moonshot-cn": "moonshotai-cn",
	kimi: "kimi-coding",
	lmstudio: "lm-studio",
	"llama-cpp": "llama.cpp",
	llamacpp: "llama.cpp",
	cloudflare: "cloudflare-workers-ai",
	"z.ai": "zai",
	hf: "huggingface",
	"vercel-gateway": "vercel-ai-gateway",
};

/** The name of the provider's row. */
export function providerName(name: string): string {
	return Object.hasOwn(aliases, name) ? (aliases[name] as string) : name;
}

/** The flags of the row that serves this address, for providers without a row of their own. */
export function compatOfHost(baseUrl: string): Partial<Compat> | undefined {
	if (!URL.canParse(baseUrl)) return undefined;
	const { host } = new URL(baseUrl);
	for (const route of routes.values()) {
		if (!route.isLocal && URL.canParse(route.baseUrl) && new URL(route.baseUrl).host === host) return route.compat;
	}
	return undefined;
}

/** The flags of a host that is not known, as its API has them. A host that refuses a member is asked without it. */
export function compatOfApi(api: string): Partial<Compat> | undefined {
	return api === "openai-responses" ? { supportsPromptCacheKey: true } : undefined;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Fills `{NAME}` parts from the environment; gives the missing names instead when there are some. */
export function fillUrl(url: string, env: Environment): { url: string } | { missing: string[] } {
	const missing: string[] = [];
	const filled = url.replace(/\{([A-Z][A-Z0-9_]*)\}/g, (_, name: string) => {
		const value = env[name];
		if (!value) missing.push(name);
		return value ? encodeURIComponent(value) : "";
	});
	return missing.length > 0 ? { missing } : { url: filled };
}

/**
 * The base URL of a model: its own, unless a variable replaces the provider's. A path that the model's URL adds to the provider's is
 * added to the replacement too, so that providers with several APIs still reach each of them.
 */
export function baseUrlOf(route: Route, own: string | undefined, env: Environment): { url: string } | { missing: string[] } {
	const replacement = env[route.baseUrlVariable] || env[route.otherUrlVariable ?? ""];
	const from = own || route.baseUrl;
	if (!replacement) return fillUrl(from, env);
	const base = replacement.replace(/\/+$/, "");
	return { url: from.startsWith(`${route.baseUrl}/`) ? base + from.slice(route.baseUrl.length) : base };
}

/** The header with the key: the one that the provider's row names, else the one of the API. */
export function authHeaders(key: string, api: string, auth?: Auth): Record<string, string> {
	const place = auth ?? wireApi(api)?.auth ?? "bearer";
	if (place === "bearer") return { authorization: `Bearer ${key}` };
	return { [place]: place === "cf-aig-authorization" ? `Bearer ${key}` : key };
}

/**
 * Azure names models by their deployments. Its first API has a dated version in the address, and the deployment too; the one of
 * `/openai/v1` needs neither.
 */
export function azureDetails(id: string, api: string, url: string, env: Environment): { modelId: string; url: string } {
	const pairs = (env.AZURE_OPENAI_DEPLOYMENT_NAME_MAP ?? "").split(",").map((pair) => pair.trim().split("="));
	const modelId = pairs.find(([name]) => name === id)?.[1]?.trim() || id;
	const version = env.AZURE_OPENAI_API_VERSION;
	if (url.includes("?")) return { modelId, url };
	// An endpoint as the portal shows it is the host alone.
	const isHost = /^https?:\/\/[^/]+(?:\/openai)?\/*$/.test(url) && (url.includes(".azure.") || env.AZURE_OPENAI_ENDPOINT?.startsWith(url));
	const whole = isHost ? `${url.replace(/(?:\/openai)?\/*$/, "")}/openai/v1` : url.replace(/\/+$/, "");
	if (!version) return { modelId, url: whole };
	const isDated = /^\d{4}-\d{2}-\d{2}/.test(version) && whole.endsWith("/openai/v1");
	const deployment = api === "openai-completions" ? `/deployments/${encodeURIComponent(modelId)}` : "";
	const base = isDated ? whole.slice(0, -"/v1".length) + deployment : whole;
	return { modelId, url: `${base}?api-version=${encodeURIComponent(version)}` };
}
