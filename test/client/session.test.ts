/** A session inside this process: it behaves as over a pipe, and it does not touch the process. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createSession, type SessionOptions } from "../../src/index.ts";
import { environment, folder, kept } from "./support.ts";

interface Setting extends SessionOptions {
	replies?: unknown[];
	files?: Record<string, string>;
}

async function session({ replies, files = {}, ...options }: Setting = {}) {
	const cwd = folder(replies ? { ...files, "script.jsonc": JSON.stringify({ replies }) } : files);
	const model = replies ? { provider: "scripted", model: "script.jsonc" } : {};
	const created = await kept(createSession({ cwd, env: environment(cwd), noSession: true, ...model, ...options }));
	return Object.assign(created, { cwd });
}

test("prompts, tools of both sides and events work as behind a pipe", async () => {
	const agent = await session({
		replies: [
			{
				blocks: [
					{ tool: "read", arguments: { path: "note.txt" } },
					{ tool: "lookup", arguments: { word: "knot" } },
				],
			},
			{ text: "Done." },
		],
		files: { "note.txt": "forty-two" },
	});
	await agent.setCustomTools([
		{ name: "lookup", description: "Looks up.", parameters: { type: "object" }, execute: ({ word }) => `${word}: a bowline` },
	]);
	const types: string[] = [];
	agent.on("event", ({ type }) => types.push(type));
	const { messages, text } = await agent.promptAndWait("hi");
	expect(text).toBe("Done.");
	expect(messages.filter(({ role }) => role === "toolResult")).toMatchObject([
		{ content: [{ text: "forty-two" }] },
		{ content: [{ text: "knot: a bowline" }] },
	]);
	expect(types.at(-1)).toBe("agent_settled");
	await expect(agent.setModel({ provider: "acme", modelId: "m9" })).rejects.toThrow("Model not found: acme/m9");
	expect(await agent.close()).toEqual({ code: 0, signal: null, stderr: "" });
	await expect(agent.getState()).rejects.toThrow("The agent exited with code 0 before get_state was sent.");
});

test("two sessions live side by side, each in its own directory", async () => {
	const [one, two] = await Promise.all([session({ files: { "one.txt": "" } }), session({ files: { "two.txt": "" } })]);
	const list = { command: "ls" };
	expect((await one.bash(list)).output).toBe("one.txt\n");
	expect((await two.bash(list)).output).toBe("two.txt\n");
});

test("paths are relative to the session's directory, and its file is free again when it is closed", async () => {
	const files = { "prompt.md": "Be brief.", "own.jsonc": '{ "steeringMode": "all" }' };
	const agent = await session({
		replies: [{ text: "Hello.", times: "always" }],
		files,
		config: "own.jsonc",
		noSession: false,
		sessionDir: "sessions",
		systemPrompt: "prompt.md",
	});
	expect((await agent.getState()).steeringMode).toBe("all");
	await agent.promptAndWait("hi");
	expect((await agent.exportHtml({ outputPath: "page.html" })).path).toBe(join(agent.cwd, "page.html"));
	expect(readFileSync(join(agent.cwd, "page.html"), "utf8")).toContain("Be brief.");
	await agent.switchSession({ sessionPath: "other.jsonl" });
	await agent.promptAndWait("hi");
	expect((await agent.getState()).sessionFile).toBe(join(agent.cwd, "other.jsonl"));
	await agent.close();
	const all = readdirSync(agent.cwd, { recursive: true, encoding: "utf8" });
	expect(all.filter((name) => name.endsWith(".lock"))).toEqual([]);
});

test("a session file belongs to one session at a time", async () => {
	const one = await session({ replies: [{ text: "Hello." }], noSession: false });
	await one.promptAndWait("hi");
	const { sessionFile = "" } = await one.getState();
	await expect(createSession({ cwd: one.cwd, session: sessionFile })).rejects.toThrow("Session is in use by another session of this program");
	await one.switchSession({ sessionPath: sessionFile });
	await one.close();
	const three = await kept(createSession({ cwd: one.cwd, session: sessionFile }));
	expect((await three.getState()).messageCount).toBe(2);
});

test("dialogs of extensions reach the handler", async () => {
	const ask = `export default (api) => api.registerCommand("ask", { handler: async (args, { ui }) => {
		const name = await ui.input("Name?");
		const sure = await ui.confirm("Sure?", "Really " + name + "?");
		ui.notify(name + " " + sure);
	} });`;
	const agent = await session({ files: { "ask.js": ask }, extension: ["ask.js"] });
	agent.onDialog((dialog) => (dialog.method === "confirm" ? dialog.message === "Really Ada?" : "Ada"));
	const notified = new Promise((resolve) => agent.on("extension_ui_request", (request) => request.method === "notify" && resolve(request.message)));
	expect(await agent.promptAndWait("/ask")).toMatchObject({ messages: [] });
	expect(await notified).toBe("Ada true");
});

test("nothing global is touched", async () => {
	const names = ["exit", "SIGTERM", "SIGHUP", "SIGINT", "uncaughtException", "unhandledRejection", "warning"];
	const look = () => ({
		listeners: names.map((name) => process.listenerCount(name)),
		functions: [process.stdout.write, console.log, console.error, process.exit],
		cwd: process.cwd(),
		environment: { ...process.env },
	});
	const before = look();
	const agents = await Promise.all(
		Array.from({ length: 12 }, () => session({ replies: [{ text: "Hello." }], settings: { "retry.enabled": false } })),
	);
	await agents[0]?.promptAndWait("hi");
	await agents[1]?.bash({ command: "true" });
	expect(look()).toEqual(before);
	await Promise.all(agents.map((agent) => agent.close()));
	expect(look()).toEqual(before);
});

test("subagents are sent from inside too, and what they left goes with the session", async () => {
	const listeners = process.listenerCount("exit");
	const tasks = [{ id: "Fix", description: "Mend it", assignment: "Mend the cart." }];
	const agent = await session({
		replies: [
			{ when: { agent: "main", text: "go" }, blocks: [{ tool: "task", arguments: { agent: "task", tasks } }] },
			{ when: { agent: "task" }, blocks: [{ tool: "submit_result", arguments: { result: { data: "Mended." } } }] },
			{ when: { agent: "main", tool: "task" }, text: "Good." },
		],
	});
	const { text, messages } = await agent.promptAndWait("go");
	expect(text).toBe("Good.");
	const result = messages.find((message) => message.role === "toolResult") as unknown as {
		details: { results: { outputPath: string; exitCode: number }[] };
	};
	const [{ outputPath, exitCode } = { outputPath: "", exitCode: -1 }] = result.details.results;
	expect([exitCode, existsSync(outputPath)]).toEqual([0, true]);
	await agent.close();
	expect([existsSync(outputPath), process.listenerCount("exit")]).toEqual([false, listeners]);
});

test("options that make no sense are refused with a reason", async () => {
	await expect(session({ cwd: "/no/such/directory" })).rejects.toThrow("There is no directory /no/such/directory");
	await expect(session({ thinking: "deeply" as never })).rejects.toThrow("--thinking must be off or minimal");
	await expect(session({ args: ["--frobnicate"] })).rejects.toThrow("Unknown flag: --frobnicate");
	await expect(session({ args: ["word"] })).rejects.toThrow("args: word is not a flag");
	await expect(session({ config: "missing.json" })).rejects.toThrow("missing.json");
});

test("a session that is closed in the middle of a run ends it, and can be started again", async () => {
	const agent = await session({ replies: [{ stall: true, times: "always" }] });
	const waiting = agent.promptAndWait("hi").catch((error) => error);
	await new Promise((resolve) => agent.on("agent_start", resolve));
	const { sessionId } = await agent.getState();
	await agent.restart();
	expect(await waiting).toMatchObject({ stopReason: "aborted" });
	expect((await agent.getState()).sessionId).not.toBe(sessionId);
});
