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
		// The reader may reuse the memory at once.
		chunk.fill(0x21);
		last = place;
	}
	parts.push(filter.end());
	return Buffer.concat(parts).toString();
}

test("a secret is replaced wherever it is", () => {
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

test("secrets are asked for again each time", () => {
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

function inPieces(redact: Redactor, text: string, cuts: number[]): string {
	const filter = redact.pieces();
	if (!filter) return text;
	const places = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b);
	let last = 0;
	let shown = "";
	for (const place of [...places, text.length]) {
		shown += filter.push(text.slice(last, place));
		last = place;
	}
	return shown + filter.end();
}

test("a text that comes in pieces is shown as if it had come at once, wherever it is cut", () => {
	const secrets = ["abcabcabcabc", "cabcabcX-0123456789abcdefghij", 'ab"ab"ab"ab'];
	const words = ["abc", "ab", "c", "X-0123", "456789abcdefghij", '"', " ", "q", ...secrets];
	const texts = fc.array(fc.constantFrom(...words), { maxLength: 12 }).map((parts) => parts.join(""));
	const redact = redactor(() => secrets);
	fc.assert(
		fc.property(texts, fc.array(fc.nat(200), { maxLength: 8 }), (text, cuts) => {
			expect(inPieces(redact, text, cuts)).toBe(redact.text(text));
		}),
		{ numRuns: 500 },
	);
});

test("a piece that cannot be the beginning of a secret is shown at once, and without secrets there is no filter", () => {
	const filter = redactor(() => ["sk-1234567890"]).pieces();
	expect([
		filter?.push("words "),
		filter?.push("and s"),
		filter?.push("o on"),
		filter?.push(" sk-12345"),
		filter?.push("67890!"),
		filter?.end(),
	]).toEqual(["words ", "and ", "so on", " ", "[redacted]!", ""]);
	expect(redactor(() => []).pieces()).toBeUndefined();
});

test("a line of JSON loses the secret everywhere, and stays what it is", () => {
	const redact = redactor(() => ["sk-1234567890", "assistant"]);
	const line = (value: object) => JSON.parse(redact.line(JSON.stringify(value)));
	expect(
		line({ type: "message_end", message: { role: "assistant", content: [{ type: "toolCall", id: "c-sk-1234567890", name: "sk-1234567890" }] } }),
	).toEqual({
		type: "message_end",
		message: { role: "assistant", content: [{ type: "toolCall", id: "c-[redacted]", name: "[redacted]" }] },
	});
	expect(line({ args: { "sk-1234567890": { type: "assistant" } }, model: "sk-1234567890" })).toEqual({
		args: { "[redacted]": { type: "[redacted]" } },
		model: "[redacted]",
	});
	expect(line({ id: "sk-1234567890", type: "response", data: { id: "sk-1234567890", parentId: "sk-1234567890" } })).toEqual({
		id: "sk-1234567890",
		type: "response",
		data: { id: "sk-1234567890", parentId: "sk-1234567890" },
	});
	expect(redact.line("no JSON sk-1234567890")).toBe("no JSON [redacted]");
});

test("bytes lose the first half of a long secret too, and one that JSON spells with escapes, wherever they are cut", () => {
	const long = "sk-0123456789abcdefghijklmnopqrstuvwxyz";
	const quoted = 'pass"word\\1234';
	const all = Buffer.from(`a ${long.slice(0, 30)}! b ${JSON.stringify(quoted)} c ${long}.`);
	for (let at = 0; at <= all.length; at++) {
		const filter = redactor(() => [long, quoted]).stream();
		const shown = [filter.push(all.subarray(0, at)), filter.push(all.subarray(at)), filter.end()].join("");
		expect(shown).toBe('a [redacted]! b "[redacted]" c [redacted].');
	}
});
