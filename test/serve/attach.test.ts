import { spawn } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Client, startClient } from "../../src/client/index.ts";
import { later } from "../later.ts";
import { CuttingProxy } from "./cutting-proxy.ts";
import { serve, type TestServer, until } from "./support.ts";

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

interface Ran {
	code: number | null;
	out: string;
	err: string;
}

function run(server: TestServer, args: string[], input = "", env: Record<string, string> = {}): Promise<Ran> {
	return new Promise((resolve) => {
		const child = spawn(process.execPath, [program, "attach", ...args], { cwd: server.at.cwd, env: { ...environment(server), ...env } });
		let out = "";
		let err = "";
		child.stdout.on("data", (chunk) => (out += chunk));
		child.stderr.on("data", (chunk) => (err += chunk));
		child.on("close", (code) => resolve({ code, out, err }));
		// One that refuses its flags does not read.
		child.stdin.on("error", () => undefined);
		child.stdin.end(input);
	});
}

test("attach answers what was asked before the end of stdin, and says what is wrong", async () => {
	const server = await serve();
	const none = await run(server, []);
	expect(none).toMatchObject({ code: 1, out: "" });
	expect(none.err).toContain("--new");
	const asked = await run(server, ["--new"], '{"id":7,"type":"get_state"}\n');
	expect(asked.code).toBe(0);
	const lines = asked.out
		.trim()
		.split("\n")
		.map((line) => JSON.parse(line) as Record<string, unknown>);
	expect(lines[0]).toMatchObject({ type: "ready", protocol: 1, cwd: server.at.cwd });
	expect(Object.keys(lines[0] ?? {})).not.toContain("asOf");
	expect(lines.find(({ type }) => type === "response")).toMatchObject({ id: 7, command: "get_state", success: true });
	const missing = await run(server, ["00000000-0000-7000-8000-000000000000"]);
	expect(missing.code).toBe(1);
	expect(missing.err).toContain("--new creates one.");
});

test("a flag that can have no effect is refused with the remedy, and so is every other wrong use", async () => {
	const server = await serve();
	const session = await server.create();
	const holder = await server.attach(session.id, "?mode=write&name=holder");
	const cases: [args: string[], code: number, words: string, env?: Record<string, string>][] = [
		[["--new", "--permission-mode", "plan"], 2, "--permission-mode is decided by the server, for all its sessions: give it to bowline serve."],
		[["--new", "--fork", "x"], 2, "--fork needs a process of its own: start bowline --mode rpc with it."],
		[["--new", "--dialect", "strict", "--seq"], 2, "choose one of them"],
		[["--new", "--set", "sandbox.mode=off"], 1, "sandbox.mode"],
		[["--new", "--set", "mcpServers.mine.command=x"], 1, "mcpServers"],
		[["--tools", "read", session.id], 2, "--tools says how a new session is made: add --new, or leave it out."],
		[["--url", "ftp://x"], 2, "--url: url must be like http://127.0.0.1:7717"],
		[["--url", server.url, session.id], 1, "BOWLINE_SERVE_TOKEN", { BOWLINE_SERVE_TOKEN: "wrong" }],
		[[session.id, "--model", "other"], 1, "which holder holds. --takeover takes it; --read watches."],
	];
	const ran = await Promise.all(cases.map(async ([args, , , env]) => run(server, args, "", env)));
	for (const [index, [args, code, words]] of cases.entries()) {
		const { code: ended, out, err } = ran[index] as Ran;
		expect({ args, ended, out, err }).toEqual({ args, ended: code, out: "", err: expect.stringContaining(words) });
	}
	await holder.close();
	const made = await run(
		server,
		["--new", "--set", "retry.maxRetries=7", "--set", "task.agentModelOverrides.explore=p/m", "--interrupt-mode", "wait", "--name", "mine"],
		'{"id":"s","type":"get_state"}\n',
	);
	expect(made.code).toBe(0);
	expect(made.out).toContain('"interruptMode":"wait"');
	expect(made.out).toContain('"sessionName":"mine"');
});

/** The text that a client makes of the deltas alone. */
const deltasOf = (frames: readonly Record<string, unknown>[], type = "text_delta") =>
	frames
		.flatMap(({ assistantMessageEvent: step }) => (step ? [step as { type: string; delta: string }] : []))
		.map((step) => (step.type === type ? step.delta : ""))
		.join("");

test.each(["classic", "pi"])("the deltas of a reply add up to its text in dialect %s, however fast it comes and whatever is cut", async (dialect) => {
	const call = { tool: "bash", arguments: { command: "echo  done" } };
	const text = "many words ".repeat(20_000);
	const words = Array.from({ length: 300 }, (_, index) => `w${index} `).join("");
	const server = await serve({
		replies: [
			{ blocks: [{ text, pieces: 3000 }] },
			{ blocks: [{ thinking: words }, { text: words }, call], pieceDelayMs: 2 },
			{ text: words, pieceDelayMs: 2 },
			{ text: words, pieceDelayMs: 2 },
		],
	});
	const proxy = await new CuttingProxy(() => server.port).listen(later);
	const over = ["--url", proxy.url, "--token-file", join(server.at.user, "serve/default/token")];
	const client = await attached(server, "--new", "--dialect", dialect, ...over);
	let frames: Record<string, unknown>[] = [];
	client.on("event", (frame) => void frames.push(frame as never));
	await client.promptAndWait("fast");
	expect(deltasOf(frames)).toBe(text);
	frames = [];
	let steps = 0;
	client.on("message_update", () => ++steps % 60 === 20 && proxy.cut());
	await client.promptAndWait("cut");
	expect(proxy.cuts).toBeGreaterThan(1);
	expect(deltasOf(frames, "thinking_delta")).toBe(words);
	expect(deltasOf(frames)).toBe(words + words);
	// Each block has one beginning and one end.
	const bounds = frames.map(({ assistantMessageEvent: step }) => (step as { type: string } | undefined)?.type ?? "");
	expect(bounds.filter((type) => /_(start|end)$/.test(type))).toEqual(
		["thinking", "text", "toolcall", "text"].flatMap((block) => [`${block}_start`, `${block}_end`]),
	);
	// A host that wants no updates gets none after a cut either.
	await client.request("set_event_filter", { events: ["message_start", "message_end", "agent_settled"] });
	frames = [];
	const cuts = proxy.cuts;
	client.on("message_start", ({ message }) => message.role === "assistant" && proxy.cut());
	await client.promptAndWait("quiet");
	expect(proxy.cuts).toBeGreaterThan(cuts);
	expect(frames.filter(({ type }) => type === "message_update")).toEqual([]);
});

test("a cut is invisible, --read watches, --takeover drives, signals detach, and a session that is deleted ends it", async () => {
	const server = await serve({ replies: [{ repeat: { text: "word ", count: 40 }, pieceDelayMs: 10 }, { text: "taken over" }] });
	const proxy = await new CuttingProxy(() => server.port).listen(later);
	const over = ["--url", proxy.url, "--token-file", join(server.at.user, "serve/default/token")];
	const first = await attached(server, "--new", "--dialect", "pi", ...over);
	const { sessionId } = await first.getState();
	const reader = await attached(server, "--read", "--seq", sessionId, ...over);
	const frames: Record<string, unknown>[] = [];
	const watched: Record<string, unknown>[] = [];
	first.on("event", (frame) => void frames.push(frame as never));
	reader.on("event", (frame) => void watched.push(frame as never));
	first.on("message_update", () => proxy.cuts === 0 && proxy.cut());
	expect((await first.promptAndWait("go")).text).toBe("word ".repeat(40));
	expect(proxy.cuts).toBeGreaterThan(0);
	const settled = (heard: typeof frames) => heard.filter(({ type }) => type === "agent_settled" || type === "agent_end").length;
	expect(settled(frames)).toBeGreaterThan(0);
	await until("the reader saw the end", () => watched.some(({ type }) => type === "run_result"));
	const numbers = watched.flatMap(({ seq, type }) => (typeof seq === "number" && type !== "snapshot" ? [seq] : []));
	expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
	await expect(reader.prompt({ message: "no" })).rejects.toMatchObject({ code: "seat_taken" });
	const next = await attached(server, "--takeover", sessionId, ...over);
	expect((await next.promptAndWait("more")).text).toBe("taken over");
	await expect(first.prompt({ message: "no" })).rejects.toMatchObject({ code: "seat_taken" });
	await next.close();
	for (const [signal, code] of [
		["SIGTERM", 143],
		["SIGHUP", 129],
	] as const) {
		const child = spawn(process.execPath, [program, "attach", sessionId, ...over], { cwd: server.at.cwd, env: environment(server) });
		let out = "";
		child.stdout.on("data", (chunk) => (out += chunk));
		await until("it is ready", () => out.includes("ready"));
		const ended = new Promise((resolve) => child.on("exit", (given, by) => resolve(given ?? by)));
		child.kill(signal);
		expect(await ended).toBe(code);
	}
	await server.post(`/v1/sessions/${sessionId}/stop`);
	await server.inState(sessionId, "asleep");
	await server.ask("DELETE", `/v1/sessions/${sessionId}`);
	expect(await reader.exited).toMatchObject({ code: 1, stderr: expect.stringContaining("was deleted") });
});
