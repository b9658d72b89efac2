/** Nothing that was started is left when the host or the agent dies, however suddenly. Linux: processes are found in /proc. */
import { spawn } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { Agent, program } from "../wire/support/agent.ts";

let agent: Agent | undefined;
afterEach(async () => {
	await agent?.dispose();
	agent = undefined;
});

/** Processes whose command line holds the word. */
function alive(word: string): string[] {
	return readdirSync("/proc").filter((name) => {
		if (!/^\d+$/.test(name) || Number(name) === process.pid) return false;
		try {
			return readFileSync(`/proc/${name}/cmdline`, "latin1").includes(word);
		} catch {
			// It ended while we looked.
			return false;
		}
	});
}

async function gone(word: string, withinMs: number): Promise<string[]> {
	const deadline = performance.now() + withinMs;
	while (alive(word).length && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 25));
	return alive(word);
}

let count = 0;
/** A number that no other process sleeps for, and a command that leaves such sleepers in every way there is. */
function stubborn(): { word: string; command: string } {
	const word = `7${process.pid}.${++count}`;
	const sleepers = [`sleep ${word} &`, `(sleep ${word} &)`, `setsid sleep ${word} &`, `nohup sh -c 'trap "" TERM HUP INT; sleep ${word}' &`];
	return { word, command: `${sleepers.join("\n")}\ntrap '' TERM; sleep ${word}` };
}

async function startStubborn(by: "tool" | "host"): Promise<string> {
	const { word, command } = stubborn();
	agent = new Agent({ script: { replies: [{ blocks: [{ tool: "bash", arguments: { command } }] }, { text: "ok" }] } });
	agent.send(by === "tool" ? { id: "1", type: "prompt", message: "go" } : { id: "1", type: "bash", command });
	while (alive(`sleep\0${word}`).length < 5) await new Promise((resolve) => setTimeout(resolve, 20));
	return word;
}

for (const by of ["tool", "host"] as const) {
	test(`stdin closes: what a command of the ${by} started is gone, and the agent with it`, async () => {
		const word = await startStubborn(by);
		agent?.child.stdin.end();
		expect(await agent?.exited()).toBe(0);
		expect(await gone(word, 100)).toEqual([]);
	});

	test(`the agent is killed with SIGKILL: what a command of the ${by} started is gone within two seconds`, async () => {
		const word = await startStubborn(by);
		agent?.child.kill("SIGKILL");
		expect(await gone(word, 2000)).toEqual([]);
	});
}

test("SIGTERM: everything is gone within a second", async () => {
	const word = await startStubborn("tool");
	agent?.child.kill("SIGTERM");
	expect(await agent?.exited()).toBe(143);
	expect(await gone(word, 500)).toEqual([]);
});

test("abort: everything the call started is gone when it is answered", async () => {
	const word = await startStubborn("tool");
	agent?.send({ id: "2", type: "abort" });
	await agent?.response("2");
	expect(alive(word)).toEqual([]);
});

test("the host is killed with SIGKILL: the agent and what it started are gone within two seconds", async () => {
	const { word, command } = stubborn();
	agent = new Agent();
	const host = join(agent.cwd, "host.cjs");
	const mark = `--session-id=${word}`;
	const frame = JSON.stringify({ id: "1", type: "bash", command });
	writeFileSync(
		host,
		`const agent = require("node:child_process").spawn(process.execPath, [${JSON.stringify(program)}, "--mode", "rpc", "--no-session", ${JSON.stringify(mark)}]);
		agent.stdout.resume(); agent.stdin.write(${JSON.stringify(`${frame}\n`)}); setInterval(() => undefined, 1000);`,
	);
	const child = spawn(process.execPath, [host], { stdio: "ignore" });
	// Also when the test fails before it gets there.
	onTestFinished(() => void child.kill("SIGKILL"));
	while (alive(`sleep\0${word}`).length < 5) await new Promise((resolve) => setTimeout(resolve, 20));
	expect(alive(mark).length).toBe(1);
	child.kill("SIGKILL");
	expect(await gone(word, 2000)).toEqual([]);
});
