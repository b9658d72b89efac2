/** The context as JSON, made from the file's bytes: the same as from its entries, whatever is in the file. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { toLine } from "../../src/lib/jsonl.ts";
import { contextJson, contextMessages } from "../../src/transcript/projection.ts";
import type { Transcript } from "../../src/transcript/transcript.ts";
import { assistant, call, chain, fileOf, folder, header, result, said, transcriptsIn, user } from "./support.ts";

const jsonOf = ({ branch }: Transcript) => Buffer.concat([...contextJson(branch).parts]).toString("utf8");

/** Opens the file twice: bytes that were asked for their JSON, and entries. */
function both(content: string | Buffer): { json: string; expected: string } {
	const cwd = folder();
	writeFileSync(join(cwd, "s.jsonl"), content);
	const open = () => transcriptsIn(cwd, undefined, undefined).open("s.jsonl");
	const transcripts = transcriptsIn(cwd);
	const first = transcripts.open("s.jsonl");
	const json = jsonOf(first);
	first.close();
	return { json, expected: toLine(contextMessages(open().branch)) };
}

const line = (message: unknown, more: object = {}) => ({ ...chain({ type: "message", message } as never)[0], ...more });

test.each<[string, string | Buffer]>([
	["plain messages", fileOf(header, ...chain(said(user("1")), said(assistant("2")), said(call("x")), said(result("x"))))],
	["no messages", fileOf(header)],
	["line ends of Windows", fileOf(header, ...chain(said(user("1")), said(assistant("2")))).replaceAll("\n", "\r\n")],
	[
		"a compaction, and what it kept",
		fileOf(
			header,
			...chain(said(user("1")), said(user("2")), { type: "compaction", summary: "s", firstKeptEntryId: "b", tokensBefore: 1 }, said(user("3"))),
		),
	],
	["messages of extensions", fileOf(header, ...chain({ type: "custom_message", customType: "x", content: "c", display: true }, said(user("1"))))],
	["members after the message", fileOf(header, line({ role: "user", content: "1", timestamp: 1 }, { more: { a: 1 } }))],
	[
		"a message that is there twice",
		fileOf(
			header,
			`${JSON.stringify(line({ role: "user", content: "1", timestamp: 1 })).slice(0, -1)},"message":{"role":"user","content":"2","timestamp":1}}`,
		),
	],
	["no time", fileOf(header, line({ role: "user", content: "1" }))],
	["text instead of blocks", fileOf(header, line({ role: "assistant", content: "1", timestamp: 1 }))],
	["blocks that are none", fileOf(header, line({ role: "user", content: [1, { type: "text" }, { type: "text", text: "ok" }], timestamp: 1 }))],
	[
		"pictures in another spelling",
		fileOf(header, line({ role: "user", content: [{ type: "image", source: { data: "aa", mediaType: "image/png" } }], timestamp: 1 })),
	],
	["usage without cost", fileOf(header, line({ ...assistant("1"), usage: { input: 1 } }))],
	["a result without its members", fileOf(header, line({ role: "toolResult", timestamp: 1 }))],
	["roles that are not known", fileOf(header, line({ role: "future", timestamp: 1, x: [1] }))],
	["line separators", fileOf(header, line({ role: "user", content: "a\u2028b\u2029c", timestamp: 1 }))],
	[
		"broken bytes",
		Buffer.concat([
			Buffer.from(fileOf(header)),
			Buffer.from(JSON.stringify(line({ role: "user", content: "a?b", timestamp: 1 })).replace("?", "\xff"), "latin1"),
			Buffer.from("\n"),
		]),
	],
	[
		"a line that is broken further on",
		fileOf(
			header,
			`{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{"role":"user","content":[}}`,
			line({ role: "user", content: "1", timestamp: 1 }, { id: "b", parentId: "a" }),
		),
	],
	[
		"a line that is nested too deep",
		fileOf(
			header,
			line({ role: "user", content: [{ type: "text", text: "x", more: JSON.parse(`${"[".repeat(1200)}${"]".repeat(1200)}`) }], timestamp: 1 }),
		),
	],
	["other letters", fileOf(header, ...chain(said(user("é 漢字 🎈")), said(assistant("ü"))))],
])("%s", (_, content) => {
	const { json, expected } = both(content);
	expect(JSON.parse(json)).toEqual(JSON.parse(expected));
	expect(json).not.toMatch(/[\u2028\u2029\n]/);
});

test("any texts, in parts that are larger and smaller than one", () => {
	const text = fc.string({ unit: "binary", maxLength: 20 });
	fc.assert(
		fc.property(fc.array(fc.tuple(text, fc.constantFrom(1, 1, 30_000)), { maxLength: 12 }), (texts) => {
			const { json, expected } = both(fileOf(header, ...chain(...texts.map(([word, times]) => said(user(word.repeat(times)))))));
			expect(json).toBe(expected);
		}),
		{ numRuns: 8 },
	);
});

test("entries that were looked at, or added since, are there as well", () => {
	const cwd = folder();
	writeFileSync(join(cwd, "s.jsonl"), fileOf(header, ...chain(said(user("1")), said(assistant("2")))));
	const transcript = transcriptsIn(cwd).open("s.jsonl");
	transcript.find("a");
	transcript.append(said(user("3")));
	const json = contextJson(transcript.branch);
	// The parts do not contain entries that are added while the parts are being made.
	transcript.append(said(assistant("4")));
	expect(JSON.parse(Buffer.concat([...json.parts]).toString("utf8"))).toEqual([user("1"), assistant("2"), user("3")]);
	transcript.close();
});
