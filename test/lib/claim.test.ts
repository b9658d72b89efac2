import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { claim, holderOf } from "../../src/lib/claim.ts";

const own = JSON.stringify(holderOf(process.pid));

function place(): string {
	const directory = mkdtempSync(join(tmpdir(), "bowline-claim-"));
	onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
	return directory;
}

test.each(["", '{"pid":'])("a claim whose process was killed before it had written it (%j) is taken over as soon as it is not fresh", (text) => {
	const directory = place();
	const path = join(directory, "lock");
	writeFileSync(path, text);
	const almostOld = Date.now() / 1000 - 0.8;
	utimesSync(path, almostOld, almostOld);
	expect(claim(path, own)).toBeUndefined();
	expect(readFileSync(path, "utf8")).toBe(own);
	expect(readdirSync(directory)).toEqual(["lock"]);
});

test("a claim of a process that lives is reported, and stays", () => {
	const path = join(place(), "lock");
	const other = JSON.stringify(holderOf(process.ppid));
	writeFileSync(path, other);
	expect(claim(path, own)).toEqual({ text: other, holder: JSON.parse(other) });
	expect(readFileSync(path, "utf8")).toBe(other);
});
