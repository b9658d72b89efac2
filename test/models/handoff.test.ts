import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ModelMessage } from "../../src/agent/contracts.ts";
import { callId as anthropicId } from "../../src/models/apis/anthropic-messages.ts";
import { callId as chatId } from "../../src/models/apis/openai-chat.ts";
import { callId as responsesId } from "../../src/models/apis/openai-responses.ts";
import { noUsage } from "../../src/models/builder.ts";
import { handoff, imageNote, refusedNote, type Target } from "../../src/models/handoff.ts";
import type { AssistantMessage, StopReason, ToolResultMessage } from "../../src/protocol/messages.ts";

const target: Target = { provider: "p", api: "openai-responses", model: "m", acceptsImages: true, callId: responsesId };

function reply(content: AssistantMessage["content"], stopReason: StopReason = "stop", model = "m"): AssistantMessage {
	return { role: "assistant", content, api: "openai-responses", provider: "p", model, usage: noUsage, stopReason, timestamp: 1 };
}
const call = (id: string) => ({ type: "toolCall" as const, id, name: "read", arguments: {} });
const result = (toolCallId: string): ToolResultMessage => ({
	role: "toolResult",
	toolCallId,
	toolName: "read",
	content: [{ type: "text", text: "r" }],
	isError: false,
	timestamp: 2,
});
const user: ModelMessage = { role: "user", content: "u", timestamp: 3 };
const image = { type: "image" as const, data: "AA", mimeType: "image/png" };

test("messages that need no change are sent as they are", () => {
	const messages = [user, reply([call("a|fc_1")], "toolUse"), result("a|fc_1"), reply([{ type: "text", text: "x" }])];
	expect(handoff(messages, target).every((message, index) => message === messages[index])).toBe(true);
	expect(handoff(messages, { ...target, model: "n" })[1]).not.toBe(messages[1]);
});

test("the same provider's other model loses item ids, signatures and thinking; results follow their calls", () => {
	const messages = [
		user,
		reply(
			[
				{ type: "thinking", thinking: "t", thinkingSignature: "{}" },
				{ type: "text", text: "x", textSignature: "s" },
				{ ...call("a|fc_1"), thoughtSignature: "sig" },
			],
			"toolUse",
			"old",
		),
		result("a|fc_1"),
	];
	expect(handoff(messages, target).slice(1)).toMatchObject([{ content: [{ type: "text", text: "x" }, call("a")] }, { toolCallId: "a" }]);
	expect(JSON.stringify(handoff(messages, target))).not.toMatch(/sig|Signature|fc_1/);
});

describe("ids", () => {
	test.each([
		[anthropicId, "call_a|fc_1", "call_a_fc_1"],
		[anthropicId, "x".repeat(80), "x".repeat(64)],
		[chatId, "call_a|fc_1", "call_a"],
		[chatId, "y".repeat(60), "y".repeat(40)],
		[chatId, "read:1 2", "read_1_2"],
		[responsesId, "call_a|fc_1", "call_a"],
		[responsesId, "toolu_1__", "toolu_1"],
	])("%s", (callId, id, made) => {
		expect(callId(id)).toBe(made);
	});

	test("ids that become equal are kept apart", () => {
		const long = "z".repeat(70);
		const messages = [reply([call(`${long}1`), call(`${long}2`)], "toolUse", "old"), result(`${long}1`), result(`${long}2`)];
		const sent = handoff(messages, { ...target, api: "openai-completions", callId: chatId });
		const ids = sent.flatMap((message) =>
			message.role === "assistant" ? message.content.map((block) => (block.type === "toolCall" ? block.id : "")) : [],
		);
		expect(new Set(ids).size).toBe(2);
		expect(sent.slice(1).map((message) => message.role === "toolResult" && message.toolCallId)).toEqual(ids);
	});
});

test("a broken reply keeps its text and the calls that have results", () => {
	const broken = reply(
		[{ type: "thinking", thinking: "t", thinkingSignature: "s" }, { type: "text", text: "x" }, call("a|fc_1"), call("b|fc_2")],
		"aborted",
	);
	expect(handoff([user, broken, result("b|fc_2"), user], target)).toMatchObject([
		user,
		{ content: [{ type: "text", text: "x" }, call("b")] },
		{ toolCallId: "b" },
		user,
	]);
	expect(handoff([user, reply([{ type: "thinking", thinking: "t" }], "error"), user], target)).toEqual([user, user]);
});

test("a stored call without a name is left out with its result", () => {
	const nameless = { ...call("b|fc_2"), name: "" };
	for (const model of ["m", "old"]) {
		const sent = handoff([user, reply([call("a|fc_1"), nameless], "toolUse", model), result("a|fc_1"), result("b|fc_2"), user], target);
		expect(sent).toMatchObject([user, { content: [{ name: "read" }] }, { role: "toolResult" }, user]);
	}
	expect(handoff([user, reply([nameless], "toolUse"), result("b|fc_2"), user], target)).toEqual([user, user]);
});

test("images: left out for a model that cannot see, and one by one when refused", () => {
	const said: ModelMessage = { role: "user", content: [image, { ...image, data: "BB" }], timestamp: 1 };
	expect(handoff([said], { ...target, acceptsImages: false })).toMatchObject([{ content: [{ text: imageNote }, { text: imageNote }] }]);
	expect(handoff([said], { ...target, isRefused: (one) => one.data === "BB" })).toMatchObject([{ content: [image, { text: refusedNote }] }]);
	expect(said.content).toEqual([image, { ...image, data: "BB" }]);
});

test("content that is null in old files is empty", () => {
	const old = { ...reply([]), content: null } as unknown as AssistantMessage;
	expect(handoff([{ role: "user", content: null, timestamp: 1 } as unknown as ModelMessage, old], target)).toEqual([
		{ role: "user", content: [], timestamp: 1 },
	]);
});

test("whatever happened, one result follows every call, and every result has a call", () => {
	const ids = fc.constantFrom("a", "b|fc_b", "c");
	const blocks = fc.array(
		fc.oneof(ids.map(call), fc.constant({ type: "text" as const, text: "x" }), fc.constant({ type: "thinking" as const, thinking: "t" })),
		{ maxLength: 4 },
	);
	const unique = blocks.map((list) =>
		list.filter(
			(block, index) => block.type !== "toolCall" || list.findIndex((other) => other.type === "toolCall" && other.id === block.id) === index,
		),
	);
	const message = fc.oneof(
		fc.constant(user),
		ids.map(result),
		fc
			.record({ content: unique, stop: fc.constantFrom<StopReason>("stop", "toolUse", "error", "aborted"), model: fc.constantFrom("m", "old") })
			.map(({ content, stop, model }) => reply(content, stop, model)),
	);
	fc.assert(
		fc.property(fc.array(message, { maxLength: 12 }), (messages) => {
			const sent = handoff(messages, target);
			let open: string[] = [];
			for (const one of sent) {
				if (one.role === "toolResult") {
					expect(open).toContain(one.toolCallId);
					open = open.filter((id) => id !== one.toolCallId);
					continue;
				}
				expect(open).toEqual([]);
				if (one.role === "assistant") open = one.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
			}
			expect(open).toEqual([]);
		}),
	);
});
