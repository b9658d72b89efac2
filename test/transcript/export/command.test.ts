/** `bowline export`, the real program. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { fullSession, header } from "./session.ts";

const program = join(import.meta.dirname, "../../../dist/bowline.js");
let folder: string;
let sessionFile: string;

beforeEach(() => {
	folder = realpathSync(mkdtempSync(join(tmpdir(), "bowline-export-")));
	mkdirSync(join(folder, "sessions"));
	sessionFile = join(folder, "sessions", "2026-03-04T09-30-00-000Z_cafe-1.jsonl");
	writeFileSync(sessionFile, `${[header, ...fullSession().entries].map((line) => JSON.stringify(line)).join("\n")}\n`);
});

function bowline(...words: string[]): { status: number | null; stdout: string; stderr: string } {
	const env = { PATH: process.env.PATH, HOME: folder, BOWLINE_DIR: join(folder, ".bowline") };
	const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...words], { cwd: folder, env, encoding: "utf8" });
	return { status, stdout, stderr };
}

test("a session by its file", () => {
	const path = join(folder, "bowline-session-2026-03-04T09-30-00-000Z_cafe-1.html");
	expect(bowline("export", "sessions/2026-03-04T09-30-00-000Z_cafe-1.jsonl")).toEqual({ status: 0, stdout: `${path}\n`, stderr: "" });
	expect(readFileSync(path, "utf8")).toContain("<title>Tide table repair · Bowline</title>");
	expect(existsSync(`${sessionFile}.lock`)).toBe(false);
});

test("a session by the beginning of its id, to a file", () => {
	expect(bowline("export", "cafe", "page.html", "--session-dir", "sessions")).toEqual({
		status: 0,
		stdout: `${join(folder, "page.html")}\n`,
		stderr: "",
	});
});

test.each([
	[[], "Which session? bowline export <session file or id> [output]", 2],
	[["nothing.jsonl"], "No such session file: ", 1],
	[["beef", "--session-dir", "sessions"], "No session found: beef.", 1],
	[["a.jsonl", "b.html", "c"], "Unexpected argument: c.", 2],
])("says what is wrong: %j", (words, problem, status) => {
	expect(bowline("export", ...words)).toMatchObject({ status, stdout: "", stderr: expect.stringContaining(`Error: ${problem}`) });
});
