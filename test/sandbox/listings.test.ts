/** What directories hold is read again when they have changed, also when their times do not show it. */
import { mkdirSync, mkdtempSync, rmSync, type Stats, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { ByDirectory, Listings } from "../../src/sandbox/listings.ts";

afterEach(() => void vi.useRealTimers());

const changedAt = (time: number, inode = 1) => ({ isDirectory: () => true, ino: inode, dev: 1, mtimeMs: time, ctimeMs: time }) as Stats;

function counting() {
	let reads = 0;
	return new ByDirectory(() => {
		reads += 1;
		return reads;
	});
}

test("a directory that has not changed is read once; one that has changed or was replaced, again", () => {
	vi.useFakeTimers({ now: 10_000, toFake: ["Date"] });
	const contents = counting();
	expect([contents.get("/d", changedAt(1000)), contents.get("/d", changedAt(1000))]).toEqual([1, 1]);
	expect([contents.get("/d", changedAt(1001)), contents.get("/d", changedAt(1001))]).toEqual([2, 2]);
	expect(contents.get("/d", changedAt(1001, 2))).toBe(3);
	expect(contents.get("/d", { isDirectory: () => false } as Stats)).toBeUndefined();
	expect(contents.get("/d", changedAt(1001, 2))).toBe(4);
});

test("what was read in the moment of a change is not believed later: another change may have the same time", () => {
	vi.useFakeTimers({ now: 10_000, toFake: ["Date"] });
	const contents = counting();
	expect(contents.get("/d", changedAt(9999))).toBe(1);
	vi.setSystemTime(20_000);
	expect([contents.get("/d", changedAt(9999)), contents.get("/d", changedAt(9999))]).toEqual([2, 2]);
});

test("names are found in any case, through a link, and where a directory is missing there are none", () => {
	const folder = mkdtempSync(join(tmpdir(), "bowline-listings-"));
	try {
		mkdirSync(join(folder, "real"));
		for (const name of [".SSH", ".npmrc", "other"]) writeFileSync(join(folder, "real", name), "");
		symlinkSync("real", join(folder, "link"));
		const listings = new Listings();
		const pick = (name: string) => listings.pick(join(folder, name), [".ssh", ".npmrc", ".aws"]);
		expect(pick("link")).toEqual([join(folder, "link/.ssh"), join(folder, "link/.npmrc")]);
		expect(pick("missing")).toEqual([]);
		expect([...listings.names(join(folder, "real"))].sort()).toEqual([".SSH", ".npmrc", "other"]);
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
});
