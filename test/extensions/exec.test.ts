import { afterAll, expect, test } from "vitest";
import { execProgram } from "../../src/extensions/exec.ts";
import type { SessionEntry, SessionFacts } from "../../src/extensions/session-view.ts";
import { Shell } from "../../src/lib/shell/index.ts";
import type { Entry, TranscriptView } from "../../src/transcript/entries.ts";
import { folder } from "./harness.ts";

const plain = { text: (words: string) => words, stream: () => ({ push: (chunk: Buffer) => chunk, end: () => Buffer.alloc(0) }) };
const shell = new Shell({ cwd: process.cwd(), environment: () => process.env, redact: plain as never });
afterAll(() => shell.close());

const sh = (script: string, options = {}) => execProgram(shell, "/bin/sh", ["-c", script], options);

test("gives both streams and the code", async () => {
	expect(await sh("echo out; echo err >&2; exit 3")).toEqual({ stdout: "out\n", stderr: "err\n", code: 3, killed: false });
	const directory = folder({ "a.txt": "" });
	expect(await execProgram(shell, "ls", [], { cwd: directory })).toEqual({ stdout: "a.txt\n", stderr: "", code: 0, killed: false });
});

test("no shell reads the arguments", async () => {
	expect(await execProgram(shell, "echo", ["$HOME", "a b; ls"])).toMatchObject({ stdout: "$HOME a b; ls\n" });
});

test("a program that cannot be started gives 127", async () => {
	expect(await execProgram(shell, "no-such-program", [])).toEqual({
		stdout: "",
		stderr: expect.stringContaining("ENOENT"),
		code: 127,
		killed: false,
	});
	expect(await execProgram(shell, "ls", [], { cwd: "/no/such" })).toMatchObject({ code: 127, stderr: "Working directory does not exist: /no/such" });
});

test.each([2 ** 31, 1e12, 0, Number.NaN])("a timeout of %d ms, which no timer can count, is none", async (timeout) => {
	expect(await sh("sleep 0.1; echo done", { timeout })).toMatchObject({ stdout: "done\n", killed: false });
});

test("timeout and abort end it, first gently", async () => {
	expect(await sh("trap 'echo bye; exit 0' TERM; echo hi; while :; do sleep 0.05; done", { timeout: 200 })).toEqual({
		stdout: "hi\nbye\n",
		stderr: expect.any(String),
		code: 0,
		killed: true,
	});
	const abort = new AbortController();
	const stubborn = sh("trap '' TERM; while :; do sleep 0.05; done", { signal: abort.signal });
	setTimeout(() => abort.abort(), 50);
	expect(await stubborn).toMatchObject({ code: 137, killed: true });
	expect(await sh("echo no", { signal: AbortSignal.abort() })).toEqual({ stdout: "", stderr: "", code: 143, killed: true });
});

test("what stays in the background does not hold it up", async () => {
	const { stdout, code } = await sh("sleep 300 & echo $!");
	// It still runs.
	expect([process.kill(Number(stdout), "SIGKILL"), code]).toEqual([true, 0]);
});

test("a transcript is what extensions are shown", () => {
	const entryOf = (entry: Entry): SessionEntry => entry;
	const factsOf = (view: TranscriptView & { name: string | undefined }): SessionFacts => view;
	expect([entryOf, factsOf]).toHaveLength(2);
});
