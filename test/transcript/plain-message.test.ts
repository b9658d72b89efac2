/** A message whose bytes are taken as they are: never one that the parser would repair or refuse. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { isPlainMessage } from "../../src/transcript/parse.ts";
import { PlainMessages } from "../../src/transcript/plain-message.ts";
import { assistant, call, result, spaced, user } from "./support.ts";

const plain = new PlainMessages();

function holds(json: string): boolean {
	// Something before and after it, as in a file.
	const bytes = Buffer.from(`{"message":${json}}\n{}`);
	const start = '{"message":'.length;
	const role = /^\{"role": ?"([A-Za-z]+)"/.exec(json)?.[1] ?? "";
	return plain.holds(bytes, start, start + Buffer.byteLength(json), role);
}

const image = { type: "image", data: "aGk=", mimeType: "image/png" };
const thinking = { type: "thinking", thinking: "hm", thinkingSignature: "s" };
const args = { path: 'é😀\u0001"\\', list: [1, -0.5, 1e21, { a: null, b: true }], "": {} };

const common: Record<string, object> = {
	prompt: user("hello"),
	"prompt as a text": { role: "user", content: "hello", timestamp: 1 },
	"prompt with a picture": { role: "user", content: [{ type: "text", text: "é\n\u2027" }, image], attachments: [], timestamp: 1 },
	reply: assistant("text"),
	"reply with a call": call("x"),
	"reply with everything": { ...assistant("text"), content: [thinking, { type: "toolCall", id: "a", name: "b", arguments: args }], responseId: "r" },
	"reply that failed": { ...assistant("text"), stopReason: "error", errorMessage: "no" },
	result: result("x"),
	"result with details": { role: "toolResult", toolCallId: "x", toolName: "read", content: [image], details: args, isError: true, timestamp: 1 },
};

test.each(Object.entries(common))("is taken from its bytes: %s", (_, message) => {
	expect(isPlainMessage(JSON.stringify(message))).toBe(true);
	expect(holds(JSON.stringify(message))).toBe(true);
	expect(holds(spaced(message))).toBe(true);
});

const inDoubt: Record<string, string> = {
	"a member twice": '{"role":"user","content":"a","content":[1],"timestamp":1}',
	"another role after the first": '{"role":"user","content":"a","timestamp":1,"role":"x"}',
	"a name with an escape": '{"role":"user","content":"a","timestamp":1,"c\\u006fntent":5}',
	"a line separator": '{"role":"user","content":"a\u2028","timestamp":1}',
	"a number that is none": '{"role":"user","content":"a","timestamp":01}',
	"a text that does not end": '{"role":"user","timestamp":1,"content":"a',
	"more after it": '{"role":"user","content":"a","timestamp":1}}',
	"a cost that is missing": '{"role":"assistant","content":[],"api":"","provider":"","model":"","usage":{},"stopReason":"","timestamp":1}',
	"arguments in a list": '{"role":"user","content":[{"type":"toolCall","id":"","name":"","arguments":[]}],"timestamp":1}',
	"an escape that is none": '{"role":"user","content":"\\x","timestamp":1}',
	"two spaces after a colon": '{"role":"user","content":  "a","timestamp":1}',
	"a line separator in a name": '{"role":"user","content":"a","\u2028":1,"timestamp":1}',
	"details with four levels":
		'{"role":"toolResult","toolCallId":"","toolName":"","content":[],"details":{"a":[{"b":[{}]}]},"isError":false,"timestamp":1}',
	"a result without a call": '{"role":"toolResult","content":[],"isError":false,"timestamp":1}',
	"a failure that is not a text": `${JSON.stringify(assistant("text")).slice(0, -1)},"errorMessage":null}`,
	"a null for a boolean": '{"role":"toolResult","toolCallId":"","toolName":"","content":[],"isError":null,"timestamp":1}',
};

test.each(Object.entries(inDoubt))("is left to the parser: %s", (_, json) => {
	expect(holds(json)).toBe(false);
});

test("bytes that were changed anywhere are taken only if the parser takes them", () => {
	const texts = Object.values(common).map((message) => JSON.stringify(message));
	const pieces = fc.constantFrom('"', "\\", "{", "}", "[", "]", ",", ":", "0", "-", ".", "e", "null", "true", " ", "\u2028", "\\u12", "\n", "x", "");
	const change = fc.record({ text: fc.constantFrom(...texts), at: fc.nat(), length: fc.nat({ max: 6 }), piece: pieces });
	fc.assert(
		fc.property(change, ({ text, at, length, piece }) => {
			const from = at % text.length;
			const changed = text.slice(0, from) + piece + text.slice(from + length);
			if (holds(changed)) expect(isPlainMessage(changed)).toBe(true);
		}),
		{ numRuns: 20_000 },
	);
});

test("any JSON in a message is taken only if the parser takes it", () => {
	const members = fc.dictionary(
		fc.constantFrom("content", "timestamp", "usage", "isError", "toolName", "toolCallId", "errorMessage", "x"),
		fc.jsonValue(),
	);
	fc.assert(
		fc.property(fc.constantFrom("user", "assistant", "toolResult", "other"), members, (role, rest) => {
			const json = JSON.stringify({ role, ...rest });
			if (holds(json)) expect(isPlainMessage(json)).toBe(true);
		}),
		{ numRuns: 2000 },
	);
});

test("a message with many lists that does not fit is given up at once", () => {
	// A pattern that can match a list in several ways would never come to an end.
	const details = {
		...Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`file${index}`, { added: [1], removed: {} }])),
		deep: [[[[[]]]]],
	};
	const message = { role: "toolResult", toolCallId: "x", toolName: "read", content: [], details, isError: true, timestamp: 1 };
	expect(holds(JSON.stringify(message))).toBe(false);
});
