import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HttpClient } from "../../src/lib/http/client.ts";
import { sampled } from "../exhaustive.ts";
import { Loopback, stream } from "./loopback.ts";
import { joined, overNetwork, playing, replay } from "./replay.ts";
import { cassette, cassettes, ending, models } from "./support.ts";

const cost = { input: 0.000704, output: 0.00187, cacheRead: 0.0004096, cacheWrite: 0, total: 0.0029836 };

const reads = [
	{ type: "toolCall", id: "", name: "read", arguments: { path: "src/a.ts" } },
	{ type: "toolCall", id: "", name: "read", arguments: { path: "src/b.ts", limit: 20 } },
];

function closeTo(value: number) {
	return expect.closeTo(value, 10);
}

describe("everything of a reply is kept", () => {
	test("Anthropic: signatures, redacted thinking, parallel calls, cache usage; unknown blocks are left out", async () => {
		const end = ending(await replay(models.anthropic, playing([cassette("anthropic-thinking-tools")])));
		expect(end).toEqual({
			type: "done",
			reason: "toolUse",
			message: {
				role: "assistant",
				api: "anthropic-messages",
				provider: "anthropic",
				model: "claude-opus-4-7",
				responseId: "msg_01XkT9",
				stopReason: "toolUse",
				timestamp: 1000,
				duration: 0,
				ttft: 0,
				content: [
					{ type: "thinking", thinking: "Both files matter; read them – 同時に.", thinkingSignature: "ErUBCkYIBxgCIkD3zQf8s0pQ==" },
					{ type: "redactedThinking", data: "EmwKAhgBEgy3va3pzix/LafPsn4a" },
					{ type: "text", text: "I'll look at both 🪢 files." },
					{ ...reads[0], id: "toolu_01A" },
					{ ...reads[1], id: "toolu_01B" },
				],
				usage: {
					input: 12,
					output: 187,
					cacheRead: 2048,
					cacheWrite: 340,
					totalTokens: 2587,
					cost: {
						input: closeTo(0.000024),
						output: closeTo(0.00187),
						cacheRead: closeTo(0.0004096),
						cacheWrite: closeTo(0.00085),
						total: closeTo(0.0031536),
					},
				},
			},
		});
	});

	const usage = { input: 352, output: 187, cacheRead: 2048, cacheWrite: 0, totalTokens: 2587 };
	const priced = { ...usage, cost: Object.fromEntries(Object.entries(cost).map(([name, value]) => [name, closeTo(value)])) };

	test("Chat: interleaved calls come out one after the other, doubled reasoning once, cached tokens once", async () => {
		const end = ending(await replay(models.chat, playing([cassette("openai-chat-parallel")])));
		expect(end).toMatchObject({
			type: "done",
			reason: "toolUse",
			message: {
				responseId: "chatcmpl-9aF",
				content: [
					{ type: "thinking", thinking: "Two reads – together.", thinkingSignature: "reasoning_content" },
					{ type: "text", text: "Reading 🪢 both." },
					{ ...reads[0], id: "call_a" },
					{ ...reads[1], id: "call_b" },
				],
				usage: priced,
			},
		});
	});

	test("Responses: the reasoning item is kept whole, ids and phases too", async () => {
		const end = ending(await replay(models.responses, playing([cassette("openai-responses-reasoning")])));
		const item = {
			type: "reasoning",
			id: "rs_1",
			encrypted_content: "gAAAAABo+xyz==",
			summary: [
				{ type: "summary_text", text: "**Two reads** – together." },
				{ type: "summary_text", text: "Go." },
			],
		};
		expect(end).toMatchObject({
			type: "done",
			reason: "toolUse",
			message: {
				responseId: "resp_68aF",
				content: [
					{ type: "thinking", thinking: "**Two reads** – together.\n\nGo.", thinkingSignature: JSON.stringify(item) },
					{ type: "text", text: "Reading 🪢 both.", textSignature: '{"v":1,"id":"msg_1","phase":"commentary"}' },
					{ ...reads[0], id: "call_a|fc_1" },
					{ ...reads[1], id: "call_b|fc_2" },
				],
				usage: priced,
			},
		});
	});

	test("Google: thoughts, signatures on calls, made-up ids, cached tokens subtracted", async () => {
		const end = ending(await replay(models.google, playing([cassette("google-thoughts-tools")])));
		expect(end).toMatchObject({
			type: "done",
			reason: "toolUse",
			message: {
				responseId: "r-5Hx",
				content: [
					{ type: "thinking", thinking: "Two reads – together." },
					{ type: "text", text: "Reading 🪢 both." },
					{ ...reads[0], id: "read_1000_2", thoughtSignature: "CiQB0e2Kb3Fz" },
					{ ...reads[1], id: "read_1000_3" },
				],
				usage: priced,
			},
		});
	});

	test.each(cassettes.slice(4))("%s: an error in the middle keeps the text and is transient", async (name, model) => {
		const end = ending(await replay(model, playing([cassette(name)])));
		expect(end).toMatchObject({
			type: "error",
			reason: "error",
			failure: { kind: "transient" },
			error: { content: [{ type: "text", text: "Working on" }] },
		});
		expect(end.type === "error" && end.error.errorMessage).toMatch(/overloaded|Provider returned error|server_error/i);
	});
});

describe.each(cassettes)("%s", (name, model) => {
	const bytes = cassette(name);
	const places = [...bytes.keys()];

	test("reads the same wherever its bytes are split", async () => {
		const whole = await replay(model, playing([bytes]));
		for (const at of sampled(places, 7)) {
			const parts = await replay(model, playing([bytes.subarray(0, at), bytes.subarray(at)]));
			if (JSON.stringify(ending(parts)) !== JSON.stringify(ending(whole))) expect.fail(`differs when split at ${at}`);
		}
		const single = await replay(model, playing([...bytes].map((byte) => Uint8Array.of(byte))));
		expect(joined(single)).toEqual(joined(whole));
	});

	test("cut at every byte it ends once: with an error, or done when all was said", async () => {
		let done = -1;
		for (const at of sampled(places, 7)) {
			const end = ending(await replay(model, playing([bytes.subarray(0, at)])));
			if (end.type === "done" && done === -1) done = at;
			if (end.type === "error" && done !== -1) expect.fail(`an error at ${at} after a good end at ${done}`);
			if (end.type === "error" && end.error.errorMessage === "") expect.fail(`no words at ${at}`);
		}
		// Only what follows the provider's own end may be missing from a good reply.
		const rest = done === -1 ? "" : bytes.subarray(done).toString("utf8");
		expect(rest).not.toMatch(/delta":\{"[a-z]|partial_json|functionCall|output_item/);
	});
});

test("damaged bytes end in one event too", async () => {
	const damage = fc.record({
		at: fc.double({ min: 0, max: 1, noNaN: true }),
		byte: fc.oneof(fc.integer({ min: 0, max: 255 }), fc.constantFrom(...Buffer.from('"{}[],:\\0n'))),
		length: fc.integer({ min: 0, max: 8 }),
	});
	await fc.assert(
		fc.asyncProperty(fc.constantFrom(...cassettes), fc.array(damage, { minLength: 1, maxLength: 4 }), async ([name, model], damages) => {
			let bytes: Buffer = cassette(name);
			for (const { at, byte, length } of damages) {
				const from = Math.floor(at * bytes.length);
				bytes = Buffer.concat([bytes.subarray(0, from), Buffer.from([byte]), bytes.subarray(from + length)]);
			}
			ending(await replay(model, playing([bytes])));
		}),
		{ numRuns: 400 },
	);
});

describe("through the real transport", () => {
	let server: Loopback;
	const client = new HttpClient({ env: {} });
	beforeAll(async () => {
		server = await Loopback.start();
	});
	afterAll(async () => {
		await client.close();
		await server.stop();
	});

	test.each(cassettes)("%s reads the same in random chunks", async (name, model) => {
		const bytes = cassette(name);
		const whole = JSON.stringify(await replay(model, playing([bytes])));
		await fc.assert(
			fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 30 }), async (sizes) => {
				server.answer(stream(bytes, sizes));
				const events = await overNetwork(model, server.url, client);
				expect(JSON.stringify(ending(events))).toBe(JSON.stringify((JSON.parse(whole) as unknown[]).at(-1)));
			}),
			{ numRuns: 8 },
		);
	});
});
