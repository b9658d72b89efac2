/** Framing: any bytes, split anywhere, give the same records. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { RecordReader, toLine } from "../../src/lib/jsonl.ts";

/** Pushes bytes in pieces that end at the given places. */
function read(bytes: Buffer, cuts: readonly number[], limit = 1 << 20): string[] {
	const records: string[] = [];
	const reader = new RecordReader({ record: (text) => records.push(text), tooLong: (n) => records.push(`longer than ${n}`) }, limit);
	let start = 0;
	for (const cut of [...cuts.map((at) => at % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]) {
		reader.push(bytes.subarray(start, cut));
		start = cut;
	}
	reader.end();
	return records;
}

const cuts = fc.array(fc.nat(), { maxLength: 20 });

test("a record is the same however its bytes are split", () => {
	fc.assert(
		fc.property(fc.uint8Array({ maxLength: 300 }), cuts, (bytes, places) => {
			expect(read(Buffer.from(bytes), places)).toEqual(read(Buffer.from(bytes), []));
		}),
	);
});

test("every JSON value comes back from its line, whatever characters it holds", () => {
	const value = fc.array(fc.record({ text: fc.string({ unit: "grapheme" }), line: fc.constantFrom("\u2028", "\u2029", "\r", "\n", "😀") }), {
		minLength: 1,
		maxLength: 5,
	});
	fc.assert(
		fc.property(fc.array(value, { minLength: 1, maxLength: 5 }), cuts, fc.constantFrom("\n", "\r\n"), (values, places, end) => {
			const bytes = Buffer.from(values.map((each) => toLine(each) + end).join(""));
			expect(read(bytes, places).map((line) => JSON.parse(line))).toEqual(values);
		}),
	);
});

test("a line never holds a character that some reader takes for a line end", () => {
	fc.assert(
		fc.property(fc.string({ unit: fc.constantFrom("a", "\n", "\r", "\u2028", "\u2029", '"', "\\") }), (text) => {
			const line = toLine({ text });
			expect(line).not.toMatch(/[\n\r\u2028\u2029]/);
			expect(JSON.parse(line)).toEqual({ text });
		}),
	);
});

test("a record over the limit is reported once, wherever it is split, and the next one is read", () => {
	fc.assert(
		fc.property(fc.integer({ min: 11, max: 200 }), cuts, (length, places) => {
			const bytes = Buffer.from(`${"x".repeat(length)}\nshort\n`);
			expect(read(bytes, places, 10)).toEqual(["longer than 10", "short"]);
		}),
	);
});

test.each([
	["blank records are skipped", "\n \n\r\n\ta\n", ["\ta"]],
	["one carriage return is stripped", "a\r\r\nb\r\n", ["a\r", "b"]],
	["the last record may lack its end", "a\nb", ["a", "b"]],
	["a byte order mark is ignored at the start only", "\ufeffa\n\ufeffb\n", ["a", "\ufeffb"]],
])("%s", (_, text, records) => {
	expect(read(Buffer.from(text), [])).toEqual(records);
});
