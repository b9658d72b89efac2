import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ModelRequest, StreamEvent, StreamOptions } from "../../src/agent/contracts.ts";
import { HttpClient } from "../../src/lib/http/client.ts";
import { mergeCompat } from "../../src/models/compat.ts";
import { streamFunction } from "../../src/models/stream.ts";
import type { Model } from "../../src/protocol/model.ts";
import type { SettingName, SettingValue } from "../../src/protocol/settings.ts";
import { type Answer, Loopback, refuse, stream } from "./loopback.ts";
import { playing, replay } from "./replay.ts";
import { cassette, defaultSetting, ending, models, open, request } from "./support.ts";
import { type ApiKind, spoken } from "./wire.ts";

let server: Loopback;
const tape = cassette("anthropic-error");
/** A reply up to its first words. */
const opening = tape.subarray(0, tape.indexOf("event: error"));
const client = new HttpClient({ env: {} });
beforeEach(async () => {
	server = await Loopback.start();
});
afterEach(async () => {
	await client.close();
	await server.stop();
});

async function ask(
	changes: Partial<ModelRequest> = {},
	options: Partial<StreamOptions> = {},
	settings: Partial<Record<SettingName, unknown>> = {},
	address?: string,
): Promise<StreamEvent[]> {
	const events: StreamEvent[] = [];
	const baseUrl = address ?? server.url;
	const asked = streamFunction({
		access: async (model) => ({ model, baseUrl, modelId: model.id, compat: mergeCompat(), headers: {} }),
		client,
		setting: <Name extends SettingName>(name: Name) => (name in settings ? (settings[name] as SettingValue<Name>) : defaultSetting(name)),
		env: {},
		now: Date.now,
		clean: (text) => text,
	});
	await asked(request(changes), { signal: new AbortController().signal, flow: open, onEvent: (event) => events.push(event), ...options });
	return events;
}

async function failure(answer: Answer, settings: Partial<Record<SettingName, unknown>> = {}) {
	server.answer(answer);
	const end = ending(await ask({}, {}, settings));
	if (end.type !== "error") throw new Error("no error");
	return { text: end.error.errorMessage, ...end.failure };
}

test("a request of which nothing is to be kept has no cache marks, and others stay as they are", async () => {
	const bodyOf = async (model: Model, keep?: ModelRequest["keep"]) => {
		server.answer(stream(cassette(model.api === "anthropic-messages" ? "anthropic-thinking-tools" : "openai-responses-reasoning")));
		await ask({ model, systemPrompt: "system", ...(keep && { keep }) });
		return server.received.at(-1)?.body ?? "";
	};
	expect(await bodyOf(models.anthropic)).toContain("cache_control");
	expect(await bodyOf(models.anthropic, "nothing")).not.toContain("cache_control");
	expect(await bodyOf(models.responses, "nothing")).toBe(await bodyOf(models.responses));
});

describe("a provider that fails says so in the last event", () => {
	test("an error status with the message of its body and the wait it asks for", async () => {
		const body = '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}';
		expect(await failure(refuse(529, body, { "retry-after": "2" }))).toEqual({
			text: "529 overloaded_error: Overloaded",
			kind: "transient",
			status: 529,
			retryAfterMs: 2000,
		});
		expect(await failure(refuse(500, "x", { "x-should-retry": "false" }))).toMatchObject({ kind: "permanent" });
		expect(await failure(refuse(400, "x", { "x-should-retry": "true" }))).toMatchObject({ kind: "transient" });
		expect(await failure(refuse(400, "prompt is too long: 9 tokens > 8 maximum"))).toMatchObject({ kind: "overflow", status: 400 });
		expect(await failure(refuse(503, ""))).toEqual({ text: "503", kind: "transient", status: 503 });
	});

	test("an HTML page, with an error status and with 200", async () => {
		const page = "<!DOCTYPE html><html><head><title>Bad gateway</title><style>x{}</style></head><body><h1>Bad   gateway</h1></body></html>";
		expect(await failure(refuse(502, page))).toEqual({
			text: "502 Bad gateway (an HTML page)",
			kind: "transient",
			status: 502,
		});
		expect(await failure(stream(Buffer.from(page)))).toMatchObject({
			text: "The provider answered with a web page instead of an event stream; check its address: Bad gateway (an HTML page)",
			kind: "permanent",
		});
	});

	test("200 with a plain JSON error, with nothing, with garbage", async () => {
		expect(await failure(stream(Buffer.from('{"error":{"message":"invalid api key"}}')))).toMatchObject({
			text: "invalid api key",
			kind: "permanent",
		});
		const whole =
			'{"id":"x","object":"chat.completion","choices":[{"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"error":null}';
		expect(await failure(stream(Buffer.from(whole)))).toMatchObject({
			text: expect.stringMatching(/^The provider answered with a whole reply instead of an event stream/),
			kind: "permanent",
		});
		expect(await failure(stream(Buffer.from(": ping\n\n")))).toMatchObject({ kind: "transient" });
		expect(await failure((response) => void response.writeHead(200).end())).toMatchObject({
			text: "The stream ended without any event",
			kind: "transient",
		});
		expect(await failure(stream(Buffer.from("data: {nonsense\n\ndata: {}\n\n")))).toMatchObject({
			text: "The provider sent a broken event: {nonsense",
			kind: "transient",
		});
	});

	test("silence before the first word and in the middle", async () => {
		expect(await failure(() => undefined, { "stream.firstEventTimeoutMs": 50 })).toEqual({
			text: "Stream timed out: anthropic did not begin to answer within 0.1 s; see the setting stream.firstEventTimeoutMs",
			kind: "transient",
		});
		const stalls: Answer = (response) => void response.writeHead(200).write(opening);
		expect(await failure(stalls, { "stream.idleTimeoutMs": 50 })).toMatchObject({ text: expect.stringContaining("fell silent"), kind: "transient" });
	});

	test("a connection that breaks, and one that is refused", async () => {
		const breaks: Answer = (response) => {
			response.writeHead(200).write(opening);
			setTimeout(() => response.destroy(), 10);
		};
		expect(await failure(breaks)).toMatchObject({ text: expect.stringMatching(/^Connection lost in the middle of the reply/), kind: "transient" });
		const end = ending(await ask({}, {}, {}, "http://127.0.0.1:1"));
		expect(end).toMatchObject({ error: { errorMessage: "Connection error: connect ECONNREFUSED 127.0.0.1:1" }, failure: { kind: "transient" } });
	});
});

test("a reply that was complete stays good when the connection breaks or stalls after it", async () => {
	const chunk = 'data: {"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\n';
	server.answer((response) => {
		response.writeHead(200).write(chunk);
		setTimeout(() => response.destroy(), 10);
	});
	expect(ending(await ask({ model: models.chat }))).toMatchObject({ type: "done", message: { content: [{ text: "hi" }] } });
	server.answer((response) => void response.writeHead(200).write(chunk));
	expect(ending(await ask({ model: models.chat }, {}, { "stream.idleTimeoutMs": 50 }))).toMatchObject({ type: "done" });
});

test("abort keeps what came, closes the connection and says so", async () => {
	server.answer((response) => void response.writeHead(200).write(opening));
	const controller = new AbortController();
	const events: StreamEvent[] = [];
	const onEvent = (event: StreamEvent) => {
		events.push(event);
		if (event.type === "text_delta") controller.abort();
	};
	await ask({}, { signal: controller.signal, onEvent });
	expect(ending(events)).toMatchObject({
		type: "error",
		reason: "aborted",
		error: { stopReason: "aborted", errorMessage: "Request was aborted", content: [{ type: "text", text: "Working on" }] },
	});
	await server.whenTorn();
	const early = await ask({}, { signal: AbortSignal.abort() });
	expect(early.map((event) => event.type)).toEqual(["error"]);
	expect(server.received.length).toBe(1);
});

test("a call that is cut in its arguments is marked and never whole", async () => {
	const whole = cassette("anthropic-thinking-tools");
	const end = ending(await replay(models.anthropic, playing([whole.subarray(0, whole.indexOf("b.ts") + 3)])));
	expect(end).toMatchObject({
		type: "error",
		error: { content: expect.arrayContaining([expect.objectContaining({ id: "toolu_01A", arguments: { path: "src/a.ts" } })]) },
	});
	const last = end.type === "error" ? end.error.content.at(-1) : undefined;
	expect(last).toMatchObject({ type: "toolCall", argumentsError: expect.stringContaining("cut off") });
});

test("arguments that are not JSON at the end become an empty object and a reason", async () => {
	const broken = cassette("anthropic-thinking-tools").toString("utf8").replace('": 20}"', '": 20"');
	const end = ending(await replay(models.anthropic, playing([Buffer.from(broken)])));
	const last = end.type === "done" ? end.message.content.at(-1) : undefined;
	expect(last).toMatchObject({ id: "toolu_01B", arguments: {}, argumentsError: expect.stringContaining("not valid JSON") });
});

test("a bad image is left out after the provider named it, and stays out", async () => {
	const image = { type: "image" as const, data: "AAAA", mimeType: "image/png" };
	const good = { type: "image" as const, data: "BBBB", mimeType: "image/png" };
	const messages = [
		{ role: "user" as const, content: [good], timestamp: 1 },
		{ role: "user" as const, content: [{ type: "text" as const, text: "look" }, image], timestamp: 2 },
	];
	server.answer(refuse(400, "messages.1.content.1.image: could not process image"), stream(cassette("anthropic-thinking-tools")));
	expect(ending(await ask({ messages })).type).toBe("done");
	expect(server.received.map((received) => [received.body.includes("AAAA"), received.body.includes("BBBB")])).toEqual([
		[true, true],
		[false, true],
	]);
	server.answer(refuse(400, "bad image"));
	expect(ending(await ask({ messages: [] }))).toMatchObject({ type: "error", failure: { kind: "permanent", status: 400 } });
});

describe("a bad image", () => {
	const text = { type: "text" as const, text: "look" };
	const bad = { type: "image" as const, data: "QkFEQkFE", mimeType: "image/png" };
	const good = { type: "image" as const, data: "R09PREdPT0Q=", mimeType: "image/png" };
	const messages = [
		{ role: "user" as const, content: [text, bad], timestamp: 1 },
		{ role: "user" as const, content: [text, good], timestamp: 2 },
	];
	const reply = stream(cassette("anthropic-thinking-tools"));
	/** The content of each request: the bad one, the good one. */
	const carried = () => server.received.splice(0).map(({ body }) => [body.includes(bad.data), body.includes(good.data)]);
	const asking = () => {
		const asked = streamFunction({
			access: async (model) => ({ model, baseUrl: server.url, modelId: model.id, compat: mergeCompat(), headers: {} }),
			client,
			setting: defaultSetting,
			env: {},
			now: Date.now,
			clean: (said) => said,
		});
		return async () => {
			const events: StreamEvent[] = [];
			await asked(request({ messages }), { signal: new AbortController().signal, flow: open, onEvent: (event) => events.push(event) });
			return ending(events).type;
		};
	};

	test("of an older message is found by its place, and stays out", async () => {
		const ask = asking();
		server.answer(refuse(400, '{"error":{"message":"messages.0.content.1: Could not process image"}}'), reply);
		expect([await ask(), await ask()]).toEqual(["done", "done"]);
		expect(carried()).toEqual([
			[true, true],
			[false, true],
			[false, true],
		]);
	});

	test("that is not named takes all others with it", async () => {
		server.answer(refuse(400, "could not process image"), reply);
		expect(await asking()()).toBe("done");
		expect(carried()).toEqual([
			[true, true],
			[false, false],
		]);
	});

	test("that was innocent is sent again", async () => {
		const ask = asking();
		server.answer(refuse(400, "messages.1.content.1: image model not found"));
		expect(await ask()).toBe("error");
		server.answer(reply);
		expect(await ask()).toBe("done");
		expect(carried()).toEqual([
			[true, true],
			[true, false],
			[false, false],
			[true, true],
		]);
	});
});

test("images stay at home when the user wants it so", async () => {
	server.answer(stream(cassette("anthropic-thinking-tools")));
	await ask(
		{ messages: [{ role: "user", content: [{ type: "image", data: "AAAA", mimeType: "image/png" }], timestamp: 1 }] },
		{},
		{ "images.blockImages": true },
	);
	expect(server.received[0]?.body).not.toContain("AAAA");
});

test("the output limit leaves room in the window", async () => {
	server.answer(stream(cassette("anthropic-thinking-tools")));
	const model = { ...models.anthropic, contextWindow: 20_000, maxTokens: 16_000 };
	await ask({ model, messages: [{ role: "user", content: "x".repeat(40_000), timestamp: 1 }] });
	const { max_tokens: limit } = JSON.parse(server.received[0]?.body ?? "{}") as { max_tokens: number };
	expect(limit).toBeGreaterThan(5000);
	expect(limit).toBeLessThan(20_000 - 10_000 - 4096);
});

test("a request that wants less output than the model can give gets less", async () => {
	server.answer(stream(cassette("anthropic-thinking-tools")));
	await ask({ maxTokens: 1234, thinkingLevel: "off" });
	expect(JSON.parse(server.received[0]?.body ?? "{}")).toMatchObject({ max_tokens: 1234 });
});

describe.each(["anthropic", "chat", "responses", "google"] as ApiKind[])("pieces of a reply, %s", (api) => {
	const stream = spoken(api, { text: ["a", "b", "c"] });
	const deltas = async (chunks: string[]) => {
		const events = await replay(models[api], playing(chunks.map((chunk) => Buffer.from(chunk))));
		return events.flatMap((event) => (event.type === "text_delta" ? [event.delta] : []));
	};

	test("that arrive together are one delta", async () => {
		expect(await deltas([stream])).toEqual(["abc"]);
	});

	test("that arrive one by one are a delta each, at once", async () => {
		expect(await deltas(stream.split(/(?<=\n\n)/))).toEqual(["a", "b", "c"]);
	});
});
