import { join } from "node:path";
import { expect, test } from "vitest";
import { patchDiffs } from "../../src/acp/diffs.ts";
import { TerminalOutput } from "../../src/acp/terminal-output.ts";
import { ToolView } from "../../src/acp/tool-view.ts";
import type { Tool } from "../../src/agent/tool.ts";
import { type Message, using } from "./editor.ts";

const others: Record<string, Pick<Tool, "label" | "effect" | "view">> = {
	deploy: { label: "Deploy", effect: { kind: "run" } },
	mcp__docs__search: { label: "Search the docs", effect: { kind: "run" } },
	stat: { label: "Stat", effect: { kind: "read", paths: ({ file }) => [String(file)] } },
	move: { label: "Move", effect: { kind: "write", paths: ({ from, to }) => [String(from), String(to)] } },
};
const view = new ToolView({ cwd: "/srv/app", toolOf: (name) => others[name] });
const result = (text: string, details?: unknown) => ({ content: [{ type: "text" as const, text }], details });

test("each tool has a kind, a title and places that a person can follow", () => {
	const rows: [string, Record<string, unknown>, string, string, unknown[]][] = [
		["read", { path: "src/a.ts", offset: 10, limit: 41 }, "read", "Read src/a.ts (10-50)", [{ path: "/srv/app/src/a.ts", line: 10 }]],
		["read", { path: "/srv/app/src/a.ts" }, "read", "Read src/a.ts", [{ path: "/srv/app/src/a.ts" }]],
		["read", { path: "/etc/hosts", offset: 3 }, "read", "Read /etc/hosts (from 3)", [{ path: "/etc/hosts", line: 3 }]],
		["edit", { path: "a.ts" }, "edit", "Edit a.ts", [{ path: "/srv/app/a.ts" }]],
		["write", { path: "a.ts" }, "edit", "Write a.ts", [{ path: "/srv/app/a.ts" }]],
		["bash", { command: "npm test\nnpm run x" }, "execute", "`npm test`", []],
		["grep", { pattern: "x", path: "src" }, "search", 'Search "x" in src', [{ path: "/srv/app/src" }]],
		["find", { pattern: "*.ts" }, "search", "Find *.ts", [{ path: "/srv/app" }]],
		["ls", { path: "src" }, "search", "List src", [{ path: "/srv/app/src" }]],
		["task", { tasks: [{ description: "Look around" }, { description: "Fix it" }] }, "think", "Look around; Fix it", []],
		["deploy", { target: "prod", dry: true }, "other", "Deploy prod", []],
		["stat", { file: "src/a.ts" }, "read", "Stat src/a.ts", [{ path: "/srv/app/src/a.ts" }]],
		["move", { from: "a", to: "/b" }, "edit", "Move a", [{ path: "/srv/app/a" }, { path: "/b" }]],
		["mcp__docs__search", { q: "x" }, "other", "docs: Search the docs", []],
		["mcp__docs__other", {}, "other", "docs: other", []],
	];
	for (const [name, args, kind, title, locations] of rows) {
		expect([view.kind(name), view.title(name, args), view.locations(name, args)], name).toEqual([kind, title, locations]);
	}
});

test("a search shows up to twenty hits with their lines", () => {
	const found = Array.from({ length: 30 }, (_, index) => `src/a.ts:${index + 1}: text`).join("\n");
	const places = view.locations("grep", { pattern: "x" }, result(found));
	expect([places.length, places[0], places[19]]).toEqual([20, { path: "/srv/app/src/a.ts", line: 1 }, { path: "/srv/app/src/a.ts", line: 20 }]);
	expect(view.locations("grep", { pattern: "x", path: "src/a.ts" }, result("a.ts:7: text"))).toEqual([{ path: "/srv/app/src/a.ts", line: 7 }]);
});

test("output is fenced with more backticks than it has, and long arguments are cut", () => {
	const [shown] = view.content({ name: "bash", args: {}, result: result("a\n````\nb"), isError: false });
	expect(shown).toEqual({ type: "content", content: { type: "text", text: "`````\na\n````\nb\n`````" } });
	const input = view.input({ content: "x".repeat(20_000), list: [{ deep: "y".repeat(20_000) }], n: 1 });
	expect(JSON.stringify(input).length).toBeLessThan(33_000);
});

test("a patch becomes its hunks, each with both sides", () => {
	const patch = "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n@@ -9,1 +9,2 @@\n nine\n+ten\n";
	expect(patchDiffs("/x", patch)).toEqual([
		{ type: "diff", path: "/x", oldText: "one\ntwo\nthree", newText: "one\n2\nthree" },
		{ type: "diff", path: "/x", oldText: "nine", newText: "nine\nten" },
	]);
});

test("a terminal gets only what was added, also when the shown output was cut in front", () => {
	const terminal = new TerminalOutput("t");
	const data = (metas: Record<string, unknown>[]) => metas.map((meta) => (meta.terminal_output as { data: string }).data).join("");
	expect(data(terminal.output(result("one\n", { truncation: null })))).toBe("one\n");
	expect(data(terminal.output(result("one\ntwo\n", { truncation: null })))).toBe("two\n");
	expect(data(terminal.output(result("two\nthree\n", { truncation: { totalBytes: 14, outputBytes: 10 } })))).toBe("three\n");
	const accents = new TerminalOutput("a");
	expect(data(accents.output(result("éé", { truncation: null })))).toBe("éé");
	expect(data(accents.output(result("éàà", { truncation: { totalBytes: 8, outputBytes: 6 } })))).toBe("àà");
	expect(terminal.exit(result("three\n\nCommand exited with code 7"), true)).toEqual({
		terminal_exit: { terminal_id: "t", exit_code: 7, signal: null },
	});
});

test("edits and writes show whole texts as diffs, and a failed one shows its reason", () =>
	using(
		{
			model: [
				'call #e edit {"path":"a.txt","edits":[{"oldText":"two","newText":"2"}]} + call #w write {"path":"a.txt","content":"all new\\n"} + call #n write {"path":"b/new.txt","content":"x\\n"}',
				'call #f edit {"path":"a.txt","edits":[{"oldText":"not there","newText":""}]}',
				'say "done"',
			].join(" · "),
			files: { "a.txt": "one\ntwo\n" },
		},
		async (editor) => {
			const session = await editor.session();
			await editor.prompt(session, "go");
			const path = join(editor.cwd, "a.txt");
			const calls = Object.fromEntries(editor.calls().map((call) => [call.toolCallId, call]));
			expect(calls.e).toMatchObject({
				locations: [{ path, line: 2 }],
				content: [{ type: "diff", path, oldText: "one\ntwo\n", newText: "one\n2\n" }],
			});
			expect(calls.w).toMatchObject({ content: [{ type: "diff", path, oldText: "one\n2\n", newText: "all new\n" }] });
			expect(calls.n?.content).toEqual([{ type: "diff", path: join(editor.cwd, "b/new.txt"), newText: "x\n" }]);
			expect(calls.f).toMatchObject({ status: "failed", content: [{ type: "content", content: { type: "text" } }] });
		},
	));

test("output of a running command comes at most four times a second, and its end is what the model gets", () =>
	using({ model: 'call bash {"command":"for i in $(seq 1 40); do echo line $i; sleep 0.02; done"} · say "done"' }, async (editor) => {
		const session = await editor.session();
		await editor.prompt(session, "go");
		const progress = editor.updates("tool_call_update").filter(({ content, status }) => content && !status);
		expect(progress.length).toBeGreaterThan(0);
		expect(progress.length).toBeLessThan(9);
		expect(JSON.stringify(editor.calls()[0]?.content)).toContain("line 40");
	}));

test("clients with a terminal for output get a terminal, what is added to it, and how it ended", () =>
	using(
		{ model: 'call bash {"command":"echo one; echo two; exit 4"} · say "done"', capabilities: { _meta: { terminal_output: true } } },
		async (editor) => {
			const session = await editor.session();
			await editor.prompt(session, "go");
			expect(editor.updates("tool_call")[0]).toMatchObject({
				content: [{ type: "terminal", terminalId: "call_1" }],
				_meta: { terminal_info: { terminal_id: "call_1", cwd: editor.cwd } },
			});
			const metas = editor.updates("tool_call_update").flatMap(({ _meta }) => _meta ?? []);
			expect(metas.map((meta: Message) => meta.terminal_output?.data ?? "").join("")).toContain("one\ntwo\n");
			expect(metas.at(-1)).toEqual({ terminal_exit: { terminal_id: "call_1", exit_code: 4, signal: null } });
		},
	));
