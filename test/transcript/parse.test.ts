/** The parser completes entries that lack what their type promises; all other code may rely on it. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { AgentMessage } from "../../src/protocol/messages.ts";
import { branchOf, type Entry } from "../../src/transcript/entries.ts";
import { migrated } from "../../src/transcript/migrate.ts";
import { entryOf } from "../../src/transcript/parse.ts";
import { contextMessages, levelOf, modelOf, openCalls } from "../../src/transcript/projection.ts";
import { contextTokens, countMessages, totalsOf } from "../../src/transcript/stats.ts";
import { treeOf } from "../../src/transcript/tree.ts";
import { cpuOf } from "../cpu.ts";
import { assistant, call, chain, fileOf, header, result, said, time, user } from "./support.ts";

const read = (body: object) => entryOf(JSON.stringify({ id: "a", parentId: null, timestamp: time, ...body })) as Entry & Record<string, unknown>;
const message = (content: object) => (read({ type: "message", message: content }) as { message?: AgentMessage }).message as Record<string, unknown>;

const none = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
const at = Date.parse(time);

test.each<[string, object, object]>([
	[
		"a reply of nothing",
		{ role: "assistant", content: null, usage: null },
		{ content: [], stopReason: "stop", usage: { ...none, totalTokens: 0, cost: { ...none, total: 0 } } },
	],
	["a reply that is a text", { role: "assistant", content: "hi" }, { content: [{ type: "text", text: "hi" }], timestamp: at }],
	["a prompt of nothing", { role: "user", content: null }, { content: [] }],
	["a prompt that is a number", { role: "user", content: 5 }, { content: [] }],
	["a prompt that is a text", { role: "user", content: "hi", timestamp: 1 }, { role: "user", content: "hi", timestamp: 1 }],
	[
		"blocks of nothing",
		{ role: "user", content: [null, 5, {}, { type: "text" }, { type: "text", text: "x" }] },
		{ content: [{ type: "text", text: "x" }] },
	],
	["a call without arguments", { role: "assistant", content: [{ type: "toolCall", id: "x", name: "y" }] }, { content: [{ arguments: {} }] }],
	[
		"a picture in the other spelling",
		{ role: "user", content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: "AA" } }] },
		{ content: [{ type: "image", data: "AA", mimeType: "image/png" }] },
	],
	["a result of nothing", { role: "toolResult" }, { content: [], toolCallId: "", toolName: "", isError: false }],
	["a command without output", { role: "bashExecution", command: "ls" }, { command: "ls", output: "", cancelled: false }],
	["a summary of nothing", { role: "branchSummary" }, { summary: "" }],
	["an unknown role", { role: "new", content: null, more: 1 }, { role: "new", content: [], more: 1 }],
])("%s", (_, odd, expected) => {
	expect(message(odd)).toMatchObject(expected);
});

test("what earlier versions wrote of a command that was killed", () => {
	const killed = message({ role: "bashExecution", command: "ls", exitCode: null, fullOutputPath: null });
	expect(Object.keys(killed)).not.toEqual(expect.arrayContaining(["exitCode"]));
	expect(Object.keys(killed)).not.toEqual(expect.arrayContaining(["fullOutputPath"]));
});

test("other entries", () => {
	expect(read({ type: "session_info", name: 7 })).not.toHaveProperty("name");
	expect(read({ type: "message", message: null })).toMatchObject({ type: "unreadable", id: "a" });
	expect(read({ type: "message", message: { role: 5 } })).toMatchObject({ type: "unreadable" });
	expect(read({ type: "compaction", usage: null })).toMatchObject({ summary: "", firstKeptEntryId: "", tokensBefore: 0 });
	expect(read({ type: "from_the_future", name: 7, content: null })).toMatchObject({ name: 7, content: null });
	expect(read({ type: "label", parentId: 5 })).toMatchObject({ parentId: null, targetId: "" });
	for (const line of ["", "null", "[]", "5", "{"]) expect(entryOf(line)).toBeUndefined();
});

test("what is whole stays as it is", () => {
	for (const entry of chain(said(user("1")), said(assistant("2")), said(call("x")), said(result("x"))))
		expect(entryOf(JSON.stringify(entry))).toEqual(entry);
});

test("whatever is in a file, everything that is made of it can be made", () => {
	const any = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.array(fc.record({ type: fc.constantFrom("text", "toolCall", "thinking", "image") })));
	const members = [
		"content",
		"usage",
		"output",
		"command",
		"stopReason",
		"summary",
		"files",
		"toolCallId",
		"details",
		"timestamp",
		"provider",
		"model",
	];
	const roles = [
		"user",
		"assistant",
		"toolResult",
		"bashExecution",
		"custom",
		"branchSummary",
		"compactionSummary",
		"fileMention",
		"developer",
		"odd",
	];
	const oddMessage = fc.tuple(fc.constantFrom(...roles), fc.dictionary(fc.constantFrom(...members), any)).map(([role, rest]) => ({ role, ...rest }));
	const types = [
		"message",
		"compaction",
		"branch_summary",
		"custom_message",
		"model_change",
		"thinking_level_change",
		"session_info",
		"label",
		"custom",
	];
	const names = ["summary", "content", "provider", "modelId", "model", "thinkingLevel", "name", "targetId", "label", "customType", "data", "usage"];
	const oddEntry = fc
		.tuple(fc.constantFrom("message", ...types), fc.oneof(oddMessage, any), fc.dictionary(fc.constantFrom(...names), any))
		.map(([type, said, rest]) => ({ type, message: said, ...rest }));
	fc.assert(
		fc.property(fc.array(oddEntry, { maxLength: 8 }), (bodies) => {
			const entries = chain(...(bodies as { type: string }[])).map((entry) => entryOf(JSON.stringify(entry)) as Entry);
			const branch = branchOf(entries);
			const messages = contextMessages(branch);
			countMessages(messages);
			totalsOf(entries);
			contextTokens(messages, branch);
			treeOf(entries);
			openCalls(branch);
			const { provider } = modelOf(branch) ?? { provider: "" };
			expect([typeof provider, typeof (levelOf(branch) ?? "")]).toEqual(["string", "string"]);
		}),
		{ numRuns: 1000 },
	);
});

test("a long file of version 1 is brought to version 3 in passing", async () => {
	const line = fileOf({ type: "message", timestamp: time, message: user("1") });
	let id = 0;
	const file = Buffer.from(fileOf({ ...header, version: undefined }) + line.repeat(60_000));
	// One by one against all others it takes many times as long.
	expect(await cpuOf(() => migrated(file, () => (++id).toString(16)))).toBeLessThan(6000);
});
