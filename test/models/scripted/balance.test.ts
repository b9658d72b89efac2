/** Whatever a script says, its stream keeps the contract. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { StreamEvent } from "../../../src/agent/contracts.ts";
import type { Block, Reply, Script } from "../../../src/models/scripted/format.ts";
import { parseScript } from "../../../src/models/scripted/load.ts";
import { ask, last, player } from "./ask.ts";

const text = fc.string({ unit: "binary", maxLength: 40 });
const pieces = fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined });
const block: fc.Arbitrary<Block> = fc.oneof(
	fc.record({ text, pieces }),
	fc.record({ thinking: text, pieces, signature: fc.option(text, { nil: undefined }) }),
	fc.record({ tool: text, pieces, arguments: fc.oneof(fc.dictionary(text, fc.jsonValue()) as fc.Arbitrary<Record<string, unknown>>, text) }),
);
const ending: fc.Arbitrary<Reply> = fc.oneof(
	fc.constant({}),
	fc.record({ stop: fc.constantFrom("stop" as const, "length" as const, "toolUse" as const) }),
	fc.record({ fail: fc.record({ status: fc.integer({ min: 100, max: 599 }), body: text }) }),
	fc.record({ cut: fc.constantFrom(true, "mid-block" as const) }),
	fc.record({ stall: fc.constantFrom(true, "mid-block" as const) }),
);
const reply: fc.Arbitrary<Reply> = fc
	.tuple(
		fc.record(
			{ text, thinking: text, blocks: fc.array(block, { maxLength: 5 }), repeat: fc.record({ text: fc.constant("x"), count: fc.nat(20) }) },
			{ requiredKeys: [] },
		),
		ending,
	)
	.map(([blocks, end]) => ({ ...blocks, ...end, repeat: blocks.repeat?.count ? blocks.repeat : undefined }));

const defined = <T>(value: T): T => JSON.parse(JSON.stringify(value));

test("one terminal event, balanced blocks, and a partial that is the sum of its deltas", async () => {
	await fc.assert(
		fc.asyncProperty(reply, fc.option(fc.nat(60), { nil: undefined }), async (written, abortAt) => {
			const controller = new AbortController();
			const isStalled = Boolean(written.stall);
			let seen = 0;
			const onEvent = () => seen++ === abortAt && controller.abort();
			const stop = isStalled ? setTimeout(() => controller.abort(), 1) : undefined;
			const events = await ask(player({ replies: [defined(written)] }), { signal: controller.signal, onEvent });
			clearTimeout(stop);
			keepsTheContract(events);
			if (controller.signal.aborted && isStalled) expect(events.at(-1)).toMatchObject({ reason: "aborted" });
		}),
		{ numRuns: 300 },
	);
});

test("a script that the property makes is a script that the loader takes", () => {
	fc.assert(
		fc.property(fc.array(reply, { maxLength: 4 }), (replies) => {
			const script: Script = defined({ replies });
			expect(parseScript(JSON.stringify(script, null, 2), "s.jsonc")).toEqual({ script, source: "s.jsonc" });
		}),
	);
});

function keepsTheContract(events: StreamEvent[]): void {
	const end = events.at(-1);
	expect(events.filter((event) => event.type === "done" || event.type === "error")).toEqual([end]);
	expect(events.filter((event) => event.type === "start")).toEqual([events[0]]);
	let open: number | undefined;
	let next = 0;
	const sums: string[] = [];
	for (const event of events.slice(1, -1)) {
		if (!("contentIndex" in event)) throw new Error(`unexpected ${event.type}`);
		const { contentIndex } = event;
		if (event.type.endsWith("_start")) {
			expect([open, contentIndex]).toEqual([undefined, next++]);
			open = contentIndex;
			sums[contentIndex] = "";
		} else expect(contentIndex).toBe(open);
		if ("delta" in event) sums[contentIndex] += event.delta;
		if (event.type.endsWith("_end")) open = undefined;
		expect(event.partial.content.length).toBe(next);
		const block = event.partial.content[contentIndex];
		const told = block?.type === "text" ? block.text : block?.type === "thinking" ? block.thinking : undefined;
		if (told !== undefined) expect(told).toBe(sums[contentIndex]);
		if (event.type === "toolcall_end") expect(event.toolCall.arguments).toEqual(strictly(sums[contentIndex] ?? ""));
	}
	if (end?.type === "done") expect(open).toBe(undefined);
	expect(last(events)?.content.length).toBe(next);
}

function strictly(json: string): unknown {
	try {
		const value: unknown = JSON.parse(json);
		return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
	} catch {
		return {};
	}
}
