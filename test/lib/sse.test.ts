import fc from "fast-check";
import { expect, test } from "vitest";
import { SseReader } from "../../src/lib/sse.ts";
import { cpuOf } from "../cpu.ts";

function read(...chunks: (string | Uint8Array)[]): [data: string, name: string][] {
	const events: [string, string][] = [];
	const reader = new SseReader((data, name) => events.push([data, name]));
	for (const chunk of chunks) reader.push(Buffer.from(chunk as string));
	reader.end();
	return events;
}

test("events with and without names, comments, several data lines, CRLF", () => {
	const text = ": hello\n\nevent: a\ndata: 1\n\ndata:2\r\ndata: 3\r\n\r\nid: 7\nretry: 10\ndata\n\nevent: lost\n\ndata: x\n\n";
	expect(read(text)).toEqual([
		["1", "a"],
		["2\n3", ""],
		["", ""],
		["x", ""],
	]);
});

test("a byte order mark is skipped and only one blank is taken off", () => {
	expect(read("\ufeffdata:  x\n\n")).toEqual([[" x", ""]]);
});

test("the last event needs no blank line, not even a line end", () => {
	expect(read("data: a\n\ndata: b\n")).toEqual([
		["a", ""],
		["b", ""],
	]);
	expect(read("data: a\n\nevent: z\ndata: b")).toEqual([
		["a", ""],
		["b", "z"],
	]);
});

test("bytes may be split anywhere", () => {
	const events = fc.array(
		fc.record({ name: fc.constantFrom("", "ping"), data: fc.array(fc.string({ unit: "grapheme", maxLength: 20 }), { minLength: 1, maxLength: 3 }) }),
	);
	fc.assert(
		fc.property(events, fc.constantFrom("\n", "\r\n"), fc.array(fc.integer({ min: 1, max: 9 })), (made, end, sizes) => {
			const clean = made.map(({ name, data }) => ({ name, data: data.map((line) => line.replace(/[\r\n]/g, "")) }));
			const text = clean
				.map(({ name, data }) => `${name ? `event: ${name}${end}` : ""}${data.map((line) => `data: ${line}${end}`).join("")}${end}`)
				.join("");
			const bytes = Buffer.from(text, "utf8");
			const chunks: Uint8Array[] = [];
			let at = 0;
			for (const size of sizes) {
				chunks.push(bytes.subarray(at, at + size));
				at += size;
			}
			chunks.push(bytes.subarray(at));
			expect(read(...chunks)).toEqual(clean.map(({ name, data }) => [data.join("\n"), name]));
		}),
	);
});

test("an endless line is stopped", () => {
	const reader = new SseReader(() => undefined, 1000);
	expect(() => {
		for (let count = 0; count < 200; count += 1) reader.push(Buffer.from("data: 0123456789"));
	}).toThrow(RangeError);
});

test("a very long event in many chunks costs linear time", async () => {
	let length = 0;
	const reader = new SseReader((data) => {
		length = data.length;
	});
	const piece = Buffer.alloc(16 * 1024, "x");
	const spent = await cpuOf(() => {
		reader.push(Buffer.from("data: "));
		for (let count = 0; count < 1000; count += 1) reader.push(piece);
		reader.push(Buffer.from("\n\n"));
	});
	expect(length).toBe(16_384_000);
	expect(spent).toBeLessThan(2000);
});

test("a carriage return alone ends a line, at once, wherever bytes are split", () => {
	const text = "event: a\rdata: 1\rdata: 2\r\rdata: 3\r\n\r\ndata: 4\n\ndata: 5\r\r";
	const expected = [
		["1\n2", "a"],
		["3", ""],
		["4", ""],
		["5", ""],
	];
	for (let size = 1; size <= text.length; size += 1) {
		const events: [string, string][] = [];
		const reader = new SseReader((data, name) => events.push([data, name]));
		for (let at = 0; at < text.length; at += size) reader.push(Buffer.from(text.slice(at, at + size)));
		expect(events).toEqual(expected);
	}
});
