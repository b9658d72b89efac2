/** A request that is made from the lines of a session file says the same as one that is made from the messages in them. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ModelMessage, ModelRequest, StoredRun } from "../../src/agent/contracts.ts";
import { toModelMessages } from "../../src/agent/convert.ts";
import { api, request as bodyFor, callId } from "../../src/models/apis/anthropic-messages.ts";
import { handoff } from "../../src/models/handoff.ts";
import { splitHistory } from "../../src/models/history.ts";
import { estimateInput } from "../../src/models/limits.ts";
import { Conversation } from "../../src/session/conversation.ts";
import { folder, spaced, transcriptsIn } from "../transcript/support.ts";
import { call, models, request } from "./support.ts";

const model = models.anthropic;
const target = { provider: model.provider, api: model.api, model: model.id, acceptsImages: true, callId };
const timestamp = "2026-01-01T00:00:00.000Z";
const cost = { input: 0, output: 1e-7, cacheRead: 0.25, cacheWrite: 0, total: 0 };
const usage = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, totalTokens: 3, cost };

const said = (text: string) => ({ type: "text", text });
const prompt = (content: unknown, more: object = {}) => ({ role: "user", content, ...more, timestamp: 1 });
const result = (id: string, content: unknown, more: object = {}) => ({
	...{ role: "toolResult", toolCallId: id, toolName: "read", content, details: {}, isError: false },
	...more,
	timestamp: 1,
});
const reply = (content: unknown, more: object = {}) => ({
	...{ role: "assistant", content, api: model.api, provider: model.provider, model: model.id, usage, stopReason: "stop" },
	...more,
	timestamp: 1,
});
const calling = (id: string, args: unknown = { path: "a" }) => ({ type: "toolCall", id, name: "read", arguments: args });

type Line = (entry: (message: unknown) => string) => string;

/** Two hundred messages with these in their middle, as a session that was opened. */
function opened(middle: readonly (object | Line)[], write: (value: unknown) => string = JSON.stringify): Conversation {
	const usual = Array.from({ length: 25 }, (_, index) => [
		prompt([said(`ask ${index}`)]),
		reply([said("let me see"), calling(`call_${index}`)], { stopReason: "toolUse" }),
		result(`call_${index}`, [said('line\n\tof "text" \\ ü € 😀')]),
		reply([{ type: "thinking", thinking: "hm\n", thinkingSignature: "sig==" }, said("done")]),
	]).flat();
	const cwd = folder();
	const path = join(cwd, "session.jsonl");
	let before: string | null = null;
	const lines = [...usual, ...middle, ...usual].map((message, index) => {
		const id = (0x10000000 + index).toString(16);
		const entry = (message: unknown) => write({ type: "message", id, parentId: before, timestamp, message });
		const line = typeof message === "function" ? message(entry) : entry(message);
		before = id;
		return line;
	});
	const header = { type: "session", version: 3, id: "s", timestamp, cwd };
	writeFileSync(path, `${[JSON.stringify(header), ...lines].join("\n")}\n`);
	return new Conversation(transcriptsIn(cwd).open(path), () => 1);
}

function sentFor(asked: ModelRequest): unknown {
	const { history, rest } = splitHistory(asked, api.stored, target);
	const { body } = bodyFor(call(model, handoff(rest, target), { history, retention: "none" }));
	return JSON.parse(Buffer.concat(body.map((piece) => Buffer.from(piece as string))).toString());
}

function sentFrom(conversation: Conversation): { fromLines: unknown; fromMessages: unknown } {
	const fromLines = sentFor(request({ parts: toModelMessages(conversation.parts), messages: [] }));
	return { fromLines, fromMessages: sentFor(request({ messages: toModelMessages(conversation.messages) as ModelMessage[] })) };
}

const readBy = ({ transcript: { branch } }: Conversation) => {
	const read: number[] = [];
	for (let place = 0; place < branch.length; place++) if (branch.isRead(place)) read.push(place);
	return read;
};

const unsent = { role: "bashExecution", command: "ls", output: "", excludeFromContext: true, cancelled: false, truncated: false, timestamp: 1 };

/** A pattern that can match lists in several ways would never come to an end. */
function manyCalls(changes: object): object[] {
	const ids = Array.from({ length: 24 }, (_, index) => `call_${index}`);
	const blocks = ids.map((id) => calling(id, { paths: ["src"], globs: ["*.ts"], options: {} }));
	return [reply(blocks, changes), ...ids.map((id) => result(id, [said("1")]))];
}

/** Messages in a row, and whether their lines need not be read. */
const cases: [string, boolean, (object | Line)[]][] = [
	["a prompt that is a string", true, [prompt("hello"), reply([said("hi")])]],
	["a prompt of several blocks", true, [prompt([said("a"), said("b")]), reply([said("hi")])]],
	["a prompt with attachments", false, [prompt([said("a"), said("b")], { attachments: [{ path: "x" }] }), reply([said("hi")])]],
	[
		"several calls and their results in another order",
		true,
		[
			reply([said("two"), calling("x"), calling("y", { edits: [{ old: "a\n", new: "" }] })]),
			result("y", [said("2")], { isError: true, details: { diff: "-a\n+b", lines: { first: 1 } } }),
			result("x", [said("1")]),
		],
	],
	[
		"arguments that look like a block",
		true,
		[
			reply([calling("x", { type: "toolCall", id: "y", name: "z", arguments: "s" }), { type: "thinking", thinking: "t", thinkingSignature: "s" }]),
			result("x", [said("1")]),
		],
	],
	[
		"nested arguments that look like blocks",
		false,
		[reply([calling("x", { b: { type: "thinking", thinking: "t", thinkingSignature: "s", c: { d: [1] } } })]), result("x", [said("1")])],
	],
	["text that begins with white space or another script", true, [prompt([said(" \n\tx")]), reply([said("日本"), said("→ éß"), said("😀")])]],
	["text that begins with a rare space", false, [prompt([said("\u3000x")]), reply([said("\u00a0x")])]],
	["blank text", false, [prompt([said(" \n"), said("x")]), reply([said(""), said("x")])]],
	["a reply without content", false, [reply([])]],
	["a result without text", false, [reply([calling("x")]), result("x", []), reply([calling("y")]), result("y", [said(" ")])]],
	["half a surrogate", false, [prompt([said("a\ud83d")]), reply([said("\ude00b")])]],
	["a thought without a signature", false, [reply([{ type: "thinking", thinking: "hm" }, said("x")])]],
	["thinking that was redacted", false, [reply([{ type: "redactedThinking", data: "abc" }, said("x")])]],
	["a picture", false, [prompt([said("see"), { type: "image", data: "aGk=", mimeType: "image/png" }])]],
	["a reply of another model", false, [reply([said("x"), calling("x!y")], { model: "other" }), result("x!y", [said("1")])]],
	["a reply that was cut off", false, [reply([said("x"), calling("x")], { stopReason: "aborted" }), prompt([said("go on")])]],
	["a call without a result", false, [reply([calling("x"), calling("y")]), result("x", [said("1")]), prompt([said("go on")])]],
	["an empty message between a call and its result", false, [reply([calling("x")]), prompt([]), result("x", [said("1")])]],
	["a result without a call", false, [result("x", [said("1")])]],
	["the same call twice", false, [reply([calling("x"), calling("x")]), result("x", [said("1")]), result("x", [said("2")])]],
	["the same result twice", false, [reply([calling("x")]), result("x", [said("1")]), result("x", [said("2")])]],
	["a line that is broken in its middle", false, [(entry) => entry(prompt([said("x")])).replace('"x"', '"x')]],
	["a raw control character", false, [(entry) => entry(prompt([said("a!b")])).replace("!", "\u0001")]],
	["a content that is there twice", false, [(entry) => entry(prompt([said("a")], { extra: 1 })).replace(/"extra": ?1/, '"content":"b"')]],
	["a name with an escape", false, [(entry) => entry(prompt([said("a")], { extra: 1 })).replace(/"extra": ?1/, '"c\\u006fntent":"b"')]],
	["a record that is not sent between a call and its result", false, [prompt("a"), reply([calling("x")]), unsent, result("x", [said("1")])]],
	[
		"ids that are spelled in two ways",
		false,
		[(entry) => entry(reply([calling("a/b"), calling("c")])).replace('"c"', '"a\\/b"'), result("a/b", [said("1")])],
	],
	[
		"a failure that is spelled with an escape",
		false,
		[(entry) => entry(reply([said("x")], { stopReason: "error" })).replace('"error"', '"\\u0065rror"')],
	],
	["many calls of another model", false, manyCalls({ model: "other" })],
	["many calls of a reply that was cut off", false, manyCalls({ stopReason: "aborted" })],
	["a line that ends in CR LF", true, [(entry) => `${entry(prompt([said("a")]))}\r`]],
];

describe.each(cases)("%s", (_, isUsual, middle) => {
	test(isUsual ? "is sent without being read" : "is read, and sent as it should be", () => {
		const conversation = opened(middle);
		const { fromMessages } = sentFrom(opened(middle));
		expect(sentFor(request({ parts: toModelMessages(conversation.parts), messages: [] }))).toEqual(fromMessages);
		const isRead = readBy(conversation).some((place) => place >= 100 && place < 100 + middle.length);
		expect(isRead).toBe(!isUsual);
	});

	test("is sent as it should be from a file with spaces", () => {
		const { fromLines } = sentFrom(opened(middle, spaced));
		expect(fromLines).toEqual(sentFrom(opened(middle)).fromMessages);
	});
});

describe("what is known of messages that were not read", () => {
	const factsOf = (middle: readonly object[]) =>
		splitHistory(request({ parts: toModelMessages(opened(middle).parts), messages: [] }), api.stored, target).facts;
	const summary = { role: "custom", customType: "x", content: "summary", display: true, timestamp: 1000 };

	test("the time of a summary, so that replies behind it are not asked for their tokens", () => {
		const { newest } = factsOf([summary]);
		expect(newest).toBe(1000);
		const counted = { ...reply([said("x")]), usage: { totalTokens: 190_000 } } as unknown as ModelMessage;
		expect(estimateInput("", [], [counted], { tokens: 0, newest })).toBeLessThan(100);
	});

	test("a picture counts as a picture, not by its bytes", () => {
		const picture = { type: "image", data: "a".repeat(4_000_000), mimeType: "image/png" };
		const { tokens } = factsOf([prompt([picture])]);
		expect(tokens - factsOf([]).tokens).toBeLessThan(3000);
	});
});

test("a line whose time is not JSON is not sent", () => {
	const { fromLines, fromMessages } = sentFrom(opened([(entry) => entry(prompt("unsaid")).replace('"timestamp":"', '"timestamp":"\t')]));
	expect(fromLines).toEqual(fromMessages);
	expect(JSON.stringify(fromLines)).not.toContain("unsaid");
});

test.each([
	["dense", JSON.stringify],
	["with spaces", spaced],
])("only the newest messages of a long session are read for its first request: %s", (_, write) => {
	const conversation = opened([], write);
	sentFor(request({ parts: toModelMessages(conversation.parts), messages: [] }));
	const read = readBy(conversation);
	expect(read.length).toBeLessThan(80);
	expect(read[0]).toBeGreaterThan(100);
});

const text = fc.oneof(fc.string({ maxLength: 5 }), fc.string({ unit: "binary", maxLength: 4 }), fc.constantFrom("a", "ok then", " x", "\u00a0", ""));
const id = fc.constantFrom("a", "b", "c|d", 'e"f');
const json = fc.oneof(text, fc.integer(), fc.double({ noNaN: true }), fc.constant(null), fc.jsonValue({ maxDepth: 4 }));
const block = fc.oneof(
	text.map(said),
	fc.tuple(id, fc.dictionary(text, json, { maxKeys: 3 })).map(([id, args]) => calling(id, args)),
	fc.tuple(text, text).map(([thinking, thinkingSignature]) => ({ type: "thinking", thinking, thinkingSignature })),
);
const message = fc.oneof(
	fc.oneof(text, fc.array(text.map(said), { maxLength: 2 })).map((content) => prompt(content)),
	fc
		.tuple(fc.array(block, { maxLength: 3 }), fc.constantFrom("stop", "toolUse", "length", "error", "aborted"))
		.map(([content, stopReason]) => reply(content, { stopReason })),
	fc
		.tuple(id, fc.array(text.map(said), { maxLength: 2 }), fc.boolean(), json)
		.map(([id, content, isError, details]) => result(id, content, { isError, details })),
);

test("any messages: the same as from messages that were read", () => {
	fc.assert(
		fc.property(fc.array(message, { maxLength: 12 }), fc.constantFrom(JSON.stringify, spaced), (middle, write) => {
			const { fromLines } = sentFrom(opened(middle, write));
			expect(fromLines).toEqual(sentFrom(opened(middle)).fromMessages);
		}),
		{ numRuns: 60 },
	);
});

test("a text with millions of line ends is left to the parser", () => {
	const message = prompt([said("x\n".repeat(4_000_000))]);
	const line = `${JSON.stringify({ type: "message", id: "a", parentId: null, timestamp, message })}\n`;
	const run: StoredRun = { role: "storedRun", length: 1, lines: () => line, message: () => undefined, messages: () => [] };
	expect(api.stored?.run(run, target)).toBeUndefined();
});

test("what was written once is not written again, until the model changes", () => {
	const conversation = opened([]);
	const asked = () => splitHistory(request({ parts: toModelMessages(conversation.parts), messages: [] }), api.stored, target).history;
	const first = asked();
	conversation.add({ role: "user", content: [{ type: "text", text: "more" }], timestamp: 2 });
	expect(asked()).toBe(first);
	const other = splitHistory(request({ parts: toModelMessages(conversation.parts), messages: [] }), api.stored, { ...target, model: "other" });
	expect(other.history).not.toBe(first);
});

test("a run does not begin with a result, nor end before one", () => {
	const conversation = opened([reply([calling("x"), calling("y")]), result("x", [said("1")]), result("y", [said("2")])]);
	const runs = conversation.parts.filter((part): part is StoredRun & typeof part => part.role === "storedRun");
	expect(runs.length).toBeGreaterThan(2);
	for (const run of runs) {
		const messages = run.messages();
		expect(messages[0]?.role).not.toBe("toolResult");
		expect(messages).toHaveLength(run.length);
	}
	const parts = conversation.parts.flatMap((part) => (part.role === "storedRun" ? part.messages() : [part]));
	expect(parts).toEqual(conversation.messages);
});
