/** A session that restricts nothing pays nothing: the gate is a chunk of its own, and is loaded only where it is needed. */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { environment, folder } from "../client/support.ts";
import { program } from "../wire/support/agent.ts";

const chunk = "live-permission-gate.js";

test("the code of the gate is in one chunk", () => {
	const dist = join(program, "..");
	const containing = readdirSync(dist).filter(
		(name) => name.endsWith(".js") && readFileSync(join(dist, name), "utf8").includes("Allow for this session"),
	);
	expect(containing).toEqual([chunk]);
});

const frames = [
	{ id: "h", type: "hello", capabilities: { permissions: 1 } },
	{ id: "m", type: "set_permission_mode", mode: "full" },
	{ id: "s", type: "get_state" },
];

/** The chunks that a session loads. With `-p` the model runs a command; otherwise a host greets, and asks for the state. */
function loadedBy(...flags: string[]): string[] {
	const cwd = folder();
	const replies = [{ blocks: [{ tool: "bash", arguments: { command: "true" } }] }, { text: "done" }];
	writeFileSync(join(cwd, "script.jsonc"), JSON.stringify({ replies }));
	const coverage = join(cwd, "coverage");
	const args = [program, "--no-session", "--provider", "scripted", "--model", "script.jsonc", ...flags];
	const { stdout } = spawnSync(process.execPath, args, {
		cwd,
		env: { ...environment(cwd), NODE_V8_COVERAGE: coverage },
		input: flags.includes("rpc") ? frames.map((frame) => `${JSON.stringify(frame)}\n`).join("") : "",
		encoding: "utf8",
	});
	expect(stdout).toContain(flags.includes("rpc") ? '"get_state","success":true' : "done");
	const reports = readdirSync(coverage).map((name) => JSON.parse(readFileSync(join(coverage, name), "utf8")) as { result: { url: string }[] });
	const urls = reports.flatMap(({ result }) => result.map(({ url }) => url));
	const dist = `${pathToFileURL(join(program, ".."))}/`;
	return [...new Set(urls.filter((url) => url.startsWith(dist)).map((url) => url.slice(dist.length)))];
}

test.each([
	["a command of the model", "-p", "go"],
	["a host that greets", "--mode", "rpc"],
])("mode full without rules loads none of it: %s", (_, ...flags) => {
	const loaded = loadedBy(...flags);
	expect(loaded).toContain("core.js");
	expect(loaded).not.toContain(chunk);
});

test.each([
	["a mode", "--permission-mode", "edit"],
	["a rule", "--set", 'permissions.rules=[{"action":"deny","tool":"read","path":"**/.env"}]'],
])("%s that restricts something loads it", (_, ...flags) => {
	expect(loadedBy("-p", "go", ...flags)).toContain(chunk);
});
