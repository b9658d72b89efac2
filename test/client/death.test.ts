/** An agent can die at any moment, and an agent can be any program. No one waits for one that is gone. */
import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { ExitError, startClient, TimeoutError } from "../../src/client/index.ts";
import { foreign, kept, start } from "./support.ts";

test("a request that the agent dies in tells how, and what it said last", async () => {
	const client = await foreign(`say({ type: "ready" }); hear(() => { console.error("out of memory"); process.exit(3); });`);
	const error = await client.getState().catch((error) => error);
	expect(error).toBeInstanceOf(ExitError);
	expect(error).toMatchObject({
		exitCode: 3,
		signal: null,
		stderr: "out of memory\n",
		message: "The agent exited with code 3 while get_state was pending.\nout of memory",
	});
	expect(await client.exited).toEqual({ code: 3, signal: null, stderr: "out of memory\n" });
	await expect(client.getState()).rejects.toThrow("The agent exited with code 3 before get_state was sent.");
	await expect(client.promptAndWait("hi")).rejects.toBeInstanceOf(ExitError);
	await expect(client.waitForIdle()).rejects.toBeInstanceOf(ExitError);
});

test("a run that the agent is killed in is rejected, its tools are told, its events end", async () => {
	let child: ReturnType<typeof spawn> | undefined;
	const client = await start({
		replies: [{ blocks: [{ tool: "wait", arguments: {} }] }],
		spawn: (file, args, options) => {
			child = spawn(file, args, options);
			return child;
		},
	});
	const told = new Promise<void>((resolve) => {
		const execute = (_: object, { signal }: { signal: AbortSignal }) => {
			signal.addEventListener("abort", () => resolve());
			child?.kill("SIGKILL");
			return new Promise<string>(() => undefined);
		};
		void client.setCustomTools([{ name: "wait", description: "Waits.", parameters: { type: "object" }, execute }]);
	});
	const events = client.events();
	await expect(client.promptAndWait("hi")).rejects.toMatchObject({ name: "ExitError", signal: "SIGKILL" });
	await told;
	let last: string | undefined;
	for await (const { type } of events) last = type;
	expect(last).toBe("tool_execution_start");
});

test("an agent that closes its output is ended", async () => {
	const command = ["sh", "-c", `echo '{"type":"ready"}'; read line; exec 1>&-; exec sleep 60`];
	const client = await kept(startClient({ command, waitForReady: true, closePatience: { endMs: 50, termMs: 5000 } }));
	await expect(client.getState()).rejects.toMatchObject({ name: "ExitError", signal: "SIGTERM" });
});

test("close is patient, then not", async () => {
	const client = await foreign(`process.on("SIGTERM", () => console.error("no")); setInterval(() => undefined, 1000); say({ type: "ready" });`, {
		waitForReady: true,
		closePatience: { endMs: 50, termMs: 300 },
	});
	expect(await client.close()).toMatchObject({ code: null, signal: "SIGKILL", stderr: "no\n" });
	expect(await client.close()).toMatchObject({ signal: "SIGKILL" });
});

test("descendants that keep the pipes open do not hold the end", async () => {
	const client = await foreign(`
		say({ type: "ready" });
		const held = require("node:child_process").spawn(process.execPath, ["-e", "setTimeout(() => undefined, 60000)"], { stdio: ["ignore", "inherit", "inherit"] });
		hear(() => { console.error(held.pid); process.exit(0); });`);
	await expect(client.getState()).rejects.toBeInstanceOf(ExitError);
	process.kill(Number((await client.exited).stderr));
});

test("an agent that never gets ready is ended, and the wait says so", async () => {
	let child: ReturnType<typeof spawn> | undefined;
	const starting = startClient({
		command: [process.execPath, "-e", "console.error('thinking'); setInterval(() => undefined, 1000)"],
		startTimeoutMs: 300,
		closePatience: { endMs: 50, termMs: 5000 },
		spawn: (file, args, options) => {
			child = spawn(file, args, options);
			return child;
		},
	});
	await expect(starting).rejects.toBeInstanceOf(TimeoutError);
	expect(child?.signalCode).toBe("SIGTERM");
});

test("a request that goes unanswered ends in time or with its signal; its late answer disturbs no one", async () => {
	const client = await foreign(`say({ type: "ready" }); const open = [];
		hear(({ id, type }) => type === "abort" ? [...open, { id, type }].forEach(({ id, type }) => say({ id, type: "response", command: type, success: true })) : open.push({ id, type }));`);
	await expect(client.getState({}, { timeoutMs: 30 })).rejects.toThrow("get_state was not answered within 30 ms");
	const controller = new AbortController();
	const waiting = client.getMessages({}, { signal: controller.signal });
	controller.abort(new Error("enough"));
	await expect(waiting).rejects.toThrow("enough");
	await client.abort();
});

test("agents without ready, ids and agent_settled are spoken with all the same", async () => {
	const client = await foreign(`
		console.log("Welcome to some agent");
		let streaming = false;
		hear(({ id, type }) => {
			const answer = (data) => say({ id, type: "response", command: type, success: true, data });
			if (type === "get_state") return answer({ isStreaming: streaming, isCompacting: false });
			if (type !== "prompt") return say({ type: "response", command: type, success: false, error: "Unknown command: " + type });
			answer();
			streaming = true;
			const message = (stopReason, text) => ({ role: "assistant", stopReason, content: [{ type: "text", text }] });
			say({ type: "agent_start" });
			say({ type: "agent_end", messages: [message("error", "")] });
			say({ type: "auto_retry_start", attempt: 1, maxAttempts: 3, delayMs: 400, errorMessage: "overloaded" });
			streaming = false;
			setTimeout(() => { say({ type: "agent_start" }); say({ type: "agent_end", messages: [message("stop", "hello")] }); }, 400);
		});`);
	expect(client.stderr).toBe("Welcome to some agent\n");
	await expect(client.setTodos({ phases: [] })).rejects.toThrow("Unknown command: set_todos");
	expect(await client.promptAndWait("hi")).toMatchObject({ text: "hello", stopReason: "stop" });
	await client.waitForIdle();
});

test("a prompt that leads to no run is done when the agent is idle", async () => {
	const client = await foreign(`
		say({ type: "ready" });
		hear(({ id, type }) => say({ id, type: "response", command: type, success: true, data: type === "get_state" ? { isStreaming: false, isCompacting: false } : undefined }));`);
	expect(await client.promptAndWait("/command")).toEqual({ messages: [], text: "", stopReason: undefined, errorMessage: undefined });
});

test("an agent whose state is nothing, or gets lost, is waited for all the same", async () => {
	const silent = await foreign(`say({ type: "ready" }); hear(({ id, type }) => say({ id, type: "response", command: type, success: true }));`);
	await silent.waitForIdle();
	expect((await silent.promptAndWait("hi")).messages).toEqual([]);
	const program = `let asked = 0; say({ type: "ready" });
		hear(({ id, type }) => say({ id, type: "response", command: type, success: true, data: { isStreaming: false, name: "x".repeat(asked++ ? 0 : 2000) } }));`;
	const verbose = await foreign(program, { maxFrameBytes: 1000, waitForReady: true });
	await verbose.waitForIdle();
});

test("frames of many megabytes pass; one that is over the limit fails what waits for it", async () => {
	const program = `say({ type: "ready" }); hear(({ id, type }) => say({ id, type: "response", command: type, success: true, data: { text: "x".repeat(40e6) } }));`;
	const client = await foreign(program);
	expect((await client.getLastAssistantText()).text).toHaveLength(40e6);
	const strict = await foreign(program, { maxFrameBytes: 1e6 });
	await expect(strict.getLastAssistantText()).rejects.toThrow("the agent sent a frame of more than 1000000 bytes, which was dropped");
});

test("a restart with resume goes on with the session, also after the agent was killed", async () => {
	const client = await start({ replies: [{ text: "one" }, { text: "two" }, { text: "three" }], isStored: true });
	await client.promptAndWait("first");
	const { sessionId, sessionFile } = await client.getState();
	await client.restart({ resume: true });
	expect(await client.getState()).toMatchObject({ sessionId, sessionFile, messageCount: 2 });
	await client.promptAndWait("second");
	await client.bash({ command: "kill -9 $PPID" }).catch(() => undefined);
	await client.exited;
	await client.restart({ resume: true });
	expect(await client.getState()).toMatchObject({ sessionId, messageCount: 4 });
});

test("a session that is not stored cannot be resumed, and goes on as it is", async () => {
	const client = await start({ replies: [{ text: "one" }] });
	await expect(client.restart({ resume: true })).rejects.toThrow("There is no session file to go on with");
	expect(await client.promptAndWait("hi")).toMatchObject({ text: "one" });
});

test("a restarted agent is a new process with the same listeners and tools", async () => {
	const client = await start({ replies: [{ blocks: [{ tool: "ping", arguments: {} }] }, { text: "{{last}}" }] });
	await client.setCustomTools([{ name: "ping", description: "Pings.", parameters: { type: "object" }, execute: () => "pong" }]);
	const ends: unknown[] = [];
	client.on("exit", ({ code }) => ends.push(code));
	const { sessionId } = await client.getState();
	await client.restart();
	expect(ends).toEqual([0]);
	expect((await client.getState()).sessionId).not.toBe(sessionId);
	expect(await client.promptAndWait("hi")).toMatchObject({ text: "pong" });
});
