/** What continuous integration does with failures, skipped tests and programs that are missing. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";

const root = join(import.meta.dirname, "..");

function temporaryFolder(): string {
	const folder = mkdtempSync(join(tmpdir(), "bowline-ci-test-"));
	onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
	return folder;
}

describe("scripts/test-ci.mjs", () => {
	const flaky = `
		import { existsSync, writeFileSync } from "node:fs";
		import { describe, expect, test } from "vitest";
		describe("a race", () => {
			test("passes the second time", () => {
				const isSecond = existsSync("counter");
				writeFileSync("counter", "");
				expect(isSecond).toBe(true);
			});
		});`;
	const skipped = `
		import { describe, test } from "vitest";
		test("noted", ({ skip }) => skip("tea is not installed"));
		describe.skip("group (left out: milk (fresh) is not installed)", () => {
			test("one", () => {});
			test("two", () => {});
		});
		test.skip("silent", () => {});`;
	const broken = `
		import { expect, test } from "vitest";
		test("never passes", () => expect(1).toBe(2));
		test("always passes", () => {});`;
	const unreadable = `throw new Error("no such file");`;

	/** Runs the script in a project with these test files. Returns the exit code and the lines of the summary. */
	function run(files: Record<string, string>): { status: number | null; summary: string[] } {
		const folder = temporaryFolder();
		symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
		for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, `${name}.test.ts`), text);
		const env = { ...process.env, CI_SUMMARY: join(folder, "summary") };
		const { status } = spawnSync(process.execPath, [join(root, "scripts/test-ci.mjs")], { cwd: folder, env });
		return { status, summary: readFileSync(env.CI_SUMMARY, "utf8").trimEnd().split("\n") };
	}

	test("a test that passes on the second look is named as flaky, the run is green, and skipped tests are counted by reason", () => {
		const { status, summary } = run({ flaky, skipped });
		expect(summary.slice(0, 2)).toEqual(["FLAKY: flaky.test.ts, a race > passes the second time", "4 of 5 tests were skipped:"]);
		expect(summary.slice(2).sort()).toEqual([
			"  1: no reason given in skipped.test.ts",
			"  1: tea is not installed",
			"  2: milk (fresh) is not installed",
		]);
		expect(status).toBe(0);
	});

	test("a test that fails twice is named, and the run is red", () => {
		const { status, summary } = run({ flaky, broken, unreadable });
		expect(summary.slice(0, 3).sort()).toEqual([
			"FAILED: broken.test.ts, never passes",
			"FAILED: unreadable.test.ts, the file itself",
			"FLAKY: flaky.test.ts, a race > passes the second time",
		]);
		expect(summary.slice(3)).toEqual(["0 of 3 tests were skipped."]);
		expect(status).toBe(1);
	});

	test("a run without a test file is red", () => {
		expect(run({}).status).toBe(1);
	});
});

describe(".ci/run", () => {
	/** Runs it with nothing installed but what the shell needs. Programs of tests are stubs; a stub of apt-get notes each call and fails. */
	function run(env: Record<string, string>): { status: number | null; output: string; installs: string[] } {
		const folder = temporaryFolder();
		const bin = join(folder, "bin");
		mkdirSync(bin);
		const path = spawnSync("sh", ["-c", "for each in bash cat dirname ls mktemp rm; do command -v $each; done"], { encoding: "utf8" });
		for (const program of path.stdout.trim().split("\n")) symlinkSync(program, join(bin, program.split("/").at(-1) as string));
		const stubs = { "apt-get": `echo "$@" >> ${folder}/installs\n[ "$1" = update ]`, sleep: "", npm: "echo npm $@", node: "echo node $@", bwrap: "" };
		for (const [name, body] of Object.entries({ ...stubs, tmux: "", initdb: "" }))
			writeFileSync(join(bin, name), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
		const { status, stdout } = spawnSync(join(bin, "bash"), [join(root, ".ci/run")], { env: { PATH: bin, ...env }, encoding: "utf8" });
		const installs = readFileSync(join(folder, "installs"), "utf8").split("\n");
		return { status, output: stdout, installs: installs.filter((line) => line.startsWith("install")) };
	}

	test("a program that cannot be installed in three attempts fails the run, and is named in its last lines", () => {
		const { status, output, installs } = run({});
		expect(status).toBe(1);
		expect(installs).toHaveLength(3);
		expect(output.trimEnd().split("\n").slice(-2)).toEqual([
			"Could not be installed: chromium",
			"Their tests would be skipped. Set CI_ALLOW_MISSING=1 to run the others.",
		]);
		expect(output).not.toContain("npm install");
	});

	test("with CI_ALLOW_MISSING=1 the tests run, and the last line names what was left out", () => {
		const { status, output } = run({ CI_ALLOW_MISSING: "1" });
		expect(status).toBe(0);
		expect(output.trimEnd().split("\n").slice(-5)).toEqual([
			"npm install",
			"npm run check",
			"node scripts/test-ci.mjs",
			"npm run test:nodes",
			"Could not be installed: chromium",
		]);
	});
});
