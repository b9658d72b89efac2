/** Records: what is written down is what is played, on another machine and another day. */

import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ModelRequest, StreamEvent, StreamFunction } from "../../../src/agent/stream.ts";
import { merged, summaryOf, trimmed } from "../../../src/models/records/edit.ts";
import { type ModelRecord, parseRecord } from "../../../src/models/records/format.ts";
import { RecordPlayer, type ReplayOptions } from "../../../src/models/records/player.ts";
import { Recorder } from "../../../src/models/records/recorder.ts";
import { partsOf } from "../../../src/models/records/request.ts";
import { ScriptPlayer, scriptedModel } from "../../../src/models/scripted/index.ts";

const model = scriptedModel("test");
const user = (text: string) => ({ role: "user" as const, content: [{ type: "text" as const, text }], attachments: [], timestamp: 0 });
const request = (text: string, members: Partial<ModelRequest> = {}): ModelRequest => ({
	model,
	thinkingLevel: "off",
	systemPrompt: "You work in /here. Today is 2026-01-02.",
	messages: [user(text)],
	tools: [],
	sessionId: "s",
	...members,
});

async function played(stream: StreamFunction, asked: ModelRequest, signal = new AbortController().signal): Promise<StreamEvent[]> {
	const events: StreamEvent[] = [];
	await stream(asked, { signal, flow: { isOpen: true, whenOpen: async () => undefined }, onEvent: (event) => events.push(event) });
	return events;
}

async function recordOf(replies: object[], asked: readonly ModelRequest[], agent = "main"): Promise<ModelRecord> {
	const folder = mkdtempSync(join(tmpdir(), "bowline-record-"));
	const file = join(folder, "r.jsonl");
	try {
		const redact = (line: string) => line.replaceAll("sk-secret", "[redacted]");
		let time = 0;
		const recorder = new Recorder({
			file,
			agent,
			isSubagent: false,
			cwd: "/here",
			version: "1",
			redact,
			warn: () => undefined,
			now: () => (time += 5),
		});
		const player = new ScriptPlayer({ replies } as never, "test");
		for (const each of asked) await played(recorder.recording(player.stream), each);
		recorder.close();
		expect(statSync(file).mode & 0o777).toBe(0o600);
		return parsed(readFileSync(file, "utf8"));
	} finally {
		rmSync(folder, { recursive: true });
	}
}

function parsed(text: string): ModelRecord {
	const record = parseRecord(text, "r.jsonl");
	if ("problem" in record) throw new Error(record.problem);
	return record;
}

const replay = (record: ModelRecord, options: Partial<ReplayOptions> = {}) =>
	new RecordPlayer(record, "r.jsonl", {
		agent: "main",
		cwd: "/here",
		isStrict: true,
		playsTools: false,
		isPaced: false,
		warn: () => undefined,
		...options,
	});

const withoutTime = (events: StreamEvent[]) => JSON.parse(JSON.stringify(events, (name, value) => (name === "timestamp" ? 0 : value)));

const replies = [
	{ thinking: "hm", text: "Some words.", blocks: [{ tool: "read", arguments: { path: "a", deep: [1, { b: "c" }] } }] },
	{ fail: { status: 529, body: "overloaded" } },
	{ text: "cut", stop: "length" },
];

test("the events of a replay are those of the original, snapshots and usage included", async () => {
	const asked = [request("one"), request("two"), request("three")];
	const original = new ScriptPlayer({ replies } as never, "test");
	const player = replay(await recordOf(replies, asked));
	for (const each of asked) expect(withoutTime(await played(player.stream, each))).toEqual(withoutTime(await played(original.stream, each)));
});

test("a request is compared without what differs between machines and days", async () => {
	const record = await recordOf([{ text: "ok" }], [request("look at /here/a.txt")]);
	const elsewhere = request("look at /there/a.txt", { systemPrompt: "You work in /there. Today is 2027-05-06." });
	expect((await played(replay(record, { cwd: "/there" }).stream, elsewhere)).at(-1)?.type).toBe("done");
	expect(partsOf(request("in session 01a1e5be-4ab9-7ac9-8d9d-13e3d95e8ef6"), "/x")["messages[0]"]).toBe("user: in session <id>");
});

test("a request that differs fails with the difference, or is only reported", async () => {
	const record = await recordOf([{ text: "ok" }], [request("What is in note.txt?")]);
	const strict = await played(replay(record).stream, request("What is in nota.txt?", { tools: [{ name: "read", description: "", parameters: {} }] }));
	const last = strict.at(-1) as Extract<StreamEvent, { type: "error" }>;
	expect(last.failure).toEqual({ kind: "permanent" });
	expect(last.error.errorMessage).toBe(
		[
			"Request 1 of main differs from the record r.jsonl:",
			'tools was recorded as ""',
			'  and is now "read"',
			'messages[0] was recorded as "user: What is in note.txt?"',
			'  and is now "user: What is in nota.txt?"',
			"Record it again, or play it with --replay loose.",
		].join("\n"),
	);
	const warnings: string[] = [];
	const loose = await played(replay(record, { isStrict: false, warn: (text) => warnings.push(text) }).stream, request("What?"));
	expect(loose.at(-1)?.type).toBe("done");
	expect(warnings).toEqual([expect.stringMatching(/^Request 1 of main differs .* · messages\[0\] was recorded as /)]);
});

test("one request too many says so", async () => {
	const player = replay(await recordOf([{ text: "ok" }], [request("a")]));
	await played(player.stream, request("a"));
	expect((await played(player.stream, request("b"))).at(-1)).toMatchObject({
		type: "error",
		error: { errorMessage: "The record r.jsonl has 1 request of main, and this is number 2. Record it again." },
	});
});

test("a reply that was aborted waits for the abort again", async () => {
	const record = await recordOf([{ text: "ok" }], [request("a")]);
	record.lines = record.lines.filter((line) => line.type !== "event" || line.event.type !== "done");
	const controller = new AbortController();
	const playing = played(replay(record).stream, request("a"), controller.signal);
	setTimeout(() => controller.abort(), 20);
	expect((await playing).at(-1)).toMatchObject({ type: "error", reason: "aborted" });
});

test("keys are not in the record", async () => {
	const record = await recordOf([{ text: "your key is sk-secret" }], [request("my key is sk-secret")]);
	expect(JSON.stringify(record)).not.toContain("sk-secret");
	expect(JSON.stringify(record)).toContain("[redacted]");
});

test("agents are told apart", async () => {
	const main = await recordOf([{ text: "main" }], [request("a")]);
	const child = await recordOf([{ text: "child" }], [request("b")], "0-Fix");
	const both = { header: main.header, lines: [...child.lines, ...main.lines] };
	expect((await played(replay(both).stream, request("a"))).at(-1)).toMatchObject({ message: { content: [{ text: "main" }] } });
	expect((await played(replay(both, { agent: "0-Fix" }).stream, request("b"))).at(-1)).toMatchObject({ message: { content: [{ text: "child" }] } });
});

test("a trimmed record plays the same, in fewer lines", async () => {
	const asked = [request("one"), request("two"), request("three")];
	const record = await recordOf(replies, asked);
	const short = trimmed(record, 2);
	expect(short.lines.length).toBeLessThan(record.lines.length);
	const player = replay(short);
	expect((await played(player.stream, request("one"))).at(-1)).toMatchObject({
		message: { content: [{ thinking: "hm" }, { text: "Some words." }, { name: "read" }] },
	});
	await played(player.stream, request("two"));
	expect((await played(player.stream, request("three"))).at(-1)).toMatchObject({
		type: "error",
		error: { errorMessage: expect.stringContaining("has 2 requests") },
	});
});

test("merged records play one after the other", async () => {
	const one = await recordOf([{ text: "first" }], [request("a")]);
	const two = await recordOf([{ text: "second" }], [request("b")]);
	const player = replay(merged([one, two]));
	expect((await played(player.stream, request("a"))).at(-1)).toMatchObject({ message: { content: [{ text: "first" }] } });
	expect((await played(player.stream, request("b"))).at(-1)).toMatchObject({ message: { content: [{ text: "second" }] } });
	expect(summaryOf(merged([one, two])).slice(1)).toEqual([
		"main 1: scripted/test ← user: a",
		"  stop: first",
		"main 2: scripted/test ← user: b",
		"  stop: second",
	]);
});

test.each([
	["{}", "is not a record"],
	['{"type":"record","version":9}', "is a record of version 9"],
	['{"type":"record","version":1}\n{"type":"odd"}\n{}\n{}\n', "r.jsonl:2: this line is not part of a record"],
])("a file that is wrong is named: %s", (text, expected) => {
	expect(parseRecord(text, "r.jsonl")).toEqual({ problem: expect.stringContaining(expected) });
});

test("a record of a process that was killed is read up to the cut", () => {
	expect(
		parsed('{"type":"record","version":1}\n{"type":"event","request":1,"agent":"main","after":0,"event":{"type":"start"}}\n{"type":"ev').lines,
	).toHaveLength(1);
});

test("a file that exists is never overwritten", () => {
	const folder = mkdtempSync(join(tmpdir(), "bowline-record-"));
	const file = join(folder, "r.jsonl");
	writeFileSync(file, "mine");
	const options = {
		file,
		agent: "main",
		isSubagent: false,
		cwd: "/",
		version: "1",
		redact: (line: string) => line,
		warn: () => undefined,
		now: Date.now,
	};
	expect(() => new Recorder(options)).toThrow("EEXIST");
	rmSync(folder, { recursive: true });
});
