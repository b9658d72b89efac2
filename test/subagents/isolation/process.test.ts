/** Isolated tasks of a whole session, stopped at a moment that is certain: git itself waits there. */
import { type ChildProcess, execFile, execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { Agent, program } from "../../wire/support/agent.ts";
import type { Frame } from "../../wire/support/match.ts";

const agents: Agent[] = [];
afterEach(async () => {
	// A later one may use the directory of an earlier one.
	for (const agent of agents.splice(0).reverse()) await agent.dispose();
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
const userOf = (agent: Agent) => ({ BOWLINE_DIR: join(agent.cwd, "../user") });

/** Another session that shares the user's directory, and looks at the repository with its first call. Isolation is off unless asked for. */
async function nextSession(after: Agent, flags: string[] = []): Promise<Agent> {
	const look = { tool: "bash", id: "L", arguments: { command: `cd ${after.cwd}; git status --porcelain; git rev-parse HEAD; ls .git` } };
	const agent = new Agent({ script: { replies: [{ blocks: [look] }, { text: "ok" }] }, flags, env: userOf(after) });
	agents.push(agent);
	agent.send({ id: "1", type: "prompt", message: "hi" });
	await agent.event("agent_settled");
	return agent;
}

/** A process for one prompt that shares the user's directory. */
function oneShot(after: Agent, path = process.env.PATH): { child: ChildProcess; ended: Promise<{ stdout: string; stderr: string }> } {
	const folder = mkdtempSync(join(tmpdir(), "bowline-one-"));
	onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
	const env = { ...process.env, ...userOf(after), PATH: path };
	const args = [program, "-p", "hi", "--provider", "scripted", "--model", "echo", "--no-tools", "--no-session"];
	let child: ChildProcess | undefined;
	const ended = new Promise<{ stdout: string; stderr: string }>((resolve) => {
		child = execFile(process.execPath, args, { cwd: folder, env }, (_, stdout, stderr) => resolve({ stdout, stderr }));
	});
	child?.stdin?.end();
	return { child: child as unknown as ChildProcess, ended };
}

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

for (const [mode, what, text, when, next] of [
	["patch", "the files are ready", "checkout-index -a -q", "after", "a session"],
	["branch", "the index is locked", "bowline: task HEAD", "before", "a process for one prompt without tools"],
	["branch", "HEAD has moved", "bowline: task HEAD", "after", "a session after one that was killed while it repaired"],
] as const) {
	test(`killed while work is merged as ${mode}, when ${what}: ${next} undoes it before the first prompt, and says where the work is`, async () => {
		const git = waitingGit(text, when);
		const agent = start({}, git.path, ["--set", `task.isolation.merge=${mode}`]);
		const repository = (...args: string[]) => execFileSync("git", args, { cwd: agent.cwd, encoding: "utf8" });
		const head = repository("rev-parse", "HEAD");
		writeFileSync(join(agent.cwd, "mine.txt"), "mine\n");
		await until(git.hasCome);
		agent.child.kill("SIGKILL");
		await agent.exited();
		git.go();
		let stderr: string;
		if (next.includes("one prompt")) {
			// As if git had been killed while it moved HEAD.
			writeFileSync(join(agent.cwd, ".git/HEAD.lock"), "");
			const { stdout, stderr: said } = await oneShot(agent).ended;
			expect(stdout).toContain("hi");
			stderr = said;
		} else {
			if (next.includes("repaired")) {
				const repairing = waitingGit("bowline: task HEAD", "after");
				const { child, ended } = oneShot(agent, repairing.path);
				await until(repairing.hasCome);
				child.kill("SIGKILL");
				await ended;
				repairing.go();
			}
			const session = await nextSession(agent);
			const end = session.frames.find((frame) => frame.type === "tool_execution_end" && frame.toolCallId === "L");
			const seen = (end as { result?: { content?: { text?: string }[] } } | undefined)?.result?.content?.[0]?.text ?? "";
			expect(seen.startsWith(`?? mine.txt\n${head}`), seen).toBe(true);
			expect(seen).not.toMatch(/lock|bowline/);
			stderr = session.stderr;
		}
		expect(stderr).toMatch(
			/^Warning: A crashed process did not merge the work of 0-Work: it is in \S+0-Work\.patch(, the branch bowline\/task\/0-Work)?\.\n$/,
		);
		expect(repository("rev-parse", "HEAD")).toBe(head);
		expect(repository("status", "--porcelain")).toBe("?? mine.txt\n");
		expect(readdirSync(join(agent.cwd, ".git")).filter((name) => /bowline|lock/.test(name))).toEqual([]);
		// Copies go with the next process that isolates.
		const last = await nextSession(agent, ["--set", "task.isolation.mode=worktree"]);
		await until(() => readdirSync(join(agent.cwd, "../user/worktrees")).length === 0);
		expect([last.stderr, repository("worktree", "list").trim().split("\n").length]).toEqual(["", 1]);
		repository("apply", /it is in (\S+\.patch)/.exec(stderr)?.[1] ?? "");
		expect(repository("status", "--porcelain")).toBe(" M a.txt\n?? b.txt\n?? mine.txt\n");
	});
}

test("killed when the work has arrived: the next session only removes the branch", async () => {
	const git = waitingGit("update-ref -d");
	const agent = start({}, git.path, ["--set", "task.isolation.merge=branch"]);
	await until(git.hasCome);
	agent.child.kill("SIGKILL");
	await agent.exited();
	git.go();
	const next = await nextSession(agent);
	const repository = (...args: string[]) => execFileSync("git", args, { cwd: agent.cwd, encoding: "utf8" });
	await until(() => repository("branch", "--list", "bowline/*") === "");
	expect([repository("log", "--format=%s"), repository("status", "--porcelain"), next.stderr]).toEqual(["Change something\nBeginning\n", "", ""]);
});

test("an abort waits for work that takes long to capture: its result and its end come before the run's", async () => {
	const git = waitingGit("diff-tree -r -p");
	const agent = start({}, git.path);
	await until(git.hasCome);
	agent.send({ id: "2", type: "abort" });
	// Longer than calls of other tools may take to end.
	setTimeout(git.go, 3000);
	const end = await agent.until(isEnd);
	expect(end).toMatchObject({
		isError: true,
		result: { details: { results: [{ id: "0-Work", patchPath: expect.stringMatching(/0-Work\.patch$/) }] } },
	});
	await agent.response("2");
	const order = agent.frames.map(({ type }) => type).filter((type) => ["subagent_end", "tool_execution_end", "agent_end"].includes(type as string));
	expect(order).toEqual(["subagent_end", "tool_execution_end", "agent_end"]);
});

for (const [how, end] of [
	["stdin closes", (agent: Agent) => agent.child.stdin.end()],
	["SIGTERM", (agent: Agent) => agent.child.kill("SIGTERM")],
] as const) {
	test(`${how}: copies of subagents of subagents are gone, too, and their work is in patches`, async () => {
		const inner = { id: "Inner", description: "d", assignment: "inner" };
		const replies = [
			{ when: { depth: 0, text: "go" }, blocks: [{ tool: "task", arguments: { agent: "task", isolated: true, tasks: [work] } }] },
			{ when: { depth: 1 }, blocks: [{ tool: "task", arguments: { agent: "task", isolated: true, tasks: [inner] } }] },
			{ when: { depth: 2 }, blocks: [{ tool: "bash", arguments: { command: "echo x > new.txt; touch $BOWLINE_SESSION_FILE.working; sleep 1000" } }] },
		];
		const agent = new Agent({
			script: { replies },
			files: { "a.txt": "one\n" },
			isRepository: true,
			flags: ["--set", "task.isolation.mode=worktree"],
		});
		agents.push(agent);
		agent.send({ id: "1", type: "prompt", message: "go" });
		const user = join(agent.cwd, "../user");
		const files = () => readdirSync(user, { recursive: true, encoding: "utf8" }).map((path) => basename(path));
		await until(() => existsSync(user) && files().includes("0-Work.0-Inner.jsonl.working"));
		end(agent);
		await agent.exited();
		expect(execFileSync("git", ["worktree", "list"], { cwd: agent.cwd, encoding: "utf8" }).trim().split("\n")).toHaveLength(1);
		expect(files()).toContain("0-Work.0-Inner.patch");
		expect(readdirSync(join(user, "worktrees"))).toEqual([]);
	});
}
