import { describe, expect, test } from "vitest";
import type { AgentMessage, ToolResultMessage } from "../../src/protocol/messages.ts";
import { inShort, superseded } from "../../src/transcript/superseded.ts";
import { assistant, result, user } from "./support.ts";

const long = "content ".repeat(100);
let count = 0;

/** A call and its result. */
function done(name: string, args: Record<string, unknown>, more: Partial<ToolResultMessage> & { text?: string } = {}): AgentMessage[] {
	const id = `c${++count}`;
	const { text = long, ...rest } = more;
	return [
		assistant("", { content: [{ type: "toolCall", id, name, arguments: args }], stopReason: "toolUse" }),
		result(id, { toolName: name, content: [{ type: "text", text }], ...rest }),
	];
}

/** Which of the results are superseded, by their place among the results. */
function found(...turns: AgentMessage[][]): number[] {
	const messages = [user("go"), ...turns.flat()];
	const results = messages.filter(({ role }) => role === "toolResult");
	return superseded(messages).map((message) => results.indexOf(message));
}

const failed = { isError: true };
const cut = { details: { truncation: { truncated: true } } };

describe("a result is superseded", () => {
	const rows: [what: string, turns: AgentMessage[][], places: number[]][] = [
		["by the same file, read whole later", [done("read", { path: "a" }), done("read", { path: "a" })], [0]],
		["also where it showed a part", [done("read", { path: "a", offset: 5, limit: 9 }), done("read", { path: "./a" })], [0]],
		["by the same part of it", [done("read", { path: "a", offset: 5, limit: 9 }), done("read", { path: "a", offset: 5, limit: 9 })], [0]],
		[
			"by a write, and what an edit showed by a read",
			[done("edit", { path: "a" }), done("read", { path: "a" }), done("write", { path: "a" })],
			[0, 1],
		],
		["by the same command", [done("bash", { command: "npm test", timeout: 5 }), done("bash", { command: "npm test" })], [0]],
		[
			"by the same command that failed",
			[done("bash", { command: "t" }), done("bash", { command: "t" }, { ...failed, text: `${long}\nCommand exited with code 1` })],
			[0],
		],
		["by the same search", [done("grep", { pattern: "x" }), done("grep", { pattern: "x" })], [0]],
		["each time but the last", [done("read", { path: "a" }), done("read", { path: "a" }), done("read", { path: "a" })], [0, 1]],
	];
	test.each(rows)("%s", (_, turns, places) => expect(found(...turns)).toEqual(places));
});

describe("a result stays", () => {
	const rows: [what: string, turns: AgentMessage[][]][] = [
		["when another part of the file is read later", [done("read", { path: "a" }), done("read", { path: "a", offset: 50 })]],
		["when the later result is cut", [done("read", { path: "a", offset: 900 }), done("read", { path: "a" }, cut)]],
		["when the file was edited: what is around the edit is in it alone", [done("read", { path: "a" }), done("edit", { path: "a" })]],
		["when the later call failed", [done("read", { path: "a" }), done("read", { path: "a" }, failed), done("write", { path: "a" }, failed)]],
		[
			"when the later command did not end by itself",
			[done("bash", { command: "t" }), done("bash", { command: "t" }, { ...failed, text: "Command aborted" })],
		],
		[
			"when it is another file or command",
			[done("read", { path: "a" }), done("read", { path: "b" }), done("bash", { command: "ls" }), done("bash", { command: "ls -l" })],
		],
		["when it is short", [done("read", { path: "a" }, { text: "x" }), done("read", { path: "a" })]],
		["when nothing is known of the tool", [done("mcp__x__next", {}), done("mcp__x__next", {})]],
	];
	test.each(rows)("%s", (_, turns) => expect(found(...turns)).toEqual([]));
});

test("its line says why, and is the same each time", () => {
	const [, read] = done("read", { path: "a" }) as [AgentMessage, ToolResultMessage];
	const [, bash] = done("bash", { command: "t" }, failed) as [AgentMessage, ToolResultMessage];
	expect(inShort(read)).toEqual({ ...read, content: [{ type: "text", text: "[Left out: the file was read again or written later.]" }] });
	expect(inShort(bash)).toEqual({ ...bash, content: [{ type: "text", text: "[Left out: the same command was run again later.]" }] });
});
