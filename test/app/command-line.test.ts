/** What a person at the command line gets: help, guesses for misspelt words, JSON for programs. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { helpText } from "../../src/app/help.ts";
import { subcommands, unknownCommandText } from "../../src/app/subcommands.ts";
import { parseArguments, refuseUnknown } from "../../src/live/arguments.ts";
import { program } from "../wire/support/agent.ts";

const folder = mkdtempSync(join(tmpdir(), "bowline-line-"));
const user = join(folder, "user");
const work = join(folder, "work");
for (const directory of [user, work, join(folder, "bin")]) mkdirSync(directory);
writeFileSync(join(folder, "bin/bowline"), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`, { mode: 0o755 });
const env = { PATH: `${join(folder, "bin")}:${process.env.PATH}`, BOWLINE_DIR: user };
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (...args: string[]) => spawnSync(process.execPath, [program, ...args], { cwd: work, env, encoding: "utf8", timeout: 30_000 });
const json = (...args: string[]) => JSON.parse(run(...args, "--json").stdout) as Record<string, unknown>;

describe("help", () => {
	test.each(Object.keys(subcommands))("of %s lists its own flags alone", (name) => {
		const own = [...Object.keys(subcommands[name]?.ownFlags ?? {}), ...(subcommands[name]?.flags ?? [])];
		const listed = [...helpText(name).matchAll(/^ {2}(?:-\w+, +| {5})--([\w-]+)/gm)].map(([, flag]) => flag);
		expect(listed).toEqual(own.length ? [...own, "help"] : []);
	});

	test("is a command, as the version is", () => {
		const { stdout, status } = run("help", "models");
		expect([stdout, status]).toEqual([helpText("models"), 0]);
		expect(run("version").stdout).toMatch(/^bowline \d+\.\d+\.\d+ \(node /);
		expect(run("help", "modles")).toMatchObject({ status: 2, stderr: expect.stringContaining("Did you mean bowline models?") });
	});

	test("of rpc says that closing stdin aborts, and its prompt works from a pipe", () => {
		const { stdout } = run("--mode", "rpc", "--help");
		expect(stdout).toContain("Closing stdin ends the agent: it aborts what runs");
		expect(helpText()).toContain("{ echo '");
		const line = stdout.split("\n").find((text) => text.includes("{ echo '")) as string;
		// As printed, with a wait for the end in place of the two seconds, which a busy machine may need for the start alone.
		expect(line).toContain("sleep 2;");
		const waiting = line.replace("sleep 2;", "until grep -qs agent_settled frames; do sleep 0.05; done;");
		spawnSync("bash", ["-c", `${waiting} >frames`], { cwd: work, env, timeout: 60_000 });
		const frames = readFileSync(join(work, "frames"), "utf8");
		expect(frames).toContain('"type":"text_end","contentIndex":0,"content":"hello"');
		expect(frames).toContain('{"type":"agent_settled","aborted":false}');
	});
});

describe("text of files and servers does not act on the terminal:", () => {
	// Sets the clipboard, changes the title, moves the cursor, and turns text around.
	const attack = "\x1b]52;c;ZXZpbA==\x07\x1b]0;title\x07\x9b2J\u202egnp.exe";
	const acts = /(?![\n\t])[\p{Cc}\u202e]/u;

	test("a record of a model", () => {
		const script = {
			replies: [{ blocks: [{ text: `said ${attack}` }, { tool: "bash", arguments: { command: `echo '${attack}'` } }] }, { text: attack }],
		};
		writeFileSync(join(work, "script.json"), JSON.stringify(script));
		run("-p", `do ${attack}`, "--provider", "scripted", "--model", "script.json", "--record", "record.jsonl", "--no-session");
		const { stdout, status } = run("record", "show", "record.jsonl");
		expect([status, stdout]).toEqual([0, expect.stringContaining("52;c;")]);
		expect(stdout).not.toMatch(acts);
		expect(run("record", "show", "record.jsonl", "--json").stdout).not.toMatch(acts);
	});

	test("the list of sessions, and models of a file", () => {
		const directory = join(user, "sessions", "own");
		mkdirSync(directory, { recursive: true });
		const entries = [
			{ type: "session", version: 3, id: `id${attack}`, timestamp: "2026-03-05T00:00:00.000Z", cwd: work },
			{ type: "message", id: "1", parentId: null, timestamp: "2026-03-05T00:00:00.000Z", message: { role: "user", content: attack, timestamp: 1 } },
		];
		writeFileSync(join(directory, "one.jsonl"), entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
		for (const words of [
			["sessions", "--session-dir", directory],
			["models", attack],
			["mcp", attack],
			["config", attack],
		]) {
			const { stdout, stderr } = run(...words);
			expect(stdout + stderr, words[0]).not.toBe("");
			expect(stdout + stderr, words[0]).not.toMatch(acts);
		}
		expect(run("sessions", "--session-dir", directory).stdout).toContain("id\\x1b]52;c");
	});

	test("a value that a script takes stays as it is in a pipe", () => {
		const name = "page\u202e.html";
		const { stdout } = run("export", join(user, "sessions", "own", "one.jsonl"), name);
		expect(stdout).toContain(name);
	});
});

describe("a misspelt word is named with the one that was meant:", () => {
	test.each([
		["--modle", "Unknown flag: --modle. Did you mean --model? See bowline --help."],
		["--no-sesion", "Unknown flag: --no-sesion. Did you mean --no-session? See bowline --help."],
		["--fly", "Unknown flag: --fly. See bowline --help."],
	])("the flag %s", (flag, text) => {
		const parsed = parseArguments([flag]);
		if ("problem" in parsed) throw new Error(parsed.problem);
		expect(() => refuseUnknown(parsed.unknown, () => undefined)).toThrow(text);
	});

	test("a command", () => {
		expect(unknownCommandText("sesions")).toBe(
			'Unknown command: sesions. Did you mean bowline sessions? To ask a model: bowline -p "prompt". See bowline --help.',
		);
		expect(unknownCommandText("fix")).toBe('Unknown command: fix. To ask a model: bowline -p "prompt". See bowline --help.');
	});

	test.each([
		[["serve", "--name", "no-such-server", "tokn", "list"], "Unknown: tokn list. Did you mean token? bowline serve"],
		[["serve", "--name", "no-such-server", "token", "ad", "x"], "Unknown: token ad x. Did you mean token add? bowline serve"],
		[["record", "sho", "x"], "Unknown: record sho. Did you mean record show? bowline record"],
	])("the word after a command: %j", (args, text) => {
		expect(run(...args)).toMatchObject({ status: 2, stderr: expect.stringContaining(text) });
	});

	test("a setting, at every start and by doctor", () => {
		const file = join(user, "settings.jsonc");
		writeFileSync(file, '{ "retry": { "maxRetires": 5 }, "colour": 1 }');
		try {
			const warning = "user settings: there is no setting retry.maxRetires. Did you mean retry.maxRetries?";
			const rpc = spawnSync(process.execPath, [program, "--mode", "rpc"], { cwd: work, env, encoding: "utf8", input: "" });
			expect(rpc.stderr).toBe(`Warning: ${warning}\nWarning: user settings: there is no setting colour.\n`);
			expect(run("-p", "--provider", "scripted", "--model", "echo", "hi")).toMatchObject({
				stdout: "hi\n",
				stderr: expect.stringContaining(warning),
			});
			expect(json("doctor").findings).toContainEqual(expect.objectContaining({ check: "settings", state: "note", text: warning }));
		} finally {
			rmSync(file);
		}
	});
});

describe("--json", () => {
	test("prints models, settings and sessions", () => {
		expect(json("models", "claude-sonnet-4-5")).toMatchObject({
			models: [],
			withoutKey: expect.arrayContaining([expect.objectContaining({ id: "claude-sonnet-4-5" })]),
		});
		expect(json("config", "retry.maxRetries")).toMatchObject({
			settings: [{ name: "retry.maxRetries", value: 3, origin: "default", doc: expect.any(String) }],
			userDirectory: user,
			isTrusted: false,
			unused: [],
			warnings: [],
		});
		run("-p", "--provider", "scripted", "--model", "echo", "remember this");
		const { sessions, omitted } = json("sessions") as { sessions: { id: string; firstPrompt: string; path: string }[]; omitted: number };
		expect([sessions[0]?.firstPrompt, omitted]).toEqual(["remember this", 0]);
		const { path } = json("export", sessions[0]?.id as string, "page.html") as { path: string };
		expect(readFileSync(path, "utf8")).toContain("<html");
	});

	test("of doctor has every finding and whether all is well", () => {
		const report = json("doctor") as { ok: boolean; findings: { check: string; state: string }[] };
		expect(report.findings.map(({ check }) => check)).toEqual(expect.arrayContaining(["node", "git", "settings", "loopback"]));
		expect(report.ok).toBe(report.findings.every(({ state }) => state !== "fail"));
	});

	test.each([["--mode", "rpc"], ["-p", "hi"], ["demo"]])("is refused where nothing prints it: %s", (...args) => {
		const { stderr, stdout } = run(...args, "--json");
		expect(stderr).toBe(
			"Error: --json is for bowline models, sessions, cost, config, doctor and export. Events as JSON lines: bowline -p --mode json.\n",
		);
		expect(stdout).toBe("");
	});
});
