/** The code that V8 compiled when the program was built, without which every start and first prompt compiles it again. */
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const dist = join(import.meta.dirname, "../dist");

test("V8 takes all of it, and the chunks of a first prompt with a tool have it", () => {
	// In a process of its own: the test runner has other flags, which make V8 refuse it.
	const look = `
		const { readdirSync, readFileSync } = require("node:fs");
		const { Script } = require("node:vm");
		for (const name of readdirSync(".").filter((each) => each.endsWith(".cache"))) {
			const file = name.replace(".cache", ".js");
			const script = new Script(readFileSync(file, "utf8"), { filename: "bowline/" + file, cachedData: readFileSync(name) });
			if (script.cachedDataRejected) console.log(file);
		}`;
	expect(execFileSync(process.execPath, ["-e", look], { cwd: dist, encoding: "utf8", env: { PATH: process.env.PATH } })).toBe("");
	const kept = readdirSync(dist).filter((name) => name.endsWith(".cache"));
	expect(kept).toEqual(expect.arrayContaining(["core.cache", "session-run.cache", "models-scripted-index.cache", "lib-shell-index.cache"]));
});
