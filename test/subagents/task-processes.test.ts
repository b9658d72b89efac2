/** Subagents are processes: what they may know, and that none of them outlives its time. Linux: they are looked at in /proc. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { Agent, type AgentOptions } from "../wire/support/agent.ts";
import type { Frame } from "../wire/support/match.ts";

let agent: Agent | undefined;
afterEach(async () => {
	await agent?.dispose();
	agent = undefined;
});

const task = (id: string, assignment = id) => ({ id, description: `About ${id}`, assignment });
const sent = (tasks: object[], more: object = {}) => ({
	when: { depth: 0, text: "go" },
	blocks: [{ tool: "task", id: "T", arguments: { agent: "task", tasks, ...more } }],
});
const bash = (command: string) => ({ tool: "bash", arguments: { command } });
const submit = (data: unknown) => ({ tool: "submit_result", arguments: { result: { data } } });

function start(replies: object[], options: AgentOptions = {}): Agent {
	agent = new Agent({ script: { replies: [...replies, { when: { depth: 0 }, text: "ok", times: "always" }] }, ...options });
	agent.send({ id: "1", type: "prompt", message: "go" });
	return agent;
}

interface Result {
	id: string;
	exitCode: number;
	output: string;
	stderr: string;
	error?: string;
	outputPath: string;
	truncated: boolean;
}

const isEnd = (frame: Frame) => frame.type === "tool_execution_end" && frame.toolCallId === "T";
async function results(of: Agent): Promise<Result[]> {
	return resultsIn(await of.until(isEnd));
}
function resultsIn(frame: Frame): Result[] {
	return ((frame.result as Frame).details as { results: Result[] }).results;
}

/** Processes whose file of this name holds the word. */
function holding(file: "cmdline" | "environ", word: string): number[] {
	return readdirSync("/proc")
		.filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
		.filter((name) => {
			try {
				return readFileSync(`/proc/${name}/${file}`, "latin1").includes(word);
			} catch {
				return false; // It ended while we looked.
			}
		})
		.map(Number);
}

async function until<T>(look: () => T, isRight: (value: T) => boolean, patienceMs = 20_000): Promise<T> {
	const deadline = performance.now() + patienceMs;
	for (;;) {
		const value = look();
		if (isRight(value) || performance.now() > deadline) return value;
		await new Promise((resolve) => setTimeout(resolve, 20));
	}
}

/** The process of a subagent, found by the path of its conversation file on the command line. */
const childrenOf = (of: Agent, id = "") => holding("cmdline", of.cwd.replace(/work$/, "")).filter((pid) => readCommand(pid).includes(`${id}.jsonl`));
const readCommand = (pid: number) => (existsSync(`/proc/${pid}/cmdline`) ? readFileSync(`/proc/${pid}/cmdline`, "latin1") : "");
const started = async (of: Agent, id: string) =>
	(
		await until(
			() => childrenOf(of, id),
			(found) => found.length === 1,
		)
	)[0] as number;

let count = 0;
/** A duration that no other process sleeps for. */
const nap = () => `8${process.pid}.${++count}`;

test("credentials reach a subagent's models, but no command line, no environment and no command of it", async () => {
	const secret = `sk-test-${nap()}-secret`;
	const look = "tr '\\0' '\\n' < /proc/$PPID/environ; tr '\\0' '\\n' < /proc/$PPID/cmdline; env; ls /proc/self/fd /proc/$PPID/fd";
	const replies = [
		sent([task("Look")]),
		{ when: { depth: 1, text: "Look" }, blocks: [bash(`{ ${look}; } > seen.txt; echo "$ANTHROPIC_API_KEY"`)] },
		{ when: { depth: 1 }, blocks: [submit("{{last}}")] },
	];
	const running = start(replies, { env: { ANTHROPIC_API_KEY: secret }, flags: ["--api-key", secret.replace("sk", "flag")] });
	const pid = await started(running, "0-Look");
	expect(readFileSync(`/proc/${pid}/environ`, "latin1")).not.toContain(secret);
	const [result] = await results(running);
	expect(result).toMatchObject({ exitCode: 0, output: "\n" });
	const seen = readFileSync(join(running.cwd, "seen.txt"), "utf8");
	expect(seen).toContain("--mode\nrpc\n--session\n");
	expect(seen).not.toContain(secret);
	expect(seen).not.toContain("flag-test");
	// Nothing that a command sees reveals the descriptor.
	expect(seen.split("BOWLINE_INHERIT_FD=3")).toHaveLength(2);
	const artifacts = join(result?.outputPath ?? "", "..");
	for (const name of readdirSync(artifacts)) expect(readFileSync(join(artifacts, name), "utf8")).not.toContain(secret);
	// The child knows the model of that provider, which needs the key.
	running.send({ id: "2", type: "get_available_models" });
	expect(JSON.stringify(await running.response("2"))).toContain('"anthropic"');
});

test("a subagent can use a provider whose key only its sender has; a reminder names the tool to call", async () => {
	const { createServer } = await import("node:http");
	const asked: { key: string | undefined; choice: unknown }[] = [];
	const chunk = (choice: object) => `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", choices: [{ index: 0, ...choice }] })}\n\n`;
	const server = createServer(async (request, response) => {
		const body = JSON.parse(Buffer.concat(await request.toArray()).toString()) as { tool_choice?: unknown };
		asked.push({ key: request.headers.authorization, choice: body.tool_choice });
		const call = { index: 0, id: "c1", type: "function", function: { name: "submit_result", arguments: '{"result":{"data":"from the model"}}' } };
		const [delta, reason] = body.tool_choice ? [{ tool_calls: [call] }, "tool_calls"] : [{ content: "Done." }, "stop"];
		response.writeHead(200, { "content-type": "text/event-stream" });
		response.end(`${chunk({ delta: { role: "assistant", ...delta } })}${chunk({ delta: {}, finish_reason: reason })}data: [DONE]\n\n`);
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	onTestFinished(() => void server.close());
	const { port } = server.address() as { port: number };
	const local = { baseUrl: `http://127.0.0.1:${port}/v1`, api: "openai-completions", apiKey: "$MY_OWN_KEY", models: [{ id: "tiny" }] };
	const running = start([sent([task("Ask")], { agent: "asker" })], {
		files: {
			".bowline/agents/asker.md": "---\nname: asker\ndescription: Asks.\nmodel: local/tiny\n---\nYou ask.",
			"user/models.jsonc": JSON.stringify({ providers: { local } }),
		},
		flags: ["--approve"],
		env: { MY_OWN_KEY: "the-key-of-the-test", BOWLINE_DIR: "user" },
	});
	expect(await results(running)).toMatchObject([{ exitCode: 0, output: "from the model" }]);
	const key = "Bearer the-key-of-the-test";
	expect(asked).toEqual([
		{ key, choice: undefined },
		{ key, choice: { type: "function", function: { name: "submit_result" } } },
	]);
});

test("a subagent that is killed has failed; the others and the session go on", async () => {
	const nights = nap();
	const running = start([
		sent([task("Doomed"), task("Fine")]),
		{ when: { depth: 1, text: "Doomed" }, text: "Working.", blocks: [bash(`setsid sleep ${nights} & sleep ${nights}`)] },
		{ when: { depth: 1 }, blocks: [submit("fine")] },
	]);
	const pid = await started(running, "0-Doomed");
	await until(
		() => holding("cmdline", `sleep\0${nights}`),
		(found) => found.length === 2,
	);
	process.kill(pid, "SIGKILL");
	const [doomed, fine] = await results(running);
	expect(doomed).toMatchObject({ id: "0-Doomed", exitCode: 137, error: "The subagent's process was ended by SIGKILL before it was done." });
	expect(fine).toMatchObject({ id: "1-Fine", exitCode: 0, output: "fine" });
	expect(
		await until(
			() => holding("cmdline", nights),
			(found) => found.length === 0,
		),
	).toEqual([]);
	await running.event("agent_settled");
});

test("a subagent that cannot start says why", async () => {
	const running = start([sent([task("Lost")], { agent: "lost" })], {
		files: { ".bowline/agents/lost.md": "---\nname: lost\ndescription: Lost.\nmodel: scripted/gone.jsonc\n---\nYou are lost." },
		flags: ["--approve"],
	});
	const [result] = await results(running);
	expect(result).toMatchObject({ exitCode: 1, error: expect.stringContaining("Script not found: gone.jsonc") });
});

test("abort: when the call has ended, nothing that subagents of subagents started is left", async () => {
	const nights = nap();
	const running = start([
		sent([task("A"), task("B")]),
		{ when: { depth: 1 }, blocks: [{ tool: "task", arguments: { agent: "task", tasks: [task("Inner")] } }] },
		{ when: { depth: 2 }, blocks: [bash(`trap '' TERM; setsid sleep ${nights} & sleep ${nights}`)] },
	]);
	await until(
		() => holding("cmdline", `sleep\0${nights}`),
		(found) => found.length === 4,
	);
	running.send({ id: "2", type: "abort" });
	const end = await running.until(isEnd);
	expect(end.isError).toBe(true);
	expect(resultsIn(end).map(({ exitCode }) => exitCode)).toEqual([1, 1]);
	await running.response("2");
	expect(
		await until(
			() => [...holding("cmdline", nights), ...childrenOf(running)],
			(found) => found.length === 0,
			2000,
		),
	).toEqual([]);
	const ends = running.frames.filter(({ type }) => type === "subagent_end");
	expect(ends).toHaveLength(2);
});

for (const [how, end] of [
	["stdin closes", () => agent?.child.stdin.end()],
	["SIGTERM", () => agent?.child.kill("SIGTERM")],
	["the session is killed with SIGKILL", () => agent?.child.kill("SIGKILL")],
] as const) {
	test(`${how}: subagents and what they started are gone`, async () => {
		const nights = nap();
		const running = start([
			sent([task("A"), task("B")]),
			{ when: { depth: 1 }, blocks: [bash(`trap '' TERM; setsid sleep ${nights} & sleep ${nights}`)] },
		]);
		await until(
			() => holding("cmdline", `sleep\0${nights}`),
			(found) => found.length === 4,
		);
		end();
		await running.exited();
		expect(
			await until(
				() => [...holding("cmdline", nights), ...childrenOf(running)],
				(found) => found.length === 0,
				5000,
			),
		).toEqual([]);
	});
}

for (const [how, end] of [
	["stdin closes", () => agent?.child.stdin.end()],
	["SIGTERM", () => agent?.child.kill("SIGTERM")],
] as const) {
	test(`${how}: the copy that an isolated task worked in is gone, and its work is a patch`, async () => {
		const nights = nap();
		const running = start([sent([task("A")], { isolated: true }), { when: { depth: 1 }, blocks: [bash(`echo new > new.txt; sleep ${nights}`)] }], {
			isRepository: true,
			flags: ["--set", "task.isolation.mode=worktree"],
		});
		await until(
			() => holding("cmdline", `sleep\0${nights}`),
			(found) => found.length === 1,
		);
		running.send({ id: "2", type: "get_state" });
		const { sessionFile } = (await running.response("2")).data as { sessionFile: string };
		end();
		await running.exited();
		expect(readFileSync(sessionFile.replace(/\.jsonl$/, "/0-A.patch"), "utf8")).toContain("+new");
		expect(readdirSync(join(running.cwd, "../user/worktrees"))).toEqual([]);
		expect(readdirSync(join(running.cwd, ".git"))).not.toContain("worktrees");
	});
}

test("artifacts: the conversation with its own working directory, the whole answer, private, numbered on", async () => {
	const long = "A line of the answer.\n".repeat(400);
	const running = start([
		sent([task("Write")]),
		{ when: { depth: 1 }, blocks: [submit(long)] },
		{ when: { depth: 0, text: "again" }, blocks: [{ tool: "task", id: "T", arguments: { agent: "task", tasks: [task("Write")] } }] },
	]);
	const end = await running.until(isEnd);
	const [result] = resultsIn(end);
	const text = ((end.result as Frame).content as { text: string }[])[0]?.text ?? "";
	expect(text).toContain(`All of it is in ${result?.outputPath}; read it there.`);
	expect(text.length).toBeLessThan(6000);
	expect(result).toMatchObject({ output: long, truncated: false });
	expect(readFileSync(result?.outputPath ?? "", "utf8")).toBe(long);
	expect(statSync(result?.outputPath ?? "").mode & 0o077).toBe(0);
	await running.event("agent_settled");
	running.send({ id: "2", type: "get_state" });
	const { sessionFile } = (await running.response("2")).data as { sessionFile: string };
	expect(result?.outputPath).toBe(join(sessionFile.replace(/\.jsonl$/, ""), "0-Write.md"));
	const [header, ...entries] = readFileSync(sessionFile.replace(/\.jsonl$/, "/0-Write.jsonl"), "utf8")
		.trim()
		.split("\n")
		.map((line) => JSON.parse(line));
	expect(header).toMatchObject({ type: "session", cwd: running.cwd });
	expect(entries.filter(({ type }) => type === "message").map(({ message }) => message.role)).toEqual(["user", "assistant", "toolResult"]);
	running.send({ id: "3", type: "prompt", message: "again" });
	expect(await results(running)).toMatchObject([{ id: "1-Write" }]);
});

test("without a session file nothing of a subagent stays on disk", async () => {
	const running = start([sent([task("Write")]), { when: { depth: 1 }, blocks: [submit("short")] }], { flags: ["--no-session"] });
	const [result] = await results(running);
	const folder = join(result?.outputPath ?? "", "..");
	expect(readdirSync(folder)).toEqual(["0-Write.md"]);
	running.child.stdin.end();
	await running.exited();
	expect(existsSync(folder)).toBe(false);
});

test("answers beyond the limits of the environment are cut in the result and whole in the file", async () => {
	const long = "line\n".repeat(50);
	const running = start([sent([task("Write")]), { when: { depth: 1 }, blocks: [submit(long)] }], { env: { BOWLINE_TASK_MAX_OUTPUT_LINES: "3" } });
	const [result] = await results(running);
	expect(result).toMatchObject({ output: "line\nline\nline", truncated: true });
	expect(readFileSync(result?.outputPath ?? "", "utf8")).toBe(long);
});

test("a subagent has the settings, extensions and skills of its sender, and no one to ask", async () => {
	const extension = `export default (api) => {
		api.registerFlag("word", { type: "string" });
		api.registerTool({ name: "ask", description: "Asks.", parameters: { type: "object" }, execute: async (_id, _args, _signal, _update, ctx) => {
			const answer = await ctx.ui.confirm("Sure?", "Really?");
			return { content: [{ type: "text", text: JSON.stringify([answer, api.getFlag("word")]) }] };
		} });
	};`;
	const running = start(
		[
			sent([task("Ask")]),
			{ when: { depth: 1, text: "Ask" }, blocks: [{ tool: "ask", arguments: {} }] },
			{ when: { depth: 1 }, blocks: [submit("{{last}}")] },
		],
		{ files: { "ask.ts": extension }, flags: ["-e", "ask.ts", "--word", "hello"] },
	);
	expect(await results(running)).toMatchObject([{ exitCode: 0, output: '[false,"hello"]' }]);
});

test("an extension that git ignores is missing in a copy; an isolated subagent works on without it", async () => {
	const files = { ".gitignore": ".bowline\n", ".bowline/extensions/a.ts": 'export default (api) => api.registerFlag("word", { type: "string" });' };
	const running = start([sent([task("Work")], { isolated: true }), { when: { depth: 1 }, blocks: [submit("done")] }], {
		files,
		isRepository: true,
		flags: ["--approve", "--set", "task.isolation.mode=worktree", "--word", "hello"],
	});
	expect(await results(running)).toMatchObject([{ exitCode: 0, output: "done", stderr: "" }]);
});

test("a subagent that floods what it prints costs no one their memory", async () => {
	const running = start([
		sent([task("Flood")]),
		{ when: { depth: 1, text: "Flood" }, repeat: { text: "word ", count: 200_000 }, blocks: [bash("yes | head -c 20000000")] },
		{ when: { depth: 1 }, blocks: [submit("done")] },
	]);
	expect(await results(running)).toMatchObject([{ exitCode: 0, output: "done" }]);
	const peak = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${running.child.pid}/status`, "utf8"))?.[1]) / 1024;
	expect(peak).toBeLessThan(250);
});

test("a variable that promises an inheritance where there is none ends the start with a word", async () => {
	agent = new Agent({ env: { BOWLINE_INHERIT_FD: "17" } });
	expect(await agent.exited()).toBe(1);
	expect(agent.stderr).toContain("What BOWLINE_INHERIT_FD promises could not be read");
});

test("task.maxConcurrency holds for subagents of subagents, too, and no one waits for ever", async () => {
	const inner = { tool: "task", arguments: { agent: "task", tasks: [task("C"), task("D")] } };
	const place = mkdtempSync(join(tmpdir(), "bowline-overlap-"));
	onTestFinished(() => rmSync(place, { recursive: true, force: true }));
	const overlap = join(place, "overlap");
	const agent = start(
		[
			sent([task("A"), task("B")]),
			{ when: { depth: 1, text: "Your assignment" }, blocks: [inner] },
			{ when: { depth: 2, text: "Your assignment" }, blocks: [bash('echo begins >> "$OVERLAP"; sleep 1; echo ends >> "$OVERLAP"')] },
			{ when: { depth: 2 }, blocks: [submit("leaf")] },
			{ when: { depth: 1 }, blocks: [submit("branch")] },
		],
		{ flags: ["--set", "task.maxConcurrency=2"], env: { OVERLAP: overlap } },
	);
	expect((await results(agent)).map(({ exitCode, output }) => [exitCode, output])).toEqual([
		[0, "branch"],
		[0, "branch"],
	]);
	let atWork = 0;
	const counts = readFileSync(overlap, "utf8")
		.trim()
		.split("\n")
		.map((line) => {
			atWork += line === "begins" ? 1 : -1;
			return atWork;
		});
	expect(counts).toHaveLength(8);
	expect(Math.max(...counts)).toBeLessThanOrEqual(2);
});
