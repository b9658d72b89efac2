import { expect, test } from "vitest";
import { visible } from "../../src/lib/visible.ts";

test("characters that hide or turn text around are marks", () => {
	expect(visible("a\u202egnp.exe")).toBe("a⟦RLO⟧gnp.exe");
	expect(visible("r\u200bm x\u200dy\u200d\u200fz")).toBe("r⟦ZWSP⟧m x⟦ZWJ⟧y⟦ZWJ⟧⟦RLM⟧z");
	expect(visible("a\u{e0041}b")).toBe("a⟦U+E0041⟧b");
});

test("what emoji, flags and several scripts need stays as it is", () => {
	for (const text of ["👨‍👩‍👧", "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}", "PDF\u200cها", "ก\u200bข", "a\r\n\tb"])
		expect(visible(text)).toBe(text);
});
