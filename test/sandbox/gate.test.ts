/** Walls and the gate together: rules on paths, mode plan, and the one way out, which a person opens. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { describeUnless } from "../unless.ts";
import { toScript } from "../wire/support/script.ts";
import { type Call, type Frame, Machine, missing, resultOf } from "./support.ts";

const machines: Machine[] = [];
afterEach(async () => {
	await Promise.all(machines.splice(0).map((machine) => machine.close()));
});
function machineOf(): Machine {
	const machine = new Machine();
	machines.push(machine);
	return machine;
}
const inside = ["--sandbox", "workspace-write"];
const setting = (name: string, value: unknown) => ["--set", `${name}=${JSON.stringify(value)}`];
const hello = { id: "h", type: "hello", capabilities: { permissions: 1 } };

/** An agent whose host says hello and answers every question. */
async function asked(machine: Machine, calls: Parameters<Machine["start"]>[0], flags: string[], answer: (request: Frame) => object) {
	const agent = machine.start(calls, flags);
	agent.send(hello);
	agent.send({ id: "1", type: "prompt", message: "go" });
	const questions: Frame[] = [];
	for (;;) {
		const frames = await agent.until(
			(frame) => (frame.type === "permission_request" && !questions.includes(frame)) || frame.type === "agent_settled",
		);
		const question = frames.find((frame) => frame.type === "permission_request" && !questions.includes(frame));
		if (!question) break;
		questions.push(question);
		agent.send({ type: "permission_response", id: question.id, digest: question.digest, ...answer(question) });
	}
	agent.child.stdin.end();
	await agent.gone;
	return { questions, frames: agent.frames, results: agent.frames.filter(({ type }) => type === "tool_execution_end").map(resultOf) };
}

describeUnless(missing)("walls and the gate", () => {
	test("paths that rules deny or ask about are closed to commands, also through links and names that do not exist yet", async () => {
		const machine = machineOf();
		machine.write("work/.env", "SECRET\n");
		machine.write("work/deep/er/.env", "SECRET\n");
		machine.write("work/private/key", "SECRET\n");
		machine.write("work/fixed.txt", "fixed\n");
		const rules = [
			{ action: "deny", tool: "read", path: "**/.env" },
			{ action: "ask", tool: "read", path: "./private" },
			{ action: "deny", tool: "write", path: "./fixed.txt" },
			{ action: "deny", tool: "write", path: "./later.txt" },
		];
		const attempts = [
			"! grep -rqs SECRET .",
			"ln -s deep/er/.env way; ! grep SECRET way",
			"! cat private/key",
			"! { echo x >> fixed.txt; } && cat fixed.txt",
			"! mv fixed.txt other.txt",
		];
		const { results } = await machine.run([...attempts, "echo x > later.txt"], [...inside, ...setting("permissions.rules", rules)]);
		expect(results.map(({ isError, text }) => (isError ? text : "held"))).toEqual([
			...attempts.map(() => "held"),
			`The sandbox was rebuilt because ${join(machine.work, "later.txt")} was made by the command.`,
		]);
		expect(existsSync(join(machine.work, "later.txt"))).toBe(false);
		const off = await machine.run(["cat .env"], setting("permissions.rules", rules));
		expect(off.results[0]?.text).toContain("SECRET");
	});

	test("mode plan: commands run and write nothing but temporary files", async () => {
		const machine = machineOf();
		const agent = machine.start(["echo x > written; echo y > /tmp/own && cat /tmp/own"], [...inside, "--permission-mode", "plan"]);
		agent.send({ id: "1", type: "prompt", message: "go" });
		const frames = await agent.until(({ type }) => type === "agent_settled");
		const [result] = frames.filter(({ type }) => type === "tool_execution_end").map(resultOf);
		expect(result?.text).toContain("y\n");
		expect(result?.details.sandbox).toMatchObject({ applied: true, mode: "read-only" });
		expect(existsSync(join(machine.work, "written"))).toBe(false);
		agent.child.stdin.end();
		await agent.gone;
	});

	describe("an MCP server in mode full", () => {
		const server = `import { createInterface } from "node:readline";
			const tool = (name) => ({ name, inputSchema: { type: "object", properties: {} } });
			const answers = {
				initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } },
				"tools/list": { tools: [tool("read"), tool("send")] },
				"tools/call": { content: [{ type: "text", text: "sent" }] },
			};
			createInterface({ input: process.stdin }).on("line", (line) => {
				const { id, method } = JSON.parse(line);
				if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: answers[method] ?? {} }));
			});`;
		const call = (tool: string, args: Record<string, unknown> = {}): Call => ({ tool, arguments: args });
		const calls = [call("mcp__mail__read"), call("mcp__mail__send"), call("mcp__notes__send"), call("mcp__notes__read")];
		const servers = (machine: Machine) => {
			const entry = { command: process.execPath, args: [machine.write("outside/server.mjs", server)] };
			return setting("mcpServers", { mail: entry, notes: entry });
		};

		test("is asked about once, and the answer holds for the session", async () => {
			const machine = machineOf();
			const answer = ({ server }: Frame) => (server === "mail" ? { decision: "allow" } : { decision: "allow", scope: "once" });
			const { questions, results } = await asked(machine, calls, [...inside, ...servers(machine)], answer);
			expect(questions.map(({ server, text }) => [server, text])).toEqual([
				["mail", "{}"],
				["notes", "{}"],
				["notes", "{}"],
			]);
			expect(questions[0]).toMatchObject({
				title: "Call the tool mcp__mail__read",
				reason: "The MCP server mail is outside the sandbox. An answer for the session covers all its tools.",
				choices: ["once", "session", "always"],
				proposal: { action: "allow", tool: "mcp__mail__*" },
			});
			expect(results.map(({ isError }) => isError)).toEqual([false, false, false, false]);
		});

		test("is asked about by a subagent as well, and its sender's answer covers it", async () => {
			const machine = machineOf();
			machine.write("user/agents/mailer.md", "---\nname: mailer\ndescription: d\ntools: mcp__mail__*\n---\nSend.\n");
			const script = toScript(
				`agent main + call #T task {"agent":"mailer","tasks":[{"id":"Try","description":"d","assignment":"Try it."}]} · agent mailer + sees "Try it." + call mcp__mail__send {} · agent mailer + sees "sent" + call submit_result {"result":{"data":"Sent."}} · agent main + call mcp__mail__read {} · agent main + say "Good."`,
			);
			const { questions, results } = await asked(machine, script, [...inside, ...servers(machine)], () => ({ decision: "allow" }));
			expect(questions.map(({ server, origin }) => [server, (origin as unknown[]).length])).toEqual([["mail", 1]]);
			expect(results.map(({ isError }) => isError)).toEqual([false, false]);
		});

		test("is denied where no person can be asked, in words that name the rule, which allows it", async () => {
			const machine = machineOf();
			const denied = machine.start(calls.slice(0, 1), [...inside, ...servers(machine), "--mode", "json", "go"]);
			denied.child.stdin.end();
			await denied.gone;
			expect(denied.child.exitCode).toBe(4);
			expect(denied.stderr()).toContain('mcp__mail__read {}. It would be allowed by the rule {"action":"allow","tool":"mcp__mail__*"}.');
			const rules = setting("permissions.rules", [{ action: "allow", tool: "mcp__mail__*" }]);
			const { results } = await machine.run(calls.slice(0, 1), [...inside, ...servers(machine), ...rules]);
			expect(results[0]).toMatchObject({ isError: false, text: "sent" });
		});

		test("is not asked about without a sandbox", async () => {
			const machine = machineOf();
			const { questions, results } = await asked(machine, calls, servers(machine), () => ({ decision: "deny" }));
			expect(questions).toEqual([]);
			expect(results.map(({ isError }) => isError)).toEqual([false, false, false, false]);
		});
	});

	describe("a command outside", () => {
		const ask = [...inside, ...setting("sandbox.escalation", "ask")];
		const outside = (machine: Machine, name: string, why = "it must"): Call => ({
			tool: "bash",
			arguments: { command: `echo x > ${machine.outside}/${name}; echo done`, outsideSandbox: why },
		});

		test("runs only after a person has allowed it, once each, in every mode and whatever rules allow", async () => {
			const machine = machineOf();
			const rules = setting("permissions.rules", [{ action: "allow", tool: "bash" }]);
			const calls = [outside(machine, "one"), outside(machine, "one"), outside(machine, "two"), `echo x > ${machine.outside}/three`];
			let count = 0;
			const { questions, results } = await asked(machine, calls, [...ask, ...rules], () => {
				count += 1;
				return count < 3 ? { decision: "allow", scope: "session" } : { decision: "deny" };
			});
			expect(questions).toHaveLength(3);
			expect(questions[0]).toMatchObject({
				subject: { kind: "escalation", sandbox: "outside", tool: "bash" },
				choices: ["once"],
				title: "Run a command outside the sandbox: it must",
			});
			expect(results.map(({ isError }) => isError)).toEqual([false, false, true, true]);
			expect(results[0]?.details.sandbox).toEqual({ applied: false });
			expect(results[2]?.text).toContain("Denied by the user.");
			expect(readdirSync(machine.outside)).toEqual(["one"]);
			const [session] = readdirSync(join(machine.user, "sessions"), { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".jsonl"));
			const entries = readFileSync(join(machine.user, "sessions", session as string), "utf8");
			expect(entries.match(/"customType":"permission"/g)).toHaveLength(3);
			expect(entries).toContain('"kind":"escalation"');
		});

		test("is refused without a typed host, and where the settings do not let the model ask", async () => {
			const machine = machineOf();
			const unheard = await machine.run([outside(machine, "one")], ask);
			expect(unheard.results[0]).toMatchObject({ isError: true });
			expect(unheard.results[0]?.text).toContain("This needs an approval and nobody can be asked.");
			const { questions, results } = await asked(machine, [outside(machine, "two")], inside, () => ({ decision: "allow" }));
			expect(questions).toEqual([]);
			expect(results[0]?.text).toContain("No command can be run outside the sandbox here.");
			expect(readdirSync(machine.outside)).toEqual([]);
		});

		test("is not offered to a subagent where no person can be asked", async () => {
			const machine = machineOf();
			const command = JSON.stringify({ command: `echo x > ${machine.outside}/one`, outsideSandbox: "it must" });
			const script = toScript(
				`agent main + call #T task {"agent":"task","tasks":[{"id":"Try","description":"d","assignment":"Try it."}]} · agent task + sees "Try it." + call bash ${command} · agent task + sees "No command can be run outside the sandbox here." + call submit_result {"result":{"data":"Refused."}} · agent main + say "Good."`,
			);
			const { results } = await machine.run(script, ask);
			expect(results[0]?.text).toContain("1 of 1 task succeeded");
			expect(readdirSync(machine.outside)).toEqual([]);
		});

		test("sees no program and no variable that a command inside could have planted", async () => {
			const machine = machineOf();
			const plant = "mkdir -p bin && printf '#!/bin/sh\\necho planted' > bin/ls && chmod +x bin/ls";
			const look: Call = { tool: "bash", arguments: { command: "command -v ls; env | grep -c ^BASH_ENV= | tr 0 n", outsideSandbox: "to look" } };
			const agent = { PATH: `${machine.work}/bin:${process.env.PATH}`, BASH_ENV: "/nowhere" };
			const started = machine.start([plant, look], ask, agent);
			started.send(hello);
			started.send({ id: "1", type: "prompt", message: "go" });
			const frames = await started.until(({ type }) => type === "permission_request");
			const question = frames.find(({ type }) => type === "permission_request") as Frame;
			started.send({ type: "permission_response", id: question.id, digest: question.digest, decision: "allow" });
			const all = await started.until(({ type }) => type === "agent_settled");
			const [, result] = all.filter(({ type }) => type === "tool_execution_end").map(resultOf);
			expect(result?.text).not.toContain(machine.work);
			expect(result?.text).toMatch(/^n$/m);
			started.child.stdin.end();
			await started.gone;
		});
	});

	test("the host's own command can be run inside, and what is not covered is named", async () => {
		const machine = machineOf();
		const extension = machine.write("outside/hook.ts", 'export default (agent) => agent.on("tool_call", () => undefined);');
		const agent = machine.start([], [...inside, "-e", extension]);
		agent.send({ id: "t", type: "set_host_tools", tools: [{ name: "deploy", description: "d", parameters: { type: "object", properties: {} } }] });
		agent.send({ id: "m", type: "set_mcp_servers", servers: { far: { url: "http://127.0.0.1:9/mcp" } } });
		agent.send({ id: "b", type: "bash", command: `echo x > ${machine.outside}/by-host`, sandbox: true });
		const frames = await agent.until(({ id }) => id === "b");
		expect(frames.find(({ id }) => id === "b")).toMatchObject({
			success: true,
			data: { exitCode: 1, sandboxed: true, sandbox: { applied: true, mode: "workspace-write", network: "off", denied: [] } },
		});
		// The host's command does not wait for the others.
		for (const name of ["t", "m"]) await agent.until(({ id }) => id === name);
		agent.send({ id: "s", type: "get_state" });
		const state = (await agent.until(({ id }) => id === "s")).find(({ id }) => id === "s") as Frame & { data: { sandbox: { uncovered: string[] } } };
		expect(state.data.sandbox.uncovered).toEqual(["host tool deploy", "MCP server far", `extension ${extension}`]);
		expect(readdirSync(machine.outside)).toEqual(["hook.ts"]);
		agent.child.stdin.end();
		await agent.gone;
		const off = machine.start([], []);
		off.send({ id: "b", type: "bash", command: "echo x", sandbox: true });
		expect((await off.until(({ id }) => id === "b")).find(({ id }) => id === "b")).toMatchObject({
			success: false,
			error: "There is no sandbox to run the command in. Send it without sandbox.",
		});
		off.child.stdin.end();
		await off.gone;
	});
});
