/** Converting a conversation in steps gives the same result as converting it at once, however it grows and changes. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { ModelMessage } from "../../src/agent/contracts.ts";
import type { Call, WireRequest } from "../../src/models/api.ts";
import { request as anthropic } from "../../src/models/apis/anthropic-messages.ts";
import { request as google } from "../../src/models/apis/google-generative.ts";
import { request as chat } from "../../src/models/apis/openai-chat.ts";
import { request as responses } from "../../src/models/apis/openai-responses.ts";
import { noUsage } from "../../src/models/builder.ts";
import { mergeCompat } from "../../src/models/compat.ts";
import { Growing } from "../../src/models/growing.ts";
import { handoff } from "../../src/models/handoff.ts";
import { models } from "./support.ts";

const model = models.anthropic;

const message: fc.Arbitrary<ModelMessage> = fc.oneof(
	fc.string({ maxLength: 3 }).map((text): ModelMessage => ({ role: "user", content: [{ type: "text", text }], timestamp: 1 })),
	fc.tuple(fc.constantFrom("a", "b"), fc.boolean()).map(
		([id, hasImage]): ModelMessage => ({
			role: "toolResult",
			toolCallId: id,
			toolName: "read",
			content: [{ type: "text", text: id }, ...(hasImage ? [{ type: "image" as const, data: "aGk=", mimeType: "image/png" }] : [])],
			isError: false,
			timestamp: 1,
		}),
	),
	fc.tuple(fc.subarray(["a", "b"]), fc.constantFrom("toolUse", "stop", "error", "aborted"), fc.boolean()).map(
		([ids, stopReason, isForeign]): ModelMessage => ({
			role: "assistant",
			content: [{ type: "text", text: "said" }, ...ids.map((id) => ({ type: "toolCall" as const, id, name: "read", arguments: {} }))],
			api: model.api,
			provider: isForeign ? "other" : model.provider,
			model: model.id,
			usage: noUsage,
			stopReason: stopReason as "stop",
			timestamp: 1,
		}),
	),
);

/** A step keeps so many messages and adds others. */
const steps = fc.array(fc.record({ kept: fc.nat(12), added: fc.array(message, { maxLength: 4 }) }), { maxLength: 6 });

const target = { provider: model.provider, api: model.api, model: model.id, acceptsImages: true, callId: (id: string) => id };

type Request = (call: Call) => WireRequest;

function bodyOf(request: Request, messages: readonly ModelMessage[], more: Partial<Call>): string {
	const call = {
		...{ model, modelId: model.id, compat: mergeCompat(), baseUrl: "http://x", level: "off", systemPrompt: "", messages, tools: [], ...more },
		...{ history: [], sessionId: "s", maxTokens: 10, retention: "short", budgets: { minimal: 1, low: 1, medium: 1, high: 1 }, now: () => 1 },
	} as unknown as Call;
	const { body } = request(call);
	return Buffer.concat(body.map((piece) => Buffer.from(piece as string))).toString();
}

const talkative = mergeCompat({ requiresAssistantAfterToolResult: true, supportsCacheControl: true });

test.each<[string, Request, Partial<Call>]>([
	["Anthropic", anthropic, {}],
	["Chat Completions", chat, { systemPrompt: "be brief" }],
	["Chat Completions that needs a reply after results", chat, { compat: talkative }],
	["Responses", responses, { systemPrompt: "be brief" }],
	["Google", google, {}],
	["Google of the third generation", google, { model: { ...model, id: "gemini-3-pro" } }],
])("messages that a request may carry, and its body: %s", (_, request, more) => {
	fc.assert(
		fc.property(message, steps, (first, all) => {
			let messages: ModelMessage[] = [first];
			for (const { kept, added } of all) {
				messages = [...messages.slice(0, Math.max(kept, 1)), ...added];
				const sent = handoff(messages, target);
				// Copies are other objects: nothing is remembered of them.
				expect(sent).toEqual(handoff(structuredClone(messages), target));
				expect(bodyOf(request, sent, more)).toBe(bodyOf(request, structuredClone(sent), more));
			}
		}),
	);
});

test("what did not change is not made again", () => {
	const growing = new Growing<{ n: number }, number>();
	const seen: number[] = [];
	const make = (source: { n: number }[]) =>
		growing.make(source, "", (all, from, made, begin) => {
			for (let index = from; index < all.length; index++) {
				begin(index);
				seen.push(index);
				made.push((all[index] as { n: number }).n);
			}
		});
	const source = Array.from({ length: 1000 }, (_, n) => ({ n }));
	make(source);
	seen.length = 0;
	expect(make([...source, { n: 1000 }])).toEqual([...source.map(({ n }) => n), 1000]);
	expect(seen).toEqual([999, 1000]);
});
