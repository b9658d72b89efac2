/** The page as a text: what is in it, and that nothing in it can get out. */
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { exportPage, type PageInput, pageChunks } from "../../../src/transcript/export/index.ts";
import { call, fullPage, header, longSession, SessionBuilder, text, thinking } from "./session.ts";

const dataOf = (page: string) => JSON.parse(/<script type="application\/json" id="session">(.*?)<\/script>/s.exec(page)?.[1] ?? "");
const titleOf = (page: string) => /<title>(.*?)<\/title>/s.exec(page)?.[1];

function pageOf(build: (session: SessionBuilder) => void, more: Partial<PageInput> = {}): string {
	const session = new SessionBuilder();
	build(session);
	return exportPage(session.page(more));
}

test("the data in the page is the session", () => {
	const input = fullPage();
	const { header: kept, entries, leafId, tools, systemPrompt } = dataOf(exportPage(input));
	expect({ kept, ids: entries.map((entry: { id: string }) => entry.id), leafId, tools, systemPrompt }).toEqual({
		kept: header,
		ids: input.entries.map(({ id }) => id),
		leafId: input.leafId,
		tools: input.tools,
		systemPrompt: input.systemPrompt,
	});
});

test("text survives byte for byte, whatever it holds", () => {
	const hostile = "</script><!--<script>]]> \u2028\u0000\r\n\ud83d\ude00 \ud800 <\\/script> \\u003c";
	const page = pageOf((session) => session.user(hostile));
	expect(dataOf(page).entries[0].message.content[0].text).toBe(hostile);
	expect(page.isWellFormed()).toBe(true);
});

test("there are two scripts: the data and the one whose hash the policy names", () => {
	const page = pageOf((session) => session.user("</script><script>alert(1)</script><SCRIPT>"));
	expect(page.match(/<\/?script/gi)).toEqual(["<script", "</script", "<script", "</script"]);
	expect(page).not.toContain("<!--");
	const script = /<script>(.*)<\/script>/s.exec(page)?.[1] ?? "";
	const style = /<style>(.*)<\/style>/s.exec(page)?.[1] ?? "";
	const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page)?.[1] ?? "";
	const hash = (value: string) => `'sha256-${createHash("sha256").update(value).digest("base64")}'`;
	expect(policy.split("; ")).toEqual([
		"default-src 'none'",
		`script-src ${hash(script)}`,
		`style-src ${hash(style)}`,
		"img-src data:",
		"base-uri 'none'",
		"form-action 'none'",
		"require-trusted-types-for 'script'",
		"trusted-types 'none'",
	]);
	expect(style.length).toBeGreaterThan(5000);
});

test("the page names no address that it would load from", () => {
	const page = exportPage(new SessionBuilder().page()).replace(/<script>.*<\/script>/s, "");
	expect(page.match(/(?:src|href)="(?!data:,")[^"]*"/g)).toBeNull();
	expect(page).not.toMatch(/@import|url\(/);
});

test("it contains the licences of what is bundled", () => {
	const page = exportPage(new SessionBuilder().page());
	expect(page).toContain("MarkedJS");
	expect(page).toContain("Ivan Sagalaev");
});

test("what only a provider can read is left out", () => {
	const page = pageOf((session) => {
		const block = { ...text("hello"), textSignature: "SIGNATURE-1" };
		const asked = { ...call("c1", "read", {}), thoughtSignature: "SIGNATURE-2" };
		session.reply(block, { ...thinking("hm"), thinkingSignature: "SIGNATURE-3" }, { type: "redactedThinking", data: "SIGNATURE-4" }, asked);
	});
	expect(page).not.toContain("SIGNATURE");
	expect(dataOf(page).entries[0].message.content).toEqual([
		text("hello"),
		{ type: "thinking", thinking: "hm" },
		{ type: "redactedThinking", data: "" },
		call("c1", "read", {}),
	]);
});

describe("the title", () => {
	test.each([
		["is the name", (s: SessionBuilder) => [s.user("hi"), s.add({ type: "session_info", name: "Tides" })], "Tides · Bowline"],
		["else the first prompt", (s: SessionBuilder) => [s.user("  fix\n the   tides "), s.user("more")], "fix the tides · Bowline"],
		["else plain", (s: SessionBuilder) => [s.reply(text("hello"))], "Bowline session"],
		["is escaped", (s: SessionBuilder) => [s.user('</title><script>"&')], "&lt;/title&gt;&lt;script&gt;&quot;&amp; · Bowline"],
		["is cut between characters", (s: SessionBuilder) => [s.user("😀".repeat(100))], `${"😀".repeat(79)}… · Bowline`],
	])("%s", (_, build, title) => expect(titleOf(pageOf(build))).toBe(title));
});

test("entries that make no sense are no reason to fail", () => {
	let deep: unknown = "bottom";
	for (let level = 0; level < 200_000; level++) deep = [deep];
	const page = pageOf((session) => {
		session.add({ type: "message" });
		session.add({ type: "message", message: { role: "assistant", content: null } });
		session.add({ type: "message", message: { role: "assistant", content: [null, 7, { type: "toolCall" }] } });
		session.add({ type: "message", message: { role: "user", content: 12 } });
		session.add({ type: "custom", customType: "deep", data: deep });
	});
	expect(dataOf(page).entries).toHaveLength(5);
	expect(dataOf(page).entries[4]).toMatchObject({ type: "custom", id: "e5", parentId: "e4" });
});

test("a long session leaves in pieces", () => {
	const chunks = [...pageChunks(longSession(4000).page())];
	expect(chunks.length).toBeGreaterThan(5);
	expect(Math.max(...chunks.slice(1, -1).map((chunk) => chunk.length))).toBeLessThan(300_000);
	expect(dataOf(chunks.join("")).entries).toHaveLength(4000);
});
