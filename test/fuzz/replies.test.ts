/** Replies of providers that went wrong on the way: each ends in exactly one message, never in a throw or a hang. */
import { describe, expect, test } from "vitest";
import { frame } from "../models/clouds/amazon.ts";
import { playing, replay } from "../models/replay.ts";
import { cassette, cassettes, ending, models, model as modelWith } from "../models/support.ts";
import { type ApiKind, spoken } from "../models/wire.ts";
import { mutated, pieces } from "./mutate.ts";
import { forSeeds } from "./seeds.ts";

test.each(cassettes)("%s", (name, model) =>
	forSeeds(60, async (random) => {
		const events = await replay(model, playing(pieces(mutated(cassette(name), random), random)));
		const end = ending(events);
		// Whatever it is, it can be written down.
		expect(() => JSON.stringify(end)).not.toThrow();
	}),
);

describe("bedrock", () => {
	const claude = modelWith({ id: "us.anthropic.claude-opus-4-7", provider: "amazon-bedrock", api: "bedrock-converse" });
	const reply: [kind: string, payload: object][] = [
		["messageStart", { role: "assistant" }],
		["contentBlockDelta", { contentBlockIndex: 0, delta: { reasoningContent: { text: "hm", signature: "c2ln" } } }],
		["contentBlockStop", { contentBlockIndex: 0 }],
		["contentBlockStart", { contentBlockIndex: 1, start: { toolUse: { toolUseId: "t1", name: "read" } } }],
		["contentBlockDelta", { contentBlockIndex: 1, delta: { toolUse: { input: '{"path":"a"}' } } }],
		["contentBlockStop", { contentBlockIndex: 1 }],
		["messageStop", { stopReason: "tool_use" }],
		["metadata", { usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 } }],
	];
	const framed = (payload: (json: string) => string | Buffer) =>
		Buffer.concat(reply.map(([kind, body]) => frame({ ":event-type": kind, ":message-type": "event" }, payload(JSON.stringify(body)))));

	test("frames that were changed on the way", () =>
		forSeeds(60, async (random) => {
			const events = await replay(claude, playing(pieces(mutated(framed(String), random), random)));
			expect(() => JSON.stringify(ending(events))).not.toThrow();
		}));

	test("good frames with strange content", () =>
		forSeeds(60, async (random) => {
			const events = await replay(
				claude,
				playing(
					pieces(
						framed((json) => mutated(Buffer.from(json), random)),
						random,
					),
				),
			);
			expect(() => JSON.stringify(ending(events))).not.toThrow();
		}));
});

const asked = { anthropic: models.anthropic, chat: models.chat, responses: models.responses, google: models.google };

describe.each(Object.keys(asked) as ApiKind[])("%s: arguments that are nested a hundred thousand deep", (api) => {
	test.each([10, 10_000])(
		"in %i pieces",
		async (count) => {
			const deep = `{"path":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
			const size = Math.ceil(deep.length / count);
			const split = Array.from({ length: count }, (_, index) => deep.slice(index * size, (index + 1) * size)).filter((piece) => piece !== "");
			// Google sends arguments as they are, the others as a text.
			const spelled = api === "google" ? ['{"path":"deep"}'] : split;
			const bytes = spoken(api, { text: ["hm"], call: { name: "read", arguments: spelled } }).replace('{"path":"deep"}', deep);
			const events = await replay(asked[api], playing([Buffer.from(bytes)]));
			const end = ending(events);
			const message = end.type === "done" ? end.message : end.error;
			const calls = message.content.filter((block) => block.type === "toolCall");
			expect(JSON.stringify(calls).length).toBeLessThan(1000);
			// If the whole event cannot be read, the reply contains no call.
			if (api !== "google") expect(calls).toMatchObject([{ arguments: {}, argumentsError: expect.stringContaining("nested deeper than 256") }]);
			else expect(message).toMatchObject({ stopReason: "error", errorMessage: expect.stringContaining("The provider sent a broken event") });
		},
		60_000,
	);
});

describe.each(Object.keys(asked) as ApiKind[])("%s: a reply that never ends", (api) => {
	test("words without end", async () => {
		const text = Array.from({ length: 40 }, () => "x".repeat(1024 * 1024));
		const end = ending(await replay(asked[api], playing([Buffer.from(spoken(api, { text }))])));
		expect(end).toMatchObject({
			type: "error",
			failure: { kind: "permanent" },
			error: { errorMessage: expect.stringContaining("it has more than 32 million characters") },
		});
	});

	test("calls without end", async () => {
		const calls = Array.from({ length: 3000 }, (_, index) => ({ id: `call_${index}`, name: "read", arguments: ["{}"] }));
		const end = ending(await replay(asked[api], playing([Buffer.from(spoken(api, { calls }))])));
		expect(end).toMatchObject({
			type: "error",
			failure: { kind: "permanent" },
			error: { errorMessage: expect.stringContaining("it has more than 2000 parts") },
		});
	});
});
