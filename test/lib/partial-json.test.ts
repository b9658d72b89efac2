import fc from "fast-check";
import { expect, test } from "vitest";
import { PartialJsonReader, parseObject, repairStrings } from "../../src/lib/partial-json.ts";

function readings(...pieces: string[]): unknown[] {
	const reader = new PartialJsonReader();
	return pieces.map((piece) => {
		reader.push(piece);
		return reader.reading;
	});
}

test("shows open strings and finished values, and nothing half known", () => {
	expect(readings('{"pa', 'th": "a', "b\\", 'n", "n": 1', '2, "ok": tr', 'ue, "list": [1, {"x": "y', '"}], "z": null}')).toEqual([
		{},
		{ path: "a" },
		{ path: "ab" },
		{ path: "ab\n" },
		{ path: "ab\n", n: 12 },
		{ path: "ab\n", n: 12, ok: true, list: [1, { x: "y" }] },
		{ path: "ab\n", n: 12, ok: true, list: [1, { x: "y" }], z: null },
	]);
});

test("a reading never changes afterwards", () => {
	const reader = new PartialJsonReader();
	const first = reader.push('{"a":{"b":["x');
	const copy = structuredClone(first);
	reader.push('","y"],"c":1},"d":2}');
	expect(first).toEqual(copy);
	expect(first).toEqual({ a: { b: ["x"] } });
});

test("whatever the pieces, the last reading is the object", () => {
	fc.assert(
		fc.property(
			fc.dictionary(
				fc.string().filter((key) => key !== "__proto__"),
				fc.jsonValue({ maxDepth: 3 }),
			),
			fc.array(fc.integer({ min: 1, max: 7 })),
			fc.boolean(),
			(value, sizes, isPretty) => {
				const text = isPretty ? JSON.stringify(value, null, 2) : JSON.stringify(value);
				if (text.includes("__proto__")) return;
				const reader = new PartialJsonReader();
				let at = 0;
				for (const size of sizes) {
					reader.push(text.slice(at, at + size));
					at += size;
				}
				reader.push(text.slice(at));
				expect(reader.isComplete).toBe(true);
				expect(reader.reading).toEqual(JSON.parse(text));
				expect(reader.text).toBe(text);
			},
		),
	);
});

test("garbage never throws", () => {
	fc.assert(
		fc.property(fc.array(fc.oneof(fc.string(), fc.constantFrom("{", "}", "[", "]", '"', ":", ",", "\\", "tru", "1e"))), (pieces) => {
			const reader = new PartialJsonReader();
			for (const piece of pieces) reader.push(piece);
			expect(typeof reader.reading).toBe("object");
		}),
	);
});

test.each([
	['{"path": "/tmp/ba', "Unterminated"],
	['{"a": 1,', ""],
	["[1]", "not a JSON object"],
	["nonsense", ""],
])("arguments that are not whole are refused: %s", (text, problem) => {
	expect(parseObject(text)).toEqual({ problem: expect.stringContaining(problem) });
});

test("nothing is an empty object, and slips inside strings are mended", () => {
	expect(parseObject("  ")).toEqual({ value: {} });
	expect(parseObject('{"a": "x\ny\\d \\u12"}')).toEqual({ value: { a: "x\ny\\d \\u12" } });
	expect(repairStrings('{"a": "\\n\\u00e9\\""}')).toBe('{"a": "\\n\\u00e9\\""}');
});

test("a long string is read again when it has grown by a fraction, and whenever something else comes", () => {
	const reader = new PartialJsonReader();
	reader.push(`{"path":"p","content":"${"x".repeat(10_000)}`);
	expect(reader.push("y")).toBeUndefined();
	expect(reader.reading).toEqual({ path: "p", content: `${"x".repeat(10_000)}y` });
	expect(reader.push("z".repeat(40))).toEqual({ path: "p", content: `${"x".repeat(10_000)}y${"z".repeat(40)}` });
	expect(reader.push("\\n")).toBeUndefined();
	expect(reader.push('"')).toEqual({ path: "p", content: `${"x".repeat(10_000)}y${"z".repeat(40)}\n` });
	expect(reader.push(',"mode":"a')).toMatchObject({ mode: "a" });
	expect(reader.push("b")).toMatchObject({ mode: "ab" });
});

test("16,000 pieces of a long string and of a wide list are copied a number of times that is linear in the text", () => {
	const readings = (first: string, piece: string) => {
		const reader = new PartialJsonReader();
		return [first, ...Array.from({ length: 16_000 }, () => piece)].map((text) => reader.push(text)).filter((reading) => reading !== undefined);
	};
	expect(readings('{"content":"', "some words ").length).toBeLessThan(2000);
	const copied = readings('{"list":[', "12345,").reduce((sum, { list }) => sum + (list as unknown[]).length, 0);
	expect(copied).toBeLessThan(4 * 16_000 * "12345,".length);
});
