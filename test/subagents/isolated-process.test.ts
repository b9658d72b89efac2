/** Isolated tasks of a whole session, stopped at a moment that is certain: git itself waits there. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { Agent } from "../wire/support/agent.ts";
import type { Frame } from "../wire/support/match.ts";

const agents: Agent[] = [];
afterEach(async () => {
	for (const agent of agents.splice(0)) await agent.dispose();
});

/** A git that waits, before or after its work, when it is called with this text. */
function waitingGit(text: string, when: "before" | "after" = "before"): { path: string; hasCome: () => boolean; go: () => void } {
	const folder = mkdtempSync(join(tmpdir(), "bowline-git-"));
	onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
	mkdirSync(join(folder, "bin"));
	const real = execFileSync("which", ["git"], { encoding: "utf8" }).trim();
	const wait = `touch ${folder}/come; until test -e ${folder}/go; do sleep 0.02; done`;
	const script = `#!/bin/sh\ncase "$*" in *"${text}"*)\n${when === "after" ? `${real} "$@"; code=$?; ${wait}; exit $code` : wait};;\nesac\nexec ${real} "$@"\n`;
	writeFileSync(join(folder, "bin/git"), script, { mode: 0o755 });
	return {
		path: `${folder}/bin:${process.env.PATH}`,
		hasCome: () => existsSync(join(folder, "come")),
		go: () => writeFileSync(join(folder, "go"), ""),
	};
}

async function until(isRight: () => boolean): Promise<void> {
	for (const start = performance.now(); !isRight(); ) {
		if (performance.now() - start > 20_000) throw new Error("it did not happen in time");
		await new Promise((resolve) => setTimeout(resolve, 20));
	}
}

const work = { id: "Work", description: "Change something", assignment: "change" };
function start(args: object, path: string, flags: string[] = []): Agent {
	const replies = [
		{ when: { depth: 0, text: "go" }, blocks: [{ tool: "task", id: "T", arguments: { agent: "task", isolated: true, tasks: [work], ...args } }] },
		{ when: { depth: 1, text: "change" }, blocks: [{ tool: "bash", arguments: { command: "echo two > a.txt; echo new > b.txt" } }] },
		{ when: { depth: 1 }, blocks: [{ tool: "submit_result", arguments: { result: { data: "done" } } }] },
		{ when: { depth: 0 }, text: "ok", times: "always" },
	];
	const all = ["--set", "task.isolation.mode=worktree", ...flags];
	const agent = new Agent({ script: { replies }, files: { "a.txt": "one\n" }, isRepository: true, flags: all, env: { PATH: path } });
	agents.push(agent);
	agent.send({ id: "1", type: "prompt", message: "go" });
	return agent;
}
const isEnd = (frame: Frame) => frame.type === "tool_execution_end" && frame.toolCallId === "T";

test("an abort before the copies are made: every task says that it was not begun", async () => {
	const git = waitingGit("ls-files -o");
	const agent = start({}, git.path);
	await until(git.hasCome);
	agent.send({ id: "2", type: "abort" });
	const end = await agent.until(isEnd);
	expect(end).toMatchObject({
		isError: true,
		result: { details: { results: [{ id: "0-Work", exitCode: 1, aborted: true, error: "Cancelled before start" }] } },
	});
	expect((await agent.response("2")).success).toBe(true);
	expect(agent.frames.filter(({ type }) => type === "subagent_start")).toEqual([]);
});

test("an abort while a copy is made: the checks that were asked for were skipped", async () => {
	const git = waitingGit("checkout-index");
	const agent = start({ verify: { commands: [{ name: "test", command: "true" }] } }, git.path);
	await until(git.hasCome);
	agent.send({ id: "2", type: "abort" });
	expect(await agent.event("subagent_end")).toMatchObject({ exitCode: 1, verification: { requested: true, status: "skipped", attempts: [] } });
	expect(await agent.until(isEnd)).toMatchObject({ result: { details: { results: [{ aborted: true, abortReason: "aborted" }] } } });
	await agent.response("2");
});
