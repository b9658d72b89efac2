import { expect, test } from "vitest";
import type { ModelMessage } from "../../src/agent/contracts.ts";
import { noUsage } from "../../src/models/builder.ts";
import { estimateInput, outputLimit } from "../../src/models/limits.ts";
import { model } from "./support.ts";

const user = (content: string, timestamp: number): ModelMessage => ({ role: "user", content, timestamp });
const reply = (totalTokens: number, timestamp: number): ModelMessage => ({
	role: "assistant",
	content: [{ type: "text", text: "x".repeat(40) }],
	api: "a",
	provider: "p",
	model: "m",
	usage: { ...noUsage, totalTokens },
	stopReason: "stop",
	timestamp,
});

test("the last reply's count is trusted, and what follows it is estimated", () => {
	expect(estimateInput("s".repeat(400), [], [user("hi", 1), reply(5000, 2), user("y".repeat(40), 3)])).toBe(5010);
	expect(estimateInput("", [], [user("hi", 2), reply(5000, 2)])).toBe(5000);
});

test("a reply that a compaction kept says nothing about the request: its room is not lost", () => {
	const summary = user("z".repeat(400), 10);
	const kept = [summary, user("hi", 1), reply(198_000, 2), user("go on", 11)];
	expect(estimateInput("", [], kept)).toBeLessThan(200);
	expect(outputLimit(model(), estimateInput("", [], kept))).toBe(32000);
	// The first reply after the summary counts again.
	expect(estimateInput("", [], [...kept, reply(900, 12)])).toBe(900);
});
