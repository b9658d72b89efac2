import { expect, test } from "vitest";
import { printable, printableLine } from "../../src/lib/printable.ts";

test("sequences for a terminal become visible, words stay as they are", () => {
	expect(printable("\u001b[2J\u001b]0;title\u0007a\u009bb\u007f")).toBe("\\x1b[2J\\x1b]0;title\\x07a\\x9bb\\x7f");
	expect(printable("grüße 日本 😀\n\tnext")).toBe("grüße 日本 😀\n\tnext");
	expect(printable("evil\u202etxt.exe\u2066")).toBe("evil\\u202etxt.exe\\u2066");
	expect(printable("pay\u200bpal \u{e0041}x\u200dy\ufeff")).toBe("pay\\u200bpal \\u{e0041}x\\u200dy\\ufeff");
	expect(printable("👩\u200d💻 می\u200cخواهم")).toBe("👩\u200d💻 می\u200cخواهم");
	expect(printableLine("one\ntwo\tthree\rfour")).toBe("one\\ntwo\\tthree\\x0dfour");
});
