/** Searches that would never end. */
import { execFileSync } from "node:child_process";
import { rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findTool } from "../../src/tools/find.ts";
import { grepTool } from "../../src/tools/grep.ts";
import { ripgrepFinder, runRipgrep } from "../../src/tools/ripgrep.ts";
import { testUnless } from "../unless.ts";
import { textOf, workbench } from "./workbench.ts";

const bench = workbench();
bench.file("a.txt", "needle\n");
const ignore = join(bench.cwd, ".gitignore");
const program = await ripgrepFinder({ environment: () => process.env })();

testUnless((program === undefined || process.platform !== "linux") && "it needs ripgrep on Linux")(
	"an ignore file that is a pipe: the search is ended",
	async () => {
		execFileSync("mkfifo", [ignore]);
		const run = {
			program: program as string,
			args: ["--no-require-git", "needle", "."],
			cwd: bench.cwd,
			separator: 10,
			signal: new AbortController().signal,
		};
		await expect(runRipgrep(bench.options.shell, { ...run, onRecord: () => true }, 300)).rejects.toThrow(
			"The search took longer than 0.3 s and was ended. Search in fewer places.",
		);
		rmSync(ignore);
	},
);

testUnless((program === undefined || process.platform !== "linux") && "it needs ripgrep on Linux")(
	"an ignore file without an end: the search fails before the memory is full",
	async () => {
		symlinkSync("/dev/zero", ignore);
		await expect(bench.text("grep", { pattern: "needle" })).rejects.toThrow("The search was killed.");
		rmSync(ignore);
		expect(await bench.text("grep", { pattern: "needle" })).toContain("a.txt");
	},
);

const ways = [
	["with ripgrep", async () => program],
	["without ripgrep", async () => undefined],
] as const;

describe.each(ways)("a glob that explodes on a name, %s", (_, finder) => {
	const own = workbench();
	own.file(`${"a".repeat(120)}!`, "needle");
	const call = (args: Record<string, unknown>) => ({ toolCallId: "t", args, signal: new AbortController().signal, onUpdate: () => undefined });
	const glob = "+(*a|*aa)b";

	test("find ends with a reason, and goes on with simpler ones", async () => {
		const find = findTool(own.options, finder);
		await expect(find.execute(call({ pattern: glob }))).rejects.toThrow(/^The glob takes too long on a+!: it can match in too many ways\. Use one/);
		expect(textOf(await find.execute(call({ pattern: "*a*a*!" })))).toContain("aaa!");
	});

	test("many wildcards take no time", async () => {
		const find = findTool(own.options, finder);
		expect(textOf(await find.execute(call({ pattern: `${"*a".repeat(30)}b` })))).toBe("No files found matching pattern");
		expect(textOf(await find.execute(call({ pattern: `${"*a".repeat(30)}!` })))).toContain("aaa!");
		expect(textOf(await find.execute(call({ pattern: `${"**/*/".repeat(30)}b` })))).toBe("No files found matching pattern");
	});

	// Ripgrep already excludes what our own test would be asked about.
	test("grep ends with a reason or an answer", async () => {
		const outcome = await grepTool(own.options, finder)
			.execute(call({ pattern: "needle", glob }))
			.then(textOf, (error: Error) => error.message);
		expect(outcome).toMatch(/^The glob takes too long on a+!|^No matches found/);
	});
});
