import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { commandsWith, eventually, isRunning, processesWith, watchdogsOf } from "./processes.ts";

const directory = mkdtempSync(join(tmpdir(), "bowline-killed-"));
const program = join(directory, "agent.mjs");
const agents: ChildProcess[] = [];

beforeAll(async () => {
	await build({ entryPoints: [join(import.meta.dirname, "fixtures/agent.ts")], outfile: program, bundle: true, platform: "node", format: "esm" });
});
afterAll(() => {
	for (const agent of agents) agent.kill("SIGKILL");
	rmSync(directory, { recursive: true });
});

async function startedAgent(tempDir = tmpdir()) {
	const mark = `BOWLINE_TEST_MARK=${randomBytes(8).toString("hex")}`;
	const [name, value] = mark.split("=") as [string, string];
	const agent = spawn(process.execPath, [program], {
		cwd: directory,
		detached: true,
		stdio: ["ignore", "pipe", "inherit"],
		env: { ...process.env, [name]: value, TMPDIR: tempDir },
	});
	agents.push(agent);
	await new Promise<void>((resolve, reject) => {
		agent.stdout?.once("data", () => resolve());
		agent.once("exit", () => reject(new Error("the agent ended early")));
	});
	expect(await eventually(() => processesWith(mark).length >= 9 && commandsWith(value).length === 1, 20_000)).toBe(true);
	return { agent, mark, value, watchdogs: watchdogsOf(agent.pid as number) };
}

test.runIf(process.platform === "linux").each([
	["it alone", (pid: number) => process.kill(pid, "SIGKILL"), undefined],
	["with its whole group", (pid: number) => process.kill(-pid, "SIGKILL"), undefined],
	["without a directory for temporary files", (pid: number) => process.kill(pid, "SIGKILL"), join(directory, "missing")],
])("when the agent is killed (%s), nothing it started is left", async (_name, kill, tempDir) => {
	const { agent, mark, value, watchdogs } = await startedAgent(tempDir);
	expect(watchdogs).toHaveLength(1);
	kill(agent.pid as number);
	const left = () => [...processesWith(mark), ...commandsWith(value), ...watchdogs.filter(isRunning)];
	await eventually(() => left().length === 0, 20_000);
	expect(left()).toEqual([]);
});
