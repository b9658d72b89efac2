/** Settings: where they come from, who wins, and that a bad file is left alone. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Compile } from "typebox/compile";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type SettingRow, settings } from "../../src/protocol/settings.ts";
import { loadSettings, type SettingsPlaces } from "../../src/settings/settings.ts";
import { settingsPlaces } from "../settings-places.ts";
import { program } from "../wire/support/agent.ts";

let folder: string;
let places: SettingsPlaces;
beforeEach(() => {
	({ folder, places } = settingsPlaces());
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(path: string, text: string): string {
	const file = join(folder, path);
	mkdirSync(join(file, ".."), { recursive: true });
	writeFileSync(file, text);
	return file;
}

test("each place beats the ones below it", async () => {
	const name = "retry.maxRetries";
	const seen: unknown[] = [(await loadSettings(places)).get(name)];
	write("user/settings.jsonc", '{ "retry": { "maxRetries": 1 } } // nested');
	seen.push((await loadSettings(places)).get(name));
	write("project/.bowline/settings.jsonc", '{ "retry.maxRetries": 2, }');
	seen.push((await loadSettings(places)).get(name));
	places.config = write("named.jsonc", '{ "retry": { "maxRetries": "4" } }');
	seen.push((await loadSettings(places)).get(name));
	places.environment = '{ "retry.maxRetries": 5 }';
	seen.push((await loadSettings(places)).get(name));
	places.assignments = ["retry.maxRetries=6"];
	const last = await loadSettings(places);
	seen.push(last.get(name));
	expect(seen).toEqual([3, 1, 2, 4, 5, 6]);
	expect(last.origin(name)).toBe("--set retry.maxRetries=6");
});

test("a setting that is an object takes its members in every spelling, and a higher place changes only what it names", async () => {
	const lint = { name: "lint", command: "npm run lint" };
	write("user/settings.jsonc", JSON.stringify({ "task.verification.profiles": { ci: { commands: [lint], mode: "command" }, old: {} } }));
	places.config = write("named.jsonc", JSON.stringify({ task: { verification: { "profiles.default": { commands: [lint] } } } }));
	places.environment = JSON.stringify({ "task.verification.profiles.default.onFailure": "retry_once", "task.agentModelOverrides.plan": "a/b" });
	places.assignments = ['task.verification.profiles.ci.commands=[{"name":"test","command":"make"}]', "task.agentModelOverrides.explore=c/d:low"];
	const settings = await loadSettings(places);
	expect(settings.get("task.verification.profiles")).toEqual({
		ci: { commands: [{ name: "test", command: "make" }], mode: "command" },
		old: {},
		default: { commands: [lint], onFailure: "retry_once" },
	});
	expect(settings.get("task.agentModelOverrides")).toEqual({ plan: "a/b", explore: "c/d:low" });
	expect(settings.warnings).toEqual([]);
	places.assignments = ["retry.maxRetries.more=1"];
	await expect(loadSettings(places)).rejects.toThrow(
		"--set retry.maxRetries.more=1: there is no setting retry.maxRetries.more. Did you mean retry.maxRetries? bowline config lists all settings.",
	);
});

test("null falls through, unknown names are kept out, a wrong type is reported and ignored", async () => {
	write("user/settings.jsonc", '{ "retry.maxRetries": 1, "steeringMode": "some", "nobody": 1 }');
	write("project/.bowline/settings.jsonc", '{ "retry.maxRetries": null }');
	const settings = await loadSettings(places);
	expect([settings.get("retry.maxRetries"), settings.get("steeringMode")]).toEqual([1, "one-at-a-time"]);
	expect(settings.warnings).toEqual(['user settings: steeringMode must be "all" or "one-at-a-time"; the value is ignored.']);
});

test("nested and dotted spellings mean the same, also where a setting has another inside", async () => {
	for (const text of [
		'\uFEFF{ "todo": { "reminders": { "max": 1 } } }',
		'{ "todo": { "reminders.max": 1 } }',
		'{ "todo.reminders": { "max": 1 } }',
		'{ "todo.reminders.max": 1, "todo": { "reminders": true } }',
	]) {
		write("user/settings.jsonc", text);
		const { get, warnings } = await loadSettings({ ...places, isRpc: false });
		expect([get("todo.reminders"), get("todo.reminders.max"), warnings]).toEqual([true, 1, []]);
	}
});

test.each([
	['{ "$schema": "x", "retry": { "maxRetries": 1 }, "todo": { "reminders": { "max": 1 } }, "todo.reminders": { "max": 2 } }', true],
	['{ "retry.maxRetries": null, "todo": { "reminders": false }, "extensions": ["a"], "unknown": {} }', true],
	['{ "task": { "isolation": { "mode": "worktree" } }, "task.agentModelOverrides": { "explore": "m" } }', true],
	['{ "retry": { "maxRetries": "many" } }', false],
	['{ "todo": { "reminders": "often" } }', false],
	['{ "steeringMode": "some" }', false],
	['{ "task": { "isolation": { "mode": "sometimes" } } }', false],
])("editors say of %s what the program says: %s", async (text, isGood) => {
	const schema = JSON.parse(readFileSync(join(import.meta.dirname, "../../schema/settings.json"), "utf8"));
	write("user/settings.jsonc", text);
	const { warnings } = await loadSettings({ ...places, isRpc: false });
	expect([Compile(schema).Check(JSON.parse(text)), warnings.length === 0]).toEqual([isGood, isGood]);
});

test("paths are relative to the file that names them, on the command line to the working directory", async () => {
	write("user/settings.jsonc", '{ "extensions": ["mine.ts", "~/b.ts"], "prompts": ["/p"] }');
	write("project/.bowline/settings.jsonc", '{ "skills": ["skills"], "sessionDir": "../sessions" }');
	places.config = write("named/settings.jsonc", '{ "packages": ["pack"] }');
	const { get } = await loadSettings({ ...places, approve: true });
	const names = ["extensions", "prompts", "skills", "sessionDir", "packages"] as const;
	expect(names.map((name) => get(name))).toEqual([
		[join(folder, "user/mine.ts"), join(folder, "b.ts")],
		["/p"],
		[join(places.cwd, ".bowline/skills")],
		join(places.cwd, "sessions"),
		[join(folder, "named/pack")],
	]);
	const given = await loadSettings({ ...places, environment: '{ "prompts": ["e"] }', assignments: ['skills=["s"]'] });
	expect([given.get("prompts"), given.get("skills")]).toEqual([[join(places.cwd, "e")], [join(places.cwd, "s")]]);
});

test("in the home directory the user's files are not those of a project", async () => {
	const userDirectory = join(folder, ".bowline");
	write(".bowline/settings.jsonc", '{ "retry.maxRetries": 1, "shellPath": "/mine", "trust.projects": [] }');
	const settings = await loadSettings({ ...places, userDirectory, cwd: folder });
	expect([settings.origin("retry.maxRetries"), settings.get("shellPath"), settings.projectDirectory]).toEqual(["user settings", "/mine", undefined]);
});

test("trusted paths may be written with ~, a slash at the end, or through a link", async () => {
	symlinkSync(places.cwd, join(folder, "link"));
	for (const [path, isTrusted] of [
		["~/project", true],
		[`${places.cwd}/`, true],
		[join(folder, "link"), true],
		["project", false],
		[folder, false],
	] as const) {
		write("user/settings.jsonc", JSON.stringify({ trust: { projects: [path] } }));
		expect([path, (await loadSettings(places)).isTrusted]).toEqual([path, isTrusted]);
	}
});

test("a project that is not trusted may set only what is harmless", async () => {
	const text = '{ "shellPath": "/evil", "retry.maxRetries": 9, "trust.projects": ["/"] }';
	write("project/.bowline/settings.jsonc", text);
	const untrusted = await loadSettings(places);
	expect([untrusted.isTrusted, untrusted.get("shellPath"), untrusted.get("retry.maxRetries"), untrusted.get("trust.projects")]).toEqual([
		false,
		undefined,
		9,
		[],
	]);
	write("user/settings.jsonc", JSON.stringify({ "trust.projects": [places.cwd] }));
	const trusted = await loadSettings(places);
	expect([trusted.isTrusted, trusted.get("shellPath"), trusted.get("trust.projects")]).toEqual([true, "/evil", [places.cwd]]);
	expect((await loadSettings({ ...places, approve: false })).get("shellPath")).toBe(undefined);
});

test("a project that is not trusted sets numbers only within limits", async () => {
	const hostile = {
		"retry.maxRetries": 1e9,
		"retry.baseDelayMs": 0,
		"retry.maxDelayMs": 1e12,
		"compaction.thresholdTokens": 1,
		"compaction.thresholdPercent": 0.001,
		"compaction.reserveTokens": 1e9,
		"compaction.keepRecentTokens": -5,
		"thinkingBudgets.high": 1e9,
		"todo.reminders.max": "1e6",
	};
	write("project/.bowline/settings.jsonc", JSON.stringify(hostile));
	const { get, unused } = await loadSettings({ ...places, isRpc: false });
	for (const name of Object.keys(hostile) as (keyof typeof hostile)[]) expect([name, get(name)]).toEqual([name, settings[name].default]);
	expect(unused).toHaveLength(Object.keys(hostile).length);
	expect(unused[0]).toBe("project settings: retry.maxRetries has no effect: a project that is not trusted may set 0 to 10 (see --approve).");
	const trusted = await loadSettings({ ...places, isRpc: false, approve: true });
	expect([trusted.get("retry.maxRetries"), trusted.unused]).toEqual([1e9, []]);
	write("project/.bowline/settings.jsonc", JSON.stringify({ "retry.maxRetries": 5, "compaction.thresholdTokens": -1, "retry.baseDelayMs": 500 }));
	const modest = await loadSettings(places);
	expect([modest.get("retry.maxRetries"), modest.get("retry.baseDelayMs"), modest.unused]).toEqual([5, 500, []]);
});

test("every number that a project that is not trusted may set has limits", () => {
	const numbers = Object.entries(settings as Record<string, SettingRow>).filter(
		([, row]) => row.kind === "number" && row.project && row.project !== "never",
	);
	expect(
		numbers.filter(([, row]) => !Array.isArray(row.project) && !(typeof row.project === "object" && "stricter" in row.project)).map(([name]) => name),
	).toEqual([]);
});

test("a settings file with keys without end is read in no time, and its keys do not fill the screen", async () => {
	const keys = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`unknown${index}`, index]));
	write("project/.bowline/settings.jsonc", JSON.stringify({ ["a.".repeat(400_000)]: 1, ...keys, "\u001b[2Jname": 1 }));
	const start = process.cpuUsage();
	const { unused } = await loadSettings(places);
	expect(process.cpuUsage(start).user / 1000).toBeLessThan(2000);
	expect(unused).toHaveLength(51);
	expect(unused[0]?.length).toBeLessThan(250);
	expect(unused.at(-1)).toBe("project settings: 2952 more settings have no effect.");
});

test("names from files reach the terminal without their sequences", () => {
	write("project/.bowline/settings.jsonc", JSON.stringify({ "\u001b[2J\u001b]0;owned\u0007": 1, "retry.maxRetries": "\u001b[31m" }));
	const env = { PATH: process.env.PATH, BOWLINE_DIR: join(folder, "user") };
	const { stdout, stderr } = spawnSync(process.execPath, [program, "config"], { cwd: places.cwd, env, encoding: "utf8" });
	expect(stdout).toContain("\\x1b[2J\\x1b]0;owned\\x07 has no effect");
	expect(["\u001b", "\u0007"].filter((control) => (stdout + stderr).includes(control))).toEqual([]);
});

test("a host gets the same workflow on every machine, but what is explicit counts", async () => {
	write("user/settings.jsonc", '{ "task.isolation.mode": "worktree", "todo.enabled": false, "task.budget.maxToolCalls": 5 }');
	const host = await loadSettings(places);
	expect([host.get("task.isolation.mode"), host.get("todo.enabled"), host.get("task.budget.maxToolCalls")]).toEqual(["none", true, 5]);
	const person = await loadSettings({ ...places, isRpc: false });
	expect([person.get("task.isolation.mode"), person.get("todo.enabled")]).toEqual(["worktree", false]);
	expect((await loadSettings({ ...places, assignments: ["task.isolation.mode=worktree"] })).get("task.isolation.mode")).toBe("worktree");
});

test("hermetic reads neither file", async () => {
	write("user/settings.jsonc", '{ "retry.maxRetries": 1 }');
	write("project/.bowline/settings.jsonc", '{ "retry.maxRetries": 2 }');
	expect((await loadSettings({ ...places, isHermetic: true })).get("retry.maxRetries")).toBe(3);
});

test("a malformed file is reported with its line and left byte for byte", async () => {
	const file = write("user/settings.jsonc", '{\n  "retry": {\n');
	const { warnings } = await loadSettings(places);
	expect(warnings).toEqual([expect.stringMatching(/settings\.jsonc:3: .*left as it is\.$/)]);
	expect(readFileSync(file, "utf8")).toBe('{\n  "retry": {\n');
});

test("a file with nearly the right name is pointed out", async () => {
	const file = join(places.cwd, ".bowline/settings.json");
	writeFileSync(file, '{ "steeringMode": "all" }');
	expect((await loadSettings(places)).warnings).toEqual([`${file} is not read: rename it to settings.jsonc.`]);
});

test("a settings file that is a pipe is not waited for", async () => {
	execFileSync("mkfifo", [join(places.cwd, ".bowline/settings.jsonc")]);
	const { warnings, get } = await loadSettings(places);
	expect(warnings[0]).toMatch(/settings\.jsonc: it is not a regular file\. The file is ignored/);
	// It may have held anything.
	expect([get("permissions.mode"), get("sandbox.mode")]).toEqual(["ask", "read-only"]);
});

test("bowline config shows every setting", () => {
	const env = { PATH: process.env.PATH, BOWLINE_DIR: join(folder, "user") };
	const text = execFileSync(process.execPath, [program, "config"], { cwd: places.cwd, env, encoding: "utf8" });
	const shown = text
		.split("\n\n")[0]
		?.split("\n")
		.map((line) => line.split(" ")[0]);
	expect(shown).toEqual(Object.keys(settings));
});

test.each([
	["retry.maxRetries=many", "--set retry.maxRetries must be a number."],
	["nobody=1", "--set nobody=1: there is no setting nobody. bowline config lists all settings."],
	[
		"retry.maxRetires=1",
		"--set retry.maxRetires=1: there is no setting retry.maxRetires. Did you mean retry.maxRetries? bowline config lists all settings.",
	],
	["retry.maxRetries", "--set retry.maxRetries: write retry.maxRetries=value, such as --set retry.maxRetries=5."],
	["interruptMode=never", '--set interruptMode must be "immediate" or "wait".'],
])("--set %s is refused with the reason", async (assignment, problem) => {
	await expect(loadSettings({ ...places, assignments: [assignment] })).rejects.toThrow(problem);
});

test("what a host sets for its session leaves the files as they are", () => {
	const user = write("user/settings.jsonc", '{ "steeringMode": "all" } // mine\n');
	const frames = [
		{ type: "set_steering_mode", mode: "one-at-a-time" },
		{ type: "set_follow_up_mode", mode: "all" },
		{ type: "set_model", provider: "scripted", modelId: "echo" },
		{ type: "cycle_model" },
		{ type: "cycle_thinking_level" },
		{ type: "set_todos", phases: [{ name: "a" }] },
		{ type: "set_session_name", name: "n" },
		{ type: "set_auto_retry", enabled: false },
		{ type: "set_auto_compaction", enabled: false },
		{ type: "set_thinking_level", level: "high" },
		{ type: "set_interrupt_mode", mode: "wait" },
	];
	const input = frames.map((frame) => `${JSON.stringify(frame)}\n`).join("");
	const env = { PATH: process.env.PATH, BOWLINE_DIR: join(folder, "user") };
	const project = write("project/.bowline/settings.jsonc", '{ "followUpMode": "all", }\n');
	const { stdout } = spawnSync(process.execPath, [program, "--mode", "rpc"], { cwd: places.cwd, env, input, encoding: "utf8" });
	const answers = stdout.split("\n").filter((line) => line.includes('"type":"response"'));
	expect(answers.filter((line) => line.includes('"success":true'))).toHaveLength(frames.length);
	expect(readFileSync(user, "utf8")).toBe('{ "steeringMode": "all" } // mine\n');
	expect(readFileSync(project, "utf8")).toBe('{ "followUpMode": "all", }\n');
});

test("bowline config tells what is in a file and has no effect", () => {
	write("user/settings.jsonc", '{ "$schema": "x", "retyr": { "enabled": false }, "todo.enabled": false }');
	write("project/.bowline/settings.jsonc", '{ "shellPath": "/evil", "trust.projects": ["/"], "todo.eager": true }');
	const env = { PATH: process.env.PATH, BOWLINE_DIR: join(folder, "user") };
	const text = execFileSync(process.execPath, [program, "config", "--mode", "rpc"], { cwd: places.cwd, env, encoding: "utf8" });
	expect(text.split("\n").filter((line) => line.includes("has no effect"))).toEqual([
		"user settings: retyr.enabled has no effect: there is no such setting. Did you mean retry.enabled?",
		"user settings: todo.enabled has no effect: hosts get the default.",
		"project settings: shellPath has no effect: the project is not trusted (see --approve).",
		"project settings: trust.projects has no effect: only the user's own file decides that.",
		"project settings: todo.eager has no effect: hosts get the default.",
	]);
});

test("bowline config shows a value and where it came from", () => {
	write("user/settings.jsonc", '{ "retry.maxRetries": 1 }');
	const env = { PATH: process.env.PATH, BOWLINE_DIR: join(folder, "user") };
	const text = execFileSync(process.execPath, [program, "config", "retry."], { cwd: places.cwd, env, encoding: "utf8" });
	expect(text).toMatch(/^retry\.maxRetries +1 +user settings +How often in a row\.$/m);
	expect(text).toMatch(/^retry\.enabled +true +default +/m);
});

test("a project makes the sandbox stricter and never weaker, trusted or not", async () => {
	write(
		"user/settings.jsonc",
		'{ "sandbox": { "mode": "workspace-write", "network": "hosts", "git": "read", "hidden": ["~/a"], "maxProcesses": 100, "writable": ["~/w"] } }',
	);
	for (const approve of [true, false]) {
		places.approve = approve;
		write(
			"project/.bowline/settings.jsonc",
			'{ "sandbox": { "mode": "off", "network": "on", "git": "write", "required": false, "writable": ["/"], "env": ["*"], "maxProcesses": 0, "escalation": "ask" } }',
		);
		const weaker = await loadSettings(places);
		expect(weaker.get("sandbox.mode")).toBe("workspace-write");
		expect(weaker.get("sandbox.network")).toBe("hosts");
		expect(weaker.get("sandbox.git")).toBe("read");
		expect(weaker.get("sandbox.required")).toBe(true);
		expect(weaker.get("sandbox.writable")).toEqual([join(folder, "w")]);
		expect(weaker.get("sandbox.env")).toEqual([]);
		expect(weaker.get("sandbox.maxProcesses")).toBe(100);
		expect(weaker.get("sandbox.escalation")).toBe("never");
		expect(weaker.unused.join("\n")).toContain("project settings: sandbox.mode has no effect: a project may only make it stricter.");
		write(
			"project/.bowline/settings.jsonc",
			'{ "sandbox": { "mode": "read-only", "network": "off", "hidden": ["secrets"], "maxProcesses": 50, "home": "hidden" } }',
		);
		const tighter = await loadSettings(places);
		expect(tighter.get("sandbox.mode")).toBe("read-only");
		expect(tighter.get("sandbox.network")).toBe("off");
		expect(tighter.get("sandbox.hidden")).toEqual([join(folder, "a"), join(folder, "project/.bowline/secrets")]);
		expect(tighter.get("sandbox.maxProcesses")).toBe(50);
		expect(tighter.get("sandbox.home")).toBe("hidden");
	}
	write("project/.bowline/settings.jsonc", '{ "sandbox.mode": "external" }');
	expect((await loadSettings(places)).get("sandbox.mode")).toBe("workspace-write");
});

test("a typing error turns no sandbox off", async () => {
	for (const text of [
		'{ "sandbox.mode": "workspace" }',
		'{ "sandbox": { "mode": "workspace-write", "hidden": "~/keys" } }',
		'{ "sandbox": { "mode": "workspace-write" ',
	]) {
		write("user/settings.jsonc", text);
		const view = await loadSettings(places);
		expect(view.get("sandbox.mode")).toBe("read-only");
		expect(view.warnings.join("\n")).toContain('so sandbox.mode is "read-only" until it is repaired');
	}
	places.assignments = ["sandbox.mode=off"];
	expect((await loadSettings(places)).get("sandbox.mode")).toBe("off");
});
