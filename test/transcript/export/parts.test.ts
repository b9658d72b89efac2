/** The parts of the page that need no browser. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { countChanges, readFiles, readNumbered, readPatch, replacement } from "../../../src/lib/read-diff.ts";
import { approvalLine } from "../../../src/page/approvals.ts";
import { callSummary, itemsOf, kindOf, leafFor } from "../../../src/page/items.ts";
import { decodeEntities, pictureAddress, safeLink } from "../../../src/page/links.ts";
import { SearchIndex, titleOf } from "../../../src/page/search.ts";
import { duration, figuresOf, money, shortNumber } from "../../../src/page/stats.ts";
import { stepsOf } from "../../../src/page/subagents.ts";
import { endOf, pathTo, rowsOf, treeOf } from "../../../src/page/tree.ts";
import { cut, oneLine, withoutEscapes } from "../../../src/page/values.ts";
import { editDiff } from "../../../src/tools/edit-diff.ts";
import { fullSession, longSession, SessionBuilder, subagentSession } from "./session.ts";

describe("links", () => {
	test.each(["https://example.com/a?b=1#c", "http://localhost:1", "HTTPS://EXAMPLE.COM", "mailto:ada@example.com", " https://example.com "])(
		"%j may be clicked",
		(href) => expect(safeLink(href)).toBe(href.trim()),
	);
	test.each([
		"javascript:alert(1)",
		"JaVaScRiPt:alert(1)",
		"\u0001javascript:alert(1)",
		"java\nscript:alert(1)",
		"data:text/html,<script>alert(1)</script>",
		"vbscript:x",
		"file:///etc/passwd",
		"blob:null/1",
		"//evil.example",
		"src/tide.ts",
		"#e-1",
		"http://",
		"",
		`https://${"a".repeat(9000)}`,
	])("%j may not", (href) => expect(safeLink(href)).toBeUndefined());

	test("a patch of several files is read file by file, and a removed line is no head of a file", () => {
		const patch = [
			"diff --git a/one.txt b/one.txt",
			"--- a/one.txt",
			"+++ b/one.txt",
			"@@ -1,2 +1,2 @@",
			"--- a rule",
			"+++ a rule",
			" same",
			"diff --git a/old.txt b/old.txt",
			"--- a/old.txt",
			"+++ /dev/null",
			"@@ -1 +0,0 @@",
			"-gone",
			"--- /dev/null",
			"+++ b/new.txt\t2026-01-01",
			"@@ -0,0 +1 @@",
			"+came",
		].join("\n");
		const files = readFiles(patch).map(({ path, lines }) => [path, lines.map(({ kind, text }) => `${kind} ${text}`)]);
		expect(files).toEqual([
			["one.txt", ["remove -- a rule", "add ++ a rule", "same same"]],
			["old.txt", ["remove gone"]],
			["new.txt", ["add came"]],
		]);
	});

	test("pictures are of known kinds and in the file itself", () => {
		const head = { png: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a], jpeg: [0xff, 0xd8, 0xff, 0xe0], gif: [...Buffer.from("GIF89a")] };
		const webp = [...Buffer.from("RIFF\0\0\0\0WEBP")];
		const data = (bytes: readonly number[]) => Buffer.from([...bytes, ...Array(12).fill(0)]).toString("base64");
		for (const [name, bytes] of Object.entries({ ...head, webp })) {
			expect(pictureAddress(`image/${name}`, data(bytes))).toBe(`data:image/${name};base64,${data(bytes)}`);
		}
		// The bytes decide, not the name.
		expect(pictureAddress("image/PNG", data(head.jpeg))).toMatch(/^data:image\/jpeg;/);
		const others = ["<svg xmlns=''></svg>", "BM0000000000000", "\0\0\0\x1cftypavif0000", "GIF", "RIFF0000WAVE0000", "\x89PNG but not quite"];
		for (const text of others) expect(pictureAddress("image/png", Buffer.from(text, "latin1").toString("base64"))).toBeUndefined();
		const types = ["image/svg+xml", "image/avif", "image/bmp", "text/html", 'image/png" onerror="x', ""];
		for (const type of types) expect(pictureAddress(type, data(head.png))).toBeUndefined();
		for (const text of ["", "blob:sha256:abc", `${data(head.png)},<script>`]) expect(pictureAddress("image/png", text)).toBeUndefined();
	});

	test("entities become letters, once", () => {
		expect(decodeEntities("&lt;b&gt; &amp;lt; &#x41;&#66; &nope; &#0; &#xd800; &constructor;")).toBe(
			"<b> &lt; AB &nope; \ufffd \ufffd &constructor;",
		);
	});
});

describe("diffs", () => {
	test("a patch of our own edit tool is read back with its line numbers", async () => {
		const before = Array.from({ length: 30 }, (_, index) => `line ${index + 1}`).join("\n");
		const after = before.replace("line 12", "line twelve").replace("line 20\n", "");
		const { patch, diff } = await editDiff("a.txt", before, after);
		const changed = (lines: ReturnType<typeof readPatch>) =>
			lines
				.filter(({ kind }) => kind === "add" || kind === "remove")
				.map(({ kind, oldNumber, newNumber, text }) => [kind, oldNumber ?? newNumber, text]);
		const expected = [
			["remove", 12, "line 12"],
			["add", 12, "line twelve"],
			["remove", 20, "line 20"],
		];
		expect(changed(readPatch(patch))).toEqual(expected);
		expect(changed(readNumbered(diff))).toEqual(expected);
		expect(countChanges(readPatch(patch))).toEqual({ added: 1, removed: 2 });
	});

	test("what changed within a line is marked", () => {
		const [removed, added] = replacement("const a = one;", "const a = two;");
		expect([removed?.changed, added?.changed]).toEqual([
			[10, 13],
			[10, 13],
		]);
		expect(replacement("abc", "xyz").some((line) => line.changed)).toBe(false);
	});

	test("no text breaks the readers", () => {
		fc.assert(fc.property(fc.string(), (value) => Boolean(readPatch(value) && readNumbered(value) && readPatch(`@@ -1 +1 @@\n${value}`))));
	});
});

describe("the tree", () => {
	const entry = (id: string, parentId: string | null) => ({ type: "message", id, parentId, message: { role: "user", content: id } });

	test("a fork moves its branches in, a straight line stays straight", () => {
		const tree = treeOf([entry("a", null), entry("b", "a"), entry("c", "b"), entry("d", "b"), entry("e", "d")]);
		expect(rowsOf(tree, () => true).map(({ node, depth, startsBranch }) => [node.id, depth, startsBranch])).toEqual([
			["a", 0, false],
			["b", 0, false],
			["c", 1, true],
			["d", 1, true],
			["e", 1, false],
		]);
		expect(rowsOf(tree, ({ id }) => id !== "b").map(({ node, depth }) => [node.id, depth])).toEqual([
			["a", 0],
			["c", 1],
			["d", 1],
			["e", 1],
		]);
	});

	test("any file makes a tree in which every entry is once", () => {
		const ids = fc.constantFrom("a", "b", "c", "d", "e", "");
		const anyEntry = fc.oneof(
			fc.record({ id: ids, parentId: fc.oneof(ids, fc.constant(null)), type: fc.constantFrom("message", "label") }),
			fc.jsonValue(),
		);
		fc.assert(
			fc.property(fc.array(anyEntry, { maxLength: 12 }), (entries) => {
				const tree = treeOf(entries);
				expect(new Set(rowsOf(tree, () => true).map(({ node }) => node)).size).toBe(entries.length);
				for (const node of tree.nodes) {
					expect(pathTo(node).at(-1)).toBe(node);
					expect(pathTo(endOf(node))).toContain(node);
					itemsOf(tree, node);
				}
				figuresOf(tree, undefined);
			}),
		);
	});

	test("fifty thousand entries in a row are no problem", () => {
		const tree = treeOf(longSession(50_000).entries);
		expect(pathTo(tree.nodes.at(-1))).toHaveLength(50_000);
		expect(rowsOf(tree, () => true)).toHaveLength(50_000);
	});

	test("results are with their calls, forks with what follows", () => {
		const tree = treeOf(fullSession().entries);
		const items = itemsOf(tree, tree.nodes.at(-1));
		const first = items.find(({ node }) => node.id === "e4");
		expect([...(first?.results ?? [])].map(([position, { id }]) => [position, id])).toEqual([
			[2, "e5"],
			[3, "e6"],
		]);
		expect(items.filter(({ fork }) => fork).map(({ node, fork }) => [node.id, fork?.taken, fork?.branches.length])).toEqual([["e11", 1, 2]]);
		expect(items.map(({ node }) => node.id)).not.toContain("e9");
	});

	test("choosing a branch leads to the session's own end where that is on it", () => {
		const tree = treeOf([entry("a", null), entry("b", "a"), entry("c", "b"), entry("d", "b")]);
		const at = (id: string) => tree.byId.get(id) as (typeof tree.nodes)[number];
		expect(leafFor(at("b"), at("c")).id).toBe("c");
		expect(leafFor(at("b"), undefined).id).toBe("d");
	});
});

describe("the search", () => {
	const tree = treeOf(fullSession().entries);
	const find = (query: string) => new SearchIndex().find(tree.nodes, query).map(({ node }) => node.id);

	test.each([
		["the road not taken", ["e9"]],
		["MOONSTONE", ["e4"]],
		["needle-in-the-hay", ["e6"]],
		["index < 0", ["e7", "e8"]],
		["git status", ["e15"]],
		["half of the budget", ["e23"]],
		["heightat\\(", ["e12"]],
		["not there at all", []],
	])("%s", (query, ids) => expect(find(query)).toEqual(ids));

	test("a line for the list says what matters", () => {
		const titles = new Map(tree.nodes.map((node) => [node.id, titleOf(node)]));
		expect([titles.get("e3"), titles.get("e12"), titles.get("e19")]).toEqual([
			"The tide table crashes for times before the first reading. Please find out why, repair it, and add a test. The file is src/tide.ts.",
			expect.stringMatching(/^write test\/tide\.test\.ts · grep heightAt\\\( in src · mystery \{.*\}$/),
			"Goal Repair heightAt for early and late times. Done guards test",
		]);
	});
});

test("figures", () => {
	const tree = treeOf(fullSession().entries);
	expect(figuresOf(tree, undefined)).toMatchObject({
		prompts: 4,
		replies: 7,
		calls: 6,
		failedCalls: 1,
		branches: 2,
		models: ["claude-sonnet-4-5", "gpt-5.2"],
	});
	expect(figuresOf(tree, { tokens: { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, total: 10 }, cost: 5 })).toMatchObject({
		tokens: { total: 10 },
		cost: 5,
	});
	expect([0, 999, 1000, 1234, 99_999, 999_499, 1_500_000, 2e9].map(shortNumber)).toEqual(["0", "999", "1k", "1.2k", "100k", "999k", "1.5M", "2G"]);
	expect([0, 0.00001, 0.0123, 0.5, 12.3].map(money)).toEqual(["$0", "<$0.0001", "$0.0123", "$0.500", "$12.30"]);
	expect([4200, 59_000, 600_000, 7_500_000, 3e8].map(duration)).toEqual(["4.2 s", "59 s", "10 min", "2 h 5 min", "3 days"]);
});

test("kinds", () => {
	expect(treeOf(fullSession().entries).nodes.map(kindOf).join(" ")).toBe(
		"change change prompt reply result result reply result reply prompt summary calls result result shell prompt reply change summary change prompt reply aside aside change change reply change",
	);
});

test("texts are cut between characters, and without what only terminals read", () => {
	expect([cut("a😀b", 2), cut("a😀b", 3), oneLine(" a\n\n b ", 10)]).toEqual(["a", "a😀", "a b"]);
	expect(withoutEscapes("\u001b[31mred\u001b[0m \u001b]0;title\u0007plain")).toBe("red plain");
	expect(callSummary("read", { path: "a.ts", offset: 5, limit: 10 })).toBe("a.ts:5-14");
	expect(callSummary("task", { agent: "task", tasks: [{ id: "A", description: "Mend it" }, { id: "B" }] })).toBe("Mend it · B");
	expect(callSummary("submit_result", { result: { data: "Done." } })).toBe("Done.");
});

test("the model and the thinking level in front of the first prompt are one item, later ones have their own", () => {
	const s = new SessionBuilder();
	s.add({ type: "model_change", provider: "a", modelId: "b" });
	s.add({ type: "thinking_level_change", thinkingLevel: "high" });
	s.user("Hi");
	s.add({ type: "thinking_level_change", thinkingLevel: "low" });
	const tree = treeOf(s.entries);
	const items = itemsOf(tree, tree.nodes.at(-1));
	expect(items.map(({ node, folded }) => [node.type, folded?.map(({ type }) => type)])).toEqual([
		["model_change", ["thinking_level_change"]],
		["message", undefined],
		["thinking_level_change", undefined],
	]);
});

test("the steps of a subagent are its calls, with how they ended", () => {
	const s = subagentSession("Mend it", ["read", { path: "a.txt" }, "worse"]);
	s.assistant([{ type: "toolCall", id: "x", name: "bash", arguments: { command: "make" } }], {});
	s.result("x", "bash", "broken", { isError: true });
	s.assistant([{ type: "toolCall", id: "y", name: "write", arguments: { path: "a.txt" } }], {});
	const tree = treeOf(s.entries);
	expect(stepsOf(itemsOf(tree, tree.nodes.at(-1)))).toEqual([
		{ name: "read", about: "a.txt", state: "done" },
		{ name: "bash", about: "make", state: "failed" },
		{ name: "write", about: "a.txt", state: "open" },
	]);
});

test("an approval is a line: what was asked, who asked, the answer, and the rule", () => {
	const record = {
		toolCallId: "c",
		kind: "command",
		tool: "bash",
		text: "npm publish\n--tag next",
		digest: "sha256:1",
		waitedMs: 4,
		origin: [],
		sandbox: "off",
	};
	expect(approvalLine({ ...record, requestId: "r", outcome: "allowed", by: "host", scope: "once" })).toBe(
		"Approval: bash npm publish · allowed by host",
	);
	const rule = { action: "allow", tool: "bash", command: "npm publish" };
	expect(approvalLine({ ...record, outcome: "allowed", by: "host", scope: "always", rule })).toBe(
		"Approval: bash npm publish · allowed by host (always) · rule: allow bash npm publish",
	);
	const denied = {
		outcome: "denied",
		by: "rule",
		rule: { action: "deny", tool: "read", path: "**/.env", because: "secrets stay here", source: "user" },
	};
	expect(approvalLine({ ...record, tool: "read", text: "/w/.env", ...denied })).toBe(
		"Approval: read /w/.env · denied by rule · rule: deny read **/.env (secrets stay here)",
	);
	const origin = [
		{ id: "0-Fix", agent: "task", toolCallId: "t" },
		{ id: "0-Look", agent: "explore", toolCallId: "u" },
	];
	expect(approvalLine({ ...record, origin, outcome: "cancelled", by: "abort" })).toBe(
		"Approval: bash npm publish · asked by task 0-Fix → explore 0-Look · cancelled by abort",
	);
	expect(approvalLine({ outcome: 5, origin: "x", rule: [], text: { odd: true } })).toBe('Approval: {"odd":true} · 5');
});
