import fc from "fast-check";
import { expect, test } from "vitest";
import { controlStripper } from "../../../src/lib/shell/controls.ts";
import { countNewlines } from "../../../src/lib/shell/scan.ts";

function stripped(bytes: Buffer, cuts: number[] = []): string {
	const filter = controlStripper();
	const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
	const parts: Buffer[] = [];
	let last = 0;
	for (const place of [...places, bytes.length]) {
		parts.push(Buffer.from(filter.push(bytes.subarray(last, place))));
		last = place;
	}
	return Buffer.concat([...parts, filter.end()]).toString();
}

const table: [name: string, input: string, output: string][] = [
	["colours", "\x1b[1;31mred\x1b[0m plain", "red plain"],
	["cursor movement with private parameters", "a\x1b[?25l\x1b[2Kb", "ab"],
	["a window title ended by a bell", "\x1b]0;title\x07text", "text"],
	["a link ended by a string terminator", "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"],
	["character set selection", "\x1b(Bok", "ok"],
	["single escapes", "\x1b7\x1b=ok", "ok"],
	["the eight-bit forms", "\u009b31mred\u009d0;t\x07ok", "redok"],
	["carriage returns", "a\r\nb\rc", "a\nbc"],
	["other controls, but not tab and newline", "\0a\x07\tb\x08\x7f\nc\u0085d", "a\tb\ncd"],
	["text beyond ASCII stays", "naïve £5 €6 😀 ÿ\u00a0x", "naïve £5 €6 😀 ÿ\u00a0x"],
	["an escape sequence that is broken by a newline", "\x1b[31\nrest", "\nrest"],
	["a title that never ends takes no more than its line", "\x1b]0;oops\nrest", "\nrest"],
	["an escape within an escape", "\x1b\x1b[31mx", "x"],
	["an escape at the very end", "x\x1b", "x"],
];

test.each(table)("%s", (_name, input, output) => {
	expect(stripped(Buffer.from(input))).toBe(output);
});

test("a cut at any place changes nothing", () => {
	const piece = fc.constantFrom(...table.map(([, input]) => input), "plain text, quite long, without anything in it", "\x1b", "\n", "é");
	fc.assert(
		fc.property(fc.array(piece, { maxLength: 5 }), fc.array(fc.nat(300), { maxLength: 8 }), (pieces, cuts) => {
			const bytes = Buffer.from(pieces.join(""));
			expect(stripped(bytes, cuts)).toBe(stripped(bytes));
		}),
	);
});

test("what is left holds no control but tab and newline", () => {
	const unit = fc.constantFrom(..."\x1b[]0;m\x07\\\r\n\tPX ab1é\u009b\u0080\x7f");
	fc.assert(
		fc.property(fc.string({ unit, maxLength: 60 }), (text) => {
			// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what this is about
			expect(stripped(Buffer.from(text))).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f]/);
		}),
	);
});

test("newlines are counted right wherever the memory begins", () => {
	fc.assert(
		fc.property(fc.uint8Array({ maxLength: 40 }), fc.nat(9), (noise, start) => {
			const bytes = Buffer.from(noise.map((byte) => (byte % 3 === 0 ? 0x0a : byte))).subarray(start);
			expect(countNewlines(bytes)).toBe(bytes.filter((byte) => byte === 0x0a).length);
		}),
	);
});
