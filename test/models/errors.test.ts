import { describe, expect, test } from "vitest";
import { refusedText } from "../../src/models/error-body.ts";
import { classify, retryAfter, statusIn, waitInWords } from "../../src/models/errors.ts";
import * as real from "./error-texts.ts";

type Sample = [text: string, status?: number, provider?: string];

const label = ({ status, body }: real.ErrorText) => `${status ?? "no status"} ${body.replace(/\s+/g, " ").slice(0, 90)}`;

describe.each([
	["transient", real.transient],
	["overflow", real.overflow],
	["permanent", real.permanent],
] as const)("real errors: %s", (kind, texts) => {
	test.each(texts.map((row) => [label(row), row] as const))("%s", (_, { status, body, provider, headers = {}, waitMs }) => {
		const raw = status === undefined ? body : `${status} ${body}`.trimEnd();
		const failure = classify(raw, status, retryAfter(headers, body, 0), provider);
		expect(failure.kind).toBe(kind);
		if (kind === "transient") expect(failure.retryAfterMs).toBe(waitMs);
	});
});

test("the table has enough texts, each with its source, and none twice", () => {
	const all = [...real.transient, ...real.overflow, ...real.permanent];
	expect(all.length).toBeGreaterThanOrEqual(120);
	for (const { source } of all) expect(source).toMatch(/^https:\/\/\S+$/);
	expect(new Set(all.map(({ status, body }) => `${status} ${body}`)).size).toBe(all.length);
});

test("each of them is shown in one line, as the provider's message and not as its JSON or HTML", () => {
	for (const { status = 500, body } of [...real.transient, ...real.overflow, ...real.permanent]) {
		const line = refusedText(status, body);
		expect(line).not.toMatch(/[\n\r]|\{"|"\}|<[a-z!/]/i);
		expect(line.startsWith(String(status)), line).toBe(true);
	}
});

test.each([
	["Please try again in 1.2s.", 1200],
	["Please try again in 1m12.5s", 72_500],
	["try again in 7h12m", 25_920_000],
	["Please retry after 26 seconds.", 26_000],
	["wait 2 minutes and 5 seconds", 125_000],
	["Please wait for 30 seconds before retrying", 30_000],
	["rate limited (reset after 3s)", 3000],
	['{"retry_after": 12}', 12_000],
	["try again later", undefined],
	["Try again with a maximum tokens value lower than 4096.", undefined],
	["retried 3 times", undefined],
])("the words %j state a wait of %s ms", (text, wait) => {
	expect(waitInWords(text)).toBe(wait);
});

const overflow: Sample[] = [
	['400 {"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 213462 tokens > 200000 maximum"}}', 400],
	['413 {"error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}', 413],
	["input is too long for requested model", 400],
	["Your input exceeds the context window of this model", 400],
	["The context window exceeded for this request"],
	["The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).", 400],
	["This model's maximum prompt length is 131072 but the request contains 537812 tokens.", 400],
	["Please reduce the length of the messages or completion.", 400],
	["This endpoint's maximum context length is 4096 tokens. However, you requested about 8192", 400],
	["exceeds the maximum allowed input length of 32768", 400],
	["The prompt is longer than the model's context length", 400],
	["prompt token count of 70000 exceeds the limit of 65536", 400],
	["the request exceeds the available context size, try increasing it", 400],
	["tokens to keep from the initial prompt is greater than the context length", 400],
	["Your request exceeded model token limit: 262144", 400],
	["input is too large for model with 32768 maximum context length", 400],
	["prompt has 9001 tokens, but the configured context size is 8192 tokens", 400],
	["The reply ended with: model_context_window_exceeded"],
	['{"code":"context_length_exceeded"}', 400],
	["exceeded max context length", 400],
	["Range of input length should be [1, 98304]", 400],
	["too many tokens", 400],
	["token limit exceeded", 400],
	["413 <html>Request Entity Too Large</html>", 413],
	["400", 400, "cerebras"],
	["413 ", 413, "cerebras"],
];

const transient: Sample[] = [
	['529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', 529],
	["429 too many requests", 429],
	["429 ", 429],
	["500 ", 500],
	["502 Bad Gateway", 502],
	["503 ", 503],
	["504 ", 504],
	["520 ", 520],
	["524 ", 524],
	["408 ", 408],
	["409 ", 409],
	["425 ", 425],
	["ThrottlingException: too many tokens, please wait", 429],
	["Throttling: Too many tokens"],
	["Service unavailable: too many tokens"],
	["429 rate limit reached: token limit exceeded for this minute", 429],
	["rate_limit_error: this request would exceed your rate limit"],
	["overloaded_error: Overloaded"],
	["server_error: The server had an error"],
	["Internal server error"],
	["The server is busy"],
	["The model is experiencing high demand"],
	["We are at capacity"],
	["Provider returned error"],
	["The reply ended with: network_error"],
	["connection refused"],
	["Connection error: connect ECONNREFUSED 127.0.0.1:1"],
	["getaddrinfo ENOTFOUND api.test"],
	["getaddrinfo EAI_AGAIN api.test"],
	["socket hang up"],
	["other side closed"],
	["fetch failed"],
	["upstream connect error or disconnect/reset before headers"],
	["terminated"],
	["websocket closed"],
	["Request timed out"],
	["stream ended before message_stop"],
	["http/2 request did not get a response: no response"],
	["RESOURCE_EXHAUSTED: try again"],
	["error: 503 from upstream"],
	["status code 502"],
	['429 {"error":{"code":429,"message":"You exceeded your current quota","details":[{"quotaId":"PerMinute"},{"retryDelay":"27s"}]}}', 429],
];

const permanent: Sample[] = [
	['401 {"error":{"message":"invalid x-api-key"}}', 401],
	["403 forbidden", 403],
	["404 model not found", 404],
	["422 unprocessable", 422],
	['400 {"error":{"message":"messages.0: bad request"}}', 400],
	["400", 400],
	["413 ", 413],
	['429 {"error":{"code":"insufficient_quota","message":"You exceeded your current quota, please check your plan and billing details."}}', 429],
	["429 Quota exceeded for this project", 429],
	["402 out of credits", 402],
	["429 You have reached your monthly limit", 429],
	["429 usage limit reached for your plan", 429],
	["400 Your credit balance is too low to access the API", 400],
	["529 billing hard limit", 529],
	["Incorrect API key provided"],
	["API key not valid. Please pass a valid API key."],
	["The model refused to answer (refusal)"],
	["request req_500abc was not valid"],
	["No tool output found for call_429"],
	["max_tokens must be at most 500"],
	["item 5002 is unknown, id 429-77"],
	['429 {"error":{"message":"You exceeded your current quota","details":[{"quotaId":"RequestsPerDay"},{"retryDelay":"27s"}]}}', 429],
];

test.each(overflow)("overflow: %s", (text, status, provider) => {
	expect(classify(text, status, undefined, provider).kind).toBe("overflow");
});
test.each(transient)("transient: %s", (text, status) => {
	expect(classify(text, status).kind).toBe("transient");
});
test.each(permanent)("permanent: %s", (text, status) => {
	expect(classify(text, status).kind).toBe("permanent");
});

test.each([
	["503 upstream", 503],
	["HTTP 502", 502],
	["status: 429", 429],
	["error code: 500", 500],
	["req_500", undefined],
	["5000 tokens", undefined],
	["500-23", undefined],
	["used 500 of 900 tokens", undefined],
])("the status in %j is %s", (text, status) => {
	expect(statusIn(text)).toBe(status);
});

test("facts travel with the kind", () => {
	expect(classify("529 Overloaded", 529, 1500)).toEqual({ kind: "transient", status: 529, retryAfterMs: 1500 });
	expect(classify("503 x")).toEqual({ kind: "transient", status: 503 });
});

test.each([
	[{ "retry-after-ms": "1500" }, 1500],
	[{ "retry-after": "3" }, 3000],
	[{ "retry-after": "1.5" }, 1500],
	[{ "retry-after": "Thu, 01 Jan 1970 00:16:50 GMT" }, 10_000],
	[{ "retry-after": "Thu, 01 Jan 1970 00:00:00 GMT" }, 0],
	[{ "x-ratelimit-reset-ms": "250" }, 250],
	[{ "x-ratelimit-reset": "2" }, 2000],
	[{ "retry-after": "soon" }, undefined],
	[{}, undefined],
])("%j asks for %s ms", (headers, wait) => {
	expect(retryAfter(headers, "", 1_000_000)).toBe(wait);
});

test("a reset may be a point in time, and the body may state a wait", () => {
	expect(retryAfter({ "x-ratelimit-reset": "1700000010" }, "", 1_700_000_000_000)).toBe(10_000);
	expect(retryAfter({ "x-ratelimit-reset": "1700000010000" }, "", 1_700_000_000_000)).toBe(10_000);
	expect(retryAfter({}, '{"retryDelay": "2.5s"}', 0)).toBe(2500);
});
