/** Agents that speak other dialects, agents that speak nonsense, and hosts that make mistakes. */
import { expect, test } from "vitest";
import { startClient } from "../../src/client/index.ts";
import { program } from "../wire/support/agent.ts";
import { environment, folder, foreign, kept, start } from "./support.ts";

test.each(["classic", "pi", "omp", "strict"])("dialect %s: a prompt with a retry, a refusal, a command that takes its time", async (dialect) => {
	const replies = [{ fail: { status: 529, body: "overloaded" } }, { text: "Hello.", delayMs: 50 }];
	const cwd = folder({ "script.jsonc": JSON.stringify({ replies }) });
	const flags = ["--mode", "rpc", "--dialect", dialect, "--no-session", "--provider", "scripted", "--model", "script.jsonc"];
	const command = [process.execPath, program, ...flags, "--set", "retry.baseDelayMs=20"];
	const client = await kept(startClient({ command, cwd, env: environment(cwd) }));
	expect(await client.promptAndWait("hi")).toMatchObject({ text: "Hello.", stopReason: "stop" });
	await client.waitForIdle();
	await expect(client.setSessionName({ name: " " })).rejects.toThrow("Session name cannot be empty");
	await expect(client.request("no_such_command")).rejects.toThrow("Unknown command: no_such_command");
	expect(await client.bash({ command: "echo ok" })).toMatchObject({ output: "ok\n" });
});

test("frames that are not what they say harm no one", async () => {
	const errors: unknown[] = [];
	const client = await foreign(
		`
		say({ type: "ready" });
		hear(({ id, type }) => {
			if (type !== "prompt") return say({ id, type: "response", command: type, success: true, data: { isStreaming: false, isCompacting: false } });
			for (const frame of [{}, { type: 5 }, { type: "response" }, { type: "response", id: null, success: false }, { type: "host_tool_call" },
				{ type: "host_tool_cancel" }, { type: "extension_ui_request" }, { type: "extension_ui_request", method: "cancel" },
				{ type: "message_update" }, { type: "message_update" }, { type: "exit" }, { type: "agent_end" }]) say(frame);
			process.stdout.write("[1]\\nnull\\n{\\n");
			say({ id, type: "response", command: type, success: true, data: "yes" });
			say({ type: "agent_start" });
			say({ type: "agent_end" });
		});`,
		{ onError: (error) => errors.push(error) },
	);
	const events = client.events();
	const exits: unknown[] = [];
	client.on("exit", (exit) => exits.push(exit));
	expect(await client.promptAndWait("hi")).toMatchObject({ messages: [], text: "" });
	expect(client.stderr).toBe("[1]\nnull\n{\n");
	expect(exits).toEqual([]);
	await client.close();
	for await (const _ of events);
	expect([exits.length, errors]).toEqual([1, []]);
});

test("what listeners and dialog handlers throw is reported, and everybody else goes on", async () => {
	const errors: string[] = [];
	const client = await foreign(
		`
		say({ type: "ready" });
		hear((frame) => {
			if (frame.type === "extension_ui_response") say({ type: "notice", frame });
			else say({ type: "extension_ui_request", id: "d1", method: "confirm", title: "Sure?", message: "" });
		});`,
		{ waitForReady: true, onError: (error) => errors.push((error as Error).message) },
	);
	client.onDialog(() => {
		throw new Error("no user");
	});
	client.on("event", () => {
		throw new Error("no listener");
	});
	const answered = new Promise((resolve) => client.on("event", resolve));
	void client.request("anything").catch(() => undefined);
	expect(await answered).toMatchObject({ frame: { id: "d1", cancelled: true } });
	expect(errors).toEqual(["no user", "no listener"]);
});

test("a dialog that no one handles is cancelled; one that timed out or was withdrawn fires its signal", async () => {
	const client = await foreign(
		`
		say({ type: "ready" });
		const ask = (id, rest) => say({ type: "extension_ui_request", id, method: "input", title: "Name?", ...rest });
		hear((frame) => {
			if (frame.type === "extension_ui_response") return say({ type: "notice", frame });
			ask(frame.type, { timeout: frame.type === "timed" ? 30 : undefined });
			if (frame.type === "withdrawn") say({ type: "extension_ui_request", id: "x", method: "cancel", targetId: "withdrawn" });
		});`,
		{ waitForReady: true },
	);
	const notice = new Promise((resolve) => client.on("event", resolve));
	void client.request("unhandled").catch(() => undefined);
	expect(await notice).toMatchObject({ frame: { id: "unhandled", cancelled: true } });
	for (const kind of ["timed", "withdrawn"]) {
		const fired = new Promise<string>((resolve) => {
			client.onDialog((dialog, signal) => new Promise(() => signal.addEventListener("abort", () => resolve(dialog.id))));
		});
		void client.request(kind).catch(() => undefined);
		expect(await fired).toBe(kind);
	}
});

test("restarts and a close at the same time leave no process behind", async () => {
	const client = await start();
	const [, , exit] = await Promise.all([client.restart(), client.restart(), client.close()]);
	expect(exit).toMatchObject({ code: 0 });
	await expect(client.getState()).rejects.toThrow("The agent exited with code 0 before get_state was sent.");
});

test("a command that has no limit waits, however the limit is written", async () => {
	const client = await start({ requestTimeoutMs: 1 });
	expect(await client.bash({ command: "sleep 0.1; echo slow" })).toMatchObject({ output: "slow\n" });
	const options = [{ timeoutMs: 0 }, { timeoutMs: Number.POSITIVE_INFINITY }, { timeoutMs: 2 ** 40 }];
	for (const each of options) expect(await client.getAvailableModels({}, each)).toHaveProperty("models");
});

test("events of a run that come before the answer to its prompt belong to it: the answer was lost with a connection and came again", async () => {
	const message = (text: string) => `{ role: "assistant", content: [{ type: "text", text: "${text}" }], stopReason: "stop" }`;
	const client = await foreign(`
		say({ type: "ready" });
		hear(({ id, type }) => {
			if (type !== "prompt") return say({ id, type: "response", command: type, success: true, data: { isStreaming: false } });
			say({ type: "agent_start", runId: "r_0" });
			say({ type: "agent_end", runId: "r_0", messages: [${message("of another run")}] });
			say({ type: "agent_settled" });
			say({ type: "agent_start", runId: "r_1" });
			say({ type: "agent_end", runId: "r_1", messages: [${message("mine")}] });
			say({ type: "agent_settled" });
			say({ id, type: "response", command: type, success: true, data: { disposition: "started", runId: "r_1", duplicate: true } });
		});`);
	const { text, messages } = await client.promptAndWait("go");
	expect({ text, count: messages.length }).toEqual({ text: "mine", count: 1 });
});
