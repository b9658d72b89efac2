/** Reading a line never throws and always says what it is. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { commands } from "../../src/protocol/commands/index.ts";
import { parseInbound } from "../../src/protocol/frames.ts";

test("any text is a frame or a failure with words", () => {
	fc.assert(
		fc.property(fc.oneof(fc.string(), fc.json()), (line) => {
			const frame = parseInbound(line);
			if (frame.kind === "failure") expect(frame.error).not.toBe("");
		}),
	);
});

test("any members of a known command are taken, or refused by their name with the id", () => {
	const name = fc.constantFrom(...Object.keys(commands));
	fc.assert(
		fc.property(name, fc.dictionary(fc.constantFrom("message", "mode", "enabled", "images", "name", "tools"), fc.jsonValue()), (type, members) => {
			const frame = parseInbound(JSON.stringify({ ...members, type, id: "i" }));
			if (frame.kind === "failure") expect(frame).toMatchObject({ command: type, id: "i", error: expect.stringMatching(/^\w+: \w+ must be /) });
			else expect(frame).toMatchObject({ kind: "command", name: type, id: "i" });
		}),
	);
});

test.each([
	["256 levels are read", 256, false],
	["257 levels are refused", 257, true],
	["100,000 levels are refused", 100_000, true],
])("%s", (_, depth, isRefused) => {
	const frame = parseInbound(`${'{"type":"abort","x":'}${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`);
	expect(frame.kind === "failure" && frame.error).toBe(isRefused && "Failed to parse command: nested deeper than 256");
});

test("brackets inside strings do not count as levels", () => {
	const text = `${"[{".repeat(1000)}\\"\\\\`;
	expect(parseInbound(JSON.stringify({ type: "prompt", message: text }))).toMatchObject({ kind: "command", params: { message: text } });
});
