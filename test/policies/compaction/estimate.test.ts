import { describe, expect, test } from "vitest";
import { contextTokens, estimateEntry, estimateMessage, estimateSetup } from "../../../src/policies/compaction/estimate.ts";
import type { AgentMessage } from "../../../src/protocol/messages.ts";
import { branchOf } from "../../../src/transcript/entries.ts";
import { bash, branch, calls, compaction, messagesOf, reply, result, usageOf, user, words } from "./support.ts";

const image = { type: "image" as const, data: "A".repeat(100_000), mimeType: "image/png" };
const setup = { systemPrompt: words(100), tools: [] };

describe("a message takes", () => {
	const rows: [what: string, message: AgentMessage, tokens: number][] = [
		["a token per four characters, rounded up", user("12345"), 2],
		["content that is a bare text", { role: "user", content: "12345678", timestamp: 0 }, 2],
		["a picture whatever its size", { role: "user", content: [{ type: "text", text: "abcd" }, image], timestamp: 0 }, 1201],
		["a picture that a tool gave", { ...(result("a", "abcd") as object), content: [image] } as AgentMessage, 1200],
		["a picture in an extension's message", { role: "custom", customType: "x", content: [image], display: false, timestamp: 0 }, 1200],
		[
			"text and thinking",
			reply("", {
				content: [
					{ type: "thinking", thinking: words(5) },
					{ type: "text", text: words(2) },
				],
			}),
			7,
		],
		["nothing for a block of another program's kind", reply("abcd", { content: [{ type: "text", text: "abcd" }, { type: "hologram" }] as never }), 1],
		["names and arguments of calls", calls(["a", "read", { path: "a" }]), Math.ceil('read{"path":"a"}'.length / 4)],
		["a command and its output", bash("abcd", words(3)), 4],
		["nothing for a command that the model does not see", { ...bash("abcd", words(3)), excludeFromContext: true } as AgentMessage, 0],
		["a summary", { role: "compactionSummary", summary: words(9), tokensBefore: 1, timestamp: 0 }, 9],
		["files that were named", { role: "fileMention", files: [{ path: "abcd", content: words(3) }], timestamp: 0 }, 4],
		["nothing for a role of old files", { role: "hookMessage", timestamp: 0 }, 0],
	];
	test.each(rows)("%s", (_, message, tokens) => expect(estimateMessage(message)).toBe(tokens));
});

test("entries without words take nothing", () => {
	const [change, custom, compacted] = branch(
		{ type: "model_change", provider: "a", modelId: "b" },
		{ type: "custom_message", customType: "x", content: [{ type: "text", text: words(2) }, image], display: true },
		compaction("e0"),
	);
	expect([change, custom, compacted].map((entry) => entry && estimateEntry(entry))).toEqual([0, 1202, 0]);
});

test("system prompt and tools", () => {
	expect(estimateSetup({ systemPrompt: words(10), tools: [{ name: "abcd", description: words(3), parameters: { a: 1 } } as never] })).toBe(16);
});

describe("the context takes", () => {
	const counted = (tokens: number) => reply("ok", { usage: usageOf(tokens) });
	const of = (...messages: AgentMessage[]) => contextTokens({ messages, branch: branchOf(branch(...messages)), setup });

	test("what the last reply counted, and what came after it", () => {
		expect(of(user(words(7)), counted(500), user(words(30)))).toBe(530);
	});
	test("an estimate of everything, with the system prompt, when nothing was counted", () => {
		expect(of(user(words(7)), reply(words(3)))).toBe(110);
	});
	test("a failed reply does not hide a full context", () => {
		expect(of(user("x"), counted(500), user(words(4)), reply("", { stopReason: "error", usage: usageOf(3) }))).toBe(504);
	});
	test("an aborted reply counts by its words", () => {
		expect(of(user("x"), counted(500), user(words(4)), reply(words(6), { stopReason: "aborted", usage: usageOf(3) }))).toBe(510);
	});
	test("without a total, the four numbers", () => {
		const usage = { ...usageOf(0), input: 1, output: 2, cacheRead: 30, cacheWrite: 4 };
		expect(of(user("x"), reply("ok", { usage }))).toBe(37);
	});
	test("what was counted before a compaction is out of date", () => {
		const path = branch(user(words(900)), counted(1000), user(words(5)), counted(2000), compaction("e2"), user(words(2)));
		const summary: AgentMessage = { role: "compactionSummary", summary: words(10), tokensBefore: 1, timestamp: 0 };
		const messages = [summary, ...messagesOf(path).slice(2)];
		expect(contextTokens({ messages, branch: branchOf(path), setup })).toBe(100 + 10 + 5 + 1 + 2);
	});
	test("a reply that has left the context does not count", () => {
		const path = branch(user(words(8)), counted(5000));
		expect(contextTokens({ messages: messagesOf(path).slice(0, 1), branch: branchOf(path), setup })).toBe(108);
	});
});
