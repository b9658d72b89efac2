/**
 * An isolated task with verification and repair. A subagent works in a copy of the repository. Bowline runs the tests there. When they fail, a
 * repair run gets their output and one more attempt. Only work that passes reaches the working tree.
 *
 *   node verified-task.mjs                                  a small repository of its own, with a script in place of the model
 *   node verified-task.mjs <repository> "<prompt>" [flags]  your repository and your model; its check is `npm test`
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startClient } from "bowline/client";

const [given, prompt = "Add greetAll(names) in a copy of the repository, with the checks of the profile test.", ...flags] = process.argv.slice(2);
const repository = given ?? makeRepository();
const script = join(import.meta.dirname, "../scripts/verified-task.jsonc");
const settings = {
	"task.isolation.mode": "worktree",
	// The checks that the model can name. It cannot change them.
	"task.verification.profiles": { test: { commands: [{ name: "test", command: given ? "npm test" : "node --test", timeoutMs: 300_000 }] } },
	"task.verification.defaultProfile": "test",
	// Isolated work is checked even when the model does not ask for it.
	"task.verification.enabled": true,
	"task.verification.requireForIsolated": true,
};

const client = await startClient({
	cwd: repository,
	env: { ...process.env, BOWLINE_SETTINGS: JSON.stringify(settings) },
	args: given ? flags : ["--hermetic", "--no-session", "--provider", "scripted", "--model", script],
});
client.on("subagent_start", ({ id, isolated }) => console.log(`${id} starts${isolated ? " in a copy" : ""}`));
client.on("subagent_verification_command_end", ({ attempt, commandName, exitCode }) => console.log(`  check ${commandName}, attempt ${attempt}: exit ${exitCode}`));
client.on("subagent_end", ({ id, exitCode, verification }) =>
	console.log(`${id} ends with ${exitCode}, verification ${verification?.status}, repairs ${verification?.retriesUsed}`),
);

const { text, stopReason, errorMessage } = await client.promptAndWait(prompt);
await client.close();
console.log(stopReason === "stop" ? text : `It ended with ${stopReason}: ${errorMessage}`);
console.log(execFileSync("git", ["status", "--short"], { cwd: repository, encoding: "utf8" }).trimEnd());

/** A repository with a test for a file that does not exist yet. */
function makeRepository() {
	const folder = mkdtempSync(join(tmpdir(), "bowline-verified-task-"));
	const git = (...args) => execFileSync("git", ["-c", "user.name=example", "-c", "user.email=example@localhost", ...args], { cwd: folder });
	writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
	writeFileSync(
		join(folder, "greet.test.js"),
		`import assert from "node:assert";
import { test } from "node:test";
import { greetAll } from "./greet.js";

test("greets each name", () => assert.deepEqual(greetAll(["Ada", "Bo"]), ["Hello, Ada!", "Hello, Bo!"]));
`,
	);
	git("init", "--quiet");
	git("add", "--all");
	git("commit", "--quiet", "--message", "A test");
	return folder;
}
