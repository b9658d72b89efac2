/** Amazon Bedrock against a server that checks signatures and frames as Amazon does. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ModelMessage, ModelRequest, StreamEvent } from "../../../src/agent/contracts.ts";
import { request as converse } from "../../../src/models/apis/bedrock-converse.ts";
import { wire } from "../../../src/models/json.ts";
import type { ModelRegistry, RegistryOptions } from "../../../src/models/registry.ts";
import type { AssistantMessage } from "../../../src/protocol/messages.ts";
import type { Model } from "../../../src/protocol/model.ts";
import { sampled } from "../../exhaustive.ts";
import { type Answer, type Loopback, refuse } from "../loopback.ts";
import { RegistryBench } from "../registry-bench.ts";
import { joined, playing, replay } from "../replay.ts";
import { call, ending, model, open, readTool, request } from "../support.ts";
import { event, exception, frame, rightSignature } from "./amazon.ts";

const secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
const now = Date.parse("2026-11-16T12:00:00Z");
const opus = "global.anthropic.claude-opus-4-6-v1";
const sonnet = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";

let bench: RegistryBench;
let userDir: string;
let server: Loopback;
beforeEach(async () => {
	bench = await RegistryBench.start();
	({ directory: userDir, server } = bench);
});
afterEach(() => bench.close());

function make(env: Record<string, string> = {}, options: Partial<RegistryOptions> = {}): ModelRegistry {
	const own = { AWS_ENDPOINT_URL_BEDROCK_RUNTIME: server.url, AWS_REGION: "eu-west-1", AWS_EC2_METADATA_DISABLED: "true", ...env };
	return bench.registry({ env: own, now: () => now, ...options });
}

const keys = { AWS_ACCESS_KEY_ID: "AKIDEXAMPLE", AWS_SECRET_ACCESS_KEY: secret };

async function ask(from: ModelRegistry, id: string, changes: Partial<ModelRequest> = {}): Promise<StreamEvent[]> {
	const found = await from.find("amazon-bedrock", id);
	const events: StreamEvent[] = [];
	await from.stream(request({ model: found as Model, ...changes }), {
		signal: new AbortController().signal,
		flow: open,
		onEvent: (one) => events.push(one),
	});
	return events;
}

/** A reply that thinks, speaks and calls a tool. */
const whole = [
	event("messageStart", { role: "assistant" }),
	event("contentBlockDelta", { contentBlockIndex: 0, delta: { reasoningContent: { text: "Let me " } } }),
	event("contentBlockDelta", { contentBlockIndex: 0, delta: { reasoningContent: { text: "see." } } }),
	event("contentBlockDelta", { contentBlockIndex: 0, delta: { reasoningContent: { signature: "c2ln" } } }),
	event("contentBlockStop", { contentBlockIndex: 0 }),
	event("contentBlockDelta", { contentBlockIndex: 1, delta: { text: "Reading ä€😀" }, p: "abcdef" }),
	event("contentBlockStop", { contentBlockIndex: 1 }),
	event("contentBlockStart", { contentBlockIndex: 2, start: { toolUse: { toolUseId: "tooluse_1", name: "read" } } }),
	event("contentBlockDelta", { contentBlockIndex: 2, delta: { toolUse: { input: '{"path":' } } }),
	event("contentBlockDelta", { contentBlockIndex: 2, delta: { toolUse: { input: '"a.txt"}' } } }),
	event("contentBlockStop", { contentBlockIndex: 2 }),
	event("messageStop", { stopReason: "tool_use" }),
	event("metadata", {
		usage: { inputTokens: 10, outputTokens: 20, totalTokens: 1030, cacheReadInputTokens: 600, cacheWriteInputTokens: 400 },
		metrics: { latencyMs: 9 },
	}),
];
const bytes = Buffer.concat(whole);
const content = [
	{ type: "thinking", thinking: "Let me see.", thinkingSignature: "c2ln" },
	{ type: "text", text: "Reading ä€😀" },
	{ type: "toolCall", id: "tooluse_1", name: "read", arguments: { path: "a.txt" } },
];

/** Answers a request whose signature is right, as Amazon does; refuses any other. */
function checking(answer: Buffer, withSecret = secret): Answer {
	return (response, received) => {
		const seen = rightSignature(received, withSecret);
		if (!seen || seen.stated !== seen.right) {
			response.sendDate = false;
			response.writeHead(403, { "x-amzn-errortype": "InvalidSignatureException:http://internal.amazon.com/" });
			response.end('{"message":"The request signature we calculated does not match the signature you provided."}');
			return;
		}
		response.writeHead(200, { "content-type": "application/vnd.amazon.eventstream" });
		response.end(answer);
	};
}

describe("a request", () => {
	test("is signed for the region and asks the model of its address", async () => {
		server.answer(checking(bytes));
		const last = ending(await ask(make({ ...keys, AWS_SESSION_TOKEN: "session-token-123" }), sonnet));
		expect(last).toMatchObject({ type: "done", reason: "toolUse", message: { content } });
		expect(server.received[0]).toMatchObject({
			method: "POST",
			url: "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream",
			headers: { "x-amz-security-token": "session-token-123", "x-amz-date": "20261116T120000Z", accept: "application/vnd.amazon.eventstream" },
		});
		expect(server.received[0]?.headers.authorization).toContain("/20261116/eu-west-1/bedrock/aws4_request");
	});

	test("of an ARN goes to the region of the ARN, colons and slashes encoded", async () => {
		server.answer(checking(bytes));
		const arn = "arn:aws:bedrock:us-west-2:123456789012:inference-profile/us.anthropic.claude-opus-4-6-v1";
		expect(ending(await ask(make(keys), arn)).type).toBe("done");
		expect(server.received[0]?.url).toBe(`/model/${encodeURIComponent(arn)}/converse-stream`);
		expect(server.received[0]?.headers.authorization).toContain("/us-west-2/bedrock/");
	});

	test("with the wrong secret is refused in words, and not tried again", async () => {
		server.answer(checking(bytes, "another"));
		expect(ending(await ask(make(keys), sonnet))).toMatchObject({
			type: "error",
			failure: { kind: "permanent", status: 403 },
			error: { errorMessage: expect.stringMatching(/^403 InvalidSignatureException: /) },
		});
		expect(server.received).toHaveLength(1);
	});

	test("with a bearer key carries no signature", async () => {
		server.answer((response) => void response.end(bytes));
		const models = make({ ...keys, AWS_BEARER_TOKEN_BEDROCK: "bedrock-api-key-1" });
		expect(await models.origin("amazon-bedrock")).toBe("AWS_BEARER_TOKEN_BEDROCK");
		expect(ending(await ask(models, sonnet)).type).toBe("done");
		expect(server.received[0]?.headers.authorization).toBe("Bearer bedrock-api-key-1");
		expect(server.received[0]?.headers).not.toHaveProperty("x-amz-date");
	});

	test("goes where the user says, whatever the region", async () => {
		server.answer(checking(bytes));
		const models = make({ ...keys, AWS_ENDPOINT_URL_BEDROCK_RUNTIME: "http://127.0.0.1:9", AMAZON_BEDROCK_BASE_URL: `${server.url}/gateway/` });
		expect(ending(await ask(models, sonnet)).type).toBe("done");
		expect(server.received[0]?.url).toMatch(/^\/gateway\/model\/us\./);
	});

	test("without a region says what to set", async () => {
		const last = ending(await ask(make({ ...keys, AWS_REGION: "" }), sonnet));
		expect(last).toMatchObject({ failure: { kind: "permanent" } });
		expect((last as { error: AssistantMessage }).error.errorMessage).toBe(
			"amazon-bedrock cannot be asked: no region is known. Set AWS_REGION, or region in the profile default.",
		);
	});

	test("with credentials that have expired is made again with those that another tool has left since", async () => {
		const write = (value: string) => writeFileSync(join(userDir, "credentials"), `[default]\naws_access_key_id=A\naws_secret_access_key=${value}\n`);
		const expired = refuse(403, '{"message":"The security token included in the request is expired"}', {
			"x-amzn-errortype": "ExpiredTokenException",
		});
		let time = now;
		const models = make({ AWS_SHARED_CREDENTIALS_FILE: join(userDir, "credentials") }, { now: () => time });
		write("first-secret");
		server.answer(checking(bytes, "first-secret"));
		expect(ending(await ask(models, sonnet)).type).toBe("done");
		write("second-secret");
		time += 60_000;
		server.answer(expired, checking(bytes, "second-secret"));
		expect(ending(await ask(models, sonnet)).type).toBe("done");
		// Those were just read, so reading them again is pointless.
		server.answer(expired);
		expect(ending(await ask(models, sonnet))).toMatchObject({ failure: { kind: "permanent", status: 403 } });
		expect(server.received).toHaveLength(4);
	});

	test("made by a clock that goes wrong is made again with Amazon's time", async () => {
		const late: Answer = (response) => {
			response.sendDate = false;
			response.writeHead(403, { "x-amzn-errortype": "InvalidSignatureException", date: new Date(now + 3_600_000).toUTCString() });
			response.end('{"message":"Signature expired: 20261116T120000Z is now earlier than 20261116T125500Z"}');
		};
		server.answer(late, checking(bytes));
		expect(ending(await ask(make(keys), sonnet)).type).toBe("done");
		expect(server.received[1]?.headers["x-amz-date"]).toBe("20261116T130000Z");
	});
});

describe("a reply", () => {
	const claude = model({ id: opus, provider: "amazon-bedrock", api: "bedrock-converse", baseUrl: "http://127.0.0.1:9" });

	test("counts and prices what was cached", async () => {
		server.answer(checking(bytes));
		const last = ending(await ask(make(keys), opus));
		expect((last as { message: AssistantMessage }).message.usage).toEqual({
			input: 10,
			output: 20,
			cacheRead: 600,
			cacheWrite: 400,
			totalTokens: 1030,
			cost: { input: 0.00005, output: 0.0005, cacheRead: 0.0003, cacheWrite: 0.0025, total: 0.00335 },
		});
	});

	test("kept for an hour costs more to write", async () => {
		const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 400, cacheWriteInputTokens: 400, cacheDetails: [{ ttl: "1h", inputTokens: 400 }] };
		const events = [event("messageStart", {}), event("messageStop", { stopReason: "end_turn" }), event("metadata", { usage })];
		const last = ending(await replay(claude, playing(events)));
		expect((last as { message: AssistantMessage }).message.usage.cost.cacheWrite).toBeCloseTo((400 * 2.5 * 1.6) / 1e6, 12);
	});

	const places = [...bytes.keys()];

	test("reads the same wherever its bytes are cut", async () => {
		const read = async (...pieces: Uint8Array[]) => JSON.stringify(joined(await replay(claude, playing(pieces))));
		const whole = await read(bytes);
		expect(ending(await replay(claude, playing([bytes])))).toMatchObject({ type: "done", reason: "toolUse", message: { content } });
		for (const at of sampled(places, 7)) {
			if ((await read(bytes.subarray(0, at), bytes.subarray(at))) !== whole) expect.fail(`differs when it is cut at ${at}`);
		}
		expect(await read(...Array.from(bytes, (byte) => Buffer.from([byte])))).toBe(whole);
	});

	test("that ends at any byte before its last word is tried again; the numbers may be missing", async () => {
		const spoken = bytes.length - (whole.at(-1) as Buffer).length;
		for (const at of sampled(places, 7)) {
			const last = ending(await replay(claude, playing([bytes.subarray(0, at)])));
			if (at >= spoken) expect(last, `ends at ${at}`).toMatchObject({ type: "done", message: { content } });
			else expect(last, `ends at ${at}`).toMatchObject({ type: "error", failure: { kind: "transient" } });
		}
	});

	test("whose checksum is wrong is tried again", async () => {
		const broken = Buffer.from(bytes);
		broken[bytes.length - 40] = (broken[bytes.length - 40] as number) ^ 1;
		const last = ending(await replay(claude, playing([broken])));
		expect(last).toMatchObject({ failure: { kind: "transient" }, error: { errorMessage: expect.stringContaining("checksum") } });
	});

	test("that is a page of a proxy, or an error in JSON, is reported as such", async () => {
		const page = ending(await replay(claude, playing([Buffer.from("<html><title>Sign in</title></html>")])));
		expect(page).toMatchObject({ error: { errorMessage: expect.stringContaining("Sign in") } });
		const json = ending(await replay(claude, playing([Buffer.from('{"message":"Input is too long for requested model."}')])));
		expect(json).toMatchObject({ failure: { kind: "overflow" } });
	});

	test("with redacted thinking keeps it for the next request", async () => {
		const first = Buffer.from("first");
		const second = Buffer.from("second");
		const redacted = (data: Buffer) =>
			event("contentBlockDelta", { contentBlockIndex: 0, delta: { reasoningContent: { redactedContent: data.toString("base64") } } });
		const events = [
			redacted(first),
			redacted(second),
			event("contentBlockStop", { contentBlockIndex: 0 }),
			event("messageStop", { stopReason: "end_turn" }),
		];
		const last = ending(await replay(claude, playing(events)));
		const data = Buffer.from("firstsecond").toString("base64");
		expect(last).toMatchObject({ message: { content: [{ type: "redactedThinking", data }] } });
	});

	test.each([
		["end_turn", { type: "done", reason: "stop" }],
		["stop_sequence", { type: "done", reason: "stop" }],
		["max_tokens", { type: "done", reason: "length" }],
		["guardrail_intervened", { type: "error", failure: { kind: "permanent" }, error: { errorMessage: expect.stringContaining("guardrail") } }],
		["content_filtered", { type: "error", failure: { kind: "permanent" } }],
		["model_context_window_exceeded", { type: "error", failure: { kind: "overflow" } }],
	])("that stops with %s", async (stopReason, expected) => {
		const events = [event("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "hi" } }), event("messageStop", { stopReason })];
		expect(ending(await replay(claude, playing(events)))).toMatchObject(expected);
	});

	test.each([
		["throttlingException", "Too many tokens, please wait before trying again.", "transient"],
		["serviceUnavailableException", "The service is temporarily unavailable.", "transient"],
		["internalServerException", "The system encountered an unexpected error.", "transient"],
		["modelStreamErrorException", "The model stopped early.", "transient"],
		["validationException", "The text field is blank.", "permanent"],
		["validationException", "Input is too long for requested model.", "overflow"],
	])("with %s (%s) in its middle is %s", async (type, message, kind) => {
		const events = [event("messageStart", {}), exception(type, { message })];
		const last = ending(await replay(claude, playing(events)));
		expect(last).toMatchObject({ failure: { kind } });
		expect((last as { error: AssistantMessage }).error.errorMessage).toContain(message);
	});

	test.each([[[]], [[event("metadata", { usage: { inputTokens: 1, outputTokens: 1 } })]]])(
		"with an exception after it was cut at its limit is that error, and whole replies stay (%#)",
		async (numbers) => {
			const ended = (stopReason: string) => [
				event("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "hi" } }),
				event("messageStop", { stopReason }),
				...numbers,
				exception("modelStreamErrorException", { message: "The model stopped early." }),
			];
			expect(ending(await replay(claude, playing([Buffer.concat(ended("max_tokens"))])))).toMatchObject({
				error: { content: [{ text: "hi" }], errorMessage: "ModelStreamErrorException: The model stopped early." },
				failure: { kind: "transient" },
			});
			expect(ending(await replay(claude, playing([Buffer.concat(ended("end_turn"))])))).toMatchObject({ type: "done", reason: "stop" });
		},
	);

	test("with a call that has no name is an error that is tried again", async () => {
		const events = [
			event("contentBlockStart", { contentBlockIndex: 0, start: { toolUse: { toolUseId: "t" } } }),
			event("contentBlockStop", { contentBlockIndex: 0 }),
			event("messageStop", { stopReason: "tool_use" }),
		];
		expect(ending(await replay(claude, playing(events)))).toMatchObject({
			error: { errorMessage: "The provider sent a tool call without the name of a tool" },
			failure: { kind: "transient" },
		});
	});

	test("with an error of the connection itself", async () => {
		const broken = frame({ ":message-type": "error", ":error-code": "InternalServerException", ":error-message": "Lost it" }, "");
		expect(ending(await replay(claude, playing([broken])))).toMatchObject({
			failure: { kind: "transient" },
			error: { errorMessage: "InternalServerException: Lost it" },
		});
	});

	test.each([
		[429, "ThrottlingException", "Too many tokens, please wait before trying again.", "transient"],
		[503, "ServiceUnavailableException", "Bedrock is unable to process your request.", "transient"],
		[408, "ModelTimeoutException", "Model has timed out in processing the request.", "transient"],
		[400, "ValidationException", "Input is too long for requested model.", "overflow"],
		[400, "ValidationException", "The toolConfig field must be defined when using toolUse and toolResult content blocks.", "permanent"],
		[403, "AccessDeniedException", "You don't have access to the model with the specified model ID.", "permanent"],
		[404, "ResourceNotFoundException", "This model version has reached the end of its life.", "permanent"],
	])("%i %s (%s) is %s", async (status, type, message, kind) => {
		server.answer(refuse(status, JSON.stringify({ message }), { "x-amzn-errortype": `${type}:http://internal.amazon.com/coral/` }));
		const last = ending(await ask(make(keys), sonnet));
		expect(last).toMatchObject({ failure: { kind, status } });
		expect((last as { error: AssistantMessage }).error.errorMessage).toContain(`${status} ${type}: `);
		expect((last as { error: AssistantMessage }).error.errorMessage).toContain(message);
	});
});

describe("what is sent", () => {
	const usage = {
		input: 0,
		output: 0,
		cacheRead: 0,
		cacheWrite: 0,
		totalTokens: 0,
		cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
	};
	const asked = (id: string, changes: Partial<Model> = {}) => model({ id, provider: "amazon-bedrock", api: "bedrock-converse", ...changes });
	const sent = (to: Model, messages: readonly ModelMessage[], changes: Parameters<typeof call>[2] = {}) => {
		return JSON.parse(wire(converse(call(to, messages, changes)).body));
	};
	const said = (changes: Partial<AssistantMessage>): AssistantMessage => ({
		role: "assistant",
		content: [],
		api: "bedrock-converse",
		provider: "amazon-bedrock",
		model: opus,
		usage,
		stopReason: "toolUse",
		timestamp: 2,
		...changes,
	});
	const history: ModelMessage[] = [
		{
			role: "user",
			content: [
				{ type: "text", text: "look" },
				{ type: "image", mimeType: "image/png", data: "aWNvbg==" },
			],
			timestamp: 1,
		},
		said({ content: [...content, { type: "redactedThinking", data: "c2VjcmV0" }] as AssistantMessage["content"] }),
		{ role: "toolResult", toolCallId: "tooluse_1", toolName: "read", content: [{ type: "text", text: " " }], isError: true, timestamp: 3 },
		{ role: "user", content: "go on", timestamp: 4 },
		{ role: "user", content: "  ", timestamp: 5 },
	];
	const mark = { cachePoint: { type: "default" } };

	test("thinking with its signature, calls, results, images, cache points; the roles alternate", () => {
		expect(sent(asked(opus), history)).toEqual({
			inferenceConfig: { maxTokens: 32000 },
			additionalModelRequestFields: { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: "medium" } },
			system: [{ text: "You help." }, mark],
			toolConfig: { tools: [{ toolSpec: { name: "read", description: "Reads a file.", inputSchema: { json: readTool.parameters } } }, mark] },
			messages: [
				{ role: "user", content: [{ text: "look" }, { image: { format: "png", source: { bytes: "aWNvbg==" } } }, mark] },
				{
					role: "assistant",
					content: [
						{ reasoningContent: { reasoningText: { text: "Let me see.", signature: "c2ln" } } },
						{ text: "Reading ä€😀" },
						{ toolUse: { toolUseId: "tooluse_1", name: "read", input: { path: "a.txt" } } },
						{ reasoningContent: { redactedContent: "c2VjcmV0" } },
					],
				},
				{
					role: "user",
					content: [{ toolResult: { toolUseId: "tooluse_1", content: [{ text: "(no output)" }], status: "error" } }, { text: "go on" }, mark],
				},
			],
		});
	});

	test("models with a budget think between calls; those before the fourth generation are not asked to", () => {
		const fields = (id: string, level: "medium" | "off" = "medium") => sent(asked(id), history.slice(0, 1), { level }).additionalModelRequestFields;
		expect(fields(sonnet)).toEqual({
			thinking: { type: "enabled", budget_tokens: 8192 },
			context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
			anthropic_beta: ["interleaved-thinking-2025-05-14", "context-management-2025-06-27"],
		});
		expect(fields("us.anthropic.claude-3-7-sonnet-20250219-v1:0")).toEqual({ thinking: { type: "enabled", budget_tokens: 8192 } });
		expect(fields(sonnet, "off")).toEqual({ thinking: { type: "disabled" } });
	});

	test("other vendors get their own words, and no thinking back", () => {
		const oss = sent(asked("openai.gpt-oss-120b-1:0"), history);
		expect(oss.additionalModelRequestFields).toEqual({ reasoning_effort: "medium" });
		expect(JSON.stringify(oss)).not.toMatch(/reasoningContent|cachePoint|status/);
		const nova = sent(asked("global.amazon.nova-2-lite-v1:0"), history, { level: "high" });
		expect(nova.additionalModelRequestFields).toEqual({ reasoningConfig: { type: "enabled", maxReasoningEffort: "high" } });
		expect(nova).not.toHaveProperty("inferenceConfig");
		expect(nova.toolConfig.tools).toHaveLength(1);
		expect(nova.system).toEqual([{ text: "You help." }, mark]);
		const llama = sent(asked("us.meta.llama3-3-70b-instruct-v1:0", { reasoning: false }), history);
		expect(Object.keys(llama)).toEqual(["inferenceConfig", "system", "toolConfig", "messages"]);
	});

	test("GPT gets its level as OpenAI says it, and its encrypted thinking back", () => {
		const thinkingLevelMap = { off: "none", minimal: null, low: "low", xhigh: "xhigh", max: "max" };
		const gpt = asked("us.openai.gpt-5.6-sol", { compat: { thinkingLevelMap } });
		const high = sent(gpt, history, { level: "high" });
		expect(high.additionalModelRequestFields).toEqual({ reasoning: { effort: "high" } });
		expect(JSON.stringify(high)).toContain('{"reasoningContent":{"redactedContent":"c2VjcmV0"}}');
		expect(JSON.stringify(high)).not.toContain("reasoningText");
		expect(sent(gpt, history, { level: "off" }).additionalModelRequestFields).toEqual({ reasoning: { effort: "none" } });
		expect(sent(gpt, history, { level: "xhigh" }).additionalModelRequestFields).toEqual({ reasoning: { effort: "xhigh" } });
		const always = asked("global.openai.gpt-6-astra", { compat: { thinkingLevelMap: { off: null } } });
		expect(sent(always, history, { level: "off" })).not.toHaveProperty("additionalModelRequestFields");
	});

	test("a history with calls names their tools even when there are none to call", () => {
		expect(sent(asked(opus), history, { tools: [], retention: "none" }).toolConfig).toEqual({
			tools: [{ toolSpec: { name: "read", description: "Cannot be called any more.", inputSchema: { json: { type: "object", properties: {} } } } }],
		});
		expect(sent(asked(opus), [{ role: "user", content: "hi", timestamp: 1 }], { tools: [] })).not.toHaveProperty("toolConfig");
	});

	test("a long cache for models that keep one, none where it was turned off", () => {
		const hour = { cachePoint: { type: "default", ttl: "1h" } };
		expect(sent(asked(sonnet), history, { retention: "long" }).system[1]).toEqual(hour);
		expect(sent(asked("anthropic.claude-3-7-sonnet-20250219-v1:0"), history, { retention: "long" }).system[1]).toEqual(mark);
		expect(JSON.stringify(sent(asked(sonnet), history, { retention: "none" }))).not.toContain("cachePoint");
		expect(JSON.stringify(sent(asked("anthropic.claude-3-haiku-20240307-v1:0"), history))).not.toContain("cachePoint");
	});

	test("a tool to call is named to Claude when it does not think", () => {
		const choice = (id: string, level: "off" | "high") => sent(asked(id), history, { toolChoice: "read", level }).toolConfig.toolChoice;
		expect(choice(opus, "off")).toEqual({ tool: { name: "read" } });
		expect(choice(opus, "high")).toBeUndefined();
		expect(choice("us.amazon.nova-pro-v1:0", "off")).toBeUndefined();
	});
});
