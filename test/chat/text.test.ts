/** The parts of the chat that need no terminal. */
import { describe, expect, test } from "vitest";
import { Conversation } from "../../src/chat/conversation.ts";
import { Editor } from "../../src/chat/editor.ts";
import { type Key, Keys } from "../../src/chat/keys.ts";
import { markdown } from "../../src/chat/markdown.ts";
import { broken, harmless, type Line, lineWidth, shortened, span, widthOf, wrapped } from "../../src/chat/text.ts";
import { Viewport } from "../../src/chat/viewport.ts";

const plain = (lines: Line[]) => lines.map((line) => line.map(({ text }) => text).join(""));
/** A line with the styles in brackets. */
const styled = (lines: Line[]) =>
	lines.map((line) => line.map(({ text, styles }) => (styles.length ? `[${styles.join(" ")}:${text}]` : text)).join(""));

describe("text", () => {
	test.each([
		["abc", 3],
		["日本", 4],
		["e\u0301", 1],
		["👩‍👩‍👧", 2],
		["🇩🇪", 2],
		["❤️", 2],
		["한글", 4],
		["\u200b", 0],
	])("%s takes %i columns", (text, width) => {
		expect(widthOf(text)).toBe(width);
	});

	test("wraps between words, breaks long ones, and never exceeds the width", () => {
		const text = "a short 一二三四五六七八九十 averyveryverylongword end";
		for (let width = 2; width < 30; width++) {
			const rows = wrapped([span(text)], width, [span("- ")], [span("  ")]);
			expect(Math.max(...rows.map(lineWidth))).toBeLessThanOrEqual(Math.max(width, 4));
			expect(
				plain(rows)
					.map((row) => row.slice(2))
					.join("")
					.replaceAll(" ", ""),
			).toBe(text.replaceAll(" ", ""));
		}
		expect(plain(wrapped([span("one two  three")], 8))).toEqual(["one two", "three"]);
		expect(plain(broken([span("a  b日本")], 4))).toEqual(["a  b", "日本"]);
	});

	test("shortens with a sign", () => {
		expect([shortened("abcdef", 4), shortened("日本語", 4), shortened("abc", 3), shortened("abc", 0)]).toEqual(["abc…", "日…", "abc", ""]);
	});

	test("leaves nothing that acts on a terminal", () => {
		expect(harmless("a\x1b[31mb\x1b]0;t\x07c\x9b1md\x00e\r\nf\tg\u202eh")).toBe("abcde\nf\tg⟦RLO⟧h");
	});
});

describe("markdown", () => {
	test("blocks and marks", () => {
		const text =
			"# One *it*\ntext **bold `code`** and _it_ snake_case_name 2 * 3 * 4 ~~no~~ [a](http://b)\n1. first\n   - deep\n> said\n---\n```js\n**x**\n```\nend";
		expect(styled(markdown(text, 80))).toEqual([
			"[bold underline:One ][bold underline italic:it]",
			"text [bold:bold ][bold cyan:code] and [italic:it] snake_case_name 2 * 3 * 4 [strike:no] [underline:a][dim: (http://b)]",
			"1. first",
			"   • deep",
			"[dim:│ ][dim:said]",
			`[dim:${"─".repeat(40)}]`,
			"[dim:  js]",
			"  **x**",
			"end",
		]);
	});

	test("any beginning of a text can be shown", () => {
		const text = "# T\n\n- **bold** `co` [l](u)\n\n```ts\nconst a = `x`;\n```\n| a |\n> q *i*";
		for (let end = 0; end <= text.length; end++) expect(() => markdown(text.slice(0, end), 12)).not.toThrow();
		expect(plain(markdown("```\nopen", 20))).toEqual(["  open"]);
	});

	test("hostile texts take no time", () => {
		for (const text of ["*".repeat(20_000), "`a".repeat(10_000), "[".repeat(20_000), "**a ".repeat(5000), "_a".repeat(10_000)])
			expect(markdown(text, 80).length).toBeGreaterThan(0);
	});
});

describe("keys", () => {
	function typed(...chunks: (string | Buffer)[]): Key[] {
		const keys: Key[] = [];
		const reader = new Keys((key) => keys.push(key));
		for (const chunk of chunks) reader.push(Buffer.from(chunk));
		reader.close();
		return keys;
	}
	const names = (...chunks: (string | Buffer)[]) => typed(...chunks).map(({ name, text }) => text ?? `<${name}>`);

	test("sequences have names, whatever way the terminal spells them", () => {
		expect(names("a\r\x1b\r\x1b[A\x1bOB\x1b[1;5C\x1b[3~\x1b[5~\x1b[13;2u\x1b[27;2;13~\x1bb\x7f\x03\n\x1b[Z\x1b[99~")).toEqual([
			"a",
			"<enter>",
			"<alt+enter>",
			"<up>",
			"<down>",
			"<ctrl+right>",
			"<delete>",
			"<pageup>",
			"<shift+enter>",
			"<shift+enter>",
			"<alt+b>",
			"<backspace>",
			"<ctrl+c>",
			"<ctrl+j>",
			"<shift+tab>",
			"<unknown>",
		]);
	});

	test("at every split the keys are the same", () => {
		const bytes = Buffer.from("é日\x1b[1;5D\x1b[200~pasted\r\nline\x1b[31m\x1b[201~x\x1b\r");
		const whole = names(bytes);
		expect(whole).toEqual(["é日", "<ctrl+left>", "pasted\nline\x1b[31m", "x", "<alt+enter>"]);
		for (let at = 1; at < bytes.length; at++) {
			expect(names(bytes.subarray(0, at), bytes.subarray(at)).join("")).toBe(whole.join(""));
		}
	});

	test("an escape that nothing follows is the key", async () => {
		const keys: string[] = [];
		const reader = new Keys(({ name }) => keys.push(name));
		reader.push(Buffer.from("\x1b"));
		expect(keys).toEqual([]);
		while (keys.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
		expect(keys).toEqual(["escape"]);
	});
});

describe("editor", () => {
	const after = (text: string, ...keys: string[]) => {
		const editor = new Editor();
		editor.text = text;
		for (const name of keys) editor.key(name.length === 1 ? { name: "text", text: name } : { name });
		return editor.text;
	};

	test.each([
		["abc", ["backspace"], "ab"],
		["a👩‍👩‍👧", ["backspace"], "a"],
		["abc", ["home", "delete", "x"], "xbc"],
		["one two", ["ctrl+w"], "one "],
		["one two", ["alt+b", "x"], "one xtwo"],
		["one\ntwo", ["up", "home", "x"], "xone\ntwo"],
		["日本\nabc", ["up", "x"], "日本x\nabc"],
		["👩‍👩‍👧b\nab", ["left", "up", "x"], "👩‍👩‍👧xb\nab"],
		["one\ntwo", ["ctrl+u", "backspace"], "one"],
		["one\ntwo", ["up", "home", "ctrl+k", "ctrl+k"], "two"],
		["\n", ["up", "up", "x"], "x\n"],
		["a\tb", ["left", "left", "delete"], "ab"],
	])("%j and %j give %j", (text, keys, result) => {
		expect(after(text, ...keys)).toBe(result);
	});

	test("the cursor is where the next character goes", () => {
		const editor = new Editor();
		editor.text = "日本語\nab";
		expect(editor.rows(4)).toMatchObject({ row: 2, column: 2 });
		editor.text = "abcd";
		expect(editor.rows(4)).toMatchObject({ row: 1, column: 0 });
		expect(editor.rows(4).rows.length).toBe(2);
	});

	test("history keeps the draft", () => {
		const editor = new Editor();
		for (const text of ["one", "two", "two"]) {
			editor.text = text;
			editor.take();
		}
		editor.text = "draft";
		const seen = ["up", "up", "up", "down", "down", "down"].map((name) => {
			editor.key({ name });
			return editor.text;
		});
		expect(seen).toEqual(["two", "one", "one", "two", "draft", "draft"]);
	});
});

test("a conversation with content of other programs' kinds is shown without it, or with its kind", () => {
	const strange = { type: "hologram", scene: 1 };
	const conversation = new Conversation();
	conversation.reset([
		{ role: "user", content: [{ type: "text", text: "look" }, strange], timestamp: 1 },
		{ role: "assistant", content: [strange, { type: "text", text: "seen" }], timestamp: 2 },
	] as never);
	expect(conversation.items).toMatchObject([{ text: "look\n[hologram]" }, { kind: "text", text: "seen" }]);
});

describe("looking back", () => {
	const look = { width: 20, isExpanded: false };
	function talk(count: number): Conversation {
		const conversation = new Conversation();
		for (let index = 0; index < count; index++) conversation.notice("info", `line ${index}`);
		return conversation;
	}
	const shown = (viewport: Viewport, { items }: Conversation) => plain(viewport.rows(items, look, 5)).filter(Boolean);

	test("what is seen stays while more is said, and the end is followed again", () => {
		const viewport = new Viewport();
		const conversation = talk(10);
		expect(shown(viewport, conversation)).toEqual(["line 7", "line 8", "line 9"]);
		viewport.scroll(conversation.items, look, 5, 4);
		expect(shown(viewport, conversation)).toEqual(["line 5", "line 6", "line 7"]);
		conversation.notice("info", "more");
		expect(shown(viewport, conversation)).toEqual(["line 5", "line 6", "line 7"]);
		viewport.scroll(conversation.items, look, 5, 1000);
		expect(shown(viewport, conversation)).toEqual(["line 0", "line 1", "line 2"]);
		viewport.scroll(conversation.items, look, 5, -1000);
		expect([viewport.isAtEnd, shown(viewport, conversation)]).toEqual([true, ["line 8", "line 9", "more"]]);
	});

	test("there may be nothing to look back to", () => {
		for (const count of [0, 1, 2]) {
			const viewport = new Viewport();
			const conversation = talk(count);
			viewport.scroll(conversation.items, look, 5, 3);
			expect([viewport.isAtEnd, viewport.rows(conversation.items, look, 5).length]).toEqual([true, 5]);
		}
	});
});
