/** What the chat shows, as rows: diffs, tool calls, tables, code, the status line, menus. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { ToolCallItem } from "../../src/chat/conversation.ts";
import { Questions } from "../../src/chat/dialogs.ts";
import { changesOf, diffRows, tally } from "../../src/chat/diff-view.ts";
import { Files, matchingFiles } from "../../src/chat/files.ts";
import { gitBranch } from "../../src/chat/git-branch.ts";
import { highlighted } from "../../src/chat/highlight.ts";
import { fromAppleScript, Images, imageInClipboard, imageNamed } from "../../src/chat/images.ts";
import { markdown } from "../../src/chat/markdown.ts";
import { Menu, tokenAt } from "../../src/chat/menu.ts";
import { howToGoOn } from "../../src/chat/sessions.ts";
import { type Facts, statusLine } from "../../src/chat/status-line.ts";
import { taskRows } from "../../src/chat/task-view.ts";
import { type Line, lineWidth } from "../../src/chat/text.ts";
import { toolLines } from "../../src/chat/tool-view.ts";
import { editDiff } from "../../src/tools/edit-diff.ts";
import { cpuOf } from "../cpu.ts";

const plain = (lines: Line[]) => lines.map((line) => line.map(({ text }) => text).join(""));
const styled = (lines: Line[]) =>
	lines.map((line) => line.map(({ text, styles }) => (styles.length ? `[${styles.join(" ")}:${text}]` : text)).join(""));
const widest = (lines: Line[]) => Math.max(...lines.map(lineWidth));

function folder(files: Record<string, string>): string {
	const path = mkdtempSync(join(tmpdir(), "bowline-views-"));
	onTestFinished(() => rmSync(path, { recursive: true, force: true }));
	for (const [name, content] of Object.entries(files)) {
		mkdirSync(dirname(join(path, name)), { recursive: true });
		writeFileSync(join(path, name), content);
	}
	return path;
}

describe("diffs", () => {
	test("have numbers, signs and colours, and mark what differs in a line", async () => {
		const before = Array.from({ length: 20 }, (_, index) => `line ${index + 1}`).join("\n");
		const details = await editDiff("a.txt", before, before.replace("line 12\n", "line 12b\n\tline\x1b[31m new\n"));
		const changes = changesOf("edit", {}, details) ?? [];
		expect(tally(changes).map(({ text }) => text)).toEqual(["+2", " −1"]);
		expect(styled(diffRows(changes, { width: 40, context: 1 }))).toEqual([
			"[dim:11 ][dim:  ][dim:line 11]",
			"[dim:12 ][red:− ][red:line 12]",
			"[dim:12 ][green:+ ][green:line 12b]",
			"[dim:13 ][green:+ ][green:    line new]",
			"[dim:14 ][dim:  ][dim:line 13]",
		]);
		const one = changesOf("edit", {}, await editDiff("a.txt", before, before.replace("line 12", "line twelve"))) ?? [];
		expect(styled(diffRows(one, { width: 40, context: 0 }))).toEqual([
			"[dim:12 ][red:− ][red:line ][red reverse:12]",
			"[dim:12 ][green:+ ][green:line ][green reverse:twelve]",
		]);
	});

	test("of calls that have not ended come from their arguments", () => {
		const edit = changesOf("edit", { path: "a", edits: [{ oldText: "a", newText: "b\nc" }] }, undefined) ?? [];
		expect(plain(diffRows(edit, { width: 40 }))).toEqual(["− a", "+ b", "+ c"]);
		expect(plain(diffRows(changesOf("write", { content: "x\ny\n" }, undefined) ?? [], { width: 40 }))).toEqual(["1 + x", "2 + y"]);
		expect(changesOf("bash", { content: "x" }, undefined)).toBeUndefined();
	});

	test("fit their width and their number of lines", () => {
		const lines =
			changesOf("write", { content: Array.from({ length: 30 }, (_, index) => `${index} ${"long ".repeat(20)}日本`).join("\n") }, undefined) ?? [];
		for (const width of [16, 30, 79]) expect(widest(diffRows(lines, { width, mostLines: 5 }))).toBeLessThanOrEqual(width);
		expect(plain(diffRows(lines, { width: 200, mostLines: 5 })).at(-1)).toBe("  … 25 more lines");
		expect(diffRows(lines.slice(0, 6), { width: 200, mostLines: 5 }).length).toBe(6);
	});
});

describe("tool calls", () => {
	const item = (more: Partial<ToolCallItem>): ToolCallItem => ({
		kind: "tool",
		id: "1",
		name: "bash",
		args: { command: "make" },
		state: "done",
		output: "",
		...more,
	});
	const folded = (more: Partial<ToolCallItem>, width = 60) => plain(toolLines(item(more), { width, isExpanded: false }));
	const output = Array.from({ length: 12 }, (_, index) => `row ${index + 1}`).join("\n");

	test("folded, they show the end of their output", () => {
		expect(folded({ output })).toEqual(["✓ bash make", "    … 7 lines above", ...[8, 9, 10, 11, 12].map((row) => `    row ${row}`)]);
		expect(folded({ output: "one\ntwo\n" })).toEqual(["✓ bash make", "    one", "    two"]);
		expect(folded({ state: "running" })).toEqual(["▸ bash make"]);
		expect(folded({ name: "read", args: { path: "a.ts" }, output })).toEqual(["✓ read a.ts 12 lines"]);
		expect(folded({ state: "failed", output: "broken" })).toEqual(["✗ bash make: broken"]);
	});

	test("unfolded, they show all of it, and fit", () => {
		const rows = toolLines(item({ output, args: { command: `echo ${"word ".repeat(40)}` } }), { width: 40, isExpanded: true });
		expect(plain(rows).filter((row) => row.includes("row ")).length).toBe(12);
		expect(widest(rows)).toBeLessThanOrEqual(40);
		expect(styled(toolLines(item({ name: "odd", args: { deep: [1] } }), { width: 40, isExpanded: true }))).toContain('      [cyan:"deep"]: [');
	});

	test("subagents have a row each, at work and at the end", () => {
		const progress = [{ id: "0-Fix", agent: "task", status: "running", currentTool: "bash", currentToolArgs: "npm test", toolCount: 2 }];
		expect(plain(taskRows({ progress }, 60))).toEqual(["▸ 0-Fix task · 2 calls · bash npm test"]);
		const verification = { status: "passed", retriesUsed: 1 };
		const results = [
			{ id: "0-Fix", agent: "task", exitCode: 0, toolCalls: 1, durationMs: 4210, verification },
			{ id: "1-Try", agent: "task", exitCode: 1, durationMs: 100, error: "Out of budget" },
		];
		expect(plain(taskRows({ results, progress }, 70))).toEqual([
			"✓ 0-Fix task · 1 call · 4.2 s · checks passed after a repair",
			"✗ 1-Try task · 0.1 s · Out of budget",
		]);
		for (const odd of [undefined, null, {}, { results: "no" }, { progress: 1 }]) expect(taskRows(odd, 60)).toEqual([]);
	});
});

describe("tables", () => {
	const table = "| time | n | what happens |\n|:--|--:|:-:|\n| early | 0 | **crash** a \\| b |\n| late | -1 | `x` |\nafter";

	test("have columns", () => {
		expect(plain(markdown(table, 60))).toEqual([
			"time  │  n │ what happens",
			"──────┼────┼─────────────",
			"early │  0 │ crash a | b",
			"late  │ -1 │      x",
			"after",
		]);
	});

	test("wrap their cells, or go one below the other", () => {
		const long = `| name | text |\n|---|---|\n| a | ${"many words ".repeat(10)} |`;
		for (const width of [12, 20, 40, 79]) expect(widest(markdown(long, width))).toBeLessThanOrEqual(width);
		const wide = `|${" column |".repeat(8)}\n|${"---|".repeat(8)}\n|${" some text |".repeat(8)}`;
		expect(plain(markdown(wide, 40)).slice(0, 2)).toEqual(["column: some text", "column: some text"]);
		expect(plain(markdown("a | b\nc", 40))).toEqual(["a | b", "c"]);
	});
});

describe("code", () => {
	test.each([
		["ts", 'const a = "x"; // y', '[magenta:const] a = [green:"x"]; [dim:// y]'],
		["py", "def f(n): # why\n", "[magenta:def] f(n): [dim:# why]"],
		["bash", "for i in 1 2; do echo $#; done", "[magenta:for] i [magenta:in] [cyan:1] [cyan:2]; [magenta:do] [magenta:echo] $#; [magenta:done]"],
		["json", '{"a": [true, -1.5]}', '{[cyan:"a"]: [[magenta:true], -[cyan:1.5]]}'],
		["sql", "SELECT a FROM b -- c", "[magenta:SELECT] a [magenta:FROM] b [dim:-- c]"],
		["diff", "+new", "[green:+new]"],
		["rust", "fn f<'a>(x: &'a str) {}", "[magenta:fn] f<'a>(x: &'a [magenta:str]) {}"],
	])("%s has colours", (language, code, expected) => {
		expect(styled(highlighted(code, language) ?? [])[0]).toBe(expected);
	});

	test("keeps every character, whatever it is", () => {
		const code = '/* open\n`a$b`\n"\\\n\'\'\'\n""" x # y\n--\n<!-- -->\nconst \\';
		for (const language of ["ts", "py", "bash", "go", "rust", "sql", "html", "yaml", "css", "lua"])
			for (let end = 0; end <= code.length; end++) expect(plain(highlighted(code.slice(0, end), language) ?? []).join("\n")).toBe(code.slice(0, end));
		expect(highlighted("x", "brainfuck")).toBeUndefined();
		expect(highlighted("x", "constructor")).toBeUndefined();
	});

	test("hostile code takes no time", async () => {
		const texts = ["/*".repeat(19_000), '"\\'.repeat(19_000), "`".repeat(39_000), "'a".repeat(19_000), "1.".repeat(19_000), '"""'.repeat(13_000)];
		const spent = await cpuOf(() => {
			for (const text of texts) for (const language of ["ts", "py", "bash", "json"]) highlighted(text, language);
		});
		expect(spent).toBeLessThan(6000);
	});
});

describe("the status line", () => {
	const facts: Facts = {
		cwd: join(homedir(), "projects/tide-table"),
		branch: "fix/early",
		model: { provider: "anthropic", id: "claude-opus-4-7" },
		level: "high",
		context: { percent: 42.4, window: 200_000 },
		cost: 0.0123,
	};
	const line = (width: number, more: Partial<Facts> = {}) => plain([statusLine({ ...facts, ...more }, width)])[0];

	test("says less where there is less room", () => {
		expect(line(100)).toBe(`~/projects/tide-table (fix/early)${" ".repeat(12)}42% of 200k · $0.012 · anthropic/claude-opus-4-7 · high`);
		expect(line(79)).toBe("tide-table (fix/early)  42% of 200k · $0.012 · anthropic/claude-opus-4-7 · high");
		expect(line(60)).toBe("(fix/early)            42% · $0.012 · claude-opus-4-7 · high");
		expect(line(36)).toBe(`${" ".repeat(8)}42% · claude-opus-4-7 · high`);
		expect(line(10)).toBe("42% · cla…");
		for (let width = 1; width < 120; width++) expect(lineWidth(statusLine(facts, width))).toBeLessThanOrEqual(width);
	});

	test("warns when the context gets full or no model is chosen", () => {
		const styles = (percent: number) =>
			statusLine({ ...facts, context: { percent, window: 1000 } }, 100).find(({ text }) => text.includes("%"))?.styles;
		expect([styles(69), styles(70), styles(90)]).toEqual([["dim"], ["yellow"], ["red"]]);
		expect(line(60, { model: undefined, context: undefined })).toContain("no model: /model");
		expect(line(100, { context: { percent: null, window: 5 }, cost: 12.345 })).toContain("$12.35 · anthropic");
	});

	test("knows the branch of repositories and worktrees", () => {
		const place = folder({ "a.txt": "a", "src/b.txt": "b" });
		expect(gitBranch(join(place, "src"))).toBeUndefined();
		const git = (...args: string[]) =>
			execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@localhost", ...args], { cwd: place, stdio: "pipe" });
		git("init", "--quiet", "--initial-branch", "main");
		git("add", "--all");
		git("commit", "--quiet", "--message", "x");
		expect(gitBranch(join(place, "src"))).toBe("main");
		git("worktree", "add", "--quiet", "-b", "fix/it", join(place, "tree"));
		expect(gitBranch(join(place, "tree"))).toBe("fix/it");
		git("checkout", "--quiet", "--detach");
		expect(gitBranch(place)).toMatch(/^[0-9a-f]{7}$/);
	});
});

describe("menus", () => {
	test("belong to the word at the cursor", () => {
		expect(tokenAt("/mo", "")).toEqual({ kind: "command", from: 0, query: "mo" });
		expect(tokenAt("see @src/a", " more")).toEqual({ kind: "file", from: 4, query: "src/a" });
		for (const [before, after] of [
			["/mo", "x y"],
			[" /mo", ""],
			["/model x", ""],
			["me@host", ""],
			["", ""],
		])
			expect(tokenAt(before as string, after as string)).toBeUndefined();
	});

	test("show where one is among many", () => {
		const entries = Array.from({ length: 12 }, (_, index) => ({ label: `/command${index}`, about: "what it does, in many words", insert: "" }));
		const menu = new Menu({ kind: "command", from: 0, query: "" }, entries);
		expect(plain(menu.rows(30, 20)).at(-1)).toBe("  ↓ 4 more");
		menu.key({ name: "up" });
		expect(plain(menu.rows(30, 20)).at(-1)).toMatch(/^▸ \/command11 /);
		for (const width of [12, 20, 30]) expect(widest(menu.rows(width, 20))).toBeLessThanOrEqual(width);
	});

	test("list files nearest first, without what git ignores", async () => {
		const cwd = folder({
			".gitignore": "*.log\n/out/\n",
			"a.log": "",
			"b.ts": "",
			"out/x.ts": "",
			"src/.gitignore": "!keep.log\n",
			"src/keep.log": "",
			"src/deep/b.test.ts": "",
			"node_modules/x/index.js": "",
			".git/HEAD": "",
		});
		const files = await new Files().list(cwd, 0);
		expect(files).toEqual([".gitignore", "b.ts", "src/.gitignore", "src/keep.log", "src/deep/b.test.ts"]);
		expect(matchingFiles(files, "b", 9)).toEqual(["b.ts", "src/deep/b.test.ts"]);
		expect(matchingFiles(files, "sdb", 9)).toEqual(["src/deep/b.test.ts"]);
		expect(matchingFiles(files, "", 2)).toEqual([".gitignore", "b.ts"]);
	});
});

describe("choices", () => {
	const frame = (title: string, options: string[], height: number) => {
		const questions = new Questions(() => undefined);
		void questions.choose(title, options);
		return plain(questions.current?.frame(30, height).rows ?? []);
	};

	test("an Enter that comes right after a question appears was meant for what was there before", async () => {
		const now = vi.spyOn(performance, "now").mockReturnValue(1000);
		onTestFinished(() => now.mockRestore());
		const questions = new Questions(() => undefined);
		const answer = questions.choose("Pick one", ["red", "green"]);
		const enter = () => questions.key({ name: "enter" });
		now.mockReturnValue(1299);
		enter();
		expect(questions.current).toBeDefined();
		now.mockReturnValue(1301);
		enter();
		expect(await answer).toBe(0);
	});

	test("show every line of what they ask about", () => {
		const rows = frame("Run this?\n  rm -r build && make everything\n", ["no", "yes"], 9);
		expect(rows.slice(0, 5)).toEqual(["Run this?", "  rm -r build && make", "everything", "▸ no", "  yes"]);
	});

	test("keep options in view when it is long", () => {
		const rows = frame(Array.from({ length: 20 }, (_, index) => `line ${index}`).join("\n"), ["1", "2", "3", "4", "5"], 9);
		expect(rows.slice(0, 8)).toEqual(["line 0", "line 1", "line 2", "…", "▸ 1", "  2", "  3", "  4"]);
		expect(rows.length).toBe(9);
	});
});

describe("images", () => {
	const png = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");

	test("are found by a path as terminals paste it", () => {
		const cwd = folder({ "no.png": "text", "big.png": "x".repeat(6 * 1024 * 1024) });
		writeFileSync(join(cwd, "a b.png"), png);
		for (const text of ["a b.png", "'a b.png'", '"a b.png"\n', "a\\ b.png", `file://${cwd}/a%20b.png`, join(cwd, "a b.png")])
			expect(imageNamed(text, cwd)).toEqual({ type: "image", data: png.toString("base64"), mimeType: "image/png" });
		for (const text of ["no.png", "none.png", "a.txt", "see a b.png\nand more", ""]) expect(imageNamed(text, cwd)).toBeUndefined();
		expect(() => imageNamed("big.png", cwd)).toThrow("big.png cannot be sent: it is larger than 5120 KB.");
	});

	test("go along while their mark is in the text", () => {
		const images = new Images();
		const image = { type: "image" as const, data: "eA==", mimeType: "image/png" };
		expect([images.add(image), images.add({ ...image, data: "eQ==" })]).toEqual(["[image 1]", "[image 2]"]);
		expect(images.in("see [image 2], [image 2] and [image 9]").map(({ data }) => data)).toEqual(["eQ=="]);
	});

	test("of a clipboard that cannot be read are explained", async () => {
		await expect(imageInClipboard("aix")).rejects.toThrow("The clipboard cannot be read here. Paste the path of an image instead.");
		expect(fromAppleScript(Buffer.from(`«data PNGf${png.toString("hex").toUpperCase()}»\n`))).toEqual(png);
		expect(fromAppleScript(png)).toBeUndefined();
	});
});

test("leaving names the session as shortly as it can", () => {
	const id = "01a1e5c8-32d7-7b24-aca6-6202dc1afbc4";
	const cwd = folder({ [`t_${id}.jsonl`]: "", "t_01a1e5c9-32d7-7b24-aca6-000000000000.jsonl": "" });
	const session = { file: join(cwd, `t_${id}.jsonl`), id };
	expect(howToGoOn(session, ["--model=x", "--cwd=/a b"])).toBe("Saved as 01a1e5c8. Go on with: bowline chat '--cwd=/a b' --session 01a1e5c8");
	writeFileSync(join(cwd, "u_01a1e5c8-32ff.jsonl"), "");
	expect(howToGoOn(session, [])).toBe("Saved as 01a1e5c8-32d. Go on with: bowline chat --session 01a1e5c8-32d");
	expect(howToGoOn(session, ["--session-dir=x"])).toContain(`--session ${session.file}`);
});
