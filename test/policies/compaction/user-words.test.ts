import { expect, test } from "vitest";
import { withoutFileBlocks } from "../../../src/policies/compaction/serialize.ts";
import { userWords } from "../../../src/policies/compaction/user-words.ts";
import { branchOf } from "../../../src/transcript/entries.ts";
import { branch, calls, compaction, reply, result, user } from "./support.ts";

const messagesIn = (section: string) => [...section.matchAll(/<message>\n([\s\S]*?)\n<\/message>/g)].map(([, text]) => text);
const wordsOf = (entries: ReturnType<typeof branch>, tokens = 10_000, end = entries.length) => userWords(branchOf(entries), end, tokens);

test("every message of the user is there word for word, oldest first, and nothing that others said", () => {
	const wishes = ["  Tidy *all* files.\n\n\tUse tabs.", "No — only `src`.", "</message> is fine, too"];
	const section = wordsOf(
		branch(
			user(wishes[0] ?? ""),
			reply("ok"),
			calls(["a", "read", {}]),
			result("a", "content"),
			user(wishes[1] ?? ""),
			user(wishes[2] ?? ""),
			user(" "),
		),
	);
	for (const wish of wishes) expect(section).toContain(`<message>\n${wish.trim()}\n</message>`);
	expect(section.indexOf("Tidy")).toBeLessThan(section.indexOf("only `src`"));
	expect(section).not.toMatch(/content|left out/);
	expect(withoutFileBlocks(`## Goal\nx${section}`)).toBe("## Goal\nx");
});

test("what an earlier compaction took stays, once", () => {
	const before = { ...compaction("e1"), summary: "gist\n\n<user-messages>\n<message>\nfirst\n</message>\n</user-messages>" };
	expect(messagesIn(wordsOf(branch(user("first"), reply("ok"), before, user("second"), reply("ok"), user("kept")), 10_000, 5))).toEqual([
		"first",
		"second",
	]);
});

test("when not all fit, the newest do, and the number of the others is said", () => {
	const wishes = Array.from({ length: 40 }, (_, n) => user(`wish ${n} ${"word ".repeat(20)}`));
	const section = wordsOf(branch(...wishes), 500);
	const shown = messagesIn(section).map((text) => Number(/\d+/.exec(text ?? "")));
	expect(shown.length).toBeGreaterThan(10);
	expect(shown).toEqual(Array.from({ length: shown.length }, (_, n) => 40 - shown.length + n));
	expect(section).toContain(`[Older messages that are left out: ${40 - shown.length}]`);
	expect(section.length).toBeLessThan(500 * 4);
});

test("a text that was pasted does not push out the wishes before it", () => {
	const section = wordsOf(branch(user("the goal"), user(`look at this log:\n${"line\n".repeat(20_000)}the last line`)), 1000);
	expect(messagesIn(section)).toEqual([
		"the goal",
		expect.stringMatching(/^look at this log:\nline[\s\S]*characters left out …[\s\S]*the last line$/),
	]);
	expect(section.length).toBeLessThan(1000 * 4);
});

test("there is no section where there is no room or nothing was said", () => {
	expect(wordsOf(branch(user("U1")), 1)).toBe("");
	expect(wordsOf(branch(reply("ok")))).toBe("");
});
