import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { findTool } from "../../src/tools/find.ts";
import { grepTool } from "../../src/tools/grep.ts";
import { ripgrepFinder } from "../../src/tools/ripgrep.ts";
import { isRunning } from "../lib/shell/processes.ts";
import { textOf, workbench } from "./workbench.ts";

const bench = workbench();
const ripgrep = ripgrepFinder(bench.options);

// A tree with everything that makes searching hard.
bench.file(".gitignore", "ignored/\n*.log\n!keep.log\n/anchored.txt\n");
bench.file("src/main.ts", "import x\nconst needle = 1;\n// Needle again\n");
bench.file("src/deep/er/main.test.ts", "needle here\n");
bench.file("src/.gitignore", "local.txt\n!anchored.txt\n");
bench.file("src/local.txt", "needle\n");
bench.file("src/anchored.txt", "needle\n");
bench.file("anchored.txt", "needle\n");
bench.file("ignored/a.ts", "needle\n");
bench.file("debug.log", "needle\n");
bench.file("keep.log", "needle\n");
bench.file(".hidden/.secret", "needle\n");
bench.file(".git/config", "needle\n");
bench.file("sub/.ignore", "skipped\n");
bench.file("sub/skipped", "needle\n");
bench.file("sub/.rgignore", "!debug.log\n");
bench.file("sub/debug.log", "needle\n");
bench.file("binary.bin", Buffer.from("needle\0needle\n"));
bench.file("crlf.txt", "first\r\nneedle\r\nlast\r\n");
bench.file("-dash.txt", "--needle\n-e\n");
bench.file('odd/sp ace\'s "q".txt', "needle (x) [y] $z\n");
bench.file("odd/new\nline.txt", "needle\n");
bench.file("odd/ünï😀.txt", "näedle NÄEDLE\n");
mkdirSync(join(bench.cwd, "empty"));
symlinkSync("src", join(bench.cwd, "linked"));

const ways = [
	["with ripgrep", ripgrep],
	["without ripgrep", async () => undefined],
] as const;

test("the ripgrep that is used here is real", async () => {
	expect(await ripgrep()).toMatch(/rg$/);
});

test("BOWLINE_RG comes before PATH, and what cannot be run is passed over", async () => {
	const first = join(bench.cwd, "bin1/rg");
	const second = join(bench.cwd, "bin2/rg");
	for (const path of [first, second]) {
		mkdirSync(join(path, ".."), { recursive: true });
		writeFileSync(path, "#!/bin/sh\n");
		chmodSync(path, 0o755);
	}
	const found = (environment: Record<string, string>) => ripgrepFinder({ environment: () => environment })();
	expect(await found({ BOWLINE_RG: first, PATH: join(bench.cwd, "bin2") })).toBe(first);
	expect(await found({ BOWLINE_RG: "/no/rg", PATH: `/nowhere:${join(bench.cwd, "bin2")}` })).toBe(second);
	expect(await found({ PATH: "/nowhere" })).toMatch(/node_modules\/@vscode\/ripgrep/);
	for (const path of [first, second]) chmodSync(path, 0o644);
	expect(await found({ BOWLINE_RG: first, PATH: "/nowhere" })).not.toBe(first);
});

describe.each(ways)("%s", (_name, finder) => {
	const run = async (tool: "grep" | "find", args: Record<string, unknown>, signal = new AbortController().signal) => {
		const made = tool === "grep" ? grepTool(bench.options, finder) : findTool(bench.options, finder);
		return made.execute({ toolCallId: "t", args, signal, onUpdate: () => undefined });
	};
	const grep = async (args: Record<string, unknown>) => textOf(await run("grep", args)).split("\n");
	const find = async (args: Record<string, unknown>) => textOf(await run("find", args)).split("\n");

	test("grep finds what is not ignored, hidden files included", async () => {
		expect(await grep({ pattern: "^needle$" })).toEqual([
			".hidden/.secret:1: needle",
			"crlf.txt:2: needle",
			"keep.log:1: needle",
			"odd/new",
			"line.txt:1: needle",
			"src/anchored.txt:1: needle",
			"sub/debug.log:1: needle",
		]);
	});

	test.each<[name: string, args: Record<string, unknown>, lines: string[]]>([
		["a regular expression", { pattern: "need(le|ed) (=|here)" }, ["src/deep/er/main.test.ts:1: needle here", "src/main.ts:2: const needle = 1;"]],
		["without case", { pattern: "NEEDLE AGAIN", ignoreCase: true }, ["src/main.ts:3: // Needle again"]],
		["case in other languages", { pattern: "näedle n", ignoreCase: true }, ["odd/ünï😀.txt:1: näedle NÄEDLE"]],
		["plain text", { pattern: "(x) [y] $z", literal: true }, ['odd/sp ace\'s "q".txt:1: needle (x) [y] $z']],
		["a pattern with a leading dash", { pattern: "--needle" }, ["-dash.txt:1: --needle"]],
		["a pattern that looks like an option", { pattern: "-e", literal: true }, ["-dash.txt:2: -e"]],
		["a glob", { pattern: "needle", glob: "*.test.ts" }, ["src/deep/er/main.test.ts:1: needle here"]],
		["a glob with a path", { pattern: "needle", glob: "src/*.ts" }, ["src/main.ts:2: const needle = 1;"]],
		["a glob with alternatives", { pattern: "^needle$", glob: "*.{log,nope}" }, ["keep.log:1: needle", "sub/debug.log:1: needle"]],
		["a glob with a path and alternatives", { pattern: "needle", glob: "{src,odd}/**/*.{test.ts,log}" }, ["src/deep/er/main.test.ts:1: needle here"]],
		["a glob for all below", { pattern: "needle", glob: "src/deep/**" }, ["src/deep/er/main.test.ts:1: needle here"]],
		["a glob that brings back nothing ignored", { pattern: "needle", glob: "debug.log" }, ["sub/debug.log:1: needle"]],
		["a glob that leaves out", { pattern: "^needle$", glob: "!{odd,sub,.hidden,src}" }, ["crlf.txt:2: needle", "keep.log:1: needle"]],
		["a directory", { pattern: "needle", path: "src/deep" }, ["er/main.test.ts:1: needle here"]],
		["a single file", { pattern: "needle", path: "./-dash.txt" }, ["-dash.txt:1: --needle"]],
		["a file with an odd name", { pattern: "needle", path: 'odd/sp ace\'s "q".txt' }, ['sp ace\'s "q".txt:1: needle (x) [y] $z']],
		["a directory that is ignored but asked for", { pattern: "needle", path: "ignored" }, ["a.ts:1: needle"]],
		["lines around", { pattern: "needle", path: "crlf.txt", context: 1 }, ["crlf.txt-1- first", "crlf.txt:2: needle", "crlf.txt-3- last"]],
		["an expression with flags in front", { pattern: "(?i)NEEDLE AGAIN" }, ["src/main.ts:3: // Needle again"]],
		["a pattern over two lines", { pattern: "import.*\nconst" }, ["src/main.ts:1: import x", "src/main.ts:2: const needle = 1;"]],
		[
			"an escaped newline",
			{ pattern: "1;\\n//", context: 1 },
			["src/main.ts-1- import x", "src/main.ts:2: const needle = 1;", "src/main.ts:3: // Needle again"],
		],
		["plain text over two lines, with CRLF", { pattern: "e\r\nlast", literal: true, path: "crlf.txt" }, ["crlf.txt:2: needle", "crlf.txt:3: last"]],
		["nothing", { pattern: "no such thing" }, ["No matches found"]],
	])("grep: %s", async (_name, args, lines) => {
		expect(await grep(args)).toEqual(lines);
	});

	test("grep: a broken pattern is an error", async () => {
		await expect(run("grep", { pattern: "(unclosed" })).rejects.toThrow(/unclosed|Unterminated/);
	});

	test("grep: more than the limit", async () => {
		bench.file("many/a.txt", Array.from({ length: 30 }, (_, at) => `hit ${at}\nother ${at}\nthird ${at}`).join("\n"));
		const result = await run("grep", { pattern: "^hit", limit: 10, context: 1 });
		expect(
			textOf(result)
				.split("\n")
				.filter((line) => line.includes(": hit")),
		).toHaveLength(10);
		expect(textOf(result)).toContain("many/a.txt-29- other 9");
		expect(textOf(result)).not.toContain("third 9");
		expect(textOf(result)).toMatch(/\n\n\[First 10 matches; ask with limit=20 for more, or narrow the search\]$/);
		expect(result.details).toEqual({ matchLimitReached: 10 });
		expect((await run("grep", { pattern: "^hit", limit: 30 })).details).toEqual({});
	});

	test("grep: long lines and large results are cut, and both are said", async () => {
		bench.file("wide/a.txt", `${"y".repeat(499)}😀${"y".repeat(100)}\n`.repeat(150));
		const result = await run("grep", { pattern: "yyy", path: "wide", limit: 150 });
		expect(textOf(result)).toMatch(/^a\.txt:1: y{499}…\n/);
		expect(textOf(result)).toMatch(/\[cut at 50\.0KB\. some lines were cut at 500 characters; use read to see them whole\]$/);
		expect(result.details).toMatchObject({ linesTruncated: true, truncation: { truncatedBy: "bytes" } });
	});

	test.each<[name: string, args: Record<string, unknown>, paths: string[]]>([
		["names", { pattern: "*.ts" }, ["src/deep/er/main.test.ts", "src/main.ts"]],
		[
			"hidden ones, directories with a slash",
			{ pattern: ".*" },
			[".gitignore", ".hidden/", ".hidden/.secret", "src/.gitignore", "sub/.ignore", "sub/.rgignore"],
		],
		["a path from anywhere", { pattern: "er/*.ts" }, ["src/deep/er/main.test.ts"]],
		["a path from the top", { pattern: "src/**/*.ts" }, ["src/deep/er/main.test.ts", "src/main.ts"]],
		["directories", { pattern: "d*e*p" }, ["src/deep/"]],
		["only directories", { pattern: "s*/" }, ["src/", "sub/"]],
		["odd names", { pattern: "*[ \n😀]*", path: "odd" }, ["new", "line.txt", 'sp ace\'s "q".txt', "ünï😀.txt"]],
		["a leading dash", { pattern: "-*" }, ["-dash.txt"]],
		["relative to the searched directory", { pattern: "*.ts", path: "src/deep" }, ["er/main.test.ts"]],
		["neither ignored nor empty nor linked ones", { pattern: "{ignored,empty,linked,skipped,config}" }, ["No files found matching pattern"]],
	])("find: %s", async (_name, args, paths) => {
		expect(await find(args)).toEqual(paths);
	});

	test("find: more than the limit", async () => {
		const result = await run("find", { pattern: "*.t*", limit: 2 });
		expect(textOf(result)).toMatch(/^\S+\n\S+\n\n\[First 2 paths; ask with limit=4 for more, or narrow the pattern\]$/);
		expect(result.details).toEqual({ resultLimitReached: 2 });
	});

	test("find: a file is not a directory", async () => {
		await expect(run("find", { pattern: "*", path: "keep.log" })).rejects.toThrow("keep.log is not a directory");
	});

	test("an aborted search does nothing", async () => {
		await expect(run("grep", { pattern: "x" }, AbortSignal.abort())).rejects.toThrow("Operation aborted");
	});
});

test("both ways list the same files", async () => {
	const lists = await Promise.all(
		ways.map(async ([, finder]) =>
			textOf(
				await findTool(bench.options, finder).execute({
					toolCallId: "t",
					args: { pattern: "*" },
					signal: new AbortController().signal,
					onUpdate: () => undefined,
				}),
			),
		),
	);
	expect(lists[0]).toBe(lists[1]);
});

test("aborting a search ends ripgrep", async () => {
	// Stands for a ripgrep that has a long way to go.
	const slow = join(bench.cwd, "slow-rg");
	const pidFile = join(bench.cwd, "slow.pid");
	writeFileSync(slow, `#!/bin/sh\necho $$ > '${pidFile}'\nexec sleep 100\n`);
	chmodSync(slow, 0o755);
	const abort = new AbortController();
	const run = grepTool(bench.options, async () => slow).execute({
		toolCallId: "t",
		args: { pattern: "x" },
		signal: abort.signal,
		onUpdate: () => undefined,
	});
	let pid = 0;
	while (pid === 0) pid = Number(await bench.text("bash", { command: `cat '${pidFile}' 2>/dev/null || echo 0` }));
	expect(isRunning(pid)).toBe(true);
	abort.abort();
	await expect(run).rejects.toThrow("Operation aborted");
	await vi.waitUntil(() => !isRunning(pid), { timeout: 10_000 });
});

describe("ls", () => {
	test("lists by name whatever the case, directories with a slash, hidden ones too", async () => {
		for (const name of ["b.txt", "A.txt", ".dot", "c/x", "-d"]) bench.file(`list/${name}`, "");
		symlinkSync("c", join(bench.cwd, "list/link"));
		symlinkSync("nowhere", join(bench.cwd, "list/broken"));
		expect((await bench.text("ls", { path: "list" })).split("\n")).toEqual(["-d", ".dot", "A.txt", "b.txt", "c/", "link/"]);
	});

	test("more than the limit", async () => {
		for (let at = 0; at < 5; at += 1) bench.file(`five/${at}`, "");
		const result = await bench.run("ls", { path: "five", limit: 3 });
		expect(textOf(result)).toBe("0\n1\n2\n\n[3 of 5 entries; ask with limit=6 for more]");
		expect(result.details).toEqual({ entryLimitReached: 3 });
	});

	test("nothing, and what is not a directory", async () => {
		expect(await bench.text("ls", { path: "empty" })).toBe("(empty directory)");
		await expect(bench.run("ls", { path: "keep.log" })).rejects.toThrow("keep.log is not a directory");
		await expect(bench.run("ls", { path: "missing" })).rejects.toThrow("No such file or directory: missing");
	});
});
