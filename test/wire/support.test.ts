/** The language of wire tests can fail, or the transcripts would prove nothing. */
import { expect, test } from "vitest";
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

for (const [what, transcript] of Object.entries(wrong)) {
	test(`a transcript fails for ${what}`, async () => {
		const [wire] = parseWire(`# wrong\n${transcript}`);
		await expect(play(wire as Case)).rejects.toThrow(/line \d/);
	});
}

test("a transcript that cannot be read says where", () => {
	expect(() => parseWire("# x\nsay hello")).toThrow("line 2");
});
