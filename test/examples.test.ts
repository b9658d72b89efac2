/** The examples do what they say. */
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { transformSync } from "esbuild";
import { expect, test } from "vitest";
import { testUnless } from "./unless.ts";
import { Agent } from "./wire/support/agent.ts";

const root = join(import.meta.dirname, "..");
const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
const hasPython = spawnSync("python3", ["--version"]).status === 0;

test("a host in TypeScript offers a tool of its own", () => {
	const { code } = transformSync(readFileSync(join(root, "examples/hosts/with-tools.ts"), "utf8"), { loader: "ts", format: "esm", target: "node20" });
	expect(execFileSync(process.execPath, ["--input-type=module", "-e", code], { cwd: root, env, encoding: "utf8" })).toBe(
		"Yes. It rains in Bergen.\n",
	);
});

testUnless(!hasPython && "python3 is not installed")("a host in Python offers a tool of its own", () => {
	expect(execFileSync("python3", ["examples/hosts/with_tools.py"], { cwd: root, env, encoding: "utf8" })).toBe("Yes. It rains in Bergen.\n");
});

test("the extensions of the examples work in an agent: a tool, a command, a gate that asks the host", async () => {
	const names = ["word-count", "review-command", "permission-gate"];
	const agent = new Agent({
		flags: names.flatMap((name) => ["-e", join(root, `examples/extensions/${name}.ts`)]),
		files: { "novel.txt": "It was a dark night." },
		script: {
			replies: [
				{ blocks: [{ tool: "word_count", arguments: { path: "novel.txt" } }] },
				{ blocks: [{ tool: "bash", arguments: { command: "rm -rf build" } }] },
				{ text: "I leave it." },
				{ when: { text: "Review the changes" }, text: "It looks good." },
			],
		},
	});
	try {
		agent.send({ id: "1", type: "prompt", message: "How long is it?" });
		expect(await agent.event("tool_execution_end")).toMatchObject({ result: { content: [{ text: "novel.txt has 5 words." }] } });
		const { id, ...question } = await agent.event("extension_ui_request");
		expect(question).toMatchObject({ method: "confirm", message: "rm -rf build", timeout: 60_000 });
		agent.send({ type: "extension_ui_response", id, confirmed: false });
		expect(await agent.event("tool_execution_end")).toMatchObject({
			isError: true,
			result: { content: [{ text: "The user did not allow this command. Find another way, or ask." }] },
		});
		await agent.event("agent_settled");
		const git = (...args: string[]) => execFileSync("git", args, { cwd: agent.cwd, env: { ...env, GIT_CONFIG_GLOBAL: "/dev/null" } });
		git("init", "-q");
		git("add", "novel.txt");
		git("-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "one");
		writeFileSync(join(agent.cwd, "novel.txt"), "It was a bright day.");
		agent.send({ id: "2", type: "prompt", message: "/review" });
		expect(await agent.event("agent_end")).toMatchObject({ messages: [{ role: "user" }, { content: [{ text: "It looks good." }] }] });
		expect(agent.stderr).toBe("");
	} finally {
		await agent.dispose();
	}
});

test("a stream rule stops a call before it is finished, and the model starts over", async () => {
	const agent = new Agent({
		flags: ["--provider", "scripted", "--model", join(root, "examples/scripts/force-push.jsonc")],
		env: { BOWLINE_DIR: "home" },
		files: { "home/rules/no-force-push.md": readFileSync(join(root, "examples/rules/no-force-push.md"), "utf8") },
	});
	try {
		agent.send({ id: "1", type: "prompt", message: "Publish the branch." });
		expect(await agent.event("ttsr_triggered")).toMatchObject({ rules: [{ name: "no-force-push" }] });
		expect(await agent.event("tool_execution_end")).toMatchObject({ toolName: "bash", isError: true });
		const told = await agent.until(({ type, message }) => type === "message_end" && (message as { role: string }).role === "custom");
		expect(told.message).toMatchObject({ content: expect.stringContaining("Never push with force") });
		await agent.event("agent_settled");
		expect(agent.frames.findLast(({ type }) => type === "agent_end")).toMatchObject({
			messages: [{ role: "custom" }, { content: [{ text: "Others may have pushed meanwhile. Shall I use --force-with-lease?" }] }],
		});
		expect(agent.stderr).toBe("");
	} finally {
		await agent.dispose();
	}
});

test("an isolated task is verified, repaired once and merged", () => {
	const text = execFileSync(process.execPath, [join(root, "examples/hosts/verified-task.mjs")], {
		// The example imports the package by its name, which leads to this repository here.
		cwd: root,
		env,
		encoding: "utf8",
	});
	expect(text.split("\n")).toEqual([
		"0-GreetAll starts in a copy",
		"  check test, attempt 1: exit 1",
		"  check test, attempt 2: exit 0",
		"0-GreetAll ends with 0, verification passed, repairs 1",
		"greetAll is in the working tree, and its test passes.",
		"?? greet.js",
		"",
	]);
});
