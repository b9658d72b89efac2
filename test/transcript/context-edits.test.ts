/** Files in which another program of the family removed messages from the context, or changed them. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { StoredSessions } from "../../src/acp/stored-sessions.ts";
import { chooseCut } from "../../src/policies/compaction/cut.ts";
import type { AgentMessage } from "../../src/protocol/messages.ts";
import { unknownEntries } from "../../src/session/restore.ts";
import { editedEntries } from "../../src/transcript/context-edits.ts";
import type { Entry, EntryBody } from "../../src/transcript/entries.ts";
import { forkOf } from "../../src/transcript/fork.ts";
import { contextJson, contextMessages } from "../../src/transcript/projection.ts";
import { contextTokens, countMessages } from "../../src/transcript/stats.ts";
import { summaryOf } from "../../src/transcript/summary.ts";
import type { Transcript } from "../../src/transcript/transcript.ts";
import { assistant, call, chain, fileOf, folder, header, result, said, spaced, transcriptsIn, user } from "./support.ts";

const canary = "the canary sings";
const edit = (targetId: string, replacement: unknown = null) => ({ type: "context_edit", targetId, replacement });
const note = (content: string): EntryBody => ({ type: "custom_message", customType: "x", content, display: true });

function open(text: string, cwd = folder()): Transcript {
	writeFileSync(join(cwd, "s.jsonl"), text);
	return transcriptsIn(cwd).open("s.jsonl");
}

/** The context as short words; the JSON that is made of the file's bytes must be the same. */
function context(transcript: Transcript): string[] {
	const json = Buffer.concat([...contextJson(transcript.branch).parts]).toString("utf8");
	const messages = contextMessages(transcript.branch);
	expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(messages)));
	return messages.map((message) => {
		if (message.role === "compactionSummary") return message.summary;
		const content = (message as { content: string | { type: string; text?: string; id?: string }[] }).content;
		const text = typeof content === "string" ? content : content.map((block) => block.text ?? `${block.type} ${block.id}`).join(" ");
		return message.role === "toolResult" ? `result ${message.toolCallId}: ${text}` : text;
	});
}

const talk: [string, Entry[], string[]][] = [
	["a prompt", chain(said(user("1")), said(user(canary)), said(user("3")), edit("b")), ["1", "3"]],
	["a reply", chain(said(user("1")), said(assistant(canary)), said(user("3")), edit("b")), ["1", "3"]],
	["a result", chain(said(call("x")), said(result("x", { content: [{ type: "text", text: canary }] })), edit("b")), ["toolCall x"]],
	["a message of an extension", chain(note(canary), said(user("2")), edit("a")), ["2"]],
	["a text instead", chain(said(user(canary)), said(assistant("2")), edit("a", "better")), ["better", "2"]],
	[
		"blocks instead",
		chain(
			said(user(canary)),
			edit("a", [
				{ type: "text", text: "x" },
				{ type: "text", text: "y" },
			]),
		),
		["x y"],
	],
	["a text for an extension's", chain(note(canary), edit("a", "better")), ["better"]],
	["another text for a result", chain(said(call("x")), said(result("x")), edit("b", "short")), ["toolCall x", "result x: short"]],
	["the last edit counts", chain(said(user(canary)), edit("a"), edit("a", "back")), ["back"]],
	["the last edit counts, also the other way", chain(said(user(canary)), edit("a", canary), edit("a")), []],
	["an edit without a target", chain(said(user("1")), edit("z"), said(user("2"))), ["1", "2"]],
	["what cannot be read is left out", chain(said(user("1")), said(user(canary)), edit("b", { html: canary })), ["1"]],
	["blocks that are none", chain(said(user("1")), said(user(canary)), edit("b", [7, { type: "text", text: "ok" }])), ["1", "ok"]],
	[
		"in the kept part of a compaction",
		chain(
			said(user("1")),
			said(user(canary)),
			{ type: "compaction", summary: "sum", firstKeptEntryId: "b", tokensBefore: 1 },
			edit("b"),
			said(user("5")),
		),
		["sum", "5"],
	],
];

describe("what was edited is read as edited", () => {
	test.each(talk)("%s", (_, entries, expected) => {
		for (const text of [fileOf(header, ...entries), fileOf(header, ...entries.map(spaced))]) {
			const transcript = open(text);
			expect(context(transcript)).toEqual(expected);
			// The file's own entries are as they were.
			expect(JSON.stringify(transcript.entries).includes(canary)).toBe(text.includes(canary));
			expect(transcript.entries.map(({ type }) => type)).toEqual(entries.map(({ type }) => type));
			transcript.close();
		}
	});
});

test("role and the rest of a message stay", () => {
	const transcript = open(fileOf(header, ...chain(said(assistant(canary, { model: "m7", stopReason: "length" })), edit("a", "shorter"))));
	expect(contextMessages(transcript.branch)).toEqual([assistant("shorter", { model: "m7", stopReason: "length" })]);
	transcript.close();
});

test("a branch from before the edit has the original", () => {
	const transcript = open(fileOf(header, ...chain(said(user("1")), said(user(canary)), said(user("3")), edit("b"))));
	transcript.moveTo("c");
	expect(context(transcript)).toEqual(["1", canary, "3"]);
	transcript.append(said(user("4")));
	expect(context(transcript)).toEqual(["1", canary, "3", "4"]);
	transcript.moveTo("d");
	transcript.append(said(user("5")));
	expect(context(transcript)).toEqual(["1", "3", "5"]);
	transcript.close();
});

test("a fork and a copy keep the edits of what they copy, also those that came later", () => {
	const cwd = folder();
	const entries = chain(said(user("1")), said(user(canary)), said(user("3")), said(user("4")), edit("d", "four"), edit("b"), said(user("7")));
	const from = open(fileOf(header, ...entries), cwd);
	const store = transcriptsIn(cwd);
	const texts = (id: string | null) => {
		const fork = forkOf(store, from, id);
		const file = fork.file as string;
		fork.close();
		const again = store.open(file);
		const words = context(again);
		again.close();
		return words;
	};
	expect(texts("g")).toEqual(["1", "3", "four", "7"]);
	expect(texts("c")).toEqual(["1", "3"]);
	expect(texts("a")).toEqual(["1"]);
	expect(readFileSync(from.file as string, "utf8")).toBe(fileOf(header, ...entries));
	from.close();
});

test("summaries and counts are of what is left", () => {
	const usage = (totalTokens: number) => ({ ...assistant("").usage, totalTokens });
	const entries = chain(
		said(user("1")),
		said(user(canary.repeat(100))),
		said(assistant("3", { usage: usage(9000) })),
		edit("b"),
		said(user("5")),
		said(user("6")),
	);
	const transcript = open(fileOf(header, ...entries));
	const { branch } = transcript;
	const messages = contextMessages(branch);
	expect(countMessages(messages)).toMatchObject({ userMessages: 3, totalMessages: 4 });
	// The count of the reply contains the message that is gone.
	expect(contextTokens(messages, branch)).toBeLessThan(10);
	const cut = chooseCut(branch, 1);
	expect(JSON.stringify(cut)).not.toContain(canary);
	expect(cut).toMatchObject({ history: [{ id: "a" }, { id: "c" }, { id: "e" }] });
	transcript.append(said(assistant("7", { usage: usage(50) })));
	expect(contextTokens(contextMessages(transcript.branch), transcript.branch)).toBe(50);
	transcript.close();
});

test("messages of role system are in the file and in no context", () => {
	const system = { role: "system", content: [{ type: "text", text: canary }], timestamp: 1 } as unknown as AgentMessage;
	for (const write of [(...lines: object[]) => fileOf(...lines), (...lines: object[]) => fileOf(...lines.map(spaced))]) {
		const transcript = open(write(header, ...chain(said(system), said(user("2")), said(assistant("3")), said(user("4")))));
		expect(context(transcript)).toEqual(["2", "3", "4"]);
		expect(JSON.stringify(chooseCut(transcript.branch, 1))).not.toContain(canary);
		expect(JSON.stringify(transcript.entries)).toContain(canary);
		transcript.close();
	}
});

test("lists of sessions name the first prompt that is left", () => {
	const root = folder();
	const titleIn = (...entries: Entry[]) => {
		mkdirSync(join(root, "one"), { recursive: true });
		writeFileSync(join(root, "one/1_s.jsonl"), fileOf({ ...header, cwd: root }, ...entries));
		const [listed] = new StoredSessions({ root }).list({}).sessions;
		return [summaryOf(join(root, "one/1_s.jsonl"))?.firstPrompt, listed?.title];
	};
	expect(titleIn(...chain(said(user(canary)), said(user("2")), edit("a")))).toEqual(["2", "2"]);
	expect(titleIn(...chain(said(user(canary)), edit("a", "better")))).toEqual(["better", "better"]);
	expect(titleIn(...chain(said(user("1")), said(user(canary)), edit("b")))).toEqual(["1", "1"]);
	expect(titleIn(...chain(said(user(canary)), edit("a", { html: canary })))).toEqual([undefined, undefined]);
});

test("a page shows the current branch as edited", () => {
	const transcript = open(fileOf(header, ...chain(said(user("1")), said(user(canary)), said(user("3")), edit("b"))));
	const shown = editedEntries(transcript);
	expect(shown.map(({ id, type }) => `${id} ${type}`)).toEqual(["a message", "b removed", "c message", "d context_edit"]);
	expect(JSON.stringify(shown)).not.toContain(canary);
	transcript.close();
});

test("a warning names the types of entries that are not known here, once each", () => {
	const transcript = open(
		fileOf(
			header,
			...chain(said(user("1")), { type: "usage" }, { type: "future_thing" }, edit("a"), { type: "future_thing" }, { type: "session_init" }),
		),
	);
	expect(unknownEntries({ transcript })).toContain("types that Bowline does not know (future_thing).");
	transcript.moveTo("b");
	expect(unknownEntries({ transcript })).toBeUndefined();
	transcript.close();
});
