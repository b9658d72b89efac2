/** The client of the official library, with its own checks of every message, as a peer of the built program. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { client, methods, ndJsonStream, type SessionUpdate } from "@agentclientprotocol/sdk";
import { expect, onTestFinished, test } from "vitest";
import { program } from "../wire/support/agent.ts";

const script = {
	replies: [
		{
			thinking: "first look",
			text: "Looking.",
			blocks: [
				{ tool: "read", arguments: { path: "a.txt" } },
				{ tool: "edit", arguments: { path: "a.txt", edits: [{ oldText: "two", newText: "2" }] } },
				{ tool: "bash", arguments: { command: "echo out; exit 3" } },
			],
		},
		{ text: "Done." },
		{ text: "never", delayMs: 60_000 },
	],
};

test("a whole conversation: files, permissions, modes, a cancelled turn, and the same calls in a replay", async () => {
	const folder = mkdtempSync(join(tmpdir(), "bowline-acp-official-"));
	const cwd = join(folder, "work");
	mkdirSync(cwd);
	writeFileSync(join(cwd, "a.txt"), "one\ntwo\n");
	writeFileSync(join(folder, "script.json"), JSON.stringify(script));
	const env = { PATH: process.env.PATH, HOME: folder, BOWLINE_DIR: join(folder, "user") };
	const flags = ["acp", "--permission-mode", "ask", "--provider", "scripted", "--model", join(folder, "script.json")];
	const child = spawn(process.execPath, [program, ...flags], { cwd: folder, env, stdio: ["pipe", "pipe", "pipe"] });
	onTestFinished(() => {
		child.kill("SIGKILL");
		rmSync(folder, { recursive: true, force: true });
	});
	let stderr = "";
	child.stderr.on("data", (chunk) => {
		stderr += chunk;
	});
	const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
	const stream = ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>);
	const updates: SessionUpdate[] = [];
	const asked: string[] = [];
	const app = client({ name: "test" })
		.onNotification(methods.client.session.update, ({ params: { update } }) => {
			updates.push(update);
		})
		.onRequest(methods.client.session.requestPermission, ({ params: { options, toolCall } }) => {
			asked.push(String(toolCall.title));
			const [first, allow] = options;
			expect(first?.kind).toBe("reject_once");
			return { outcome: { outcome: "selected", optionId: allow?.optionId as string } };
		})
		.onRequest(methods.client.fs.readTextFile, ({ params: { path } }) => ({ content: `${readFileSync(path, "utf8")}unsaved\n` }))
		.onRequest(methods.client.fs.writeTextFile, ({ params: { path, content } }) => {
			writeFileSync(path, content);
			return {};
		});
	await app.connectWith(stream, async (agent) => {
		const hello = await agent.request(methods.agent.initialize, {
			protocolVersion: 1,
			clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, session: { notices: {}, compaction: {} } },
			clientInfo: { name: "test", version: "1" },
		});
		expect(hello).toMatchObject({ protocolVersion: 1, agentInfo: { name: "bowline" } });
		const { sessionId, modes } = await agent.request(methods.agent.session.new, { cwd, mcpServers: [] });
		expect(modes).toMatchObject({ currentModeId: "ask" });
		const prompt = (text: string) => agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] });
		expect(await prompt("go")).toEqual({ stopReason: "end_turn" });
		expect(asked).toEqual(["Edit a.txt", "`echo out; exit 3`"]);
		expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("one\n2\nunsaved\n");
		const live = callsIn(updates);
		expect(live).toEqual([
			["read", "Read a.txt", "completed"],
			["edit", "Edit a.txt", "completed"],
			["execute", "`echo out; exit 3`", "failed"],
		]);
		await agent.request(methods.agent.session.setMode, { sessionId, modeId: "full" });
		const late = prompt("wait");
		await agent.notify(methods.agent.session.cancel, { sessionId });
		expect(await late).toEqual({ stopReason: "cancelled" });
		await agent.request(methods.agent.session.close, { sessionId });
		const { sessions } = await agent.request(methods.agent.session.list, { cwd });
		expect(sessions).toMatchObject([{ sessionId, cwd, title: "go" }]);
		updates.length = 0;
		await agent.request(methods.agent.session.load, { sessionId, cwd, mcpServers: [] });
		expect(callsIn(updates)).toEqual(live);
		await agent.request(methods.agent.session.delete, { sessionId });
		expect(await agent.request(methods.agent.session.list, { cwd })).toEqual({ sessions: [] });
		await expect(agent.request("session/fork", { sessionId })).rejects.toMatchObject({ code: -32601 });
	});
	child.stdin.end();
	expect([await ended, stderr]).toEqual([0, ""]);
}, 60_000);

/** Kind, title and status of each call in the end. */
function callsIn(updates: readonly SessionUpdate[]): unknown[][] {
	const calls = new Map<string, { kind?: unknown; title?: unknown; status?: unknown }>();
	for (const update of updates) {
		if (update.sessionUpdate === "tool_call") calls.set(update.toolCallId, { kind: update.kind, title: update.title, status: update.status });
		else if (update.sessionUpdate === "tool_call_update") {
			const call = calls.get(update.toolCallId);
			if (call && update.title) call.title = update.title;
			if (call && update.status) call.status = update.status;
		}
	}
	return [...calls.values()].map(({ kind, title, status }) => [kind, title, status]);
}
