import { spawn } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Client, startClient } from "../../src/client/index.ts";
import { later, serve, type TestServer } from "./support.ts";

const program = join(import.meta.dirname, "../../dist/bowline.js");
const environment = (server: TestServer) => ({ ...process.env, HOME: server.at.user, BOWLINE_DIR: server.at.user });

/** A client of a process, with another command. */
async function attached(server: TestServer, ...args: string[]): Promise<Client> {
	const client = await startClient({
		command: [process.execPath, program, "attach", ...args],
		cwd: server.at.cwd,
		env: environment(server),
		waitForReady: true,
	});
	later(() => client.close());
	return client;
}

test("attach looks like --mode rpc: ready, whole messages in updates, no numbers; at the end of stdin the session lives on", async () => {
	const server = await serve({ replies: [{ text: "hello from afar" }, { text: "again" }] });
	const client = await attached(server, "--new");
	const frames: Record<string, unknown>[] = [];
	client.on("event", (frame) => void frames.push(frame as never));
	expect((await client.promptAndWait("hi")).text).toBe("hello from afar");
	expect(frames.filter((frame) => "seq" in frame || "runId" in frame)).toEqual([]);
	expect(frames.map(({ type }) => type)).not.toContain("session_state");
	expect(frames.filter(({ type }) => type === "message_update").every((frame) => "message" in frame)).toBe(true);
	// Refusals are those of a process.
	await expect(client.request("get_stat")).rejects.toMatchObject({ hint: expect.stringContaining("get_state") });
	const { sessionId } = await client.getState();
	expect(await client.close()).toMatchObject({ code: 0, signal: null });
	expect((await server.session(sessionId)).state).toBe("idle");
	// Without an argument: the newest session of the directory.
	const next = await attached(server, "--updates", "delta");
	expect((await next.getState()).sessionId).toBe(sessionId);
	expect((await next.promptAndWait("more")).text).toBe("again");
});

test("attach answers what was asked before the end of stdin, and says what is wrong", async () => {
	const server = await serve();
	const run = (args: string[], input = "") =>
		new Promise<{ code: number | null; out: string; err: string }>((resolve) => {
			const child = spawn(process.execPath, [program, "attach", ...args], { cwd: server.at.cwd, env: environment(server) });
			let out = "";
			let err = "";
			child.stdout.on("data", (chunk) => (out += chunk));
			child.stderr.on("data", (chunk) => (err += chunk));
			child.on("close", (code) => resolve({ code, out, err }));
			child.stdin.end(input);
		});
	const none = await run([]);
	expect(none).toMatchObject({ code: 1, out: "" });
	expect(none.err).toContain("--new");
	const asked = await run(["--new"], '{"id":7,"type":"get_state"}\n');
	expect(asked.code).toBe(0);
	const lines = asked.out
		.trim()
		.split("\n")
		.map((line) => JSON.parse(line) as Record<string, unknown>);
	expect(lines[0]).toMatchObject({ type: "ready", protocol: 1, cwd: server.at.cwd });
	expect(Object.keys(lines[0] ?? {})).not.toContain("asOf");
	expect(lines.find(({ type }) => type === "response")).toMatchObject({ id: 7, command: "get_state", success: true });
	const missing = await run(["00000000-0000-7000-8000-000000000000"]);
	expect(missing.code).toBe(1);
	expect(missing.err).toContain("Error:");
});
