/** The command line for people: subcommands, help, and what happens when a reader goes away. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { program } from "../wire/support/agent.ts";

const folder = mkdtempSync(join(tmpdir(), "bowline-command-"));
const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
const env = { ...inherited, BOWLINE_DIR: join(folder, "user"), BOWLINE: `${process.execPath} ${program}` };
const bash = (line: string) => spawnSync("bash", ["-c", line], { cwd: folder, env, encoding: "utf8", timeout: 60_000 });

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each(["--help", "config", "doctor"])("bowline %s ends without a word when nobody reads", (words) => {
	// The reader is gone before the first word.
	const { stdout, stderr } = bash(`{ sleep 0.2; $BOWLINE ${words}; echo $? >&2; } | true`);
	expect([stdout, stderr]).toEqual(["", "141\n"]);
});

test.each(["--help", "config"])("bowline %s tells that the disk is full", (words) => {
	const { status, stderr } = bash(`$BOWLINE ${words} >/dev/full`);
	expect([status, stderr]).toEqual([1, "Error: stdout could not be written: ENOSPC\n"]);
});

test.each(["sessions", "doctor", "demo"])("bowline %s takes no words", (name) => {
	const { status, stdout, stderr } = bash(`$BOWLINE ${name} what`);
	expect([status, stdout, stderr]).toEqual([2, "", `Error: Unexpected argument: what. bowline ${name} takes none. See bowline --help.\n`]);
});

test("the help of a subcommand is about it", () => {
	const { status, stdout } = bash("$BOWLINE export --help");
	expect(status).toBe(0);
	expect(stdout.split("\n").slice(0, 4)).toEqual([
		"bowline export <session> [output]",
		"  A session as one HTML page, by its file or id",
		"",
		"Flags",
	]);
});
