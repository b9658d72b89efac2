/** Who decides what an error is: passing, too long a conversation, or final. */
import type { ProviderFailure } from "../agent/contracts.ts";

const passingStatus = new Set([408, 409, 425, 429]);

/** Throttling that speaks of tokens is no overflow. */
const notOverflow = [/^(?:\d{3}\s*)?["'{\s]*(?:throttling|service unavailable)/i, /rate.?limit/i, /too many requests/i];

const overflow = [
	/prompt (?:is )?too long/i,
	/request_too_large/i,
	/input is too long for (?:the )?requested model/i,
	/exceeds the (?:model's )?context window/i,
	/context window (?:exceeded|exceeds limit)/i,
	/context window of this model/i,
	/input token count[\s\S]{0,80}exceeds the maximum/i,
	/maximum prompt length is \d+/i,
	/reduce the length of the (?:messages|input|prompt)/i,
	/maximum context length (?:is|of)? ?\d+/i,
	/exceeds (?:the )?(?:maximum )?(?:allowed )?input length(?: of)? ?\d+/i,
	/longer than the model'?s context length/i,
	/exceeds the limit of \d+/i,
	/exceeds the available context size/i,
	/greater than the context length/i,
	/exceeded model token limit/i,
	/too large for model with \d+ maximum context length/i,
	/prompt has [\d,]+ tokens, but the configured context size is [\d,]+/i,
	/model_context_window_exceeded/i,
	/context_length_exceeded/i,
	/exceeded (?:the )?(?:max(?:imum)? )?context length/i,
	/range of input length should be/i,
	/too many tokens/i,
	/token limit exceeded/i,
];

/** Waiting does not help. */
const final = [
	/insufficient[ _]?(?:quota|balance|credits?|funds)/i,
	/quota[ _]?exceeded/i,
	/exceeded your (?:current |monthly )?quota/i,
	/billing/i,
	/out of (?:budget|credits?|funds)/i,
	/(?:monthly|usage)[ _]limit/i,
	/(?:invalid|incorrect|missing)[ _](?:x-)?api[- _]?key/i,
	/api[- _]?key (?:is )?(?:not valid|invalid)/i,
	/credit balance is too low/i,
];

const passing = [
	/overloaded/i,
	/rate.?limit/i,
	/too many requests/i,
	/service.?unavailable/i,
	/(?:internal|upstream) ?(?:server)? ?error/i,
	/server[ _]error/i,
	/server (?:is )?busy/i,
	/high demand/i,
	/(?:at|over) capacity/i,
	/provider returned error/i,
	/network[ _]error/i,
	/connection (?:error|refused|lost|reset|closed|broke|timed out)/i,
	/other side closed/i,
	/fetch failed/i,
	/upstream connect/i,
	/reset before headers/i,
	/\bterminated\b/i,
	/\b(?:ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EPIPE|EHOSTUNREACH|ENETUNREACH|ECONNABORTED)\b/,
	/socket hang up/i,
	/\btime(?:d[ -]?)?[ -]?out\b/i,
	/websocket closed/i,
	/\bstream (?:ended|stopped|was cut)/i,
	/http\/2[\s\S]{0,40}no response/i,
	/resource_?exhausted/i,
	/throttling/i,
	/try again later/i,
];

const some = (patterns: RegExp[], text: string) => patterns.some((pattern) => pattern.test(text));

/** The HTTP status that a text names at its head or beside a word for it. Digits inside ids and counts are none. */
export function statusIn(text: string): number | undefined {
	const head = /^\s*([1-5]\d\d)(?![\w.,-])/.exec(text);
	const named = /\b(?:status(?:[ _]code)?|http(?:\/\d(?:\.\d)?)?|error(?: code)?|"code")["']?\s*[:=]?\s*[("']?([45]\d\d)(?![\w.,-])/i.exec(text);
	const found = head?.[1] ?? named?.[1];
	return found === undefined ? undefined : Number(found);
}

/** Whether the text says that the conversation does not fit. A bare 400 or 413 says so only at Cerebras. */
export function isOverflow(text: string, status?: number, provider?: string): boolean {
	if (some(notOverflow, text)) return false;
	if (some(overflow, text)) return true;
	const body = text.replace(/^\s*\d{3}\b/, "").trim();
	const isBare = body === "" || /^\(no body\)$|^status code$/i.test(body);
	return isBare ? provider === "cerebras" && (status === 400 || status === 413) : status === 413;
}

/** A per-minute quota with a stated wait is a rate limit, whatever it is called. */
function isShortQuota(text: string): boolean {
	return /"retryDelay"\s*:\s*"[\d.]+s"/.test(text) && !/per.?day/i.test(text);
}

/** From the HTTP status where there is one, else from the text. */
export function classify(text: string, status?: number, retryAfterMs?: number, provider?: string): ProviderFailure {
	const known = status ?? statusIn(text);
	const facts = { ...(known === undefined ? {} : { status: known }), ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
	if (isOverflow(text, known, provider)) return { kind: "overflow", ...facts };
	if (some(final, text) && !isShortQuota(text)) return { kind: "permanent", ...facts };
	const isPassing = (known !== undefined && (passingStatus.has(known) || known >= 500)) || some(passing, text);
	return { kind: isPassing ? "transient" : "permanent", ...facts };
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** How long the provider asks us to wait, from its headers, else from its words. */
export function retryAfter(headers: Headers, body: string, now: number): number | undefined {
	const read = (name: string) => {
		const value = headers[name];
		return (Array.isArray(value) ? value[0] : value)?.trim() || undefined;
	};
	const inMs = read("retry-after-ms") ?? read("x-ratelimit-reset-ms");
	if (inMs !== undefined && Number(inMs) >= 0) return Math.ceil(Number(inMs));
	const after = read("retry-after");
	if (after !== undefined) {
		if (Number(after) >= 0) return Math.ceil(Number(after) * 1000);
		const date = Date.parse(after);
		if (!Number.isNaN(date)) return Math.max(0, date - now);
	}
	const reset = Number(read("x-ratelimit-reset") ?? "");
	if (reset > 0) return Math.max(0, Math.ceil(reset > 1e12 ? reset - now : reset > 1e9 ? reset * 1000 - now : reset * 1000));
	const stated = /"retryDelay"\s*:\s*"([\d.]+)s"/.exec(body);
	return stated?.[1] === undefined ? undefined : Math.ceil(Number(stated[1]) * 1000);
}

/** Shorter values are words, such as the `test` a local server takes for a key; the same limit as for all other output. */
export const shortestSecret = 8;
