import { chmodSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { cpuOf } from "../cpu.ts";
import { textOf, workbench } from "./workbench.ts";

const bench = workbench();
const content = (path: string) => readFileSync(join(bench.cwd, path));

/** Edits a fresh file and gives what is in it afterwards. */
async function edited(before: string | Buffer, ...edits: [oldText: string, newText: string][]): Promise<string> {
	bench.file("f.txt", before);
	await bench.run("edit", { path: "f.txt", edits: edits.map(([oldText, newText]) => ({ oldText, newText })) });
	return content("f.txt").toString();
}

describe("what an edit does", () => {
	test("replaces the text and shows how", async () => {
		const lines = Array.from({ length: 20 }, (_, at) => `line ${at + 1}`);
		bench.file("shown.txt", `${lines.join("\n")}\n`);
		const result = await bench.run("edit", { path: "shown.txt", edits: [{ oldText: "line 10\n", newText: "ten\nand more\n" }] });
		expect(textOf(result)).toBe("Edited shown.txt: 1 replacement");
		expect(result.details).toEqual({
			diff: [
				" ...",
				"  6 line 6",
				"  7 line 7",
				"  8 line 8",
				"  9 line 9",
				"-10 line 10",
				"+10 ten",
				"+11 and more",
				" 12 line 11",
				" 13 line 12",
				" 14 line 13",
				" 15 line 14",
				" ...",
			].join("\n"),
			firstChangedLine: 10,
			patch: [
				"--- a/shown.txt",
				"+++ b/shown.txt",
				"@@ -6,9 +6,10 @@",
				" line 6",
				" line 7",
				" line 8",
				" line 9",
				"-line 10",
				"+ten",
				"+and more",
				" line 11",
				" line 12",
				" line 13",
				" line 14",
				"",
			].join("\n"),
		});
	});

	test("the patch is one that git takes", async () => {
		bench.file("p/file.txt", "a\nb\nc");
		const { details } = await bench.run("edit", { path: "p/file.txt", edits: [{ oldText: "c", newText: "d\n" }] });
		bench.file("p/file.txt", "a\nb\nc");
		bench.file("change.patch", (details as { patch: string }).patch);
		await bench.run("bash", { command: "git apply change.patch" });
		expect(content("p/file.txt").toString()).toBe("a\nb\nd\n");
	});

	test("several edits all refer to the file as it was", async () => {
		expect(await edited("a b c\n", ["a", "b"], ["b", "c"], ["c", "a"])).toBe("b c a\n");
		expect(await edited("one two", ["two", "2"], ["one ", ""])).toBe("2");
	});

	test("dollar signs and backslashes are only text", async () => {
		expect(await edited("price", ["price", "$& $1 \\n"])).toBe("$& $1 \\n");
	});

	test("follows links and keeps the mode", async () => {
		const path = bench.file("real.sh", "echo old\n");
		chmodSync(path, 0o755);
		symlinkSync("real.sh", join(bench.cwd, "link.sh"));
		await bench.run("edit", { path: "link.sh", edits: [{ oldText: "old", newText: "new" }] });
		expect([content("real.sh").toString(), statSync(path).mode & 0o777]).toEqual(["echo new\n", 0o755]);
	});
});

describe("what stays as it is", () => {
	test("CRLF, also in the new text", async () => {
		expect(await edited("a\r\nb\r\nc\r\n", ["a\nb", "x\ny\nz"])).toBe("x\r\ny\r\nz\r\nc\r\n");
	});

	test("mixed line ends outside of the edit", async () => {
		expect(await edited("a\r\nb\nc\r\nd\n", ["b\n", "x\ny\n"])).toBe("a\r\nx\ny\nc\r\nd\n");
		expect(await edited("a\nb\r\nc\nd\r\n", ["b\nc", "x\nc"])).toBe("a\nx\r\nc\nd\r\n");
	});

	test("a byte order mark", async () => {
		expect(await edited("\ufeffa\nb", ["a", "x"])).toBe("\ufeffx\nb");
		expect(await edited("\ufeffa\nb", ["\ufeffa", "x"])).toBe("\ufeffx\nb");
	});

	test("the missing final newline", async () => {
		expect(await edited("a\nb", ["a", "x"])).toBe("x\nb");
	});

	test("bytes that are not UTF-8", async () => {
		bench.file("latin.txt", Buffer.from("caf\xe9 \xff\nname = old\n", "latin1"));
		await bench.run("edit", { path: "latin.txt", edits: [{ oldText: "name = old", newText: "name = é" }] });
		expect(content("latin.txt")).toEqual(Buffer.concat([Buffer.from("caf\xe9 \xff\n", "latin1"), Buffer.from("name = é\n")]));
	});
});

describe("text that is nearly right", () => {
	test.each<[name: string, before: string, oldText: string, newText: string, after: string]>([
		["straight for curly quotes", "say “hi” and ‘bye’ — “there”\n“keep”", `say "hi" and 'bye' -`, "said", "said “there”\n“keep”"],
		["whitespace at line ends", "a  \nb\t\nc  \n", "a\nb\nc", "x", "x  \n"],
		["special spaces", "a\u00a0b\u3000c \u00a0d", "a b c", "x", "x \u00a0d"],
		["dashes", "1–2 — 3 − 4", "1-2 - 3 - 4", "x", "x"],
		["compatibility forms", "ﬁne ｆｕｌｌ ½ …", "fine full", "x", "x ½ …"],
		["composed for decomposed accents", "cafe\u0301 e\u0301!", "café é", "x", "x!"],
		["across CRLF", "“a”  \r\n“b”\r\n“c”\r\n", `"a"\n"b"`, "x\ny", "x\r\ny\r\n“c”\r\n"],
	])("%s", async (_name, before, oldText, newText, after) => {
		expect(await edited(before, [oldText, newText])).toBe(after);
	});

	test("a piece of one character is not enough", async () => {
		await expect(edited("ﬁne", ["ine", "x"])).rejects.toThrow("was not found");
	});
});

describe("what is refused", () => {
	test.each<[name: string, before: string, edits: [string, string][], message: string]>([
		["text that is not there", "abc", [["x", "y"]], "oldText was not found in f.txt. It must match the file exactly, including whitespace"],
		["text that is there twice", "ab ab ab", [["ab", "y"]], "oldText occurs 3 times in f.txt. Add lines around it"],
		["overlapping places count", "aaa", [["aa", "y"]], "oldText occurs 2 times"],
		["text that nearly occurs twice", "“a” ‘a’ “a”", [['"a"', "y"]], "oldText occurs 2 times"],
		["empty text", "abc", [["", "y"]], "oldText is empty"],
		["nothing but whitespace that is not there", "abc", [["  \n ", "y"]], "oldText was not found"],
		[
			"one of several: its index is named",
			"abc",
			[
				["a", "x"],
				["q", "y"],
			],
			"edits[1].oldText was not found",
		],
		[
			"edits that overlap",
			"abcdef",
			[
				["cde", "x"],
				["f", "z"],
				["abc", "y"],
			],
			"edits[0] and edits[2] overlap in f.txt",
		],
		["an edit that changes nothing", "abc", [["b", "b"]], "Nothing would change in f.txt"],
		["any edit of an empty file", "", [["a", "b"]], "was not found"],
	])("%s", async (_name, before, edits, message) => {
		await expect(edited(before, ...edits)).rejects.toThrow(message);
		expect(content("f.txt").toString()).toBe(before);
	});

	test("a file that is not there, and a directory", async () => {
		const edits = [{ oldText: "a", newText: "b" }];
		await expect(bench.run("edit", { path: "missing.txt", edits })).rejects.toThrow("No such file or directory: missing.txt");
		await expect(bench.run("edit", { path: ".", edits })).rejects.toThrow(". cannot be edited: it is not a regular file.");
	});
});

test.each([
	["the old pair", { path: "f.txt", oldText: "a", newText: "x" }],
	["one object", { path: "f.txt", edits: { oldText: "a", newText: "x" } }],
	["JSON text", { path: "f.txt", edits: '[{"oldText":"a","newText":"x"}]' }],
])("arguments as %s are understood", async (_name, args) => {
	bench.file("f.txt", "abc");
	await bench.run("edit", args);
	expect(content("f.txt").toString()).toBe("xbc");
});

test("arguments that make no sense are left for validation to explain", () => {
	const adapt = bench.tool("edit").adapt as (args: Record<string, unknown>) => Record<string, unknown>;
	expect([adapt({ path: "a" }), adapt({ path: "a", edits: "no json" })]).toEqual([{ path: "a" }, { path: "a", edits: ["no json"] }]);
});

test("edits of one file at the same time all land", async () => {
	bench.file("busy.txt", Array.from({ length: 20 }, (_, at) => `<${at}>`).join(" "));
	await Promise.all(Array.from({ length: 20 }, (_, at) => bench.run("edit", { path: "busy.txt", oldText: `<${at}>`, newText: `[${at}]` })));
	expect(content("busy.txt").toString()).toBe(Array.from({ length: 20 }, (_, at) => `[${at}]`).join(" "));
});

test("a huge rewrite is still answered in time", async () => {
	const word = (seed: number) => (Math.imul(seed, 2654435761) >>> 0).toString(36);
	const before = Array.from({ length: 15_000 }, (_, at) => word(at)).join("\n");
	const after = Array.from({ length: 15_000 }, (_, at) => word(at + 50_000)).join("\n");
	bench.file("big.txt", before);
	let details: unknown;
	const spent = await cpuOf(async () => {
		({ details } = await bench.run("edit", { path: "big.txt", edits: [{ oldText: before, newText: after }] }));
	});
	expect(spent).toBeLessThan(8000);
	expect(details).toMatchObject({ firstChangedLine: 1, diff: expect.stringContaining(`+    1 ${word(50_000)}\n`) });
});
