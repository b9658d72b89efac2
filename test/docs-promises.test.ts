/** The pages about reliability and security promise nothing without a test that exists. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const page = (name: string) => readFileSync(join(root, "docs", name), "utf8");

/** The tests that a text names. A name without a directory is in the directory of the one before it. */
function testsIn(text: string): string[] {
	let directory = "";
	return [...text.matchAll(/`((?:[\w-]+\/)*[\w-]+\.(?:test\.ts|wire)|test\/(?:[\w-]+\/)+)`/g)].map(([, name = ""]) => {
		const path = name.startsWith("test/") ? name : join(directory, name);
		directory = dirname(path);
		return path;
	});
}

/** Rows of the tables that have a column for tests. */
function promises(text: string): string[] {
	const tables = text.match(/^\|.*\|$(\n\|.*\|$)+/gm) ?? [];
	const tested = tables.filter((table) => /tested by \|$/m.test(table.split("\n", 1)[0] ?? ""));
	return tested.flatMap((table) => table.split("\n").slice(2));
}

test.each(["reliability.md", "security.md"])("every test that %s names exists", (name) => {
	const named = testsIn(page(name));
	expect(named.length).toBeGreaterThan(15);
	expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test.each(["reliability.md", "security.md"])("every promise in the tables of %s names its test", (name) => {
	const rows = promises(page(name));
	expect(rows.length).toBeGreaterThan(10);
	const proof = (row: string) => row.split("|").at(-2) ?? "";
	expect(rows.filter((row) => testsIn(proof(row)).length === 0 && !/\btorture\b|npm run bench/.test(proof(row)))).toEqual([]);
});

test("every section of security.md that promises something names a test", () => {
	const [, ...sections] = page("security.md").split(/^## /m);
	expect(sections.filter((section) => !section.startsWith("Not promised") && testsIn(section).length === 0)).toEqual([]);
});
