import { expect, test } from "vitest";
import { cutText, fileBlocks, fileLists, middleCut, serialize, withoutFileBlocks } from "../../../src/policies/compaction/serialize.ts";
import { bash, branch, calls, reply, result, user } from "./support.ts";

test("a conversation becomes a record, one piece per message", () => {
	const image = { type: "image" as const, data: "AAAA", mimeType: "image/png" };
	const record = serialize(
		branch(
			{ role: "user", content: [{ type: "text", text: "look" }, image], timestamp: 0 },
			reply("", {
				content: [
					{ type: "thinking", thinking: "secret thoughts" },
					{ type: "text", text: "I look." },
				],
			}),
			calls(["a", "read", { path: "a.ts", limit: 3 }], ["b", "bash", { command: "ls" }]),
			result("a", "content"),
			result("b", "", true),
			{ type: "model_change", provider: "a", modelId: "b" },
			bash("make", "done"),
			{ ...bash("env", "KEY=1"), excludeFromContext: true } as never,
			{ type: "custom_message", customType: "x", content: "from an extension", display: false },
			{ type: "branch_summary", fromId: "e1", summary: "tried in vain" },
			reply("half a wo", { stopReason: "aborted", errorMessage: "Request was aborted" }),
			reply("", { stopReason: "error", errorMessage: "529" }),
		),
	);
	expect(record).toEqual([
		"[User]: look\n[image]",
		"[Assistant]: I look.",
		'[Assistant tool calls]: read(path="a.ts"; limit=3)\nbash(command="ls")',
		"[Tool result]: content",
		"[Tool error]: (nothing)",
		"[User ran a command]: make\ndone",
		"[User]: from an extension",
		"[Summary of another branch]: tried in vain",
		"[Assistant]: half a wo",
		"[The reply was stopped by the user]",
	]);
});

test("what is long is cut, with a note, and never inside a character", () => {
	const [long = ""] = serialize(branch(result("a", "x".repeat(5000))));
	expect(long).toBe(`[Tool result]: ${"x".repeat(700)}\n[… 3000 characters left out …]\n${"x".repeat(1300)}`);
	const [written = ""] = serialize(branch(calls(["a", "write", { path: "a", content: "y".repeat(9000) }])));
	expect(written.length).toBeLessThan(1000);
	expect(cutText("ab😀cd", 3)).toBe("ab\n[… 4 more characters left out]");
	expect(middleCut("ab😀cdef😀gh", 6, 3)).toBe("ab\n[… 8 characters left out …]\ngh");
	expect(middleCut("abcdef", 6, 3)).toBe("abcdef");
});

test("a failing test shows what failed: the end of a result is kept as well", () => {
	const output = `npm test\n${"ok\n".repeat(2000)}FAIL sum.test.ts: expected 3, got 4`;
	for (const message of [result("a", output, true), bash("npm test", output)]) {
		const [piece = ""] = serialize(branch(message));
		expect(piece).toContain("npm test\nok");
		expect(piece).toMatch(/FAIL sum\.test\.ts: expected 3, got 4$/);
		expect(piece.length).toBeLessThan(2100);
	}
});

test("a result that a later one supersedes is one line, also when the later one is kept", () => {
	const read = (id: string) => [calls([id, "read", { path: "a.ts" }]), result(id, `${id} ${"x".repeat(500)}`)];
	const record = serialize(branch(...read("a"), ...read("b")), branch(...read("c")));
	const line = "[Tool result]: [Left out: the file was read again or written later.]";
	expect(record).toEqual([expect.anything(), line, expect.anything(), line]);
	expect(serialize(branch(...read("a")))[1]).toMatch(/^\[Tool result\]: a x/);
});

test("files that were read, and files that were changed", () => {
	const path = branch(
		calls(["1", "read", { path: "z.ts" }], ["2", "read", { path: "a.ts" }], ["3", "read", { path: "missing.ts" }], ["4", "edit", { path: "a.ts" }]),
		result("3", "no such file", true),
		calls(["5", "write", { path: "new.ts" }], ["6", "bash", { command: "cat b.ts" }], ["7", "read", { path: 7 }]),
	);
	const earlier = { readFiles: ["new.ts", "old.ts"], modifiedFiles: ["done.ts"] };
	expect(fileLists(path, earlier)).toEqual({ readFiles: ["old.ts", "z.ts"], modifiedFiles: ["a.ts", "done.ts", "new.ts"] });
	expect(fileLists(path, "not ours")).toEqual({ readFiles: ["z.ts"], modifiedFiles: ["a.ts", "new.ts"] });
	expect(fileLists([], { readFiles: [1, "a"] })).toEqual({ readFiles: ["a"], modifiedFiles: [] });
});

test("the lists are at the end of a summary and can be taken off", () => {
	const summary = `## Goal\nx${fileBlocks({ readFiles: ["a", "b"], modifiedFiles: ["c"] })}`;
	expect(summary).toBe("## Goal\nx\n\n<read-files>\na\nb\n</read-files>\n\n<modified-files>\nc\n</modified-files>");
	expect(withoutFileBlocks(summary)).toBe("## Goal\nx");
	expect(fileBlocks({ readFiles: [], modifiedFiles: [] })).toBe("");
	const words = "\n\n<user-messages>\n<message>\nremove <user-messages> and\n</user-messages>\n</message>\n</user-messages>";
	expect(withoutFileBlocks(summary + words)).toBe("## Goal\nx");
});

test("a user message is kept whole", () => {
	expect(serialize(branch(user("w".repeat(50_000))))[0]).toHaveLength(50_008);
});
