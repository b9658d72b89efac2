/** Sessions that sleep, wake, crash, move and are elsewhere; servers that drain, and leave nothing. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { later } from "../later.ts";
import { testUnless } from "../unless.ts";
import { ask, isAlive, place, serve, spawnServer, type TestServer, until } from "./support.ts";

const program = join(import.meta.dirname, "../../dist/bowline.js");

const canMount = (() => {
	const directory = mkdtempSync(join(tmpdir(), "bowline-mount-"));
	try {
		execFileSync("mount", ["-t", "tmpfs", "tmpfs", directory], { stdio: "ignore" });
		execFileSync("umount", [directory]);
		return true;
	} catch {
		return false;
	} finally {
		rmSync(directory, { recursive: true, force: true });
	}
})();

describe("sessions", () => {
	test("an idle session sleeps, and wakes with its conversation for the next prompt", async () => {
		const server = await serve({ replies: [{ when: { text: "second" }, text: "again" }, { text: "hello" }], args: ["--idle", "300"] });
		const { id } = await server.create({ name: "sleeper" });
		const reader = await server.attach(id);
		await server.prompt(id, "first");
		await server.inState(id, "asleep");
		await reader.find("it is told", ({ type, state }) => type === "session_state" && state === "asleep");
		expect((await server.get(`/v1/sessions/${id}/entries`)).json.entries.length).toBeGreaterThan(2);
		expect((await server.session(id)).state).toBe("asleep");
		const { json } = await server.prompt(id, "second");
		expect(json).toMatchObject({ text: "again", result: { status: "completed" } });
		const messages = (await server.get(`/v1/sessions/${id}/entries`)).json.entries.filter(({ type }: { type: string }) => type === "message");
		expect(messages.map(({ message }: { message: { role: string } }) => message.role)).toEqual(["user", "assistant", "user", "assistant"]);
		expect((await server.session(id)).name).toBe("sleeper");
		// A held seat keeps it awake.
		const driver = await server.attach(id, "?mode=write");
		await driver.type("ready");
		await new Promise((resolve) => setTimeout(resolve, 900));
		expect((await server.session(id)).state).toBe("idle");
	});

	test("a model script that was named by its path is still the model after sleep, and after the server", async () => {
		const script = (text: string) => JSON.stringify({ replies: [{ blocks: [{ text }], times: "always" }] });
		const at = place({ "own/one.json": script("from one"), "own/two.json": script("from two") });
		const server = await serve({ at, args: ["--provider", "scripted", "--model", "echo"] });
		const cwd = join(at.cwd, "own");
		const { id } = await server.create({ cwd, provider: "scripted", model: "one.json" });
		const sleep = async (on: TestServer) => {
			await on.post(`/v1/sessions/${id}/stop`);
			await on.inState(id, "asleep");
		};
		expect((await server.prompt(id, "a")).json.text).toBe("from one");
		await sleep(server);
		expect((await server.prompt(id, "b")).json.text).toBe("from one");
		expect((await server.session(id)).model).toEqual({ provider: "scripted", id: join(cwd, "one.json") });
		await server.post(`/v1/sessions/${id}/commands`, { type: "set_model", provider: "scripted", modelId: "two.json" });
		await until("the model", async () => (await server.session(id)).model?.id === "two.json");
		await sleep(server);
		await server.stop();
		const next = await serve({ at, args: ["--provider", "scripted", "--model", "echo"] });
		expect((await next.prompt(id, "c")).json.text).toBe("from two");
		await sleep(next);
		rmSync(join(cwd, "two.json"));
		const gone = await next.prompt(id, "d");
		expect(JSON.stringify(gone.json)).toContain("two.json");
	});

	test("maxAwake: the longest idle one makes room; when none may sleep, there is none", async () => {
		const server = await serve({ args: ["--max-awake", "2"] });
		const first = await server.create();
		const second = await server.create();
		const third = await server.create();
		expect((await server.session(first.id)).state).toBe("asleep");
		for (const { id } of [second, third]) await (await server.attach(id, "?mode=write")).type("ready");
		const { status, json, headers } = await server.post("/v1/sessions", { cwd: server.at.cwd });
		expect([status, json.error.code, headers["retry-after"]]).toEqual([503, "no_room", "5"]);
	});

	test("an agent that crashes again and again is given up, until it is started", async () => {
		const server = await serve();
		const { id } = await server.create();
		await server.prompt(id, "hello");
		await server.learnFile(id);
		process.kill(server.agentPid(id), "SIGKILL");
		await server.inState(id, "crashed");
		// Nothing is asked in between: connections that want the seat wake it.
		for (let count = 0; count < 2; count++) {
			const driver = await server.attach(id, `?mode=write&client=c${count}&takeover=1`);
			await driver.find("it is awake", ({ type, state }) => type === "session_state" && state === "idle");
			process.kill(server.agentPid(id), "SIGKILL");
			await driver.find("it ended", ({ type, state }) => type === "session_state" && (state === "crashed" || state === "failed"));
			await driver.close();
		}
		const session = await server.inState(id, "failed");
		expect(session.reason).toBeTruthy();
		expect((await server.post(`/v1/sessions/${id}/prompts`, { message: "x" })).json.error.code).toBe("agent_crashed");
		expect((await server.post(`/v1/sessions/${id}/start`)).status).toBe(202);
		expect((await server.session(id)).state).toBe("idle");
	});

	test("a session of another process is elsewhere: readable, followed, not writable", async () => {
		const server = await serve();
		const { id } = await server.create();
		await server.prompt(id, "hello");
		const file = await server.learnFile(id);
		await server.post(`/v1/sessions/${id}/stop`);
		await server.inState(id, "asleep");
		const reader = await server.attach(id, `?after=${(await server.session(id)).asOf}`);
		const other = spawn(process.execPath, [program, "--mode", "rpc", "--seq", "--session", file, "--provider", "scripted", "--model", "echo"], {
			cwd: server.at.cwd,
			env: { ...process.env, BOWLINE_DIR: server.at.user },
			stdio: ["pipe", "pipe", "ignore"],
		});
		later(() => other.kill("SIGKILL"));
		const session = await server.inState(id, "elsewhere");
		expect(session.pid).toBe(other.pid);
		await until("readers know it", () => reader.frames.some(({ type, state }) => type === "session_state" && state === "elsewhere"));
		// A refusal does not end the following.
		const refused = await server.post(`/v1/sessions/${id}/prompts`, { message: "x" });
		expect([refused.status, refused.json.error.code]).toEqual([409, "elsewhere"]);
		expect((await server.ask("DELETE", `/v1/sessions/${id}`)).status).toBe(409);
		expect((await server.get(`/v1/sessions/${id}/entries`)).json.entries.length).toBeGreaterThan(1);
		// Its lines come as entries, and its numbered frames as they were sent.
		let said = "";
		other.stdout.on("data", (chunk: Buffer) => (said += chunk));
		other.stdin.write(`${JSON.stringify({ type: "prompt", message: "from elsewhere" })}\n`);
		await until("the result", () => reader.frames.some(({ type }) => type === "run_result"));
		await until("it said so itself", () => /"type":"run_result".*\n/.test(said));
		const entries = reader.frames.filter(({ type }) => type === "entry_appended").map(({ entry }) => entry);
		expect(entries.map((entry) => entry.message?.role)).toEqual(expect.arrayContaining(["user", "assistant"]));
		const isKept = ({ seq, type }: { seq?: number; type: string }) => seq !== undefined && !["message_update", "snapshot"].includes(type);
		const sent = said
			.split("\n")
			.slice(0, -1)
			.map((line) => JSON.parse(line))
			.filter(isKept);
		expect(reader.frames.filter(isKept)).toEqual(sent);
		other.stdin.end();
		await server.inState(id, "asleep");
		await until("the state", () => reader.frames.some(({ type, state }) => type === "session_state" && state === "asleep"));
		expect((await server.prompt(id, "again")).json.result.status).toBe("completed");
	});

	test("a reader gets everything that another process writes from the moment at which it came", async () => {
		const server = await serve({ replies: [{ text: "one" }] });
		const { id } = await server.create();
		await server.prompt(id, "hello");
		const file = await server.learnFile(id);
		await server.post(`/v1/sessions/${id}/stop`);
		await server.inState(id, "asleep");
		const entry = (name: string) =>
			`${JSON.stringify({ type: "session_info", id: name, parentId: null, timestamp: "2026-01-01T00:00:00.000Z", name })}\n`;
		const log = file.replace(/jsonl$/, "events");
		const { asOf } = await server.session(id);
		// A process that comes and goes between two looks of the server.
		const early = await server.attach(id, `?after=${asOf}`);
		appendFileSync(file, entry("11111111"));
		appendFileSync(log, `{"s":${asOf + 5},"t":1,"f":{"type":"turn_start","turnIndex":7}}\n`);
		await early.find("the entry", ({ type, entry }) => type === "entry_appended" && entry.name === "11111111");
		expect(await early.find("the frame", ({ seq }) => seq === asOf + 5)).toEqual({ seq: asOf + 5, type: "turn_start", turnIndex: 7 });
		await early.close();
		// Nobody has looked since: what is there at the attach is replayed, and its number is no cursor of the future.
		appendFileSync(log, `{"s":${asOf + 7},"t":1,"f":{"type":"turn_start","turnIndex":8}}\n`);
		const late = await server.attach(id, `?after=${asOf + 7}`);
		expect((await late.type("ready")).asOf).toBe(asOf + 7);
		appendFileSync(file, entry("22222222"));
		await late.find("the entry", ({ type, entry }) => type === "entry_appended" && entry.name === "22222222");
		const names = [early, late].map(({ frames }) => frames.filter(({ type }) => type === "entry_appended").map(({ entry }) => entry.name));
		expect(names).toEqual([["11111111"], ["22222222"]]);
		expect(late.frames.filter(({ type }) => type === "turn_start")).toEqual([]);
	});

	test("new_session takes process and seat along", async () => {
		const server = await serve({ replies: [{ text: "x", times: "always" }] });
		const { id } = await server.create();
		const driver = await server.attach(id, "?mode=write");
		const reader = await server.attach(id);
		await driver.ask({ type: "prompt", message: "one" });
		await driver.type("run_result");
		expect(await driver.ask({ type: "new_session" })).toMatchObject({ success: true });
		const moved = await driver.type("session_moved");
		expect(moved).toMatchObject({ from: id });
		expect(await reader.type("session_moved")).toEqual(moved);
		await server.inState(id, "asleep");
		expect(await driver.ask({ type: "prompt", message: "two" })).toMatchObject({ success: true });
		await until(
			"the run ends",
			async () =>
				(await server.get(`/v1/sessions/${moved.to}/entries`)).json.entries.filter(({ type }: { type: string }) => type === "message").length === 2,
		);
		expect(reader.frames.filter(({ type, message }) => type === "message_end" && message.role === "user")).toHaveLength(1);
		expect((await server.session(moved.to)).seat).not.toBeNull();
	});

	test("bodies of create: what is allowed, and what is refused by name", async () => {
		const server = await serve();
		const { cwd } = server.at;
		const code = async (body: object) => (await server.post("/v1/sessions", body)).json.error?.code;
		expect(await code({ cwd: "/" })).toBe("outside_roots");
		expect(await code({ cwd: join(cwd, "..") })).toBe("outside_roots");
		expect(await code({ cwd: "relative" })).toBe("bad_field");
		expect(await code({ cwd: join(cwd, "missing") })).toBe("bad_field");
		expect(await code({})).toBe("bad_field");
		expect(await code({ cwd, dialect: "strict" })).toBe("bad_field");
		expect(await code({ cwd, extension: "x.ts" })).toBe("bad_field");
		expect(await code({ cwd, approve: true })).toBe("scope");
		for (const name of ["shellPath", "extensions", "packages", "sessionDir", "mcpServers", "sandbox.mode", "permissions.rules"])
			expect(await code({ cwd, settings: { [name]: "x" } }), name).toBe("not_settable");
		for (const settings of [{ sandbox: { mode: "off" } }, { "mcpServers.evil": { command: "x" } }, { "task.verification.profiles.ci": {} }])
			expect(await code({ cwd, settings })).toBe("not_settable");
		const wrong = await server.post("/v1/sessions", { cwd, settings: { noSuchSetting: 1 } });
		expect(wrong).toMatchObject({ status: 422, json: { error: { code: "bad_field", message: expect.stringContaining('"noSuchSetting"') } } });
		const { id, state } = await server.create({
			name: "n",
			settings: { compaction: { enabled: false }, "retry.maxRetries": null },
			noTools: true,
			prompt: { message: "hello" },
		});
		expect(["idle", "busy"]).toContain(state);
		await until("it has answered", async () => (await server.get(`/v1/sessions/${id}/entries`)).json.entries.length > 2);
		const ephemeral = await server.create({ ephemeral: true });
		await server.prompt(ephemeral.id, "hello");
		await server.post(`/v1/sessions/${ephemeral.id}/stop`);
		await until("it is gone", async () => (await server.get(`/v1/sessions/${ephemeral.id}`)).status === 410);
		const exported = await server.get(`/v1/sessions/${id}/export`);
		expect(exported.headers).toMatchObject({ "content-security-policy": "sandbox", "content-disposition": expect.stringMatching(/^attachment/) });
		expect(exported.text).toContain("<!doctype html>");
		const directory = ((await server.session(id)).file ?? "").replace(/\.jsonl$/, "");
		mkdirSync(directory, { recursive: true });
		writeFileSync(join(directory, "0-review.md"), "good");
		expect((await server.get(`/v1/sessions/${id}/artifacts`)).json.artifacts).toMatchObject([{ name: "0-review.md", size: 4 }]);
		expect((await server.get(`/v1/sessions/${id}/artifacts/0-review.md`)).text).toBe("good");
		for (const name of ["..%2f..%2ftoken", "%2e%2e", "..%5c", "nothing"])
			expect((await server.get(`/v1/sessions/${id}/artifacts/${name}`)).status, name).toBe(404);
	});

	test("keys: a hundred twins are one run and one session; another body is refused", async () => {
		const server = await serve({ replies: [{ text: "x", times: "always" }] });
		const twins = await Promise.all(
			Array.from({ length: 10 }, () => server.post("/v1/sessions", { cwd: server.at.cwd }, { "Idempotency-Key": "c" })),
		);
		expect(new Set(twins.map(({ json }) => json.id)).size).toBe(1);
		expect((await server.post("/v1/sessions", { cwd: server.at.cwd, name: "other" }, { "Idempotency-Key": "c" })).json.error.code).toBe("key_reused");
		const { id } = twins[0]?.json ?? {};
		const prompts = await Promise.all(
			Array.from({ length: 100 }, () => server.post(`/v1/sessions/${id}/prompts`, { message: "m" }, { "Idempotency-Key": "p" })),
		);
		expect(new Set(prompts.map(({ status, json }) => `${status} ${json.runId}`)).size).toBe(1);
		expect(prompts.filter(({ json }) => !json.duplicate)).toHaveLength(1);
		expect((await server.post(`/v1/sessions/${id}/prompts`, { message: "other" }, { "Idempotency-Key": "p" })).json.error.code).toBe("key_reused");
		const wrong = await server.post(`/v1/sessions/${id}/prompts`, {
			message: "m",
			images: [{ type: "image", mimeType: "text/plain", data: "eA==" }],
		});
		expect(wrong).toMatchObject({ status: 400, json: { error: { code: "bad_field", message: "images[0]: unsupported image" } } });
		await until(
			"one run",
			async () =>
				(await server.get(`/v1/sessions/${id}/entries`)).json.entries.filter(({ type }: { type: string }) => type === "message").length === 2,
		);
	});
});

describe("the server", () => {
	test("drains: runs end, sockets get 1012, nothing is left", async () => {
		const server = await serve({ replies: [{ text: "word ".repeat(60), pieceDelayMs: 15 }] });
		const { id } = await server.create();
		await server.learnFile(id);
		const reader = await server.attach(id);
		await server.post(`/v1/sessions/${id}/prompts`, { message: "go" });
		await reader.type("message_update");
		const agent = server.agentPid(id);
		server.child.kill("SIGTERM");
		expect(await reader.type("draining")).toMatchObject({ deadlineMs: 30000 });
		const ready = await server.get("/readyz");
		expect([ready.status, ready.text]).toEqual([503, "draining"]);
		expect((await server.post("/v1/sessions", { cwd: server.at.cwd })).json.error.code).toBe("draining");
		expect((await reader.type("run_result")).status).toBe("completed");
		await until("the socket closes", () => reader.closed);
		expect(reader.closed?.code).toBe(1012);
		expect(await server.exited).toBe(0);
		expect(isAlive(agent)).toBe(false);
		expect(readdirSync(join(server.at.user, "serve/default")).sort()).toEqual(["index.jsonl", "token", "tokens.json"]);
		expect(existsSync(`${server.fileOf(id)}.lock`)).toBe(false);
	});

	test("a second SIGTERM does not wait for runs, and ends their commands", async () => {
		const server = await serve({ replies: [{ blocks: [{ tool: "bash", arguments: { command: "echo $$ > pid; echo ready; sleep 600" } }] }] });
		const { id } = await server.create();
		const reader = await server.attach(id);
		await server.post(`/v1/sessions/${id}/prompts`, { message: "go" });
		await reader.find(
			"the command runs",
			({ type, partialResult }) => type === "tool_execution_update" && JSON.stringify(partialResult).includes("ready"),
		);
		const command = Number(readFileSync(join(server.at.cwd, "pid"), "utf8"));
		server.child.kill("SIGTERM");
		await reader.type("draining");
		server.child.kill("SIGTERM");
		expect(await server.exited).toBe(0);
		await until("the command is gone", () => !isAlive(command));
	});

	test.each([
		["with a run", { text: "word ".repeat(2000), pieceDelayMs: 50 }, "message_update"],
		["without a run", { text: "done" }, "run_result"],
	])("a stuck agent %s does not stop the end: neither its answer nor its exit is waited for", async (_name, reply, sign) => {
		const server = await serve({ replies: [reply], args: ["--drain", "3600000"] });
		const { id } = await server.create();
		await server.learnFile(id);
		const reader = await server.attach(id);
		await server.post(`/v1/sessions/${id}/prompts`, { message: "go" });
		await reader.type(sign);
		const agent = server.agentPid(id);
		process.kill(agent, "SIGSTOP");
		server.child.kill("SIGTERM");
		await reader.type("draining");
		server.child.kill("SIGTERM");
		expect(await server.exited).toBe(0);
		await until("the agent is gone", () => !isAlive(agent));
		expect(server.err).not.toContain("ended_by_force");
		expect(readdirSync(join(server.at.user, "serve/default")).sort()).toEqual(["index.jsonl", "token", "tokens.json"]);
	});

	test("it ends when its files are gone, and when no process reads its log", async () => {
		const server = await serve();
		const { id } = await server.create();
		await server.prompt(id, "hello");
		await server.learnFile(id);
		const agent = server.agentPid(id);
		rmSync(server.at.user, { recursive: true, force: true });
		server.child.stderr?.destroy();
		server.child.stdout?.destroy();
		await server.get("/healthz");
		expect(await server.stop()).toBe(0);
		await until("the agent is gone", () => !isAlive(agent));
	});

	test("a server that is killed takes its agents along, and the next one goes on", async () => {
		const at = place();
		const server = await serve({ at, replies: [{ text: "x", times: "always" }] });
		const { id } = await server.create();
		await server.prompt(id, "one");
		await server.learnFile(id);
		const agent = server.agentPid(id);
		server.child.kill("SIGKILL");
		await server.exited;
		await until("the agent is gone", () => !isAlive(agent));
		const next = await serve({ at });
		expect(next.token).toBe(server.token);
		expect((await next.get("/v1/sessions")).json.sessions.map((session: { id: string }) => session.id)).toEqual([id]);
		expect((await next.prompt(id, "two")).json.result.status).toBe("completed");
	});

	test("a second server of the same name, a taken port and an open address are refused with a remedy", async () => {
		const server = await serve();
		const run = (...args: string[]) =>
			spawnSync(process.execPath, [program, "serve", ...args], {
				encoding: "utf8",
				cwd: server.at.cwd,
				env: { ...process.env, BOWLINE_DIR: server.at.user },
				timeout: 30_000,
			});
		const second = run("--port", "0");
		expect([second.status, second.stderr]).toEqual([1, expect.stringContaining(`process ${server.child.pid}`)]);
		const taken = run("--name", "b", "--port", String(server.port));
		expect([taken.status, taken.stderr]).toEqual([1, expect.stringContaining("--port 0")]);
		expect(run("--name", "b", "--host", "0.0.0.0").stderr).toContain("--tls-cert");
		expect(run("--name", "b", "--host", "0.0.0.0", "--insecure-http").stderr).toContain("--allow-host");
		expect(run("--name", "b", "--no-token").stderr).toContain("--socket");
		expect(run("--name", "b", "--porrt", "1")).toMatchObject({ status: 2, stderr: expect.stringContaining("Did you mean --port?") });
		expect(run("--name", "nobody", "status").stderr).toContain("Start one with bowline serve");
		expect(run("--port", "x").stderr).toContain("--port must be a whole number");
	});

	test("a unix socket: its rights, its stale file, and tokens", async () => {
		const at = place();
		const path = join(at.user, "run", "b.sock");
		mkdirSync(dirname(path), { recursive: true });
		const server = spawnServer({ at, replies: [], args: ["--socket", path, "--no-token"] });
		await until("it listens", () => server.out.includes("\n"));
		expect(statSync(path).mode & 0o777).toBe(0o600);
		expect((await ask({ socketPath: path, path: "/v1/info" }, undefined, { Host: "anything" })).json.scope).toBe("admin");
		server.child.kill("SIGKILL");
		await server.exited;
		expect(existsSync(path)).toBe(true);
		const next = spawnServer({ at, args: ["--socket", path] });
		await until("it listens again", () => next.out.includes("\n"));
		expect((await ask({ socketPath: path, path: "/v1/info" }, undefined, {})).status).toBe(401);
		expect(await next.stop()).toBe(0);
		expect(existsSync(path)).toBe(false);
	});

	testUnless(!canMount && "no file system can be mounted")("a full disk is not ready, and says why; with room it is ready again", async () => {
		const at = place();
		const sessions = join(at.user, "sessions");
		mkdirSync(sessions, { recursive: true });
		execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", sessions]);
		later(() => execFileSync("umount", ["-l", sessions]));
		const server = await serve({ at });
		expect(await server.get("/readyz")).toMatchObject({ status: 200, text: "ready" });
		// A byte more would still fit.
		const filler = join(sessions, "filler");
		writeFileSync(filler, Buffer.alloc(1024 * 1024 - 16 * 1024));
		const full = await until("it is not ready", async () => {
			const answer = await server.get("/readyz");
			return answer.status === 503 ? answer : undefined;
		});
		expect(full.text).toBe("disk: the sessions directory cannot be written: ENOSPC: no space left on device");
		rmSync(filler);
		await until("it is ready again", async () => (await server.get("/readyz")).text === "ready");
		expect(readdirSync(sessions)).toEqual([]);
	});

	test("metrics and log name routes, no ids, names or tokens; the token is in one file only", async () => {
		const server = await serve({
			replies: [{ blocks: [{ tool: "bash", arguments: { command: "env; cat /proc/$PPID/cmdline | tr '\\\\0' ' '" } }] }, { text: "done" }],
		});
		const { id } = await server.create({ name: "secret-name" });
		const reader = await server.attach(id);
		await server.prompt(id, "go");
		await reader.type("run_result");
		const metrics = (await server.get("/metrics")).text;
		for (const name of [
			"sessions",
			"agent_starts_total",
			"agent_start_seconds_count",
			"connections",
			"frames_out_total",
			"requests_total",
			"event_loop_delay_seconds",
		])
			expect(metrics).toContain(`bowline_${name}`);
		expect(metrics).toContain('route="/v1/sessions/{id}/prompts",status="200"');
		for (const text of [metrics, server.err.split("\n").slice(2).join("\n")]) {
			expect(text).not.toContain(id);
			expect(text).not.toContain("secret-name");
		}
		const { token } = server;
		expect(JSON.stringify(reader.frames)).not.toContain(token);
		expect(metrics).not.toContain(token);
		// The first start shows it once.
		expect(server.err.split(token)).toHaveLength(2);
		const files = readdirSync(server.at.user, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
		const holding = files.filter(({ parentPath, name }) => readFileSync(join(parentPath, name), "utf8").includes(token)).map(({ name }) => name);
		expect(holding).toEqual(["token"]);
	});

	test("links begin where browsers reach the server, and give the scope that was asked for", async () => {
		const base = (text: string) => /(http\S+)\/#code=/.exec(text)?.[1];
		const run = (server: TestServer, words: string[]) => {
			const { stdout, stderr } = spawnSync(process.execPath, [program, "serve", ...words], {
				cwd: server.at.cwd,
				env: { ...process.env, BOWLINE_DIR: server.at.user },
				encoding: "utf8",
			});
			return stdout + stderr;
		};
		const server = await serve({ args: ["--allow-host", "127.0.0.1:8080", "--allow-host", "agents.example.com"] });
		expect(await until("a link", () => base(server.err))).toBe("https://agents.example.com");
		expect(base(run(server, ["link", "--url", "http://127.0.0.1:8080/"]))).toBe("http://127.0.0.1:8080");
		expect(run(server, ["link", "--url", "https://a.example/path"])).toContain("without a path");
		for (const [words, scope] of [
			[[], "drive"],
			[["--scope", "read"], "read"],
			[["--scope", "admin"], "admin"],
		] as const) {
			const [, code] = /#code=(\S+)/.exec(run(server, ["link", ...words])) ?? [];
			const { json } = await server.ask("POST", "/v1/login", { code }, { Authorization: undefined });
			expect(json.scope).toBe(scope);
		}
		const named = await serve({ args: ["--url", "https://agents.example.com:8443"] });
		expect(await until("a link", () => base(named.err))).toBe("https://agents.example.com:8443");
		expect((await named.ask("GET", "/v1/info", undefined, { Host: "agents.example.com:8443" })).status).toBe(200);
		const plain = await serve();
		expect(await until("a link", () => base(plain.err))).toBe(plain.url);
	});

	test("links sign in once; tickets open a socket of a browser", async () => {
		const server = await serve();
		const { id } = await server.create();
		const [link = ""] = /http\S+#code=\S+/.exec(server.err) ?? [];
		const code = new URL(link).hash.slice("#code=".length);
		const login = (body: object) => server.ask("POST", "/v1/login", body, { Authorization: undefined, "User-Agent": "Test Browser" });
		const { json } = await login({ code });
		expect(json).toMatchObject({ scope: "drive", token: expect.any(String) });
		expect((await login({ code })).status).toBe(401);
		expect((await login({ token: "wrong" })).status).toBe(401);
		expect((await login({ token: server.token })).status).toBe(200);
		const bearer = { Authorization: `Bearer ${json.token}` };
		const { ticket } = (await server.ask("POST", "/v1/tickets", {}, bearer)).json;
		const { WebSocket } = await import("ws");
		const socket = new WebSocket(`ws://127.0.0.1:${server.port}/v1/sessions/${id}/socket`, ["bowline.v1", `ticket.${ticket}`], {
			headers: { Origin: server.url },
		});
		later(() => socket.terminate());
		await new Promise<void>((resolve, reject) => socket.on("open", resolve).on("error", reject));
		expect(socket.protocol).toBe("bowline.v1");
		const page = await server.ask("GET", "/", undefined, { Authorization: undefined });
		expect(page.headers["content-security-policy"] ?? page.json.error.message).toMatch(/trusted-types|not a part/);
	});

	test("hostile bytes: heads, cursors, bodies and frames do not stop it", async () => {
		const server = await serve();
		const { id } = await server.create();
		const { connect } = await import("node:net");
		const raw = (bytes: string | Buffer) =>
			new Promise<void>((resolve) => {
				const socket = connect(server.port, "127.0.0.1", () => socket.end(bytes));
				socket.on("data", () => undefined);
				socket.on("error", () => undefined);
				socket.on("close", () => resolve());
				later(() => socket.destroy());
			});
		const head = `GET /v1/sessions/${id}/socket HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${server.token}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;
		const frames = [
			[0x81, 0x05, 1, 2, 3, 4, 5], // not masked
			[0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], // longer than there is
			[0xc1, 0x80, 0, 0, 0, 0], // a reserved bit
			[0x80, 0x80, 0, 0, 0, 0], // goes on with nothing
			[0x89, 0xfe, 0x01, 0x00, 0, 0, 0, 0], // a long ping
			[0x82, 0x81, 0, 0, 0, 0, 1], // binary
			[0x81, 0x82, 0, 0, 0, 0, 0xff, 0xfe], // not UTF-8
		];
		await Promise.all([
			...[
				"\r\n\r\n",
				"GET / HTTP/9.9\r\n\r\n",
				`GET ${"/a".repeat(20_000)} HTTP/1.1\r\n\r\n`,
				"POST /v1/login HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
				"\u0000\u0001\u0002",
			].map(raw),
			...frames.map((frame) => raw(Buffer.concat([Buffer.from(head), Buffer.from(frame)]))),
		]);
		// What a proxy might read otherwise, bodies that no one asked for, and clients that leave in the middle.
		const answered = (text: string) =>
			new Promise<string>((resolve) => {
				let all = "";
				const socket = connect(server.port, "127.0.0.1", () => socket.write(text));
				socket.on("data", (chunk) => (all += chunk));
				socket.on("error", () => undefined);
				socket.on("close", () => resolve(all));
				later(() => socket.destroy());
			});
		const host = `Host: 127.0.0.1:${server.port}\r\nConnection: close\r\n`;
		const own = `${host}Authorization: Bearer ${server.token}\r\n`;
		const json = "Content-Type: application/json\r\n";
		const statusOf = async (text: string) => (await answered(text)).match(/^HTTP\/1\.1 \d+/gm)?.map((line) => Number(line.slice(9)));
		expect(await statusOf(`GET /v1/info HTTP/1.1\r\n${own}Host: evil.example\r\n\r\n`)).toEqual([400]);
		expect(await statusOf(`GET /v1/info HTTP/1.1\r\n${own}Origin: http://127.0.0.1:${server.port}\r\nOrigin: null\r\n\r\n`)).toEqual([400]);
		expect(await statusOf(`POST /v1/sessions HTTP/1.1\r\n${own}${json}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`)).toEqual([
			400,
		]);
		const waiting = `${json}Content-Length: 2\r\nExpect: 100-continue\r\n\r\n`;
		expect(await statusOf(`POST /v1/sessions HTTP/1.1\r\n${host}${waiting}`)).toEqual([401]);
		expect(await statusOf(`POST /v1/sessions HTTP/1.1\r\n${own}${waiting}{}`)).toEqual([100, 400]);
		expect(await statusOf(`POST /v1/login HTTP/1.1\r\n${host}${json}Content-Length: 20000\r\n\r\n`)).toEqual([413]);
		await raw(`POST /v1/sessions HTTP/1.1\r\n${own}${json}Content-Length: 2000\r\n\r\n{"cwd":`);
		for (const after of ["x", "1e3", "9".repeat(40), "1.5", "%00", "-0"])
			expect((await server.get(`/v1/sessions/${id}/events?after=${after}`)).status, after).toBe(400);
		for (const body of ["", "[]", "null", '"x"', '{"cwd":1}', '{"__proto__":{"x":1}}', `{"a":${"1".repeat(10)}`])
			expect((await server.post("/v1/sessions", body)).status, body).toBe(400);
		const reader = await server.attach(id);
		for (const text of ["", "x", "[]", "{}", '{"type":1}', '{"type":"nothing","id":"1"}', '{"type":"constructor"}', '{"type":"prompt"}'])
			reader.socket.send(text);
		expect(await reader.ask({ type: "get_state" })).toMatchObject({ success: true });
		expect(server.err).not.toContain('"event":"fault"');
	});

	test("a reader that does not read costs the others nothing, and catches up", async () => {
		const server = await serve({
			replies: [
				{ text: "x".repeat(200) },
				{ blocks: [{ tool: "bash", arguments: { command: "head -c 3000000 /dev/zero | tr '\\\\0' 'a' | fold -w 100" } }] },
				{ text: "many words ".repeat(20_000) },
				{ text: "the end" },
			],
		});
		const { id } = await server.create();
		await server.prompt(id, "warm");
		const stopped = await server.attach(id);
		stopped.socket.pause();
		const reader = await server.attach(id);
		expect((await server.prompt(id, "go")).json.result.status).toBe("completed");
		await reader.type("run_result");
		stopped.socket.resume();
		const result = await stopped.type("run_result");
		expect(result).toEqual(reader.frames.find(({ type }) => type === "run_result"));
		expect(stopped.durable).toEqual(reader.durable);
		expect(stopped.frames.filter(({ type, durableLost }) => type === "gap" && durableLost)).toEqual([]);
	});

	test("events about all sessions", async () => {
		const server = await serve();
		const frames: string[] = [];
		const sent = request(
			{ host: "127.0.0.1", port: server.port, path: "/v1/events", headers: { Authorization: `Bearer ${server.token}` } },
			(response) => {
				response.setEncoding("utf8");
				response.on("data", (chunk: string) => void frames.push(chunk));
			},
		);
		later(() => sent.destroy());
		sent.on("error", () => undefined);
		sent.end();
		await until("it is open", () => frames.join("").includes("retry: 1000"));
		const { id } = await server.create();
		await until("the new session", () => frames.join("").includes(`"type":"session_added"`) && frames.join("").includes(id));
		expect((await server.ask("DELETE", `/v1/sessions/${id}`)).status).toBe(204);
		await until("its end", () => frames.join("").includes(`"type":"session_removed"`));
	});
});
