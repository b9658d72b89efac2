/** The language of wire tests can fail, or the transcripts would prove nothing. */
import { expect, test } from "vitest";
import { Agent } from "./support/agent.ts";
import { InProcessAgent } from "./support/in-process.ts";
import { needsProcess } from "./support/needs-process.ts";
import { type Case, parseWire } from "./support/parse.ts";
import { play } from "./support/play.ts";

const wrong: Record<string, string> = {
	"a frame that differs": `> {"id":"1","type":"abort"}\n< response(abort){"id":"2"}`,
	"an exact frame that has more": `> {"id":"1","type":"abort"}\n<= {"type":"response","command":"abort","success":true}`,
	"a frame in between that was not expected": `model: say "x"\n> {"id":"1","type":"prompt","message":"a"}\n< response(prompt) · turn_start`,
	"silence that is broken": `> {"id":"1","type":"abort"}\nsilence 500`,
	"another exit code": `eof\nexit 1`,
	"frames that nobody looked at": `> {"id":"1","type":"abort"}\neof\nexit 0`,
	"a member that should be absent": `> {"id":"1","type":"abort"}\n< response(abort){"id":"<absent>"}`,
};

const caseOf = (transcript: string) => parseWire(`# wrong\n${transcript}`)[0] as Case;

for (const [what, transcript] of Object.entries(wrong)) {
	test.for([Agent, InProcessAgent])(`a transcript fails for ${what} (%o)`, async (driver) => {
		await expect(play(caseOf(transcript), driver)).rejects.toThrow(/line \d/);
	});
}

test("a transcript that cannot be read says where", () => {
	expect(() => parseWire("# x\nsay hello")).toThrow("line 2");
});

test.for([
	["eof", true],
	["signal SIGTERM", true],
	["exit 0", true],
	['stderr "Warning"', true],
	["env: HOME=/nowhere", true],
	["flags: --cwd inner", true],
	[`file: a.ts "console.log('loaded')"`, true],
	[`file: a.ts "import { rmSync } from 'node:fs'"`, true],
	['file: notes.md "console.log, process.exit and node:fs"', false],
	['> {"id":"1","type":"abort"}', false],
] as const)("%s: needs a process: %s", ([line, expected]) => {
	expect(needsProcess(caseOf(line))).toBe(expected);
});
