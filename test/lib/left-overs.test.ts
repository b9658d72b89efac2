/** Partial files of processes that were killed. */
import { readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { workbench } from "../tools/workbench.ts";

const bench = workbench();

test("they go with the next write to their directory, when no one can be at work on them any more", async () => {
	const [old, fresh, other] = [".bowline-0123456789ab.tmp", ".bowline-ba9876543210.tmp", ".bowline-notes.tmp"] as const;
	for (const name of [old, fresh, other]) writeFileSync(join(bench.cwd, name), "half");
	const anHourAgo = Date.now() / 1000 - 3600;
	for (const name of [old, other]) utimesSync(join(bench.cwd, name), anHourAgo, anHourAgo);
	await bench.text("write", { path: "a.txt", content: "whole" });
	// It is not waited for.
	while (readdirSync(bench.cwd).includes(old)) await new Promise((resolve) => setTimeout(resolve, 10));
	expect(readdirSync(bench.cwd).sort()).toEqual([other, fresh, "a.txt"].sort());
});
