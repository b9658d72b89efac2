import fc from "fast-check";
import { expect, test } from "vitest";
import { type Redactor, redactor } from "../../src/lib/redact.ts";

function streamed(redact: Redactor, text: string, cuts: number[]): string {
	const bytes = Buffer.from(text);
	const filter = redact.stream();
	const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
	const parts: Buffer[] = [];
	let last = 0;
	for (const place of [...places, bytes.length]) {
		const chunk = Buffer.from(bytes.subarray(last, place));
		parts.push(Buffer.from(filter.push(chunk)));
		// Whoever reads may use the memory again at once.
		chunk.fill(0x21);
		last = place;
	}
	parts.push(filter.end());
	return Buffer.concat(parts).toString();
}

test("a secret is replaced wherever it stands", () => {
	expect(redactor(() => ["sk-1234567890"]).text("a sk-1234567890, sk-1234567890!")).toBe("a [redacted], [redacted]!");
});

test("values shorter than eight characters are left alone", () => {
	expect(redactor(() => ["short", "12345678"]).text("short 12345678")).toBe("short [redacted]");
});

test("a secret inside a longer one, and secrets that overlap, leave nothing behind", () => {
	const redact = redactor(() => ["abcdefgh", "abcdefghij", "ghijklmnop"]);
	expect(redact.text("abcdefghij|abcdefghijklmnop|")).toBe("[redacted]|[redacted]|");
});

test("half of a longer secret is one too: texts are cut to size", () => {
	const redact = redactor(() => ["sk-0123456789abcdefghij0123456789"]);
	expect(redact.text("key sk-0123456789abcdefghij0…")).toBe("key [redacted]…");
	expect(redact.text("key sk-0123456789abcdefghij0123456789.")).toBe("key [redacted].");
	expect(redact.text("key sk-0123456789abc…")).toBe("key sk-0123456789abc…");
});

test("a secret with quotes and backslashes is found as it is spelled in JSON, too", () => {
	const secret = 'pass"word\\0123';
	const redact = redactor(() => [secret]);
	expect(redact.text(JSON.stringify({ a: `x ${secret} y` }))).toBe('{"a":"x [redacted] y"}');
	expect(redact.text(secret)).toBe("[redacted]");
});

test("secrets are asked for anew each time", () => {
	let secrets: string[] = [];
	const redact = redactor(() => secrets);
	expect(redact.text("later-secret")).toBe("later-secret");
	secrets = ["later-secret"];
	expect(redact.text("later-secret")).toBe("[redacted]");
});

test("without secrets the very same buffer comes back", () => {
	const chunk = Buffer.from("anything");
	expect(
		redactor(() => [])
			.stream()
			.push(chunk),
	).toBe(chunk);
});

test("a stream cut at any place is redacted like the whole text", () => {
	const secrets = ["aaaabbbb", "bbbbaaaa", "abababab", "aaaaaaaaa", "schlüssel"];
	const word = fc.constantFrom("a", "b", "aaaa", "bbbb", "abab", "schlüssel", "schlü", "x", "é", ...secrets);
	const text = fc.array(word, { maxLength: 14 }).map((words) => words.join(""));
	fc.assert(
		fc.property(text, fc.array(fc.nat(200), { maxLength: 12 }), (value, cuts) => {
			const redact = redactor(() => secrets);
			expect(streamed(redact, value, cuts)).toBe(redact.text(value));
			for (const secret of secrets) expect(redact.text(value)).not.toContain(secret);
		}),
		{ numRuns: 300 },
	);
});

test("an endless run of one secret does not pile up in memory", () => {
	const filter = redactor(() => ["aaaaaaaa"]).stream();
	let given = 0;
	for (let round = 0; round < 8; round += 1) given += filter.push(Buffer.alloc(64 * 1024, "a")).length;
	expect(given).toBeGreaterThan(0);
	expect(filter.end().length).toBeLessThan(200);
});
