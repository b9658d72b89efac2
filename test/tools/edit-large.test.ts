/** Edits of large files, and large edits: the result says what happened to the file, and nothing else has to wait for it. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { editDiff } from "../../src/tools/edit-diff.ts";
import { textOf, workbench } from "./workbench.ts";

const bench = workbench();

test("a change of 70,000 lines", async () => {
	const before = Array.from({ length: 70_000 }, (_, index) => `line ${index}`).join("\n");
	const path = bench.file("many-lines.txt", before);
	const after = before.replaceAll("line", "row");
	const result = await bench.run("edit", { path: "many-lines.txt", edits: [{ oldText: before, newText: after }] });
	expect(textOf(result)).toBe("Edited many-lines.txt: 1 replacement");
	expect(readFileSync(path, "utf8")).toBe(after);
	const { diff, patch, firstChangedLine } = result.details as Awaited<ReturnType<typeof editDiff>>;
	expect(firstChangedLine).toBe(1);
	expect(diff.length).toBeLessThan(600_000);
	expect(diff).toMatch(/ \.\.\. \d+ more lines$/);
	expect(patch.length).toBeLessThan(5_000_000);
});

test("5,000 edits in one call", async () => {
	const lines = Array.from({ length: 20_000 }, (_, index) => `<${index}>`);
	const path = bench.file("many-edits.txt", lines.join("\n"));
	const edits = Array.from({ length: 5000 }, (_, index) => ({ oldText: `<${index * 4}>`, newText: `[${index}]` }));
	expect(await bench.text("edit", { path: "many-edits.txt", edits })).toBe("Edited many-edits.txt: 5000 replacements");
	expect(readFileSync(path, "utf8").split("\n").slice(0, 5)).toEqual(["[0]", "<1>", "<2>", "<3>", "[1]"]);
});

test("a patch that is larger than a session should hold is left out", async () => {
	const { patch, diff } = await editDiff("f", "a\n".repeat(2_000_000), "b\n".repeat(2_000_000));
	expect([patch, diff.length < 600_000]).toEqual(["", true]);
});

test("a text that is not in 30 MB: the others have their turn, and an abort ends it", async () => {
	bench.file("large.txt", `${"some words that occur often\n".repeat(1_100_000)}the end\n`);
	const heap = process.memoryUsage().heapUsed;
	let turns = 0;
	const timer = setInterval(() => {
		turns += 1;
	}, 5);
	const edits = Array.from({ length: 40 }, (_, index) => ({ oldText: `words that never occur ${index}`, newText: "x" }));
	await expect(bench.run("edit", { path: "large.txt", edits: edits.slice(0, 1) })).rejects.toThrow(/was not found/);
	expect(process.memoryUsage().heapUsed - heap).toBeLessThan(400_000_000);
	const abort = new AbortController();
	const run = bench.run("edit", { path: "large.txt", edits: [{ oldText: "the end", newText: "x" }, ...edits] }, { signal: abort.signal });
	setTimeout(() => abort.abort(), 1);
	await expect(run).rejects.toThrow(/Operation aborted|was not found/);
	clearInterval(timer);
	expect(turns).toBeGreaterThan(1);
	await expect(bench.run("edit", { path: "large.txt", edits: [{ oldText: "often", newText: "x" }] })).rejects.toThrow(
		"oldText occurs more than 1000 times in large.txt",
	);
});

test.runIf(process.platform === "linux")("files without end are refused, and memory does not grow", async () => {
	const endless = ["/proc/self/pagemap", "/proc/self/mem"];
	for (const path of endless) await expect(bench.run("edit", { path, edits: [{ oldText: "a", newText: "b" }] })).rejects.toThrow();
	for (const path of endless) await expect(bench.run("read", { path })).rejects.toThrow();
	expect(process.memoryUsage.rss()).toBeLessThan(1_500_000_000);
});
