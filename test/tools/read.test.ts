import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { textOf, workbench } from "./workbench.ts";

const bench = workbench();
const numbered = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}`).join("\n");

describe("text", () => {
	test("comes as it is, without numbers", async () => {
		bench.file("plain.txt", "one\n\ttwo\r\nthree");
		expect(await bench.run("read", { path: "plain.txt" })).toEqual({ content: [{ type: "text", text: "one\n\ttwo\r\nthree" }] });
	});

	test("of an empty file is empty, and a byte order mark is not text", async () => {
		bench.file("empty", "");
		bench.file("marked", "\ufeffhello\n");
		expect([await bench.text("read", { path: "empty" }), await bench.text("read", { path: "marked" })]).toEqual(["", "hello\n"]);
	});

	test("a part of it, with the way to the rest", async () => {
		bench.file("ten.txt", `${numbered(10)}\n`);
		expect(await bench.text("read", { path: "ten.txt", offset: 3, limit: 2 })).toBe("line 3\nline 4\n\n[6 more lines. Continue with offset=5.]");
		expect(await bench.text("read", { path: "ten.txt", offset: 9, limit: 5 })).toBe("line 9\nline 10\n");
		expect(await bench.text("read", { path: "ten.txt", limit: 10 })).toBe(`${numbered(10)}\n`);
		expect(await bench.text("read", { path: "ten.txt", offset: 9, limit: 1 })).toBe("line 9\n\n[1 more line. Continue with offset=10.]");
	});

	test("an offset beyond the end names the number of lines", async () => {
		bench.file("ten.txt", `${numbered(10)}\n`);
		await expect(bench.run("read", { path: "ten.txt", offset: 11 })).rejects.toThrow("Offset 11 is beyond the end of ten.txt, which has 10 lines.");
	});

	test("too many lines: the first 2000, the total and where to go on", async () => {
		bench.file("long.txt", numbered(5000));
		const result = await bench.run("read", { path: "long.txt", offset: 1001 });
		const shown = numbered(5000).split("\n").slice(1000, 3000).join("\n");
		expect(textOf(result)).toBe(`${shown}\n\n[Lines 1001-3000 of 5000. Continue with offset=3001.]`);
		expect(result.details).toMatchObject({
			truncation: { truncated: true, truncatedBy: "lines", totalLines: 4000, outputLines: 2000, maxLines: 2000 },
		});
	});

	test("too many bytes: whole lines within 50 KB", async () => {
		bench.file("wide.txt", Array.from({ length: 900 }, (_, at) => `${at} ${"é".repeat(50)}`).join("\n"));
		const result = await bench.run("read", { path: "wide.txt" });
		const { truncation } = result.details as { truncation: { outputLines: number; outputBytes: number; totalBytes: number } };
		expect(truncation.outputBytes).toBeLessThanOrEqual(51200);
		expect(truncation.outputBytes + 105).toBeGreaterThan(51200);
		expect(textOf(result)).toMatch(
			new RegExp(`\\[Lines 1-${truncation.outputLines} of 900, cut at the 50.0KB limit. Continue with offset=${truncation.outputLines + 1}.\\]$`),
		);
	});

	test("a first line that is too large gives only the way to look at it", async () => {
		bench.file("it's.txt", `short\n${"x".repeat(60_000)}\nend\n`);
		const result = await bench.run("read", { path: "it's.txt", offset: 2 });
		expect(textOf(result)).toMatch(/^\[Line 2 has 58\.6KB, more than the 50\.0KB .* sed -n '2p' 'it'\\''s\.txt' \| head -c 51200\]$/);
		expect(result.details).toMatchObject({ truncation: { firstLineExceedsLimit: true } });
	});

	test("a large file is read in passing", async () => {
		bench.file("huge.txt", Buffer.alloc(30_000_000, "0123456789abcde\n"));
		const before = process.memoryUsage().arrayBuffers;
		expect(await bench.text("read", { path: "huge.txt", offset: 1_000_001, limit: 1 })).toBe(
			"0123456789abcde\n\n[874999 more lines. Continue with offset=1000002.]",
		);
		expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(10_000_000);
	});
});

describe("what is not text", () => {
	test("is refused with type and size", async () => {
		bench.file("a.bin", Buffer.from([1, 2, 0, 3]));
		bench.file("a.zip", Buffer.from("PK\x03\x04\0\0"));
		bench.file("utf16.txt", Buffer.from("\ufeffhello", "utf16le"));
		await expect(bench.run("read", { path: "a.bin" })).rejects.toThrow("a.bin is not text but binary data, 4B.");
		await expect(bench.run("read", { path: "a.zip" })).rejects.toThrow("a.zip is not text but a ZIP archive");
		await expect(bench.run("read", { path: "utf16.txt" })).rejects.toThrow("iconv -f UTF-16");
	});

	test("a directory or a device is refused", async () => {
		mkdirSync(join(bench.cwd, "folder"), { recursive: true });
		await expect(bench.run("read", { path: "folder" })).rejects.toThrow("folder is a directory");
		await expect(bench.run("read", { path: "/dev/zero" })).rejects.toThrow("/dev/zero is not a regular file");
	});
});

describe("paths as models write them", () => {
	test.each([
		["@marked.txt", "marked.txt"],
		["@scope/real.txt", "@scope/real.txt"],
		["-dash.txt", "-dash.txt"],
		["with space.txt", "with space.txt"],
		["with\u00a0space.txt", "with space.txt"],
		['quote\'s "two".txt', 'quote\'s "two".txt'],
		["Shot at 9.41 AM.png.txt", "Shot at 9.41\u202fAM.png.txt"],
		["curly's.txt", "curly\u2019s.txt"],
		["caf\u00e9.txt", "cafe\u0301.txt"],
		["l'\u00e9t\u00e9.txt", "l\u2019e\u0301te\u0301.txt"],
	])("%s finds %s", async (asked, real) => {
		bench.file(real, `content of ${real}`);
		expect(await bench.text("read", { path: asked })).toBe(`content of ${real}`);
	});

	test("a missing file is named as it was asked for", async () => {
		await expect(bench.run("read", { path: "no/such.txt" })).rejects.toThrow("No such file or directory: no/such.txt");
	});

	test("~ is the home directory", async () => {
		await expect(bench.run("read", { path: "~" })).rejects.toThrow("~ is a directory");
	});

	test("a link that leads nowhere says so", async () => {
		symlinkSync("nowhere", join(bench.cwd, "dangling"));
		await expect(bench.run("read", { path: "dangling" })).rejects.toThrow("ENOENT");
	});
});

test("an aborted call does nothing", async () => {
	await expect(bench.run("read", { path: "x" }, { signal: AbortSignal.abort() })).rejects.toThrow("Operation aborted");
});

const lost = workbench({ cwd: "/no/such/directory" });

test("a working directory that is gone is said to be gone", async () => {
	for (const [name, args] of [
		["read", { path: "a" }],
		["write", { path: "a", content: "" }],
		["edit", { path: "a", oldText: "x", newText: "y" }],
		["ls", {}],
		["find", { pattern: "*" }],
		["grep", { pattern: "x" }],
	] as const) {
		await expect(lost.run(name, args), name).rejects.toThrow("The working directory does not exist any more: /no/such/directory");
	}
});
