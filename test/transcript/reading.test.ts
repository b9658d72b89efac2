/** Opening: whatever a file holds, what can be read is there, and what cannot is left alone. */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Entry, EntryOf } from "../../src/transcript/entries.ts";
import { openTranscript } from "../../src/transcript/open.ts";
import { entryOf } from "../../src/transcript/parse.ts";
import { contextJson, contextMessages, todosEntry } from "../../src/transcript/projection.ts";
import type { Transcript } from "../../src/transcript/transcript.ts";
import { assistant, call, chain, fileOf, folder, header, linesOf, partsOf, result, said, spaced, time, transcriptsIn, user } from "./support.ts";

function opened(text: string, name = "s.jsonl"): { transcript: Transcript; path: string } {
	const path = join(folder(), name);
	writeFileSync(path, text);
	const transcript = openTranscript(path, { ...partsOf("/"), mode: "write" }) as Transcript;
	return { transcript, path };
}

const three = chain(said(user("1")), said(assistant("2")), said(user("3")));
const idsOf = (transcript: Transcript) => transcript.path().map(({ id }) => id);

test("a plain file: entries, path, leaf, name", () => {
	const { transcript, path } = opened(fileOf(header, ...three, { type: "session_info", id: "n", parentId: "c", timestamp: time, name: " My talk " }));
	expect(transcript.header).toEqual(header);
	expect(transcript.entries.slice(0, 3)).toEqual(three);
	expect({ file: transcript.file, leafId: transcript.leafId, name: transcript.name, path: idsOf(transcript) }).toEqual({
		file: path,
		leafId: "n",
		name: "My talk",
		path: ["a", "b", "c", "n"],
	});
});

test.each<[string, string]>([
	["a byte order mark", `\uFEFF${fileOf(header, ...three)}`],
	["CRLF", fileOf(header, ...three).replaceAll("\n", "\r\n")],
	["blank lines", fileOf("", header, "", ...three, "")],
	["lines that are no JSON", fileOf(header, "garbage", three[0] as Entry, "{broken", three[1] as Entry, "[1]", "null", '"text"', three[2] as Entry)],
	["lines that are no entries", fileOf(header, ...three, { id: "x" }, { type: "message" }, { type: "x", id: 5 })],
	["a torn last line", `${fileOf(header, ...three)}{"type":"message","id":"d","parentId":"c","timestamp":"${time}","message":{"role":"us`],
	[
		"a torn last line that ends in a brace",
		`${fileOf(header, ...three)}{"type":"message","id":"d","parentId":"c","timestamp":"${time}","message":{"role":"user"}`,
	],
	["zeros at the end", `${fileOf(header, ...three)}${"\0".repeat(100)}`],
	["members in another order", fileOf(header, ...three.map(({ type, ...rest }) => ({ ...rest, type })))],
	["spaces between tokens", `${fileOf(header)}${three.map((entry) => JSON.stringify(entry, null, 1).replaceAll("\n", "")).join("\n")}\n`],
	["no last line end", fileOf(header, ...three).trimEnd()],
])("%s: everything that can be read is there, and the next entry too", (_, text) => {
	const { transcript, path } = opened(text);
	expect(transcript.path()).toEqual(three);
	const { id } = transcript.append(said(user("next")));
	transcript.close();
	const again = openTranscript(path, { ...partsOf("/"), mode: "read" }) as Transcript;
	expect(idsOf(again)).toEqual(["a", "b", "c", id]);
	expect(readFileSync(path, "utf8").startsWith(text.trimEnd().slice(0, 20))).toBe(true);
});

test.each([
	{ cacheKey: 5, utcOffset: "+01:00", timestamp: undefined },
	{ cacheKey: "", utcOffset: null, timestamp: "yesterday" },
])("a header with %o still tells a cache key and a time zone", (odd) => {
	const { transcript } = opened(fileOf({ ...header, ...odd }, ...three));
	expect(transcript.cacheKey).toBe(header.id);
	expect(transcript.utcOffset).toBe(0 - new Date(0).getTimezoneOffset());
});

test("a file with a space after each colon and comma says the same, and is not parsed before a caller looks", () => {
	const dropped = { type: "custom", customType: "dropped_reply", data: { entryId: "e" } };
	const entries = chain(
		said(user("go")),
		said(assistant("first try", { stopReason: "error" })),
		said(assistant("second try")),
		said(user("again")),
		said(assistant("no")),
		dropped,
		said(call("x")),
		said(result("x", { toolName: "todo_write" })),
		said(assistant("done")),
	);
	const dense = opened(fileOf(header, ...entries)).transcript;
	const { transcript } = opened(fileOf(spaced(header), ...entries.map(spaced)));
	const { branch } = transcript;
	const isRead = () => entries.map((_, place) => branch.isRead(place));
	expect(isRead()).toEqual(entries.map(() => false));
	const parts = [...contextJson(branch).parts].map((part) => Buffer.from(part).toString());
	const read = isRead();
	expect([read[0], read[2], read[8]]).toEqual([false, false, false]);
	const messages = contextMessages(dense.branch);
	expect(JSON.parse(parts.join(""))).toEqual(messages);
	expect(messages.flatMap((message) => ("content" in message ? (message.content as { text?: string }[]).map(({ text }) => text) : []))).not.toContain(
		"no",
	);
	expect(contextMessages(branch)).toEqual(messages);
	expect(todosEntry(branch)).toEqual(todosEntry(dense.branch));
	expect(todosEntry(branch)?.id).toBe("h");
	expect(transcript.path()).toEqual(entries);
});

test("a file with its members in another order says the same, also when many lines are", () => {
	const bodies = Array.from({ length: 1100 }, (_, index) =>
		index % 2 ? said(assistant("reply", index % 50 === 1 ? { stopReason: "error" } : {})) : said(user("go")),
	);
	const last = [said(assistant("again", { stopReason: "error" })), said(call("x")), said(result("x", { toolName: "todo_write" }))];
	const entries = [...bodies, ...last].map(
		(body, index) => ({ ...body, id: `e${index}`, parentId: index ? `e${index - 1}` : null, timestamp: time }) as Entry,
	);
	const usual = entries.map(({ type, id, parentId, timestamp, ...rest }) => ({ type, id, parentId, timestamp, ...rest }));
	const { transcript } = opened(fileOf(header, ...entries, ...usual.slice(-1).map((entry) => ({ ...entry, id: "last", parentId: entry.id }))));
	const expected = opened(fileOf(header, ...usual)).transcript;
	expect(contextMessages(transcript.branch).slice(0, -1)).toEqual(contextMessages(expected.branch));
	expect(JSON.parse(Buffer.concat([...contextJson(transcript.branch).parts]).toString())).toEqual(contextMessages(transcript.branch));
	expect(todosEntry(expected.branch)?.id).toBe("e1102");
	expect(todosEntry(transcript.branch)?.id).toBe("last");
	expect(transcript.path().slice(0, -1)).toEqual(expected.path());
});

test("members in any order, and others among them, say the same as JSON.parse", () => {
	const text = fc.constantFrom("x", "", "a}", '{"role":"user"}', 'with "quotes"', "é", "\\", '},"id":"z"}');
	const other = fc.oneof(text, fc.constant(null), fc.integer(), fc.constant({ message: { role: "user" } }), fc.constant([{}]));
	const message = fc.constantFrom(user("go"), assistant("reply"), result("x"), user('"}],"id":"q"}'), {
		content: "late",
		role: "user",
		timestamp: 1,
	});
	const line = fc
		.record({ id: fc.constantFrom("a", "a}", 'a"b', "é"), message, name: fc.constantFrom("extra", "details", "version", "messages"), other })
		.chain(({ id, message, name, other }) => {
			const members = Object.entries({ type: "message", id, parentId: null, timestamp: time, message, [name]: other });
			return fc.tuple(fc.shuffledSubarray(members, { minLength: 5 }), fc.constantFrom(JSON.stringify, spaced));
		})
		.map(([members, write]) => write(Object.fromEntries(members)));
	fc.assert(
		fc.property(line, (json) => {
			const entry = entryOf(json) as Entry;
			const { transcript } = opened(fileOf(header, json));
			const entries = typeof entry.type === "string" && typeof entry.id === "string" ? [entry] : [];
			const messages = entries.flatMap((one) => (one.type === "message" ? [one.message] : []));
			expect(JSON.parse(Buffer.concat([...contextJson(transcript.branch).parts]).toString())).toEqual(messages);
			expect(transcript.entries).toEqual(entries);
		}),
	);
});

test("a missing parent makes a root; of two entries with one id the later is found, and both stay", () => {
	const [a, b, c] = three as [Entry, Entry, Entry];
	const twice = { ...c, id: "b", parentId: "b" };
	const lost = { ...c, id: "x", parentId: "nobody" };
	const { transcript } = opened(fileOf(header, a, b, twice, { ...c, parentId: "b" }));
	expect(transcript.entries).toHaveLength(4);
	expect(transcript.find("b")).toEqual(twice);
	expect(transcript.path().map(({ type, id }) => [type, id])).toEqual([
		["message", "a"],
		["message", "b"],
		["message", "b"],
		["message", "c"],
	]);
	expect(idsOf(opened(fileOf(header, a, b, lost)).transcript)).toEqual(["x"]);
});

test("a parent that comes later, or is the entry itself, makes no circle", () => {
	const [a, b] = three as [Entry, Entry];
	expect(idsOf(opened(fileOf(header, { ...a, parentId: "b" }, b, { ...b, id: "c", parentId: "c" })).transcript)).toEqual(["c"]);
});

test("a line that begins well and is broken further on does not cost what is before it", () => {
	const [a, b, c] = three as [Entry, Entry, Entry];
	const { transcript } = opened(fileOf(header, a, `${JSON.stringify(b).slice(0, 110)}${JSON.stringify(c)}`, c));
	expect(transcript.path().map(({ type, id }) => [type, id])).toEqual([
		["message", "a"],
		["unreadable", "b"],
		["message", "c"],
	]);
});

test("entries of unknown types and unknown members survive, also a migration", () => {
	const future = { type: "from_the_future", id: "f", parentId: null, timestamp: time, deep: { x: [1] } };
	expect(opened(fileOf({ ...header, title: "t" }, future)).transcript.entries).toEqual([future]);
	const { path } = opened(fileOf({ ...header, version: 2, title: "t" }, "garbage", future));
	expect(readFileSync(path, "utf8")).toBe(fileOf({ ...header, title: "t" }, "garbage", future));
});

test("version 1 gets a tree, version 2 the new name of custom messages; the file is replaced once", () => {
	const hook = { role: "hookMessage", customType: "x", content: "c", display: true, timestamp: 1 };
	const { path } = opened(
		fileOf(
			{ type: "session", id: "s", timestamp: time, cwd: "/", provider: "old" },
			{ type: "message", timestamp: time, message: user("1") },
			{ type: "message", timestamp: time, message: hook },
			{ type: "compaction", timestamp: time, summary: "s", firstKeptEntryIndex: 2, tokensBefore: 5 },
		),
	);
	expect(linesOf(path)).toEqual([
		{ type: "session", id: "s", timestamp: time, cwd: "/", provider: "old", version: 3 },
		{ type: "message", id: "00000001", parentId: null, timestamp: time, message: user("1") },
		{ type: "message", id: "00000002", parentId: "00000001", timestamp: time, message: { ...hook, role: "custom" } },
		{ type: "compaction", id: "00000003", parentId: "00000002", timestamp: time, summary: "s", firstKeptEntryId: "00000002", tokensBefore: 5 },
	]);
	expect(readdirSync(join(path, "..")).sort()).toEqual(["s.jsonl", "s.jsonl.lock"]);
	const { mtimeMs } = statSync(path);
	openTranscript(path, { ...partsOf("/"), mode: "write" });
	expect(statSync(path).mtimeMs).toBe(mtimeMs);
});

test("looking at an old file does not change it", () => {
	const path = join(folder(), "s.jsonl");
	const text = fileOf({ ...header, version: undefined }, { type: "message", timestamp: time, message: user("1") });
	writeFileSync(path, text);
	expect(openTranscript(path, { ...partsOf("/"), mode: "read" })?.entries).toHaveLength(1);
	expect(readFileSync(path, "utf8")).toBe(text);
	expect(existsSync(`${path}.lock`)).toBe(false);
});

test.each<[string, string, string]>([
	["a text", "my notes\n", "Not a session file"],
	["JSON of something else", fileOf({ type: "message" }), "Not a session file"],
	["a torn header", '{"type":"session","id":"s"', "Not a session file"],
	["bytes", "\0\0\0\0", "Not a session file"],
	["only blanks", "\n\n", "Not a session file"],
	["a newer version", fileOf({ ...header, version: 4 }), "format version 4"],
])("%s is refused and stays as it is", (_, text, reason) => {
	const path = join(folder(), "s.jsonl");
	writeFileSync(path, text);
	expect(() => openTranscript(path, { ...partsOf("/"), mode: "write" })).toThrow(reason);
	expect(readFileSync(path, "utf8")).toBe(text);
	expect(existsSync(`${path}.lock`)).toBe(false);
});

test("a newer version can be looked at", () => {
	const path = join(folder(), "s.jsonl");
	writeFileSync(path, fileOf({ ...header, version: 9 }, ...three));
	expect(openTranscript(path, { ...partsOf("/"), mode: "read" })?.path()).toEqual(three);
});

const anyText = fc.oneof(fc.string({ unit: "binary", maxLength: 30 }), fc.constant('"stopReason":"error"'), fc.constant("\u2028\n{}"));
const anyEntry = fc.record({
	type: fc.constantFrom("message", "message", "message", "custom", "odd_one"),
	id: fc.oneof(fc.constantFrom("a", "b", "c", "d"), fc.uuid(), anyText),
	parentId: fc.oneof(fc.constant(null), fc.constantFrom("a", "b", "c", "d"), anyText),
	timestamp: fc.constant(time),
	message: fc.record({ role: fc.constantFrom("user", "assistant", "toolResult"), content: anyText }),
	extra: fc.jsonValue({ maxDepth: 2 }),
});

test("read by its first bytes or as a whole, a file is the same; and it is written back the same", () => {
	const place = folder();
	fc.assert(
		fc.property(fc.array(fc.oneof(anyEntry, anyText), { maxLength: 30 }), (lines) => {
			const path = join(place, "any.jsonl");
			const text = fileOf(header, ...lines.map((line) => (typeof line === "string" ? line.replaceAll("\n", " ") : line)));
			writeFileSync(path, text);
			const transcript = openTranscript(path, { ...partsOf("/"), mode: "read" }) as Transcript;
			const whole = text
				.split("\n")
				.slice(1)
				.flatMap((line) => {
					const entry = entryOf(line) as EntryOf<"message"> | undefined;
					return typeof entry?.id === "string" && typeof entry.type === "string" ? [entry] : [];
				});
			expect(transcript.entries).toEqual(whole);
			const kinds = Array.from({ length: transcript.everything.length }, (_, place) => transcript.everything.kind(place));
			expect(kinds).toEqual(whole.map((entry) => (entry.type === "message" ? `message:${entry.message.role}` : entry.type)));
			const copy = transcriptsIn(place, undefined, undefined).create();
			copy.copy(transcript, transcript.leafId);
			expect(copy.path().map(({ parentId: _, ...rest }) => rest)).toEqual(transcript.path().map(({ parentId: _, ...rest }) => rest));
		}),
		{ numRuns: 300 },
	);
});
