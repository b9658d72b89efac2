/** Paths through links, followed as the system follows them. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { follow, linkInside } from "../../src/lib/links.ts";

let folder: string;
beforeEach(() => {
	folder = realpathSync(mkdtempSync(join(tmpdir(), "bowline-links-")));
	for (const name of ["work/deep/er", "other/place"]) mkdirSync(join(folder, name), { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const at = (name: string) => join(folder, name);
const wayTo = (name: string) => {
	const { place, links } = follow(`${folder}/${name}`);
	return [place, ...links].map((path) => path.slice(folder.length + 1)).join(" via ");
};

test("every link on the way is found, in parents, in chains and behind relative targets", () => {
	symlinkSync(at("work"), at("first"));
	symlinkSync("first/deep", at("second"));
	symlinkSync("../../other", at("work/deep/out"));
	expect(wayTo("work/deep")).toBe("work/deep");
	expect(wayTo("first/deep/er")).toBe("work/deep/er via first");
	expect(wayTo("second/er")).toBe("work/deep/er via second via first");
	expect(wayTo("second/out/place")).toBe("other/place via second via first via work/deep/out");
	expect(wayTo("work/./deep//er/")).toBe("work/deep/er");
	expect(wayTo("second/missing/name")).toBe("work/deep/missing/name via second via first");
});

test("two dots after a link leave the directory that it leads to, as for the system", () => {
	symlinkSync(at("other/place"), at("work/link"));
	symlinkSync("work/link/../place", at("named"));
	expect(wayTo("work/link/..")).toBe("other via work/link");
	expect(wayTo("named")).toBe("other/place via named via work/link");
	expect(follow(at("named")).place).toBe(realpathSync.native(at("named")));
});

test("links that lead in a circle come to an end", () => {
	symlinkSync(at("work/b"), at("work/a"));
	symlinkSync(at("work/a"), at("work/b"));
	expect(follow(at("work/a")).links.length).toBeGreaterThan(2);
});

test("the link that others may replace is named, and no other one", () => {
	symlinkSync(at("work"), at("first"));
	symlinkSync(at("other"), at("work/out"));
	const way = follow(at("first/out/place"));
	expect(linkInside(way, [at("work")])).toBe(at("work/out"));
	expect(linkInside(way, [at("other")])).toBeUndefined();
});
