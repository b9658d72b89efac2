/** Whom the program connects to, and which files it writes: the provider of the model, and what the page about security names. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Agent, type AgentOptions } from "../wire/support/agent.ts";

function folder(): string {
	const path = mkdtempSync(join(tmpdir(), "bowline-connections-"));
	onTestFinished(() => rmSync(path, { recursive: true, force: true }));
	return path;
}

/** Notes every connection and every look-up of a name, by any module of the process. */
const spy = (file: string) => `
const { appendFileSync } = require("node:fs");
const net = require("node:net");
const dns = require("node:dns");
const note = (text) => appendFileSync(${JSON.stringify(file)}, text + "\\n");
const { connect } = net.Socket.prototype;
net.Socket.prototype.connect = function (...given) {
	const [first] = Array.isArray(given[0]) ? given[0] : given;
	note(typeof first === "object" ? (first.host ?? "localhost") + ":" + (first.port ?? first.path) : String(first));
	return connect.apply(this, given);
};
for (const where of [dns, dns.promises]) {
	const { lookup } = where;
	where.lookup = (name, ...rest) => { note("lookup " + name); return lookup(name, ...rest); };
}
`;

function watched(options: AgentOptions): { agent: Agent; connections: () => string[] } {
	const directory = folder();
	const [preload, log] = [join(directory, "spy.cjs"), join(directory, "log")];
	writeFileSync(preload, spy(log));
	const agent = new Agent({ ...options, env: { NODE_OPTIONS: `--require ${preload}`, ...options.env } });
	onTestFinished(() => agent.dispose());
	return { agent, connections: () => (existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : []) };
}

/** A session with a bit of everything. */
async function work(agent: Agent): Promise<void> {
	agent.send({ id: "1", type: "prompt", message: "hi" });
	await agent.event("agent_settled");
	agent.send({ id: "2", type: "bash", command: "true" });
	await agent.response("2");
	agent.send({ id: "3", type: "get_state", full: true });
	await agent.response("3");
	agent.send({ id: "4", type: "new_session" });
	await agent.response("4");
	agent.child.stdin.end();
	expect(await agent.exited()).toBe(0);
}

test("a session without a provider connects to no one, whatever keys there are", { timeout: 60_000 }, async () => {
	const { agent, connections } = watched({
		env: { ANTHROPIC_API_KEY: "sk-canary-123456", OPENAI_API_KEY: "sk-canary-654321" },
		script: { replies: [{ blocks: [{ tool: "bash", arguments: { command: "true" } }] }, { text: "done" }] },
	});
	await work(agent);
	expect(connections()).toEqual([]);
});

test("a session connects to the provider of its model alone", { timeout: 60_000 }, async () => {
	const server = createServer((request, response) => {
		request.resume();
		response.writeHead(401, { "content-type": "application/json" }).end('{"error":{"message":"no"}}');
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	onTestFinished(() => void server.close());
	const { port } = server.address() as AddressInfo;
	const user = folder();
	const acme = { baseUrl: `http://127.0.0.1:${port}/v1`, api: "openai-completions", apiKey: "acme-canary-1234", models: [{ id: "m" }] };
	writeFileSync(join(user, "models.jsonc"), JSON.stringify({ providers: { acme } }));
	const { agent, connections } = watched({
		flags: ["--provider", "acme", "--model", "m"],
		env: { BOWLINE_DIR: user, ANTHROPIC_API_KEY: "sk-canary-123456" },
	});
	await work(agent);
	expect([...new Set(connections())]).toEqual([`127.0.0.1:${port}`]);
});

test("with --hermetic and --no-session nothing is written anywhere", { timeout: 60_000 }, async () => {
	const [home, user, temporary] = [folder(), join(folder(), "user"), folder()];
	mkdirSync(join(home, ".bowline"));
	writeFileSync(join(home, ".bowline/settings.jsonc"), "{ broken");
	const agent = new Agent({
		flags: ["--hermetic", "--no-session"],
		env: { HOME: home, BOWLINE_DIR: user, TMPDIR: temporary },
		script: { replies: [{ text: "done", times: "always" }] },
	});
	onTestFinished(() => agent.dispose());
	await work(agent);
	expect([existsSync(user), readdirSync(temporary), readdirSync(agent.cwd)]).toEqual([false, [], ["script.jsonc"]]);
	expect(readdirSync(home, { recursive: true }).sort()).toEqual([".bowline", ".bowline/settings.jsonc"]);
});

test("settings files stay as they are, also broken ones, whatever commands set", { timeout: 60_000 }, async () => {
	const user = folder();
	const broken = '{ "defaultThinkingLevel": "low", // mine\n';
	writeFileSync(join(user, "settings.jsonc"), broken);
	const agent = new Agent({ env: { BOWLINE_DIR: user }, files: { ".bowline/settings.jsonc": "{}" }, script: { replies: [{ text: "done" }] } });
	onTestFinished(() => agent.dispose());
	for (const [id, frame] of Object.entries({
		a: { type: "set_thinking_level", level: "high" },
		b: { type: "set_auto_compaction", enabled: false },
		c: { type: "set_auto_retry", enabled: false },
		d: { type: "set_steering_mode", mode: "all" },
		e: { type: "set_permission_mode", mode: "ask" },
	})) {
		agent.send({ id, ...frame });
		await agent.response(id);
	}
	agent.child.stdin.end();
	expect(await agent.exited()).toBe(0);
	expect(readFileSync(join(user, "settings.jsonc"), "utf8")).toBe(broken);
	expect(readFileSync(join(agent.cwd, ".bowline/settings.jsonc"), "utf8")).toBe("{}");
});
