/** Decides what an error means for the run: retry it, compact the conversation, or end. */
import type { ProviderFailure } from "../agent/contracts.ts";

const transientStatus = new Set([408, 409, 425, 429]);
/** Statuses above 500 that stay: the server cannot do this at all. */
const permanentStatus = new Set([501, 505]);

/** Rate limits that speak of tokens. The same conversation fits a minute later. */
const notOverflow = [
	/^(?:\d{3}\s*)?["'{\s]*(?:throttling|service unavailable)/i,
	/rate.?limit/i,
	/too many requests/i,
	/\bper[ _-]?(?:second|minute|min|hour|day)\b/i,
	/\b(?:TPM|RPM|TPD|RPD)\b/,
	/please wait\b/i,
];

/** The conversation does not fit the model. */
const overflow = [
	/prompt (?:is )?too long/i,
	/prompt exceeds max(?:imum)? length/i,
	/"code"\s*:\s*"?1261\b/,
	/input prompt \([\d,]+ tokens\) is too long/i,
	/request_too_large/i,
	/input is too long for (?:the )?requested model/i,
	/exceeds the (?:model's )?context window/i,
	/context window (?:exceeded|exceeds limit)/i,
	/context window of this model/i,
	/input token count[\s\S]{0,80}exceeds the maximum/i,
	/maximum prompt length is \d+/i,
	/reduce the length of the (?:input )?(?:messages|input|prompt)/i,
	/maximum context length (?:is|of)? ?\d+/i,
	/input length \(?[\d,]+(?: tokens\))? exceeds the maximum/i,
	/exceeds (?:the )?(?:maximum )?(?:allowed )?input length(?: of)? ?\d+/i,
	/input length and `?max_tokens`? exceed context limit/i,
	/longer than the model\\?'?s context length/i,
	/longer than the maximum model length/i,
	/`?inputs`? tokens \+ `?max_new_tokens`? must be/i,
	/`?inputs`? must have less than [\d,]+ tokens/i,
	/total tokens of image and text exceed/i,
	/exceeds the limit of \d+/i,
	/exceeds the available context size/i,
	/exceed_context_size/i,
	/context size has been exceeded/i,
	/context (?:the )?overflows/i,
	/reached context length of [\d,]+ tokens/i,
	/requested tokens \([\d,]+\) exceed context window/i,
	/greater than the context length/i,
	/exceeded model token limit/i,
	/too large for model with \d+ maximum context length/i,
	/prompt has [\d,]+ tokens, but the configured context size is [\d,]+/i,
	/model_context_window_exceeded/i,
	/model_max_prompt_tokens_exceeded/i,
	/context_length_exceeded/i,
	/exceeded (?:the )?(?:max(?:imum)? )?context length/i,
	/\b(?:prompt|input|request|messages?|tokens)\b[^.]{0,80}\bexceeds?\b[^.]{0,40}\bcontext (?:length|limit|window|size)/i,
	/range of input length should be/i,
	/too many tokens/i,
	/token limit exceeded/i,
];

/** Money, keys and plans: no wait that a run could sit out changes them, whatever the status says. */
const hardLimit = [
	/insufficient[ _]?(?:balance|credits?|funds)/i,
	/credit balance is too low/i,
	/(?:requires|purchase|add|buy) (?:more|additional) credits/i,
	/(?:used|exhausted) all (?:available |of your )?(?:credits|funds)/i,
	/(?:out of|no) (?:budget|credits?|funds)\b/i,
	/(?:monthly|weekly) (?:included )?(?:credits|spending|usage)/i,
	/(?:billing|spending) (?:hard )?limit/i,
	/(?:account|organization)[^.]{0,80}(?:suspended|deactivated|overdue|is not active|arrears)/i,
	/arrearage|AccountOverdue/i,
	/余额不足|欠费/,
	/extra usage is required/i,
	/(?:session|weekly|monthly|\d+[- ]hour) usage limit/i,
	/usage limit reached for/i,
	/(?:invalid|incorrect|missing)[ _](?:x-)?api[- _]?key/i,
	/api[- _]?key (?:is )?(?:not valid|invalid)/i,
	/api key was reported as leaked/i,
];

/** Servers answer 500 to these, and would again: the model does not fit the machine, or the request does not fit the server. */
const hardServer = [
	/requires more (?:\w+ )?memory/i,
	/out of memory/i,
	/requires? --jinja/i,
	/unsupported param/i,
	/(?:image|audio) input is not supported/i,
	/does not support (?:tools|images?|tool|function)/i,
	/failed to parse (?:messages|tools|grammar)/i,
	/failed to (?:load|initialize) model|unable to load model|error loading model/i,
	/(?:jinja|chat template)[^.]{0,60}(?:error|exception|failed)|\bat row \d+, column \d+/i,
	/value is not callable/i,
];

/** Quotas: final, unless something says that they come back soon. */
const quota = [
	/insufficient_quota/i,
	/quota[ _]?exceeded/i,
	/exceeded your (?:current |monthly )?quota/i,
	/exceeded_current_quota/i,
	/\bbilling\b/i,
	/(?:monthly|usage)[ _]limit/i,
	/free-models-per-day/i,
];

/** A quota of a minute or a second, in words, or in the address of the page that explains it (DashScope). */
const shortQuota = [/\bper[ _-]?(?:second|minute|min)\b/i, /per_minute/i, /perminute/i, /\b(?:TPM|RPM)\b/, /error-code#token-limit/i];
/** Google states a wait of seconds even for a quota of a day, and for one of nothing. */
const longQuota = [/perday/i, /\blimit: 0\b/i];

/** Texts that mean a transient state of the provider even with a status such as 400. */
const transientAlways = [
	/overloaded/i,
	/rate.?limit/i,
	/too many requests/i,
	/service.?unavailable/i,
	/server (?:is )?busy/i,
	/high demand/i,
	/(?:at|over|out of|no)[ _]capacity/i,
	/resource_?exhausted/i,
	/throttling/i,
	/try again later/i,
	/tool_use_failed/i,
	/malformed_function_call|unexpected_tool_call/i,
];

/** Texts that mean one when no status says otherwise. */
const transientText = [
	/(?:internal|upstream) ?(?:server)? ?error/i,
	/server[ _]error/i,
	/provider returned error/i,
	/network[ _]error/i,
	/connection (?:error|refused|lost|reset|closed|broke|timed out)/i,
	/(?:provider|upstream) (?:was )?disconnected/i,
	/other side closed/i,
	/fetch failed/i,
	/upstream connect/i,
	/reset before headers/i,
	/\bterminated\b/i,
	/\b(?:ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EPIPE|EHOSTUNREACH|ENETUNREACH|ECONNABORTED)\b/,
	/socket hang up/i,
	/\btime(?:d[ -]?)?[ -]?out\b/i,
	/deadline (?:exceeded|expired)/i,
	/websocket closed/i,
	/\bstream (?:ended|stopped|was cut)/i,
	/http\/2[\s\S]{0,40}no response/i,
	/the reply ended with: error$/i,
	/you can retry your request/i,
];

const some = (patterns: RegExp[], text: string) => patterns.some((pattern) => pattern.test(text));

/** The HTTP status at the head of a text, or next to a word for it. Digits inside ids and counts do not count. */
export function statusIn(text: string): number | undefined {
	const head = /^\s*([1-5]\d\d)(?![\w.,-])/.exec(text);
	const named = /\b(?:status(?:[ _]code)?|http(?:\/\d(?:\.\d)?)?|error(?: code)?|"code")["']?\s*[:=]?\s*[("']?([45]\d\d)(?![\w.,-])/i.exec(text);
	const found = head?.[1] ?? named?.[1];
	return found === undefined ? undefined : Number(found);
}

/** A limit that one request alone is larger than: waiting does not help, a shorter conversation does. */
function isLargerThanLimit(text: string): boolean {
	const stated = /\blimit:?\s*([\d,]+)[\s\S]{0,60}?\brequested:?\s*~?([\d,]+)/i.exec(text);
	return stated !== null && number(stated[2]) > number(stated[1]);
}

const number = (digits = "") => Number(digits.replaceAll(",", ""));

/** Whether the text says that the conversation does not fit. A bare 400 or 413 means that only at Cerebras. */
export function isOverflow(text: string, status?: number, provider?: string): boolean {
	if (isLargerThanLimit(text)) return true;
	if (some(notOverflow, text)) return false;
	if (some(overflow, text)) return true;
	const body = text.replace(/^\s*\d{3}\b/, "").trim();
	const isBare = body === "" || /^\(no body\)$|^status code$/i.test(body);
	return isBare ? provider === "cerebras" && (status === 400 || status === 413) : status === 413;
}

function isPermanent(text: string, status: number | undefined, waitMs: number | undefined): boolean {
	if (some(hardLimit, text) || some(hardServer, text)) return true;
	if (some(quota, text)) {
		if (some(longQuota, text)) return true;
		// A wait that the provider states is a rate limit, whatever else it calls it.
		return waitMs === undefined && !some(shortQuota, text);
	}
	if (status === undefined) return !some(transientAlways, text) && !some(transientText, text);
	if (transientStatus.has(status) || (status >= 500 && !permanentStatus.has(status))) return false;
	return status >= 400 ? !some(transientAlways, text) : !some(transientAlways, text) && !some(transientText, text);
}

/** From the HTTP status where there is one, and from the text. `retryAfterMs` is the wait that the headers ask for. */
export function classify(text: string, status?: number, retryAfterMs?: number, provider?: string): ProviderFailure {
	const known = status ?? statusIn(text);
	const waitMs = retryAfterMs ?? waitInWords(text);
	const kind = isOverflow(text, known, provider) ? "overflow" : isPermanent(text, known, waitMs) ? "permanent" : "transient";
	const asked = kind === "transient" ? waitMs : retryAfterMs;
	return { kind, ...(known === undefined ? {} : { status: known }), ...(asked === undefined ? {} : { retryAfterMs: asked }) };
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
	return waitInWords(body);
}

const unitMs: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const time = String.raw`\d+(?:\.\d+)?\s*(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)\b`;
/** `1m12.5s` and `9m38.016s` run together; `2 minutes and 5 seconds` do not. */
const times = String.raw`(?:\d+(?:\.\d+)?[dhms]+)+\b|${time}(?:(?:,| and)? ${time})*`;
const stated = new RegExp(String.raw`\b(?:try(?:ing)? again|retry(?:ing)?|wait|resets?)\b[^.\d]{0,40}?(${times})`, "i");

/** A wait that only the text states: `try again in 1.2s`, `retry after 20 seconds`, Google's `retryDelay`. */
export function waitInWords(text: string): number | undefined {
	const delay = /"retryDelay"\s*:\s*"([\d.]+)s"/.exec(text) ?? /"retry_?after(?:_seconds)?"\s*:\s*"?(\d+(?:\.\d+)?)\b/i.exec(text);
	if (delay?.[1] !== undefined) return Math.ceil(Number(delay[1]) * 1000);
	const words = stated.exec(text)?.[1];
	if (words === undefined) return undefined;
	let sum = 0;
	for (const [, amount, unit = ""] of words.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)/gi)) {
		const short = /^(?:ms|milli)/i.test(unit) ? "ms" : unit[0]?.toLowerCase();
		sum += Number(amount) * (unitMs[short ?? ""] ?? 0);
	}
	return Math.ceil(sum);
}

/** Shorter values are words, such as the `test` that a local server accepts as a key; the same limit as for all other output. */
export const shortestSecret = 8;
