/** The path that rules and modes judge is the one that a tool writes to, whatever links a project holds. */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { realTarget } from "../../src/lib/real-path.ts";
import { atomicWrite } from "../../src/tools/atomic-write.ts";

let folder: string;
beforeEach(() => {
	folder = realpathSync.native(mkdtempSync(join(tmpdir(), "bowline-real-path-")));
	mkdirSync(join(folder, "home/project/a/b/c"), { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));
const at = (name: string) => join(folder, "home/project", name);

/** Writes through a path, and says where the text is. */
async function written(path: string, places: readonly string[]): Promise<string[]> {
	await atomicWrite(at(path), Buffer.from("written"));
	return places.map(at).filter((place) => realpathOrNone(place) === place);
}
function realpathOrNone(path: string): string | undefined {
	try {
		return realpathSync.native(path);
	} catch {
		return undefined;
	}
}

test("a file of the project that links lead to is not taken for one in the home", async () => {
	const home = join(folder, "home/.profile");
	for (const path of [home, at(".profile")]) writeFileSync(path, "old");
	mkdirSync(at("in"));
	symlinkSync("../a/b/c", at("in/way"));
	symlinkSync("../../../.profile", at("a/b/c/notes"));
	expect(await realTarget(at("in/way/notes"))).toBe(at(".profile"));
	expect(await written("in/way/notes", [".profile"])).toEqual([at(".profile")]);
	expect([readFileSync(home, "utf8"), readFileSync(at(".profile"), "utf8")]).toEqual(["old", "written"]);
});

test("a missing file is judged where a write would make it: behind links in folders, and behind two dots after a link", async () => {
	symlinkSync("../../..", at("a/b/c/up"));
	symlinkSync("../new", at("leads-out"));
	symlinkSync("a/b/c/up/../from-up", at("dots"));
	const cases = { "a/b/c/up/leads-out": "../new", dots: "../from-up", "a/b/c/up/plain": "plain", "a/missing/deep": "a/missing/deep" };
	for (const [path, place] of Object.entries(cases)) {
		expect(await realTarget(at(path))).toBe(at(place));
		expect(await written(path, [place])).toEqual([at(place)]);
	}
});
