/** Messages whose bytes are sent as they are in the file: never one that the parser would repair or refuse. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { entryOf, isPlainMessage } from "../../src/transcript/parse.ts";
import { assistant, call, result, spaced, time, user } from "./support.ts";

/** Whether the parser has nothing to repair in a message. A block that it does not know keeps it from seeing that at once, so that it looks for something. */
function isLeftAlone(json: string): boolean {
	const message = JSON.parse(json);
	if (Array.isArray(message.content)) message.content.push({ type: "new" });
	const looked = JSON.stringify(message);
	expect(isPlainMessage(looked)).toBe(typeof message.content === "string");
	const entry = entryOf(`{"type":"message","id":"a","parentId":null,"timestamp":"${time}","message":${looked}}`);
	expect(entry?.type).toBe("message");
	return JSON.stringify((entry as { message?: unknown }).message) === looked;
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

test.each(Object.entries(common))("is sent as it is: %s", (_, message) => {
	expect(isPlainMessage(JSON.stringify(message))).toBe(true);
	expect(isPlainMessage(spaced(message))).toBe(true);
});

const refused: Record<string, string> = {
	"a line separator": '{"role":"user","content":"a\u2028","timestamp":1}',
	"a line separator in a name": '{"role":"user","content":"a","\u2028":1,"timestamp":1}',
	"another role after the first": '{"role":"user","content":"a","timestamp":1,"role":"x"}',
	"a name with an escape": '{"role":"user","content":"a","timestamp":1,"c\\u006fntent":5}',
	"a number that is none": '{"role":"user","content":"a","timestamp":01}',
	"a text that does not end": '{"role":"user","timestamp":1,"content":"a',
	"more after it": '{"role":"user","content":"a","timestamp":1}}',
	"a cost that is missing": '{"role":"assistant","content":[],"api":"","provider":"","model":"","usage":{},"stopReason":"","timestamp":1}',
	"arguments in a list": '{"role":"user","content":[{"type":"toolCall","id":"","name":"","arguments":[]}],"timestamp":1}',
	"a result without a call": '{"role":"toolResult","content":[],"isError":false,"timestamp":1}',
	"a failure that is not a text": `${JSON.stringify(assistant("text")).slice(0, -1)},"errorMessage":null}`,
	"a null for a boolean": '{"role":"toolResult","toolCallId":"","toolName":"","content":[],"isError":null,"timestamp":1}',
};

test.each(Object.entries(refused))("is not sent as it is: %s", (_, json) => {
	expect(isPlainMessage(json)).toBe(false);
});

test("a message that was changed anywhere is sent as it is only if the parser leaves it alone", () => {
	const texts = Object.values(common).map((message) => JSON.stringify(message));
	const pieces = fc.constantFrom('"', "\\", "{", "}", "[", "]", ",", ":", "0", "-", ".", "e", "null", "true", " ", "\u2028", "\\u12", "\n", "x", "");
	const change = fc.record({ text: fc.constantFrom(...texts), at: fc.nat(), length: fc.nat({ max: 6 }), piece: pieces });
	fc.assert(
		fc.property(change, ({ text, at, length, piece }) => {
			const from = at % text.length;
			const changed = text.slice(0, from) + piece + text.slice(from + length);
			if (isPlainMessage(changed)) expect(isLeftAlone(changed)).toBe(true);
		}),
		{ numRuns: 5000 },
	);
});

test("any JSON in a message is sent as it is only if the parser leaves it alone", () => {
	const members = fc.dictionary(
		fc.constantFrom("content", "timestamp", "usage", "isError", "toolName", "toolCallId", "errorMessage", "x"),
		fc.jsonValue(),
	);
	fc.assert(
		fc.property(fc.constantFrom("user", "assistant", "toolResult", "other"), members, (role, rest) => {
			const json = JSON.stringify({ role, ...rest });
			if (isPlainMessage(json)) expect(isLeftAlone(json)).toBe(true);
		}),
		{ numRuns: 2000 },
	);
});
