/** No file descriptor is available: operations that need one fail with a message, those under way are ended, and later everything works again. */
import { execFileSync } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checkFrames } from "../torture/check-frames.ts";
import { Life } from "../torture/host.ts";
import { World } from "../torture/world.ts";

const root = join(import.meta.dirname, "../..");
const patience = 60_000;
const script = {
	replies: [
		{
			when: { text: "go" },
			times: 2,
			blocks: [
				{ tool: "read", arguments: { path: "a.txt" } },
				{ tool: "bash", arguments: { command: "echo hi" } },
				{ tool: "grep", arguments: { pattern: "one" } },
			],
		},
		{ text: "fine", times: "always" },
	],
};

/** How many more files the process may open. */
function leave(pid: number, count: number): void {
	const open = readdirSync(`/proc/${pid}/fd`).map(Number);
	execFileSync("prlimit", ["--pid", String(pid), `--nofile=${Math.max(...open) + 1 + count}:1024`]);
}

const hasPrlimit = process.platform === "linux" && canRun("prlimit");

function canRun(program: string): boolean {
	try {
		execFileSync(program, ["--version"], { stdio: "ignore" });
		return true;
	} catch {
		return false;
	}
}

describe.runIf(hasPrlimit).concurrent("descriptors that are left:", () => {
	test.each([0, 1, 2, 4, 6, 9, 13, 20])(
		"%i",
		async (count) => {
			const world = new World();
			writeFileSync(join(world.cwd, "script.jsonc"), JSON.stringify(script));
			world.fault({});
			const life = new Life(root, world, ["--provider", "scripted", "--model", "script.jsonc", "--tools", "read,bash,grep"]);
			try {
				await life.until(({ type }) => type === "ready", patience);
				leave(life.pid, count);
				const commands = Array.from({ length: 12 }, (_, n) => life.ask({ id: `b${n}`, type: "bash", command: "sleep 0.05; echo $$" }, patience));
				const over = life.until(({ type, id, success }) => type === "agent_settled" || (id === "p" && success === false), patience);
				life.send({ id: "p", type: "prompt", message: "go 1" });
				expect(await over).toBeDefined();
				for (const answer of await Promise.all(commands)) expect(answer).toBeDefined();

				leave(life.pid, 500);
				const settled = life.until(({ type }) => type === "agent_settled", patience);
				life.send({ id: "q", type: "prompt", message: "go 2" });
				await settled;
				const later = life.trace.slice(life.trace.findIndex(({ frame }) => frame.id === "q"));
				const failed = later.filter(({ frame }) => frame.type === "tool_execution_end" && frame.isError);
				expect(failed.map(({ frame }) => JSON.stringify(frame.result))).toEqual([]);
				expect(await life.ask({ id: "last", type: "bash", command: "echo again" }, patience)).toMatchObject({ data: { output: "again\n" } });
				await life.end("eof", patience);
				expect(world.processes(undefined)).toEqual([]);
				expect(checkFrames(life).filter((problem) => !problem.startsWith("it noticed"))).toEqual([]);
			} finally {
				await life.end("SIGKILL", patience);
				world.remove();
			}
		},
		patience,
	);
});
