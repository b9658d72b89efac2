import { describe, expect, test } from "vitest";
import type { Model } from "../../src/protocol/model.ts";
import { playing, replay } from "./replay.ts";
import { ending, models } from "./support.ts";

function sse(events: unknown[]): Buffer {
	return Buffer.from(events.map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`).join(""));
}

async function end(model: Model, events: unknown[]) {
	return ending(await replay(model, playing([sse(events)])));
}

async function content(model: Model, events: unknown[]) {
	const last = await end(model, events);
	if (last.type === "error") throw new Error(last.error.errorMessage);
	return last.message.content;
}

describe("Chat: what hosts get differently", () => {
	const chunk = (delta: unknown, finish: string | null = null, more: object = {}) => ({
		choices: [{ index: 0, delta, finish_reason: finish }],
		...more,
	});
	const piece = (fields: object, name?: string, args?: unknown) =>
		chunk({ tool_calls: [{ ...fields, function: { ...(name ? { name } : {}), arguments: args } }] });
	const calls = async (...events: unknown[]) =>
		(await content(models.chat, [...events, chunk({}, "stop"), "[DONE]"])).flatMap((block) =>
			block.type === "toolCall" ? [[block.id, block.name, block.arguments]] : [],
		);

	test("ids sent once only, matched by index", async () => {
		expect(await calls(piece({ index: 0, id: "a" }, "read", '{"p"'), piece({ index: 0 }, undefined, ":1}"))).toEqual([["a", "read", { p: 1 }]]);
	});

	test("every call numbered 0, told apart by id", async () => {
		expect(await calls(piece({ index: 0, id: "a" }, "read", '{"p":1}'), piece({ index: 0, id: "b" }, "read", '{"p":2}'))).toEqual([
			["a", "read", { p: 1 }],
			["b", "read", { p: 2 }],
		]);
	});

	test("no index at all, ids only", async () => {
		expect(await calls(piece({ id: "a" }, "read", '{"p"'), piece({ id: "a" }, undefined, ":1}"), piece({ id: "b" }, "ls", "{}"))).toEqual([
			["a", "read", { p: 1 }],
			["b", "ls", {}],
		]);
	});

	test("no ids: parallel calls stay apart and get ids of their own", async () => {
		const made = await calls(piece({ index: 0 }, "read", "{}"), piece({ index: 1 }, "ls", '{"p":1}'));
		expect(made.map(([, name, args]) => [name, args])).toEqual([
			["read", {}],
			["ls", { p: 1 }],
		]);
		expect(new Set(made.map(([id]) => id)).size).toBe(2);
	});

	test("arguments as an object, and none at all", async () => {
		expect(await calls(piece({ index: 0, id: "a" }, "read", { p: 1 }), piece({ index: 1, id: "b" }, "ls"))).toEqual([
			["a", "read", { p: 1 }],
			["b", "ls", {}],
		]);
	});

	test("calls with a plain stop word are a tool use; with length they are not", async () => {
		const call = piece({ index: 0, id: "a" }, "read", '{"p":1}');
		expect(await end(models.chat, [call, chunk({}, "stop")])).toMatchObject({ reason: "toolUse" });
		expect(await end(models.chat, [call, chunk({}, "length")])).toMatchObject({ reason: "length" });
	});

	test("Mistral's parts, and words after thinking after words", async () => {
		const thinking = [{ type: "thinking", thinking: [{ type: "text", text: "hm" }] }];
		expect(
			await content(models.chat, [chunk({ content: thinking }), chunk({ content: [{ type: "text", text: "yes" }] }), chunk({}, "stop")]),
		).toEqual([
			{ type: "thinking", thinking: "hm", thinkingSignature: "reasoning_content" },
			{ type: "text", text: "yes" },
		]);
	});

	test.each([
		["content_filter", "permanent"],
		["network_error", "transient"],
	])("finish_reason %s is an error", async (word, kind) => {
		expect(await end(models.chat, [chunk({ content: "x" }, word)])).toMatchObject({
			type: "error",
			error: { errorMessage: `The reply ended with: ${word}` },
			failure: { kind },
		});
	});

	test("[DONE] without a finish_reason is a whole reply, as Snowflake and local servers send it", async () => {
		expect(await end(models.chat, [chunk({ content: "x" }), "[DONE]"])).toMatchObject({
			type: "done",
			reason: "stop",
			message: { content: [{ text: "x" }] },
		});
		const call = piece({ index: 0, id: "a" }, "read", '{"p":1}');
		expect(await end(models.chat, [call, "[DONE]"])).toMatchObject({ type: "done", reason: "toolUse" });
	});

	test("a stream without [DONE] and finish_reason is a cut, and so is one with open arguments or nothing in it", async () => {
		const cut = { type: "error", failure: { kind: "transient" } };
		expect(await end(models.chat, [chunk({ content: "x" })])).toMatchObject(cut);
		expect(await end(models.chat, [piece({ index: 0, id: "a" }, "read", '{"p":'), "[DONE]"])).toMatchObject(cut);
		expect(await end(models.chat, [chunk({}), "[DONE]"])).toMatchObject(cut);
		const lenient = { ...models.chat, provider: "acme", compat: { requiresFinishReason: false } };
		expect((await end(lenient, [chunk({ content: "x" })])).type).toBe("done");
	});

	test("arguments `null` mean an empty object", async () => {
		expect(await calls(piece({ index: 0, id: "a" }, "ls", "null"), piece({ index: 1, id: "b" }, "ls", " null\n"))).toEqual([
			["a", "ls", {}],
			["b", "ls", {}],
		]);
	});

	test("only the choice with index 0 is the reply", async () => {
		const both = {
			choices: [
				{ index: 1, delta: { content: "other" }, finish_reason: "stop" },
				{ index: 0, delta: { content: "mine" } },
			],
		};
		const other = { choices: [{ index: 1, delta: { content: "other" }, finish_reason: "length" }] };
		expect(await end(models.chat, [both, other, chunk({}, "stop")])).toMatchObject({ reason: "stop", message: { content: [{ text: "mine" }] } });
	});

	test.each([
		{ error: { code: 502, message: "upstream died" } },
		{ choices: [{ index: 0, delta: {}, finish_reason: "error", error: { code: 502, message: "upstream died" } }] },
	])("an error after finish_reason stop does not undo the reply, one after length is the error", async (late) => {
		expect(await end(models.chat, [chunk({ content: "x" }), chunk({}, "stop"), late])).toMatchObject({ type: "done", reason: "stop" });
		expect(await end(models.chat, [chunk({ content: "x" }), chunk({}, "length"), late])).toMatchObject({
			error: { content: [{ text: "x" }], errorMessage: expect.stringContaining("upstream died") },
			failure: { kind: "transient", status: 502 },
		});
	});

	test("finish_reason error after length is an error too, and so is a line of the stream", async () => {
		const bad = { choices: [{ index: 0, delta: {}, finish_reason: "error" }] };
		expect(await end(models.chat, [chunk({ content: "x" }), chunk({}, "length"), bad])).toMatchObject({ type: "error" });
		const stream = `data: ${JSON.stringify(chunk({ content: "x" }, "length"))}\n\nevent: error\ndata: service unavailable\n\n`;
		expect(ending(await replay(models.chat, playing([Buffer.from(stream)])))).toMatchObject({ error: { errorMessage: "service unavailable" } });
	});

	test("Groq: the usage and the reason of a stop in x_groq", async () => {
		const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
		expect(await end(models.chat, [chunk({ content: "x" }), chunk({}, "stop", { x_groq: { id: "r", usage } })])).toMatchObject({
			message: { usage: { input: 100, output: 10 } },
		});
		expect(await end(models.chat, [chunk({ content: "x" }), chunk({}, "stop", { x_groq: { id: "r", error: "over_capacity" } })])).toMatchObject({
			error: { content: [{ text: "x" }], errorMessage: "over_capacity" },
			failure: { kind: "transient" },
		});
	});

	test("an error in the stream is shown as the provider's message, and put into its class", async () => {
		const late = { error: { code: "server_error", message: "Provider disconnected" }, choices: [{ index: 0, delta: {}, finish_reason: "error" }] };
		expect(await end(models.chat, [chunk({ content: "x" }), late])).toMatchObject({
			error: { errorMessage: "server_error: Provider disconnected" },
			failure: { kind: "transient" },
		});
		const size = {
			error: { code: 400, message: "the request exceeds the available context size, try increasing it", type: "exceed_context_size_error" },
		};
		expect(await end(models.chat, [size])).toMatchObject({ failure: { kind: "overflow", status: 400 } });
		const venice = { error_type: "context_length_exceeded", error_message: "This model's maximum context length is 163840 tokens." };
		expect(await end(models.chat, [venice])).toMatchObject({
			error: { errorMessage: "context_length_exceeded: This model's maximum context length is 163840 tokens." },
			failure: { kind: "overflow" },
		});
		expect(await end(models.chat, [chunk({ content: "x" }, "error")])).toMatchObject({ failure: { kind: "transient" } });
	});

	describe("errors outside of the format", () => {
		const raw = async (stream: string) => ending(await replay(models.chat, playing([Buffer.from(stream)])));

		test("a line `error: …` is an error with its text", async () => {
			const size = 'error: {"code":400,"message":"the request exceeds the available context size. try increasing it","type":"invalid_request_error"}';
			expect(await raw(`${size}\n\ndata: [DONE]\n\n`)).toMatchObject({
				error: { errorMessage: "invalid_request_error: the request exceeds the available context size. try increasing it" },
				failure: { kind: "overflow", status: 400 },
			});
			const words = `data: ${JSON.stringify(chunk({ content: "x" }))}\n\nerror: the model crashed\n\n`;
			expect(await raw(words)).toMatchObject({ type: "error", error: { errorMessage: "the model crashed", content: [{ text: "x" }] } });
		});

		test("an event named error is one, whatever its data looks like", async () => {
			expect(await raw('event:error\ndata:{"code":"Throttling","message":"Requests rate limit exceeded"}\n\n')).toMatchObject({
				error: { errorMessage: "Throttling: Requests rate limit exceeded" },
				failure: { kind: "transient" },
			});
			expect(await raw("event: error\ndata: service unavailable\n\n")).toMatchObject({
				error: { errorMessage: "service unavailable" },
				failure: { kind: "transient" },
			});
		});

		test("neither undoes a complete reply", async () => {
			const whole = `data: ${JSON.stringify(chunk({ content: "x" }, "stop"))}\n\n`;
			expect((await raw(`${whole}error: late\n\n`)).type).toBe("done");
			expect((await raw(`${whole}event: error\ndata: late\n\n`)).type).toBe("done");
		});
	});

	test.each([
		[
			{ prompt_tokens: 100, completion_tokens: 10, prompt_cache_hit_tokens: 60 },
			{ input: 40, cacheRead: 60, output: 10, totalTokens: 110 },
		],
		[
			{ prompt_tokens: 100, completion_tokens: 10, cached_tokens: 60 },
			{ input: 40, cacheRead: 60, output: 10 },
		],
		[{ prompt_tokens: 100, completion_tokens: 10, completion_tokens_details: { reasoning_tokens: 7 }, total_tokens: 110 }, { output: 10 }],
		[
			{ prompt_tokens: 100, completion_tokens: 10, completion_tokens_details: { reasoning_tokens: 7 }, total_tokens: 117 },
			{ output: 17, totalTokens: 117 },
		],
		[
			{ prompt_tokens: 100, completion_tokens: 10, prompt_tokens_details: { cached_tokens: 50, cache_write_tokens: 30 } },
			{ input: 20, cacheRead: 50, cacheWrite: 30 },
		],
	])("usage %j counts nothing twice", async (usage, counted) => {
		expect(await end(models.chat, [chunk({ content: "x" }, "stop", { usage })])).toMatchObject({ message: { usage: counted } });
		expect(await end(models.chat, [{ choices: [{ delta: { content: "x" }, finish_reason: "stop", usage }] }])).toMatchObject({
			message: { usage: counted },
		});
	});

	test("usage that no computer could add up is not counted, and everything stays a number", async () => {
		const usage = { prompt_tokens: 1e308, completion_tokens: 1e308, total_tokens: 1e308 };
		expect(JSON.stringify(await end(models.chat, [chunk({ content: "x" }, "stop", { usage })]))).not.toMatch(/"(?:input|output|total\w*)":null/);
		const some = await end(models.chat, [chunk({ content: "x" }, "stop", { usage: { prompt_tokens: 1e308, completion_tokens: 2 } })]);
		expect(some).toMatchObject({ message: { usage: { output: 2 } } });
		expect(JSON.stringify(some)).not.toMatch(/"(?:input|output|total\w*)":null/);
	});

	test("zero usage at the end keeps the earlier numbers", async () => {
		const usage = { prompt_tokens: 5, completion_tokens: 2 };
		const zero = { prompt_tokens: 0, completion_tokens: 0 };
		expect(await end(models.chat, [chunk({ content: "x" }, null, { usage }), chunk({}, "stop", { usage: zero })])).toMatchObject({
			message: { usage: { input: 5, output: 2 } },
		});
	});
});

describe("Anthropic", () => {
	const start = { type: "message_start", message: { id: "m", usage: { input_tokens: 3, output_tokens: 1 } } };
	const block = (index: number, content_block: unknown) => ({ type: "content_block_start", index, content_block });
	const delta = (index: number, words: string) => ({ type: "content_block_delta", index, delta: { type: "text_delta", text: words } });
	const stop = (index: number) => ({ type: "content_block_stop", index });
	const last = (stop_reason: string) => [{ type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 9 } }, { type: "message_stop" }];

	test("blocks out of order are sorted by their index", async () => {
		const events = [
			start,
			block(0, { type: "text" }),
			block(1, { type: "text" }),
			delta(1, "b"),
			delta(0, "a"),
			stop(1),
			delta(0, "A"),
			stop(0),
			...last("end_turn"),
		];
		expect(await content(models.anthropic, events)).toEqual([
			{ type: "text", text: "aA" },
			{ type: "text", text: "b" },
		]);
	});

	test.each([
		["end_turn", "stop"],
		["pause_turn", "stop"],
		["stop_sequence", "stop"],
		["max_tokens", "length"],
	])("%s is %s", async (word, reason) => {
		expect(await end(models.anthropic, [start, ...last(word)])).toMatchObject({ type: "done", reason, message: { usage: { input: 3, output: 9 } } });
	});

	test.each([
		["refusal", "permanent"],
		["sensitive", "permanent"],
		["brand_new", "permanent"],
		["model_context_window_exceeded", "overflow"],
	])("%s is an error with the word in it", async (word, kind) => {
		expect(await end(models.anthropic, [start, ...last(word)])).toMatchObject({
			type: "error",
			error: { errorMessage: expect.stringContaining(word) },
			failure: { kind },
		});
	});

	test("a refusal keeps what the provider says about it", async () => {
		const stop_details = { type: "refusal", category: "cyber", explanation: "This asks for a working exploit." };
		const stopped = [
			{ type: "message_delta", delta: { stop_reason: "refusal", stop_details }, usage: { output_tokens: 0 } },
			{ type: "message_stop" },
		];
		expect(await end(models.anthropic, [start, ...stopped])).toMatchObject({
			type: "error",
			error: { errorMessage: "The model refused to answer (refusal: cyber): This asks for a working exploit.", stopDetails: stop_details },
			failure: { kind: "permanent" },
		});
	});

	test("arguments that come whole with the call are kept", async () => {
		const events = [start, block(0, { type: "tool_use", id: "t", name: "read", input: { path: "x" } }), stop(0), ...last("tool_use")];
		expect(await content(models.anthropic, events)).toEqual([{ type: "toolCall", id: "t", name: "read", arguments: { path: "x" } }]);
	});

	test("JSON of other kinds and unknown events are passed over", async () => {
		expect((await end(models.anthropic, ["null", "7", '"x"', "[]", { type: "novelty" }, start, ...last("end_turn")])).type).toBe("done");
	});
});

describe("Responses", () => {
	const item = (output_index: number, fields: object, type = "response.output_item.done") => ({ type, output_index, item: fields });
	const completed = (fields: object = {}) => ({ type: "response.completed", response: { status: "completed", ...fields } });

	test("items that come whole, without deltas", async () => {
		const events = [
			item(0, { type: "reasoning", id: "r", summary: [{ text: "why" }] }),
			item(1, { type: "message", id: "m", content: [{ type: "output_text", text: "hello" }] }),
			item(2, { type: "function_call", id: "fc_1", call_id: "c", name: "read", arguments: '{"p":1}' }),
			completed(),
		];
		expect(await content(models.responses, events)).toMatchObject([
			{ type: "thinking", thinking: "why" },
			{ type: "text", text: "hello" },
			{ type: "toolCall", id: "c|fc_1", arguments: { p: 1 } },
		]);
	});

	test("a call that never finished is an error", async () => {
		const events = [item(0, { type: "function_call", id: "fc_1", call_id: "c", name: "read" }, "response.output_item.added"), completed()];
		expect(await end(models.responses, events)).toMatchObject({ type: "error", failure: { kind: "transient" } });
	});

	test("incomplete because of the limit is a length, because of a filter an error", async () => {
		const incomplete = (reason: string) => ({ type: "response.incomplete", response: { status: "incomplete", incomplete_details: { reason } } });
		expect(await end(models.responses, [incomplete("max_output_tokens")])).toMatchObject({ type: "done", reason: "length" });
		expect(await end(models.responses, [incomplete("content_filter")])).toMatchObject({
			type: "error",
			error: { errorMessage: "The reply ended with: content_filter" },
		});
	});

	test("error events in both shapes", async () => {
		expect(await end(models.responses, [{ type: "error", code: "rate_limit_exceeded", message: "slow down" }])).toMatchObject({
			failure: { kind: "transient" },
		});
		expect(await end(models.responses, [{ type: "error", error: { code: "insufficient_quota", message: "pay" } }])).toMatchObject({
			failure: { kind: "permanent" },
		});
	});

	test("service tiers change the price", async () => {
		const usage = { input_tokens: 1000, output_tokens: 100 };
		const cost = async (service_tier: string) => {
			const last = await end(models.responses, [completed({ usage, service_tier })]);
			return last.type === "done" ? last.message.usage.cost.total : 0;
		};
		expect(await cost("flex")).toBeCloseTo((await cost("default")) / 2);
		expect(await cost("priority")).toBeCloseTo((await cost("default")) * 2);
	});
});

describe("price steps", () => {
	const tiers = [
		{ inputTokensAbove: 1000, input: 20, output: 100, cacheRead: 2, cacheWrite: 25 },
		{ inputTokensAbove: 200, input: 4, output: 20, cacheRead: 0.4, cacheWrite: 5 },
	];
	const stepped = (one: Model): Model => ({ ...one, cost: { ...one.cost, tiers } });
	const costOf = async (one: Model, events: object[]) => {
		const last = await end(stepped(one), events);
		return last.type === "done" ? last.message.usage.cost : undefined;
	};

	test.each([
		[200, 2, 10],
		[201, 4, 20],
		[1001, 20, 100],
	])("%d tokens of input cost %d and each of the output %d for a million", async (size, input, output) => {
		const usage = { prompt_tokens: size, completion_tokens: 10, prompt_tokens_details: { cached_tokens: 100 } };
		const chat = await costOf(models.chat, [{ choices: [{ delta: { content: "a" }, finish_reason: "stop" }], usage }]);
		expect(chat?.input).toBeCloseTo(((size - 100) * input) / 1e6, 12);
		expect(chat?.cacheRead).toBeCloseTo((100 * input) / 10 / 1e6, 12);
		expect(chat?.output).toBeCloseTo((10 * output) / 1e6, 12);
	});

	test("what is written to the cache counts to the size, and an hour of it costs the step's price", async () => {
		const usage = { input_tokens: 1, output_tokens: 1, cache_creation_input_tokens: 300, cache_creation: { ephemeral_1h_input_tokens: 300 } };
		const cost = await costOf(models.anthropic, [
			{ type: "message_start", message: { usage } },
			{ type: "message_delta", delta: { stop_reason: "end_turn" } },
			{ type: "message_stop" },
		]);
		expect(cost?.cacheWrite).toBeCloseTo((300 * 8) / 1e6, 12);
	});
});

describe("Google", () => {
	const fragment = (parts: unknown[], finishReason?: string) => ({ candidates: [{ content: { parts }, ...(finishReason ? { finishReason } : {}) }] });

	test("a signature in an empty part belongs to the words before it", async () => {
		expect(await content(models.google, [fragment([{ text: "a" }]), fragment([{ text: "", thoughtSignature: "QUFB" }], "STOP")])).toEqual([
			{ type: "text", text: "a", textSignature: "QUFB" },
		]);
	});

	test("missing arguments are empty", async () => {
		expect(await content(models.google, [fragment([{ functionCall: { name: "ls" } }], "STOP")])).toMatchObject([
			{ type: "toolCall", name: "ls", arguments: {} },
		]);
	});

	test("calls do not turn a length or an error into a tool use", async () => {
		const call = { functionCall: { name: "ls", args: {} } };
		expect(await end(models.google, [fragment([call], "MAX_TOKENS")])).toMatchObject({ type: "done", reason: "length" });
		expect(await end(models.google, [fragment([call], "SAFETY")])).toMatchObject({
			type: "error",
			error: { errorMessage: "The reply ended with: SAFETY" },
		});
	});

	test.each(["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"])("%s is tried again", async (word) => {
		const fragments = [{ candidates: [{ content: {}, finishReason: word, finishMessage: "print(default_api.ls())" }] }];
		expect(await end(models.google, fragments)).toMatchObject({
			error: { errorMessage: `The reply ended with: ${word}: print(default_api.ls())` },
			failure: { kind: "transient" },
		});
	});

	test("an error after the finishReason STOP does not undo the reply, one after MAX_TOKENS or none is the error", async () => {
		const late = { error: { code: 503, message: "overloaded", status: "UNAVAILABLE" } };
		expect(await end(models.google, [fragment([{ text: "a" }], "STOP"), late])).toMatchObject({ type: "done", reason: "stop" });
		for (const word of ["MAX_TOKENS", undefined])
			expect(await end(models.google, [fragment([{ text: "a" }], word), late])).toMatchObject({
				error: { content: [{ text: "a" }], errorMessage: "UNAVAILABLE: overloaded" },
				failure: { kind: "transient", status: 503 },
			});
		expect(await end(models.google, [fragment([{ text: "a" }], "SAFETY"), late])).toMatchObject({
			error: { errorMessage: "The reply ended with: SAFETY" },
		});
	});

	test("a blocked prompt is an error", async () => {
		expect(await end(models.google, [{ promptFeedback: { blockReason: "OTHER" } }])).toMatchObject({
			type: "error",
			error: { errorMessage: "The prompt was blocked: OTHER" },
		});
	});
});

describe("an error that arrives after the end of a reply that was cut at its limit is the error; a whole reply stays", () => {
	const claude = (word: string) => [
		{ type: "message_start", message: { id: "m", usage: { input_tokens: 1 } } },
		{ type: "content_block_start", index: 0, content_block: { type: "text", text: "a" } },
		{ type: "content_block_stop", index: 0 },
		{ type: "message_delta", delta: { stop_reason: word } },
		{ type: "message_stop" },
	];
	const overloaded = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };

	test("Anthropic", async () => {
		const cut = claude("max_tokens");
		for (const events of [
			[...cut, overloaded],
			[...cut.slice(0, -1), overloaded],
		])
			expect(await end(models.anthropic, events)).toMatchObject({
				error: { content: [{ text: "a" }], errorMessage: "overloaded_error: Overloaded" },
				failure: { kind: "transient", status: 529 },
			});
		expect(await end(models.anthropic, [...claude("end_turn"), overloaded])).toMatchObject({ type: "done", reason: "stop" });
		expect(await end(models.anthropic, cut)).toMatchObject({ type: "done", reason: "length" });
	});

	test("Responses", async () => {
		const ended = (status: string, more: object = {}) => [
			{ type: "response.output_item.done", output_index: 0, item: { type: "message", id: "m", content: [{ type: "output_text", text: "a" }] } },
			{ type: `response.${status}`, response: { id: "r", status, ...more } },
		];
		const late = { type: "error", code: "server_error", message: "The server had an error" };
		const cut = ended("incomplete", { incomplete_details: { reason: "max_output_tokens" } });
		expect(await end(models.responses, [...cut, late])).toMatchObject({
			error: { content: [{ text: "a" }], errorMessage: "server_error: The server had an error" },
			failure: { kind: "transient" },
		});
		expect(await end(models.responses, [...ended("completed"), late])).toMatchObject({ type: "done", reason: "stop" });
		expect(await end(models.responses, cut)).toMatchObject({ type: "done", reason: "length" });
	});
});

describe("a tool call without a name is an error that is tried again", () => {
	const nameless = { error: { errorMessage: "The provider sent a tool call without the name of a tool" }, failure: { kind: "transient" } };

	test.each(["STOP", "MAX_TOKENS"])("Gemini, ending with %s", async (finishReason) => {
		const parts = [{ text: "a" }, { functionCall: { args: { path: "x" } } }];
		expect(await end(models.google, [{ candidates: [{ content: { parts }, finishReason }] }])).toMatchObject(nameless);
	});

	test("the other formats", async () => {
		const call = { tool_calls: [{ index: 0, id: "a", function: { arguments: "{}" } }] };
		expect(await end(models.chat, [{ choices: [{ delta: call, finish_reason: "tool_calls" }] }])).toMatchObject(nameless);
		const item = { type: "function_call", id: "fc_1", call_id: "c", arguments: "{}" };
		expect(
			await end(models.responses, [
				{ type: "response.output_item.done", output_index: 0, item },
				{ type: "response.completed", response: { status: "completed" } },
			]),
		).toMatchObject(nameless);
		expect(
			await end(models.anthropic, [
				{ type: "content_block_start", index: 0, content_block: { type: "tool_use", id: "t", input: {} } },
				{ type: "content_block_stop", index: 0 },
				{ type: "message_delta", delta: { stop_reason: "tool_use" } },
				{ type: "message_stop" },
			]),
		).toMatchObject(nameless);
	});
});

describe("ids of calls are unique in a reply, and never empty", () => {
	const message = (name: string, data: object) => ({ type: name, ...data });
	const anthropic = (...ids: string[]) => [
		message("message_start", { message: { id: "m", usage: { input_tokens: 1 } } }),
		...ids.flatMap((id, index) => [
			message("content_block_start", { index, content_block: { type: "tool_use", id, name: "read", input: {} } }),
			message("content_block_stop", { index }),
		]),
		message("message_delta", { delta: { stop_reason: "tool_use" } }),
		message("message_stop", {}),
	];
	const chat = (...ids: string[]) => [
		...ids.map((id, index) => ({ choices: [{ delta: { tool_calls: [{ index, id, function: { name: "read", arguments: "{}" } }] } }] })),
		{ choices: [{ delta: {}, finish_reason: "stop" }] },
	];
	const chatWithoutIndex = (...ids: string[]) => [
		...ids.map((id, at) => ({ choices: [{ delta: { tool_calls: [{ id, function: { name: "read", arguments: `{"p":${at}}` } }] } }] })),
		{ choices: [{ delta: {}, finish_reason: "stop" }] },
	];
	const responses = (...ids: string[]) => [
		...ids.map((id, at) =>
			message("response.output_item.done", {
				output_index: at,
				item: { type: "function_call", id: `fc_${at}`, call_id: id, name: "read", arguments: "{}" },
			}),
		),
		message("response.completed", { response: { status: "completed" } }),
	];
	const google = (...ids: string[]) => [
		{ candidates: [{ content: { parts: ids.map((id) => ({ functionCall: { id, name: "read", args: {} } })) }, finishReason: "STOP" }] },
	];

	test.each([
		["anthropic", models.anthropic, anthropic],
		["chat", models.chat, chat],
		["chat without index", models.chat, chatWithoutIndex],
		["responses", models.responses, responses],
		["google", models.google, google],
	])("%s", async (_, model, events) => {
		const played = await replay(model, playing([sse(events("c", "c", "c_2", "", ""))]));
		const end = ending(played);
		if (end.type === "error") throw new Error(end.error.errorMessage);
		const ids = end.message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
		const callIds = ids.map((id) => id.split("|")[0] as string);
		expect(callIds.slice(0, 3)).toEqual(["c", "c_2", "c_2_2"]);
		expect(new Set(callIds).size).toBe(5);
		expect(callIds.every((id) => id !== "")).toBe(true);
		expect(played.flatMap((event) => (event.type === "toolcall_start" ? [event.id] : []))).toEqual(ids);
	});

	test("a piece that says nothing makes no call", async () => {
		const pieces = [null, {}, { index: 0, function: {} }].map((piece) => ({ choices: [{ delta: { content: "x", tool_calls: [piece] } }] }));
		expect(await content(models.chat, [...pieces, { choices: [{ delta: {}, finish_reason: "stop" }] }])).toEqual([{ type: "text", text: "xxx" }]);
	});
});

describe("Anthropic: the ways to write a delta", () => {
	const delta = '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":';
	const written = (...deltas: string[]) => [
		{ type: "message_start", message: { id: "m", usage: {} } },
		{ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
		...deltas,
		{ type: "content_block_stop", index: 0 },
		{ type: "message_delta", delta: { stop_reason: "end_turn" } },
		{ type: "message_stop" },
	];

	test.each([
		["as usual", `${delta}"a b"}}`, "a b"],
		["empty", `${delta}""}}`, ""],
		["with blanks between the braces", `${delta}"a"}      }`, "a"],
		["with blanks at the end", `${delta}"a"}} `, "a"],
		["with escapes", `${delta}"\\"}}\\n\\u00e4\\\\"}}`, '"}}\nä\\'],
		["with braces and quotes in the text", `${delta}"{\\"a\\":{\\"b\\":\\"c\\"}}"}}`, '{"a":{"b":"c"}}'],
		["with a member after the text", `${delta}"a","more":"b"}}`, "a"],
		["with the text twice, of which the last counts", `${delta}"a","text":"b"}}`, "b"],
		["with another order", '{"index":0,"delta":{"text":"a","type":"text_delta"},"type":"content_block_delta"}', "a"],
		["without a text", `${delta}null}}`, ""],
		["of another block", delta.replace(":0", ":1").concat('"a"}}'), ""],
	])("%s", async (_, event, text) => {
		expect(await content(models.anthropic, written(event, `${delta}"."}}`))).toEqual([{ type: "text", text: `${text}.` }]);
	});

	test.each(['"a\tb"}}', '"a"b"}}', '"a"}}}'])("what is not JSON is an error: %j", async (rest) => {
		expect(await end(models.anthropic, written(`${delta}${rest}`))).toMatchObject({ type: "error", failure: { kind: "transient" } });
	});
});
