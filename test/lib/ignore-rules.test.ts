/** Ignore rules mean what they mean to git, and cost time in proportion to their length. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { expandBraces, matchesParts, pathGlob } from "../../src/lib/glob.ts";
import { type IgnoreRules, ignoreRules } from "../../src/lib/ignore-rules.ts";

const folder = mkdtempSync(join(tmpdir(), "bowline-ignore-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function rulesOf(text: string): IgnoreRules {
	const rules = ignoreRules(text);
	if ("problem" in rules) throw new Error(rules.problem);
	return rules;
}

const paths = [
	"a.txt",
	"a.TXT",
	"b/a.txt",
	"b/c/a.txt",
	"b/c/d/e.ts",
	"build/out.js",
	"src/build/x.js",
	"src/a b.txt",
	"src/[x].txt",
	"src/q1.txt",
	"src/q22.txt",
	"#hash",
	"!bang",
	"keep/x/y.log",
	"foo/bar",
	"deep/foo/bar",
	"trailing ",
	"star*name",
	"é.txt",
	"😀x",
];

const texts = [
	"*.txt",
	"/a.txt",
	"b/",
	"build",
	"/build/",
	"b/**",
	"**/c",
	"b/**/e.ts",
	"**/foo/bar",
	"foo/bar",
	"src/[[]x].txt",
	"src/q[0-9].txt",
	"src/q[!0-9]*.txt",
	"src/q[[:digit:]]?.txt",
	"\\#hash",
	"\\!bang",
	"# comment\n\n*.log",
	"*.txt\n!b/a.txt",
	"*\n!*/\n!*.ts",
	"trailing\\ ",
	"trailing   ",
	"star\\*name",
	"src/a b.txt",
	"**",
	"/**",
	"*/a.txt",
	"b/*/a.txt",
	"[",
	"!",
	"/",
	"keep/*\n!keep/x",
	"*.txt\r\n!a.txt\r\n",
	"\ufeffa.txt",
];

describe("as git reads them", () => {
	execFileSync("git", ["init", "-q", folder]);
	for (const path of paths) {
		mkdirSync(dirname(join(folder, path)), { recursive: true });
		writeFileSync(join(folder, path), "");
	}

	test.each(texts)("%j", (text) => {
		writeFileSync(join(folder, ".gitignore"), text);
		let output = "";
		try {
			output = execFileSync("git", ["-C", folder, "check-ignore", "--no-index", "-z", "--stdin"], {
				encoding: "utf8",
				stdio: "pipe",
				input: paths.join("\0"),
			});
		} catch (error) {
			// 1 says that none is ignored.
			if ((error as { status?: number }).status !== 1) throw error;
		}
		const rules = rulesOf(text);
		const isIgnored = (path: string) => {
			const directory = dirname(path);
			return (directory !== "." && rules.ignoresDirectory(directory)) || rules.verdict(path, false) === true;
		};
		expect(paths.filter(isIgnored)).toEqual(output.split("\0").filter(Boolean));
	});
});

test("rules that would take a regular expression for ever take no time", () => {
	const long = Array.from({ length: 200 }, (_, index) => `d${index % 3}`).join("/");
	const hostile = rulesOf(Array.from({ length: 50 }, () => `${"a/**/".repeat(150)}b\n${"*a".repeat(300)}b\n${"**/*/".repeat(150)}x`).join("\n"));
	const start = process.cpuUsage();
	expect(hostile.verdict(`${"a/".repeat(1000)}c`, false)).toBeUndefined();
	expect(hostile.verdict(`${"a".repeat(255)}!`, false)).toBeUndefined();
	expect(hostile.verdict(`${long}/y`, false)).toBeUndefined();
	const { user } = process.cpuUsage(start);
	expect(user / 1000).toBeLessThan(2000);
});

test("a file that is too large, has too many rules or a rule that is too long is not used", () => {
	expect(ignoreRules("a\n".repeat(2001))).toEqual({ problem: "it has more than 2000 rules" });
	expect(ignoreRules(`${"a/".repeat(501)}b`)).toEqual({ problem: "it has a rule of more than 1000 characters" });
	expect(ignoreRules("#".repeat(300_000))).toEqual({ problem: "it is larger than 256 KB" });
	expect(rulesOf("a\n".repeat(2000)).verdict("a", false)).toBe(true);
});

test("braces", () => {
	expect(expandBraces("a.{ts,js}")).toEqual(["a.ts", "a.js"]);
	expect(expandBraces("{a,b{c,d}}/{e,f}")).toEqual(["a/e", "a/f", "bc/e", "bc/f", "bd/e", "bd/f"]);
	expect(expandBraces("a{b}c{")).toEqual(["a{b}c{"]);
	expect(expandBraces("\\{a,b}")).toEqual(["\\{a,b}"]);
	expect(expandBraces("{1..9}")).toBeUndefined();
	expect(expandBraces("{a,b}".repeat(20))).toBeUndefined();
});

test("a double star is for any number of directories, also none", () => {
	const fits = (glob: string, path: string) => matchesParts(pathGlob(glob), path.split("/"));
	expect(["a/b", "a/x/b", "a/x/y/b", "a/b/c"].map((path) => fits("a/**/b", path))).toEqual([true, true, true, false]);
	expect(["b", "x/b", "a/**"].map((path) => fits("**/b", path))).toEqual([true, true, false]);
	expect(["a", "a/b/c", "b"].map((path) => fits("a/**", path))).toEqual([true, true, false]);
});
