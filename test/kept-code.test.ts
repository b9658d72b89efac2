/** The code that V8 compiled when the program was built, without which every start and first prompt compiles it again. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
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

test("V8 takes what is loaded in the middle of a run, when its flags have been changed", () => {
	const folder = mkdtempSync(join(tmpdir(), "bowline-kept-"));
	try {
		// Says of each chunk, as it is loaded, whether its kept code was taken. Flags change at once, not some milliseconds later.
		const spy = `
			const vm = require("node:vm");
			const say = (line) => require("node:fs").appendFileSync("loaded.txt", line + "\\n");
			vm.Script = class extends vm.Script {
				constructor(source, options) {
					super(source, options);
					if (options.cachedData) say(options.filename + (this.cachedDataRejected ? " refused" : " taken"));
				}
			};
			const { setTimeout } = globalThis;
			globalThis.setTimeout = (work, after, ...given) => {
				if (work.name !== "change") return setTimeout(work, after, ...given);
				say("changed " + given[0].name);
				work(...given);
				return setTimeout(() => undefined, 0);
			};`;
		writeFileSync(join(folder, "spy.cjs"), spy);
		const replies = [{ blocks: [{ tool: "bash", arguments: { command: "true" } }] }, { text: "done" }];
		writeFileSync(join(folder, "script.jsonc"), JSON.stringify({ replies }));
		const flags = ["--hermetic", "--no-session", "--provider", "scripted", "--model", "script.jsonc", "-p", "go"];
		const env = { PATH: process.env.PATH, HOME: folder, BOWLINE_DIR: join(folder, "user") };
		const said = execFileSync(process.execPath, ["-r", "./spy.cjs", join(dist, "bowline.js"), ...flags], { cwd: folder, encoding: "utf8", env });
		expect(said).toContain("done");
		const loaded = readFileSync(join(folder, "loaded.txt"), "utf8").trim().split("\n");
		const first = loaded.indexOf("changed --max-inlined-bytecode-size-cumulative");
		expect(loaded.slice(first + 1)).toEqual(expect.arrayContaining(["bowline/lib-shell-index.js taken", "changed --interrupt-budget"]));
		expect(first).toBeGreaterThan(0);
		expect(loaded.filter((line) => line.endsWith("refused"))).toEqual([]);
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}, 60_000);
