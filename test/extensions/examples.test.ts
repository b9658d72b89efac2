import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { execProgram } from "../../src/extensions/exec.ts";
import { fakeUi, folder, load, text } from "./harness.ts";

const root = join(import.meta.dirname, "../..");
const example = (name: string) => ({ [name]: readFileSync(join(root, "examples/extensions", name), "utf8") });
const bash = (command: string) => ({ toolName: "bash", toolCallId: "c", input: { command } });

test("the permission gate asks before a dangerous command", async () => {
	const refusing = await load(example("permission-gate.ts"));
	refusing.actions.ui = fakeUi(refusing.calls, { confirm: false });
	expect(await refusing.host.toolCall(bash("rm -rf build"))).toEqual({
		block: true,
		reason: "The user did not allow this command. Find another way, or ask.",
	});
	expect(refusing.calls).toEqual([["confirm", "Allow this command?", "rm -rf build"]]);
	expect(await refusing.host.toolCall(bash("ls"))).toEqual({ block: false, input: { command: "ls" } });
	const allowing = await load(example("permission-gate.ts"));
	allowing.actions.ui = fakeUi(allowing.calls, { confirm: true });
	expect(await allowing.host.toolCall(bash("sudo ls"))).toEqual({ block: false, input: { command: "sudo ls" } });
});

test("the custom tool counts words", async () => {
	const { host, directory, errors } = await load({ ...example("word-count.ts"), "novel.txt": "one two\nthree " });
	expect(errors).toEqual([]);
	const [tool] = host.tools();
	expect(tool).toMatchObject({ name: "word_count", concurrency: "shared" });
	const call = { toolCallId: "c", args: { path: join(directory, "novel.txt") }, signal: new AbortController().signal, onUpdate: () => undefined };
	expect(await tool?.execute(call)).toEqual({ content: [text(`${call.args.path} has 3 words.`)], details: { words: 3 } });
});

test("the custom command asks for a review of what changed", async () => {
	const { host, calls, actions, errors } = await load(example("review-command.ts"));
	const repository = folder({ "a.txt": "one\n" });
	mkdirSync(join(repository, "sub"));
	const { spawn } = await import("node:child_process");
	const starter = {
		start: async (file: string, args: readonly string[]) => ({
			child: spawn(file, args, { cwd: repository }),
			kill: () => undefined,
			end: async () => undefined,
		}),
	};
	actions.exec = (file, args, options) => execProgram(starter, file, args, options);
	for (const args of [
		["init", "-q"],
		["add", "."],
		["-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "one"],
	])
		await actions.exec("git", args, {});
	expect(host.flags()).toMatchObject([{ name: "review-base", default: "HEAD" }]);
	await host.runCommand("review", "");
	await host.runCommand("review", "nonsense");
	await actions.exec("cp", ["/dev/null", "a.txt"], {});
	await host.runCommand("review", " HEAD ");
	expect(errors).toEqual([]);
	expect(calls).toEqual([
		["notify", "Nothing has changed since HEAD.", undefined],
		["notify", expect.stringMatching(/^git diff failed: /), "error"],
		["waitForIdle"],
		["sendUserMessage", expect.stringMatching(/^Review the changes since HEAD[\s\S]* a\.txt \| 1 -/), {}],
	]);
});
