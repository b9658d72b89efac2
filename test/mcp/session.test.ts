/** MCP servers in the real program: approvals, prompts, aborts, and that nothing is left of them. */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { Agent, type AgentOptions, program } from "../wire/support/agent.ts";
import { toScript } from "../wire/support/script.ts";
import { isRunning, small } from "./support.ts";

type Options = AgentOptions & { model: string; servers: object };

async function withAgent(options: Options, use: (agent: Agent) => Promise<void>): Promise<void> {
	const { model, servers, env, ...rest } = options;
	const settings = JSON.stringify({ mcpServers: servers });
	const agent = new Agent({ ...rest, script: toScript(model), env: { BOWLINE_SETTINGS: settings, ...env } });
	try {
		await use(agent);
	} finally {
		await agent.dispose();
	}
}

const prompt = { id: "p", type: "prompt", message: "go" };

test("a tool of a server is asked about by its name, and a mode that plans allows it only where its entry trusts it", async () => {
	const model = 'call #c1 mcp__s__echo {"text":"hi"} · say "done"';
	await withAgent({ model, servers: { s: small() }, flags: ["--permission-mode", "ask"] }, async (agent) => {
		agent.send({ id: "h", type: "hello", capabilities: { permissions: 1 } });
		agent.send(prompt);
		const request = await agent.event("permission_request");
		expect(request).toMatchObject({ subject: { kind: "tool", tool: "mcp__s__echo", args: { text: "hi" } } });
		agent.send({ type: "permission_response", id: request.id, digest: request.digest, decision: "allow" });
		expect(await agent.event("tool_execution_end")).toMatchObject({ isError: false });
		await agent.event("agent_settled");
	});
	for (const [trustAnnotations, isError] of [
		[true, false],
		[false, true],
	])
		await withAgent({ model, servers: { s: { ...small(), trustAnnotations } }, flags: ["--permission-mode", "plan"] }, async (agent) => {
			agent.send(prompt);
			expect(await agent.event("tool_execution_end")).toMatchObject({ isError });
			await agent.event("agent_settled");
		});
});

test("prompts of servers are slash commands, and their instructions are in the system prompt", async () => {
	await withAgent({ model: 'say "one" · say "two"', servers: { s: small("instructions=Ask echo twice.") } }, async (agent) => {
		agent.send({ ...prompt, message: "/mcp__s__greet Ada" });
		const said = await agent.until((frame) => frame.type === "message_end");
		expect(said).toMatchObject({ message: { role: "user", content: [{ type: "text", text: "Greet Ada." }, { type: "text" }] } });
		await agent.event("agent_settled");
		agent.send({ id: "c", type: "get_commands" });
		expect((await agent.response("c")).data).toMatchObject({
			commands: expect.arrayContaining([expect.objectContaining({ name: "mcp__s__greet" })]),
		});
		agent.send({ id: "m", type: "prompt", message: "/mcp__s__greet" });
		expect(await agent.until((frame) => frame.id === "m" && frame.success === false)).toMatchObject({ error: "/mcp__s__greet needs who" });
		agent.send({ id: "s", type: "get_state", full: true });
		const { systemPrompt } = (await agent.response("s")).data as { systemPrompt: string };
		expect(systemPrompt).toMatch(/# What the MCP servers of this session say about their tools\n\n## s\nAsk echo twice\.$/);
	});
});

test("an abort ends the wait for a silent server, and a call", async () => {
	await withAgent({ model: 'call #c1 mcp__s__wait {} · say "done"', servers: { s: small(), silent: small("silent") } }, async (agent) => {
		agent.send(prompt);
		await agent.until((frame) => frame.type === "mcp_server_update" && frame.status === "ready");
		agent.send({ id: "a", type: "abort" });
		await agent.response("a");
		// The wait is over for good, so the next prompt goes on without the silent one.
		agent.send({ ...prompt, id: "q" });
		await agent.event("tool_execution_start");
		agent.send({ id: "b", type: "abort" });
		expect(await agent.event("tool_execution_end")).toMatchObject({ result: { content: [{ text: 'MCP tool wait of "s" was aborted' }] } });
		await agent.response("b");
	});
});

test("steering skips a call that waits", async () => {
	await withAgent({ model: 'call #c1 mcp__s__echo {"text":"x"} + call #c2 mcp__s__wait {} · say "done"', servers: { s: small() } }, async (agent) => {
		agent.send(prompt);
		await agent.until((frame) => frame.type === "tool_execution_start" && frame.toolCallId === "c2");
		agent.send({ id: "s", type: "steer", message: "stop that" });
		agent.send({ id: "a", type: "abort" });
		await agent.event("agent_settled");
	});
});

test.each(["SIGKILL", "EOF in a call"] as const)("nothing is left after %s", async (how) => {
	const launcher = { command: "sh", args: ["-c", `"$0" "$@"; true`, process.execPath, ...small("stubborn").args] };
	const model = "call #c1 mcp__s__pid {} · call #c2 mcp__l__pid {} · call #c3 mcp__s__wait {}";
	await withAgent({ model, servers: { s: small("stubborn"), l: launcher } }, async (agent) => {
		agent.send(prompt);
		const pids: number[] = [];
		for (let call = 0; call < 2; call += 1) {
			const { result } = (await agent.event("tool_execution_end")) as unknown as { result: { content: { text: string }[] } };
			pids.push(Number(result.content[0]?.text));
		}
		await agent.until((frame) => frame.type === "tool_execution_start" && frame.toolCallId === "c3");
		expect(pids.map(isRunning)).toEqual([true, true]);
		if (how === "SIGKILL") agent.child.kill("SIGKILL");
		else agent.child.stdin.end();
		await agent.exited();
		await expect.poll(() => pids.map(isRunning), { timeout: 20_000 }).toEqual([false, false]);
	});
});

test("a secret of an entry leaves the process in no frame", async () => {
	const servers = { s: { ...small(), env: { API_TOKEN: "$MY_TOKEN" } } };
	await withAgent({ model: 'call #c1 mcp__s__environment {} · say "done"', servers, env: { MY_TOKEN: "a-very-secret-token" } }, async (agent) => {
		agent.send(prompt);
		await agent.event("agent_settled");
		const all = JSON.stringify(agent.frames) + agent.stderr;
		expect([all.includes("[redacted]"), all.includes("a-very-secret-token")]).toEqual([true, false]);
	});
});

test("-p uses servers, announces that nobody can answer, and leaves nothing", async () => {
	const folder = mkdtempSync(join(tmpdir(), "bowline-mcp-p-"));
	try {
		writeFileSync(join(folder, "script.json"), JSON.stringify(toScript('call #c1 mcp__s__capabilities {} · call #c2 mcp__s__pid {} · say "done"')));
		writeFileSync(join(folder, "servers.json"), JSON.stringify({ mcpServers: { s: small() } }));
		const flags = ["--mode", "json", "--provider", "scripted", "--model", "script.json", "--no-session", "--mcp-config", "servers.json", "hello"];
		const running = promisify(execFile)(process.execPath, [program, ...flags], {
			cwd: folder,
			env: { ...process.env, BOWLINE_DIR: join(folder, "user") },
		});
		// It would wait a moment for words on its stdin.
		running.child.stdin?.end();
		const { stdout } = await running;
		const ends = stdout
			.trim()
			.split("\n")
			.map((line) => JSON.parse(line))
			.filter(({ type }) => type === "tool_execution_end");
		expect(JSON.parse(ends[0].result.content[0].text).capabilities).toEqual({ roots: {} });
		expect(isRunning(Number(ends[1].result.content[0].text))).toBe(false);
		// Without a session nothing of the server is written either.
		expect(() => readFileSync(join(folder, "user/logs"))).toThrow("ENOENT");
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
});

test("a subagent has the tools of servers that its definition names, from servers of its own", async () => {
	const files = {
		".bowline/agents/helper.md": "---\nname: helper\ndescription: helps\ntools: mcp__s__e*, read\n---\nHelp.",
		".bowline/agents/other.md": "---\nname: other\ndescription: helps\n---\nHelp.",
	};
	const task = (agent: string) => `agent main + call #${agent} task {"agent":"${agent}","tasks":[{"id":"T","description":"t","assignment":"go"}]}`;
	const echo = (agent: string) => `agent ${agent} + call mcp__s__echo {"text":"from ${agent}"}`;
	const submit = (agent: string, sees: string) => `agent ${agent} + sees "${sees}" + call submit_result {"result":{"data":"${agent} saw it"}}`;
	const model = [
		task("helper"),
		echo("helper"),
		"agent helper + call mcp__s__pid {}",
		submit("helper", "Tool mcp__s__pid not found"),
		task("other"),
		echo("other"),
		submit("other", "Tool mcp__s__echo not found"),
		'agent main + say "done"',
	].join(" · ");
	await withAgent({ model, files, servers: { s: small() }, flags: ["--approve"] }, async (agent) => {
		agent.send(prompt);
		for (const name of ["helper", "other"]) {
			const end = await agent.until((frame) => frame.type === "tool_execution_end" && frame.toolCallId === name);
			expect(JSON.stringify(end)).toContain(`${name} saw it`);
		}
		await agent.event("agent_settled");
	});
});
