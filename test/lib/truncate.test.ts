import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatSize, measure, truncateHead, truncateTail } from "../../src/lib/truncate.ts";

const limits = { maxLines: 3, maxBytes: 20 };
const lines = fc
	.array(fc.string({ unit: fc.constantFrom("a", "é", "€", "😀", " "), maxLength: 12 }), { maxLength: 12 })
	.map((each) => each.join("\n"));

describe("head", () => {
	test("short text is given as it is, final newline included", () => {
		expect(truncateHead("a\nb\n", limits)).toEqual({
			text: "a\nb\n",
			truncation: {
				truncated: false,
				truncatedBy: null,
				totalLines: 2,
				totalBytes: 4,
				outputLines: 2,
				outputBytes: 4,
				lastLinePartial: false,
				firstLineExceedsLimit: false,
				...limits,
			},
		});
	});

	test("keeps the first whole lines", () => {
		const { text, truncation } = truncateHead("1\n2\n3\n4\n5", limits);
		expect([text, truncation.truncatedBy, truncation.totalLines, truncation.outputLines]).toEqual(["1\n2\n3", "lines", 5, 3]);
	});

	test("stops before the line that does not fit", () => {
		const { text, truncation } = truncateHead(`12345678\n12345678\n12345678`, limits);
		expect([text, truncation.truncatedBy, truncation.outputBytes]).toEqual(["12345678\n12345678", "bytes", 17]);
	});

	test("gives nothing when the first line alone is too large", () => {
		const { text, truncation } = truncateHead(`${"x".repeat(21)}\nrest`, limits);
		expect([text, truncation.firstLineExceedsLimit, truncation.truncated]).toEqual(["", true, true]);
	});

	test("a final newline that does not fit is not a cut", () => {
		const { text, truncation } = truncateHead(`${"x".repeat(20)}\n`, limits);
		expect([text, truncation.truncated]).toEqual(["x".repeat(20), false]);
	});

	test("always gives whole lines from the beginning, within the limits, as many as fit", () => {
		fc.assert(
			fc.property(lines, (text) => {
				const result = truncateHead(text, limits);
				const all = text.split("\n");
				expect(text.startsWith(result.text)).toBe(true);
				expect(Buffer.byteLength(result.text)).toBe(result.truncation.outputBytes);
				expect(result.truncation.outputBytes).toBeLessThanOrEqual(limits.maxBytes);
				expect(result.truncation.outputLines).toBeLessThanOrEqual(limits.maxLines);
				if (!result.truncation.truncated) return;
				const count = result.truncation.outputLines;
				expect(result.text).toBe(all.slice(0, count).join("\n"));
				const oneMore = all.slice(0, count + 1).join("\n");
				expect(count === limits.maxLines || Buffer.byteLength(oneMore) > limits.maxBytes).toBe(true);
			}),
		);
	});
});

describe("tail", () => {
	test("keeps the last whole lines and their newline", () => {
		const { text, truncation } = truncateTail("1\n2\n3\n4\n5\n", limits);
		expect([text, truncation.truncatedBy, truncation.totalLines, truncation.outputLines]).toEqual(["3\n4\n5\n", "lines", 5, 3]);
	});

	test("cuts a single huge line at a character boundary", () => {
		const { text, truncation } = truncateTail("€".repeat(10), limits);
		expect([text, truncation.lastLinePartial, truncation.outputLines, truncation.outputBytes]).toEqual(["€".repeat(6), true, 1, 18]);
	});

	test("always gives the end of the text, within the limits and without broken characters", () => {
		fc.assert(
			fc.property(lines, (text) => {
				const { text: kept, truncation } = truncateTail(text, limits);
				expect(text.endsWith(kept)).toBe(true);
				expect(Buffer.byteLength(kept)).toBe(truncation.outputBytes);
				expect(truncation.outputBytes).toBeLessThanOrEqual(limits.maxBytes);
				expect(truncation.outputLines).toBeLessThanOrEqual(limits.maxLines);
				expect(kept.isWellFormed()).toBe(true);
				expect(truncation.truncated).toBe(kept !== text);
				const before = text[text.length - kept.length - 1];
				if (truncation.truncated && !truncation.lastLinePartial) expect(before).toBe("\n");
			}),
		);
	});
});

test("counts lines the way people do", () => {
	expect(["", "a", "a\n", "a\nb", "\n", "\n\n"].map((text) => measure(text).lines)).toEqual([0, 1, 1, 2, 1, 2]);
});

test("shows sizes with one decimal", () => {
	expect([512, 1023, 1024, 51200, 1258291].map(formatSize)).toEqual(["512B", "1023B", "1.0KB", "50.0KB", "1.2MB"]);
});
