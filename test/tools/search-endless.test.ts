/** Searches that would never end. */
import { execFileSync } from "node:child_process";
import { rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ripgrepFinder, runRipgrep } from "../../src/tools/ripgrep.ts";
import { workbench } from "./workbench.ts";

const bench = workbench();
bench.file("a.txt", "needle\n");
const ignore = join(bench.cwd, ".gitignore");
const program = await ripgrepFinder({ environment: () => process.env })();

test.runIf(program !== undefined && process.platform === "linux")("an ignore file that is a pipe: the search is ended", async () => {
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
});

test.runIf(program !== undefined && process.platform === "linux")(
	"an ignore file without an end: the search fails before the memory is full",
	async () => {
		symlinkSync("/dev/zero", ignore);
		await expect(bench.text("grep", { pattern: "needle" })).rejects.toThrow("The search was killed.");
		rmSync(ignore);
		expect(await bench.text("grep", { pattern: "needle" })).toContain("a.txt");
	},
);
