/** Searches without ripgrep run where an abort reaches them. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findTool } from "../../src/tools/find.ts";
import type { Found } from "../../src/tools/found-lines.ts";
import { grepTool } from "../../src/tools/grep.ts";
import { recordSplitter } from "../../src/tools/ripgrep.ts";
import { runSearchWorker } from "../../src/tools/search-worker-host.ts";
import { textOf, workbench } from "./workbench.ts";

const bench = workbench();
bench.file("a.txt", "needle\n");
const without = async () => undefined;
const call = (args: Record<string, unknown>, signal = new AbortController().signal) => ({ toolCallId: "t", args, signal, onUpdate: () => undefined });
const explosive = { pattern: "^(a+)+$", directory: bench.cwd, ignoreCase: false, literal: false, context: 0, limit: 100 };

test("a pattern that explodes leaves the thread free, and an abort ends it at once", async () => {
	bench.file("explode.txt", `${"a".repeat(60)}!\n`);
	let turns = 0;
	const timer = setInterval(() => {
		turns += 1;
	}, 5);
	const abort = new AbortController();
	const run = grepTool(bench.options, without).execute(call({ pattern: "^(a+)+$" }, abort.signal));
	setTimeout(() => abort.abort(), 150);
	await expect(run).rejects.toThrow("Operation aborted");
	clearInterval(timer);
	expect(turns).toBeGreaterThan(0);
});

test("a search that takes too long is ended", async () => {
	await expect(runSearchWorker<Found>({ kind: "grep", search: explosive }, new AbortController().signal, 200)).rejects.toThrow(
		"The search took longer than 0.2 s and was ended. Search in fewer places.",
	);
});

test("an ignore file that is not used is named, and the search goes on without it", async () => {
	const directory = join(bench.cwd, "rules");
	mkdirSync(directory);
	writeFileSync(join(directory, ".gitignore"), `${"x/**/y\n".repeat(170_000)}`);
	writeFileSync(join(directory, "b.txt"), "needle\n");
	const found = textOf(await findTool(bench.options, without).execute(call({ pattern: "*.txt", path: "rules" })));
	expect(found).toBe(`b.txt\n\n[${join(directory, ".gitignore")} was not used: it is larger than 256 KB]`);
	const lines = textOf(await grepTool(bench.options, without).execute(call({ pattern: "needle", path: "rules" })));
	expect(lines).toContain("b.txt:1: needle");
	expect(lines).toContain(".gitignore was not used");
});

test("a record without end is skipped, and the next one is read", () => {
	const records: string[] = [];
	const split = recordSplitter(10, (record) => records.push(record.toString()));
	split.push(Buffer.from("one\n"));
	for (let part = 0; part < 10; part += 1) split.push(Buffer.alloc(1024 * 1024, "x"));
	split.push(Buffer.from("\ntwo\nth"));
	split.push(Buffer.from("ree"));
	split.end();
	expect(records).toEqual(["one", "two", "three"]);
});
