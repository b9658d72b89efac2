/** Several clients on one session: who drives, who may interject, who is asked, and that answers go to their askers. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { connectClient } from "../../src/client/index.ts";
import { later } from "../later.ts";
import { place, serve, until } from "./support.ts";

test("two clients with equal ids: every request is answered once, to its asker; the seat moves and is kept", async () => {
	const server = await serve({ replies: [{ text: "one", pieceDelayMs: 5 }, { text: "two" }] });
	const { id } = await server.create();
	const driver = await server.attach(id, "?mode=write&client=driver-process&name=ide");
	expect(driver.frames.find(({ type }) => type === "ready") ?? (await driver.type("ready"))).toMatchObject({
		sessionId: id,
		seat: true,
		protocol: 1,
		cwd: server.at.cwd,
	});
	const watcher = await server.attach(id, "?client=watcher-process&name=phone");
	const [own, other] = await Promise.all([
		driver.ask({ id: "same", type: "get_state" }),
		watcher.ask({ id: "same", type: "get_last_assistant_text" }),
	]);
	expect([own.command, other.command]).toEqual(["get_state", "get_last_assistant_text"]);
	expect(driver.frames.filter(({ id: answered }) => answered === "same")).toHaveLength(1);
	expect(watcher.frames.filter(({ id: answered }) => answered === "same")).toHaveLength(1);

	expect(await watcher.ask({ type: "prompt", message: "hi" })).toMatchObject({
		success: false,
		code: "seat_taken",
		error: "prompt needs the seat, which ide holds",
	});
	expect(await watcher.ask({ type: "steer", message: "be brief" })).toMatchObject({ success: true });
	expect((await server.post(`/v1/sessions/${id}/prompts`, { message: "hi" })).json.error).toMatchObject({ code: "seat_taken" });
	await expect(server.attach(id, "?mode=write&client=third")).rejects.toThrow(/409.*seat_taken.*ide/);

	// A lost connection keeps the seat for the same client.
	await driver.cut();
	expect((await server.session(id)).seat).toMatchObject({ name: "ide" });
	await expect(server.attach(id, "?mode=write&client=third")).rejects.toThrow(/409/);
	const back = await server.attach(id, "?mode=write&client=driver-process&name=ide");
	expect(await back.ask({ type: "set_session_name", name: "mine" })).toMatchObject({ success: true });

	const taker = await server.attach(id, "?mode=write&client=third&name=tablet&takeover=1");
	expect(await back.find("it lost the seat", ({ type, held }) => type === "seat" && held === false)).toMatchObject({ by: "tablet" });
	expect(await back.ask({ type: "prompt", message: "hi" })).toMatchObject({ code: "seat_taken" });
	expect(await taker.ask({ type: "prompt", message: "hi" })).toMatchObject({ success: true });
	await taker.type("run_result");
	await until("the name is known", async () => (await server.session(id)).name === "mine");
});

test("a token that may only read reads, and no more", async () => {
	const server = await serve();
	const { id } = await server.create();
	await server.prompt(id, "hello");
	const { spawnSync } = await import("node:child_process");
	const program = join(import.meta.dirname, "../../dist/bowline.js");
	const run = (...args: string[]) =>
		spawnSync(process.execPath, [program, "serve", ...args], {
			encoding: "utf8",
			env: { ...process.env, BOWLINE_DIR: server.at.user },
			cwd: server.at.cwd,
		});
	const added = run("token", "add", "viewer", "--scope", "read");
	expect([added.status, added.stderr]).toEqual([0, ""]);
	const headers = { Authorization: `Bearer ${added.stdout.trim()}` };
	expect((await server.ask("GET", `/v1/sessions/${id}`, undefined, headers)).status).toBe(200);
	expect((await server.ask("POST", "/v1/sessions", { cwd: server.at.cwd }, headers)).status).toBe(403);
	expect((await server.ask("POST", `/v1/sessions/${id}/commands`, { type: "get_state" }, headers)).json.success).toBe(true);
	expect((await server.ask("POST", `/v1/sessions/${id}/commands`, { type: "abort" }, headers)).json.error.code).toBe("read_only");
	const reader = await server.socket(`/v1/sessions/${id}/socket`, headers);
	expect(await reader.ask({ type: "prompt", message: "x" })).toMatchObject({ success: false, code: "read_only" });
	expect(await reader.ask({ type: "get_state" })).toMatchObject({ success: true });
	await expect(server.socket(`/v1/sessions/${id}/socket?mode=write`, headers)).rejects.toThrow(/403/);
	await server.post(`/v1/sessions/${id}/stop`);
	await server.inState(id, "asleep");
	expect((await server.ask("GET", `/v1/sessions/${id}/entries`, undefined, headers)).json.entries.length).toBeGreaterThan(1);
	expect(await reader.ask({ type: "get_state" })).toMatchObject({ success: false, code: "read_only" });
	expect((await server.session(id)).state).toBe("asleep");
	expect(run("token", "list").stdout).toContain("viewer  read");
	expect(run("token", "revoke", "viewer").status).toBe(0);
	await until("the socket is closed", () => reader.closed?.code === 4403);
	expect((await server.ask("GET", `/v1/sessions/${id}`, undefined, headers)).status).toBe(401);
	expect(run("token", "revoke", "viewer").stderr).toContain("There is no token viewer");
	expect(run("status").stdout).toContain(server.url);
});

test("host tools belong to the seat, and survive a reconnect of its client", async () => {
	const server = await serve({
		replies: [{ when: { tool: "stock" }, text: "twelve" }, { blocks: [{ tool: "stock", arguments: { article: "A" } }] }],
	});
	const { id } = await server.create();
	const tools = [{ name: "stock", description: "How many there are.", parameters: { type: "object", properties: { article: { type: "string" } } } }];
	const driver = await server.attach(id, "?mode=write&client=one&name=shop");
	expect(await driver.ask({ type: "set_host_tools", tools })).toMatchObject({ success: true });
	const watcher = await server.attach(id, "?client=two");
	await driver.ask({ type: "prompt", message: "how many?" });
	const call = await driver.type("host_tool_call");
	watcher.send({ type: "host_tool_result", id: call.id, result: { content: [{ type: "text", text: "wrong" }] } });
	await watcher.find("it is refused", ({ command, success }) => command === "host_tool_result" && success === false);
	await driver.cut();
	const back = await server.attach(id, "?mode=write&client=one&name=shop");
	expect(await back.type("host_tool_call")).toEqual(call);
	back.send({ type: "host_tool_result", id: call.id, result: { content: [{ type: "text", text: "12" }] } });
	await back.type("run_result");
	expect(watcher.frames.filter(({ type }) => type === "host_tool_call")).toEqual([]);
	const end = watcher.frames.find(({ type, message }) => type === "message_end" && message.role === "toolResult");
	expect(end.message.content[0].text).toBe("12");
});

test("approvals go to those who said hello; the first answer counts", async () => {
	const server = await serve({
		replies: [{ when: { tool: "bash" }, text: "done" }, { blocks: [{ tool: "bash", arguments: { command: "rm -f nothing" } }] }],
		args: ["--permission-mode", "ask"],
	});
	const { id } = await server.create();
	const plain = await server.attach(id);
	const asked = await server.attach(id, "?name=phone");
	expect(await asked.ask({ type: "hello", capabilities: { permissions: 1 } })).toMatchObject({
		success: true,
		data: { capabilities: { permissions: 1 } },
	});
	await server.post(`/v1/sessions/${id}/prompts`, { message: "go" });
	const question = await asked.type("permission_request");
	expect((await server.session(id)).pending.dialogs).toBe(1);
	asked.send({ type: "permission_response", id: question.id, digest: question.digest, decision: "allow", scope: "once" });
	expect(await asked.type("permission_resolved")).toMatchObject({ id: question.id });
	await plain.type("run_result");
	expect(plain.frames.filter(({ type }) => type.startsWith("permission_"))).toEqual([]);
	expect((await server.session(id)).pending.dialogs).toBe(0);
});

test("dialogs of extensions go to all, and the first answer ends them for the others", async () => {
	const at = place();
	writeFileSync(
		join(at.cwd, "ask.ts"),
		`export default (api) => { api.registerCommand("ask", { handler: async (_, context) => { const ok = await context.ui.confirm("Deploy?", "Now?"); context.ui.notify(ok ? "yes" : "no"); } }); };`,
	);
	const server = await serve({ at, replies: [{ text: "x" }], args: ["--extension", "ask.ts"] });
	const { id } = await server.create();
	const one = await server.attach(id, "?mode=write&name=one");
	const two = await server.attach(id, "?name=two");
	one.send({ id: "p", type: "prompt", message: "/ask" });
	const dialog = await two.find("the dialog", ({ type, method }) => type === "extension_ui_request" && method === "confirm");
	await one.find("the dialog", ({ id: same }) => same === dialog.id);
	// A client that comes now is asked, too.
	const late = await connectClient({ url: server.url, token: server.token, session: id, mode: "read" });
	later(() => late.close());
	const asked = new Promise<string>((resolve) =>
		late.onDialog(({ id: same }, signal) => {
			resolve(same);
			return new Promise((over) => signal.addEventListener("abort", () => over(undefined)));
		}),
	);
	expect(await asked).toBe(dialog.id);
	two.send({ type: "extension_ui_response", id: dialog.id, confirmed: true });
	expect(await one.find("it is over", ({ method, targetId }) => method === "cancel" && targetId === dialog.id)).toMatchObject({ by: "two" });
	expect(await one.find("the answer counts", ({ method }) => method === "notify")).toMatchObject({ message: "yes" });
});

test("one socket for many sessions", async () => {
	const server = await serve({ replies: [{ text: "hello", times: "always" }] });
	const [first, second] = [await server.create(), await server.create()];
	const socket = await server.socket("/v1/socket?name=page");
	expect(await socket.ask({ type: "get_state" })).toMatchObject({ success: false, code: "bad_field" });
	expect(await socket.ask({ type: "get_state", sessionId: first.id })).toMatchObject({ success: false, code: "not_attached" });
	expect(await socket.ask({ type: "attach", sessionId: "nothing" })).toMatchObject({ success: false, code: "no_session", sessionId: "nothing" });
	for (const { id } of [first, second])
		expect(await socket.ask({ type: "attach", sessionId: id, mode: "write", afterSeq: 0 })).toMatchObject({ success: true, sessionId: id });
	await socket.ask({ type: "prompt", sessionId: first.id, message: "a" });
	await socket.ask({ type: "prompt", sessionId: second.id, message: "b" });
	for (const { id } of [first, second]) await socket.find("the end", ({ type, sessionId }) => type === "run_result" && sessionId === id);
	for (const { id } of [first, second]) {
		const texts = socket.frames
			.filter(({ type, sessionId, message }) => type === "message_end" && sessionId === id && message.role === "user")
			.map(({ message }) => message.content[0].text);
		expect(texts).toEqual([id === first.id ? "a" : "b"]);
	}
	const third = await server.create();
	await socket.find("a new session is told", ({ type, session }) => type === "session_added" && session.id === third.id);
	expect(await socket.ask({ type: "detach", sessionId: first.id })).toMatchObject({ success: true });
	expect((await server.session(first.id)).seat).toBeNull();
	expect((await server.ask("DELETE", `/v1/sessions/${second.id}`)).status).toBe(204);
	await socket.find("the end of a session", ({ type, sessionId }) => type === "session_removed" && sessionId === second.id);
	expect(socket.closed).toBeUndefined();
	expect((await server.get(`/v1/sessions/${second.id}`)).status).toBe(410);
});
