import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Tool } from "../../src/agent/tool.ts";
import type { ToolResult } from "../../src/protocol/messages.ts";
import { builtInTools, toolMakers } from "../../src/tools/index.ts";
import { textOf, workbench } from "./workbench.ts";

const bench = workbench();
const bash = (command: string, timeout?: number) => bench.run("bash", { command, timeout });

test("gives the output, and both details when nothing was cut", async () => {
	expect(await bash("echo hello; echo world >&2")).toEqual({
		content: [{ type: "text", text: "hello\nworld\n" }],
		details: { truncation: null, fullOutputPath: null },
	});
});

test("silence is said", async () => {
	expect(textOf(await bash("true"))).toBe("(no output)");
});

test.each([
	["a failing command", "echo oops; exit 3", "oops\n\nCommand exited with code 3"],
	["one without a final newline", "printf oops; exit 3", "oops\n\nCommand exited with code 3"],
	["one without output", "false", "Command exited with code 1"],
	["one that dies of a signal", "kill -9 $$", "Command exited with code 137"],
])("%s is an error that shows output and code", async (_name, command, message) => {
	await expect(bash(command)).rejects.toThrow(new Error(message));
});

test("a timeout is named in seconds", async () => {
	await expect(bash("echo begun; sleep 100", 0.2)).rejects.toThrow(new Error("begun\n\nCommand timed out after 0.2 seconds"));
});

test.each([0, -1, 2147484])("a timeout of %s seconds is refused", async (timeout) => {
	await expect(bash("true", timeout)).rejects.toThrow("timeout must be more than 0 and at most 2147483 seconds");
});

test("an abort shows what there was", async () => {
	const abort = new AbortController();
	const run = bench.run("bash", { command: "echo begun; sleep 100" }, { signal: abort.signal, onUpdate: () => abort.abort() });
	await expect(run).rejects.toThrow(new Error("begun\n\nCommand aborted"));
});

test("long output: the end, the range and the file", async () => {
	const result = await bash("seq 1 5000");
	const { fullOutputPath, truncation } = result.details as { fullOutputPath: string; truncation: Record<string, unknown> };
	expect(textOf(result)).toMatch(/^3001\n3002\n[\s\S]*\n5000\n\n\[Lines 3001-5000 of 5000 \(23\.3KB in all\)\. Full output: (.*)\]$/);
	expect(textOf(result)).toContain(fullOutputPath);
	expect(truncation).not.toHaveProperty("content");
	expect(readFileSync(fullOutputPath, "utf8").split("\n")).toHaveLength(5001);
});

test("one endless line: its last 50 KB", async () => {
	const text = textOf(await bash("head -c 100000 /dev/zero | tr '\\0' x"));
	expect(text).toMatch(/^x{51200}\n\n\[Last 50\.0KB of line 1 \(97\.7KB in all\)\. Full output: .*\]$/);
});

test("a failing command with long output names its file too", async () => {
	await expect(bash("seq 1 5000; exit 1")).rejects.toThrow(/Full output: .*\]\n\nCommand exited with code 1$/);
});

test("progress is the whole output so far, with both details", async () => {
	const updates: ToolResult[] = [];
	const onUpdate = (partial: ToolResult) => {
		updates.push(partial);
		writeFileSync(join(bench.cwd, "one-seen"), "");
	};
	await bench.run("bash", { command: "echo one; until [ -e one-seen ]; do sleep 0.02; done; echo two" }, { onUpdate });
	expect(updates).toEqual(
		["one\n", "one\ntwo\n"].map((text) => ({ content: [{ type: "text", text }], details: { truncation: null, fullOutputPath: null } })),
	);
});

test("escape sequences do not reach the model", async () => {
	expect(textOf(await bash("printf '\\033[31mred\\033[0m\\n'"))).toBe("red\n");
});

/** Arguments that are all the same text. */
const filledWith = (text: string, { parameters }: Tool) =>
	Object.fromEntries(Object.keys((parameters as { properties: object }).properties).map((name) => [name, text]));

test("tools that change something run alone, tools for files name their paths, and each has what a model needs to know", () => {
	const tools = builtInTools(bench.options);
	expect(Object.keys(toolMakers)).toEqual(expect.arrayContaining(tools.map(({ name }) => name)));
	for (const tool of tools) {
		const { kind } = tool.effect;
		if (kind === "read" || kind === "write") expect(tool.effect.paths?.(filledWith("marked", tool)), tool.name).toContain("marked");
		if (kind !== "none") expect(tool.concurrency, tool.name).toBe(kind === "read" ? "shared" : "exclusive");
		expect(tool.hint, tool.name).toMatch(/^[A-Z].*[^.]$/);
		expect(tool.description.length, tool.name).toBeGreaterThan(40);
		expect(JSON.parse(JSON.stringify(tool.parameters)), tool.name).toMatchObject({ type: "object", properties: expect.any(Object) });
	}
});
