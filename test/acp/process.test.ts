import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { program } from "../wire/support/agent.ts";
import { Editor, using } from "./editor.ts";

const isAlive = (pid: number) => {
	try {
		process.kill(pid, 0);
		return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
	} catch {
		return false;
	}
};

async function gone(pid: number, ms = 5000): Promise<boolean> {
	const deadline = performance.now() + ms;
	while (isAlive(pid)) {
		if (performance.now() > deadline) return false;
		await new Promise((resolve) => setTimeout(resolve, 50));
	}
	return true;
}

async function pidIn(path: string): Promise<number> {
	const deadline = performance.now() + 10_000;
	while (!existsSync(path) || readFileSync(path, "utf8").trim() === "") {
		if (performance.now() > deadline) throw new Error(`${path} was not written`);
		await new Promise((resolve) => setTimeout(resolve, 20));
	}
	return Number(readFileSync(path, "utf8"));
}

const sleeper = 'call bash {"command":"echo $$ > pid; setsid sleep 60 & echo $! > child; wait"} · say "no"';

test("the end of the input in a command answers the turn, leaves no process, and writes nothing to stderr", () =>
	using({ model: sleeper, isProcess: true }, async (editor) => {
		const session = await editor.session();
		const answer = editor.prompt(session, "go");
		const [pid, child] = [await pidIn(join(editor.cwd, "pid")), await pidIn(join(editor.cwd, "child"))];
		expect(await editor.end()).toBe(0);
		expect(await answer).toMatchObject({ result: { stopReason: "cancelled" } });
		expect([await gone(pid), await gone(child), editor.stderr]).toEqual([true, true, ""]);
	}));

test("kill -9 of the editor leaves no process", async () => {
	const editor = new Editor({ model: sleeper });
	try {
		// The editor is a process of its own that dies in the middle of a command.
		const flags = ["acp", "--provider", "scripted", "--model", join(editor.folder, "script.json"), "--set", `sessionDir=${editor.folder}`];
		const code = `
			const { spawn } = require("node:child_process");
			const agent = spawn(process.execPath, ${JSON.stringify([program, ...flags])}, { stdio: ["pipe", "pipe", "inherit"] });
			require("node:fs").writeFileSync(${JSON.stringify(join(editor.folder, "agent"))}, String(agent.pid));
			const send = (id, method, params) => agent.stdin.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\\n");
			let text = "";
			agent.stdout.on("data", (chunk) => {
				text += chunk;
				const session = /"sessionId":"([^"]+)"/.exec(text)?.[1];
				if (session) { text = ""; send(3, "session/prompt", { sessionId: session, prompt: [{ type: "text", text: "go" }] }); agent.stdout.removeAllListeners("data"); }
			});
			send(1, "initialize", { protocolVersion: 1 });
			send(2, "session/new", { cwd: ${JSON.stringify(editor.cwd)}, mcpServers: [] });`;
		const host = spawn(process.execPath, ["-e", code], {
			env: { ...process.env, BOWLINE_DIR: join(editor.folder, "user") },
			stdio: ["ignore", "ignore", "inherit"],
		});
		const [pid, child, agent] = [
			await pidIn(join(editor.cwd, "pid")),
			await pidIn(join(editor.cwd, "child")),
			await pidIn(join(editor.folder, "agent")),
		];
		host.kill("SIGKILL");
		expect([await gone(agent), await gone(pid), await gone(child)]).toEqual([true, true, true]);
	} finally {
		editor.dispose();
	}
});

test("a signal ends it with the signal's code and leaves no process", () =>
	using({ model: sleeper, isProcess: true }, async (editor) => {
		const session = await editor.session();
		editor.send("session/prompt", { sessionId: session, prompt: [{ type: "text", text: "go" }] });
		const pid = await pidIn(join(editor.cwd, "pid"));
		editor.child?.kill("SIGTERM");
		expect(await editor.exited()).toBe(143);
		expect(await gone(pid)).toBe(true);
	}));

test("flags that an editor decides for each session are wrong use, with words and code 2", () => {
	const run = (...flags: string[]) => spawnSync(process.execPath, [program, "acp", ...flags], { input: "", encoding: "utf8" });
	for (const flags of [
		["--mode", "rpc"],
		["--dialect", "pi"],
		["--updates", "full"],
		["--no-ready"],
		["--session", "x"],
		["-c"],
		["--session-id", "x"],
		["--name", "x"],
		["--resume", "x"],
		["--fork", "x"],
		["--cwd", "/"],
		["--seq"],
		["--gate", "host"],
		["--list-models"],
		["-p"],
		["--json"],
		["--acp"],
		["--output-schema", "x.json"],
	]) {
		const { status, stderr, stdout } = run(...flags);
		expect([status, stdout], flags.join(" ")).toEqual([2, ""]);
		expect(stderr, flags.join(" ")).toMatch(/does not go with bowline acp/);
	}
	expect(run("word")).toMatchObject({ status: 2, stderr: expect.stringContaining("Unexpected argument: word") });
	expect(run()).toMatchObject({ status: 0, stdout: "", stderr: "" });
	expect(execFileSync(process.execPath, [program, "acp", "--help"], { encoding: "utf8" })).toContain("bowline acp [flags]");
	expect(spawnSync(process.execPath, [program, "models", "--log", "x"], { encoding: "utf8" })).toMatchObject({ status: 2 });
}, 60_000);

test("--log writes every line with its direction and time, for the user alone, without keys", async () => {
	const editor = await Editor.start({
		model: 'say "hi"',
		isProcess: true,
		flags: ["--log", "lines.log"],
		env: { ANTHROPIC_API_KEY: "sk-ant-a-secret-that-nobody-sees" },
	});
	try {
		const session = await editor.session();
		await editor.prompt(session, "my key is sk-ant-a-secret-that-nobody-sees");
		await editor.end();
		const path = join(editor.folder, "lines.log");
		const lines = readFileSync(path, "utf8").trim().split("\n");
		expect(lines[0]).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z -> \{"jsonrpc":"2.0","id":1,"method":"initialize"/);
		expect(lines[1]).toMatch(/Z <- \{"jsonrpc":"2.0","id":1,"result"/);
		expect(lines.join("")).not.toContain("sk-ant-a-secret");
		expect(JSON.stringify(editor.messages)).not.toContain("sk-ant-a-secret");
		expect(statSync(path).mode & 0o777).toBe(0o600);
	} finally {
		editor.dispose();
	}
});

test("code that prints to stdout does not get between the lines", () => {
	const printing = 'export default () => { console.log("noise"); process.stdout.write("more noise\\n"); };';
	return using(
		{ model: 'say "hi"', isProcess: true, mayComplain: true, files: { "noise.ts": printing }, flags: ["--extension", "noise.ts"] },
		async (editor) => {
			const session = await editor.session();
			expect(await editor.prompt(session, "go")).toMatchObject({ result: { stopReason: "end_turn" } });
			expect(editor.stderr).toContain("noise");
		},
	);
});

test("a client that is gone ends the agent", async () => {
	const editor = await Editor.start({ model: 'call bash {"command":"echo $$ > pid; while true; do echo x; sleep 0.05; done"}', isProcess: true });
	try {
		const session = await editor.session();
		editor.send("session/prompt", { sessionId: session, prompt: [{ type: "text", text: "go" }] });
		const pid = await pidIn(join(editor.cwd, "pid"));
		editor.child?.stdout.destroy();
		expect(await editor.exited()).toBe(1);
		expect(await gone(pid)).toBe(true);
	} finally {
		editor.dispose();
	}
});

test("the program of docs/acp.md talks to the agent", () => {
	const page = readFileSync(join(import.meta.dirname, "../../docs/acp.md"), "utf8");
	const [, code = ""] = /^```js\n(.*?)^```$/ms.exec(page) ?? [];
	const folder = mkdtempSync(join(tmpdir(), "bowline-acp-docs-"));
	onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
	writeFileSync(join(folder, "bowline"), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`, { mode: 0o755 });
	writeFileSync(join(folder, "editor.mjs"), code);
	const env = { PATH: `${folder}${delimiter}${process.env.PATH}`, HOME: folder, BOWLINE_DIR: join(folder, "user") };
	const run = spawnSync(process.execPath, ["editor.mjs"], { cwd: folder, env, encoding: "utf8", timeout: 60_000 });
	expect(run).toMatchObject({ status: 0, stdout: "hello\nend_turn\n", stderr: "" });
}, 90_000);
