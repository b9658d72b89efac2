/** Converting a conversation in steps gives the same result as converting it at once, however it grows and changes. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { ModelMessage } from "../../src/agent/contracts.ts";
import type { Call, WireRequest } from "../../src/models/api.ts";
import { request as anthropic } from "../../src/models/apis/anthropic-messages.ts";
import { noUsage } from "../../src/models/builder.ts";
import { mergeCompat } from "../../src/models/compat.ts";
import { Growing } from "../../src/models/growing.ts";
import { handoff } from "../../src/models/handoff.ts";
import { models } from "./support.ts";

const model = models.anthropic;

const message: fc.Arbitrary<ModelMessage> = fc.oneof(
	fc.string({ maxLength: 3 }).map((text): ModelMessage => ({ role: "user", content: [{ type: "text", text }], timestamp: 1 })),
	fc.constantFrom("a", "b").map(
		(id): ModelMessage => ({
			role: "toolResult",
			toolCallId: id,
			toolName: "read",
			content: [{ type: "text", text: id }],
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

function bodyOf(messages: readonly ModelMessage[]): string {
	const call = {
		...{ model, modelId: model.id, compat: mergeCompat(), baseUrl: "http://x", level: "off", systemPrompt: "", messages, tools: [] },
		...{ sessionId: "s", maxTokens: 10, retention: "short", budgets: { minimal: 1, low: 1, medium: 1, high: 1 }, now: () => 1 },
	} as unknown as Call;
	const { body }: WireRequest = anthropic(call);
	return Buffer.concat(body.map((piece) => Buffer.from(piece as string))).toString();
}

test("messages that a request may carry, and its body", () => {
	fc.assert(
		fc.property(message, steps, (first, all) => {
			let messages: ModelMessage[] = [first];
			for (const { kept, added } of all) {
				messages = [...messages.slice(0, Math.max(kept, 1)), ...added];
				const sent = handoff(messages, target);
				// Copies are other objects: nothing is remembered of them.
				expect(sent).toEqual(handoff(structuredClone(messages), target));
				expect(bodyOf(sent)).toBe(bodyOf(structuredClone(sent)));
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
