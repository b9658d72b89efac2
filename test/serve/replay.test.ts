/** Nothing is lost on a reconnect: readers that were cut, agents and servers that were killed, over every transport. */
import { existsSync, mkdirSync, readFileSync, rmSync, truncateSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { later } from "../later.ts";
import { type Frame, place, serve, type TestServer, until } from "./support.ts";

const tools = [
	{ blocks: [{ text: "looking" }, { tool: "bash", arguments: { command: "echo one" } }, { tool: "bash", arguments: { command: "echo two" } }] },
	{ blocks: [{ tool: "write", arguments: { path: "a.txt", content: "hello\n" } }] },
	{ fail: { status: 529, body: "overloaded" } },
	{ text: "all done, and a few more words to stream" },
];

const numbered = (frames: readonly Frame[]) => frames.filter(({ seq, type }) => seq !== undefined && type !== "snapshot" && !/_update$/.test(type));
/** The order of members does not matter. */
const byNumber = (frames: readonly Frame[]) => new Map(numbered(frames).map((frame) => [frame.seq, frame]));

/** Lines or events of a request that goes on, until `isDone`. */
function stream(server: TestServer, path: string, headers: Record<string, string>, isDone: (frames: Frame[]) => boolean): Promise<Frame[]> {
	return new Promise((resolve, reject) => {
		const sent = request(
			{ host: "127.0.0.1", port: server.port, path, headers: { Authorization: `Bearer ${server.token}`, ...headers } },
			(response) => {
				let rest = "";
				const frames: Frame[] = [];
				response.setEncoding("utf8");
				response.on("data", (chunk: string) => {
					const lines = (rest + chunk).split("\n");
					rest = lines.pop() ?? "";
					for (const line of lines) {
						if (line.startsWith("{")) frames.push(JSON.parse(line));
						else if (line.startsWith("data: ")) frames.push(JSON.parse(line.slice(6)));
					}
					if (isDone(frames)) {
						sent.destroy();
						resolve(frames);
					}
				});
				response.on("end", () => resolve(frames));
			},
		);
		later(() => sent.destroy());
		sent.on("error", (error) => (sent.destroyed ? undefined : reject(error)));
		sent.end();
	});
}

const hasSnapshot = (frames: Frame[]) => frames.some(({ type }) => type === "snapshot");
const lines = (server: TestServer, id: string, after: number) =>
	stream(server, `/v1/sessions/${id}/events?after=${after}`, { Accept: "application/jsonl" }, () => false);
const events = (server: TestServer, id: string, after: number) =>
	stream(server, `/v1/sessions/${id}/events`, { "Last-Event-ID": String(after) }, hasSnapshot);
async function socket(server: TestServer, id: string, after: number): Promise<Frame[]> {
	const reader = await server.attach(id, `?after=${after}`);
	await reader.type("snapshot");
	await reader.close();
	return reader.frames;
}

/** What a reader that was cut after each frame gets is what an uncut one got, each frame once, in order. */
async function checkCuts(server: TestServer, id: string, uncut: readonly Frame[], everyOther = 1): Promise<void> {
	const whole = byNumber(uncut);
	const numbers = [...whole.keys()];
	expect([...numbers].sort((a, b) => a - b)).toEqual(numbers);
	const cuts = [0, ...numbers].filter((_, index) => index % everyOther === 0);
	for (const after of cuts) {
		const expected = numbers.filter((seq) => seq > after).map((seq) => whole.get(seq));
		for (const [name, read] of Object.entries({ lines, events, socket })) {
			const got = await read(server, id, after);
			expect(numbered(got), `${name} after ${after}`).toEqual(expected);
			expect(got.filter(({ type, durableLost }) => type === "gap" && durableLost)).toEqual([]);
		}
	}
}

describe("replay", () => {
	test("a reader that was cut at any frame gets the rest, over sockets, events and lines, awake and asleep", async () => {
		const server = await serve({ replies: tools, args: ["--set", "retry.baseDelayMs=5"] });
		const { id } = await server.create();
		const uncut = await server.attach(id);
		const { json } = await server.prompt(id, "go");
		expect(json.result.status).toBe("completed");
		expect(json.text).toContain("all done");
		await uncut.type("run_result");
		await uncut.type("agent_settled");
		await until(
			"the last frame is the last of the session",
			async () => (await server.session(id)).asOf === Math.max(...uncut.frames.flatMap(({ seq }) => seq ?? 0)),
		);
		expect(uncut.frames.some(({ type }) => type === "auto_retry_start")).toBe(true);
		await checkCuts(server, id, uncut.frames, 2);
		await server.post(`/v1/sessions/${id}/stop`);
		await server.inState(id, "asleep");
		await checkCuts(server, id, uncut.frames, 5);
		const got = await server.attach(id, "?after=0");
		expect((await got.type("snapshot")).live).toMatchObject({ phase: "idle", tools: [] });
	});

	test("a reader that comes in the middle of a reply gets it from the snapshot on", async () => {
		const server = await serve({ replies: [{ blocks: [{ text: "word ".repeat(200) }], pieceDelayMs: 5 }] });
		const { id } = await server.create();
		const early = await server.attach(id);
		await server.post(`/v1/sessions/${id}/prompts`, { message: "go" });
		await until("a few deltas", () => early.frames.filter(({ type }) => type === "message_update").length > 5);
		const late = await server.attach(id, "?after=0");
		const snapshot = await late.type("snapshot");
		expect(snapshot.live).toMatchObject({ phase: "running", message: { role: "assistant" } });
		const end = await late.type("run_result");
		const after = late.frames.slice(late.frames.indexOf(snapshot) + 1);
		expect(after.some(({ type }) => type === "message_update")).toBe(true);
		// Every number once, nothing before the snapshot's place after it.
		const numbers = after.flatMap(({ seq }) => seq ?? []);
		expect(new Set(numbers).size).toBe(numbers.length);
		expect(Math.min(...numbers)).toBeGreaterThan(snapshot.seq);
		expect(end.status).toBe("completed");
		const deltas = after.filter(({ type }) => type === "message_update").map(({ assistantMessageEvent }) => assistantMessageEvent.delta ?? "");
		const shown = snapshot.live.message.content.map((block: Frame) => block.text).join("") + deltas.join("");
		expect(shown.trim()).toBe("word ".repeat(200).trim());
	});

	test("a session without a file: what the server's memory no longer has comes from the agent's", async () => {
		const server = await serve({ replies: [{ blocks: [{ text: "Well." }], times: "always" }] });
		const { id } = await server.create({ ephemeral: true });
		const early = await server.attach(id);
		// Each message is in four frames: more than the 4 MiB that the server keeps.
		for (const letter of ["a", "b", "c"]) await server.prompt(id, letter.repeat(600_000));
		await until("all results", () => early.frames.filter(({ type }) => type === "run_result").length === 3);
		const late = await server.attach(id, "?after=0");
		const snapshot = await late.type("snapshot");
		expect(await late.type("gap")).toMatchObject({ from: 1, reason: "ephemeral", durableLost: false });
		expect(late.frames.indexOf(snapshot)).toBe(late.frames.length - 1);
		expect(numbered(late.frames)).toEqual(numbered(early.frames));
		// Frames that came again for one reader are not new to the others. A reader that fell behind has a snapshot, with the number of the last frame.
		const numbers = early.frames.flatMap(({ seq, type }) => (type === "snapshot" ? [] : (seq ?? [])));
		expect(new Set(numbers).size).toBe(numbers.length);
		await server.prompt(id, "on");
		await until("the result", () => late.frames.filter(({ type }) => type === "run_result").length === 4);
		expect(numbered(late.frames)).toEqual(numbered(early.frames));
	});

	test("a cursor of another session is refused, and says what to do", async () => {
		const server = await serve();
		const { id } = await server.create();
		const { status, json } = await server.get(`/v1/sessions/${id}/events?after=999999`);
		expect([status, json.error.code]).toEqual([400, "cursor_ahead"]);
		await expect(server.attach(id, "?after=999999")).rejects.toThrow(/400.*cursor_ahead/);
		const reader = await server.attach(id);
		expect(await reader.ask({ type: "subscribe", afterSeq: 999999 })).toMatchObject({ success: false, code: "cursor_ahead" });
		expect((await server.get(`/v1/sessions/${id}/events?after=-1`)).json.error.code).toBe("bad_field");
	});

	test("subscribe with a filter, and without deltas", async () => {
		const server = await serve({ replies: [{ text: "some words to say" }] });
		const { id } = await server.create();
		await server.prompt(id, "go");
		const reader = await server.attach(id);
		const answer = await reader.ask({ type: "subscribe", afterSeq: 0, filter: ["message_*"], deltas: false });
		expect(answer.data.replayTo).toBeGreaterThan(3);
		await reader.type("snapshot");
		expect(new Set(numbered(reader.frames).map(({ type }) => type))).toEqual(new Set(["message_start", "message_end"]));
	});

	test("a page of entries and its number fit together", async () => {
		const server = await serve({ replies: [{ text: "one" }, { text: "two" }] });
		const { id } = await server.create();
		await server.prompt(id, "first");
		const page = (await server.get(`/v1/sessions/${id}/entries?tail=2`)).json;
		expect(page.entries.map(({ message }: Frame) => message.role)).toEqual(["user", "assistant"]);
		expect(page).toMatchObject({ before: true, after: false });
		const reader = await server.attach(id, `?after=${page.asOf}`);
		await server.prompt(id, "second");
		await reader.type("run_result");
		expect(reader.frames.filter(({ type }) => type === "message_end").map(({ message }) => message.content[0].text)).toEqual(["second", "two"]);
		const [oldest] = page.entries;
		const older = (await server.get(`/v1/sessions/${id}/entries?before=${oldest.id}&limit=1`)).json;
		expect(older.entries).toHaveLength(1);
		expect((await server.get(`/v1/sessions/${id}/entries?since=${oldest.id}`)).json.entries).toHaveLength(3);
		expect((await server.get(`/v1/sessions/${id}/entries?since=nothing`)).json.error.code).toBe("bad_field");
	});
});

describe("a log that lost its end while the server was down", () => {
	test("a reader that saw more goes on, everyone is told of the loss, and no number comes again", async () => {
		const at = place();
		const server = await serve({ at, replies: [{ text: "one" }, { text: "two" }] });
		const { id } = await server.create();
		const before = await server.attach(id);
		await server.prompt(id, "first");
		const { json } = await server.prompt(id, "second");
		await before.find("the second run ends", ({ type, runId }) => type === "run_result" && runId === json.runId);
		const file = await server.learnFile(id);
		server.child.kill("SIGTERM");
		await server.exited;
		const log = file.replace(/jsonl$/, "events");
		const text = readFileSync(log, "utf8");
		truncateSync(log, Buffer.byteLength(text.slice(0, text.indexOf('{"s":', text.length / 2))));
		const next = await serve({ at, replies: [{ text: "three" }] });
		const highest = Math.max(...before.frames.flatMap(({ seq }) => seq ?? 0));
		for (const after of [0, highest]) {
			const reader = await next.attach(id, `?after=${after}`);
			await reader.type("snapshot");
			expect(reader.frames.filter(({ type }) => type === "gap")).toMatchObject([{ durableLost: true }]);
			const numbers = numbered(reader.frames).map(({ seq }) => seq);
			expect(numbers).toEqual([...new Set(numbers)]);
		}
		const reader = await next.attach(id, `?after=${highest}`);
		await next.prompt(id, "third");
		await reader.type("run_result");
		expect(Math.min(...numbered(reader.frames).map(({ seq }) => seq))).toBeGreaterThan(highest);
	});

	test("a directory in its place is set aside, and the session wakes", async () => {
		const server = await serve({ replies: [{ blocks: [{ text: "one" }], times: "always" }] });
		const { id } = await server.create();
		await server.prompt(id, "first");
		const log = (await server.learnFile(id)).replace(/jsonl$/, "events");
		await server.post(`/v1/sessions/${id}/stop`);
		await server.inState(id, "asleep");
		rmSync(log);
		mkdirSync(join(log, "kept"), { recursive: true });
		const { json } = await server.prompt(id, "second");
		expect(json.result.status).toBe("completed");
		expect(existsSync(`${log}.unusable/kept`)).toBe(true);
		await server.ask("DELETE", `/v1/sessions/${id}`);
		expect(existsSync(`${log}.unusable`)).toBe(false);
	});
});

describe("after a kill", () => {
	const slow = [
		{ when: { tool: "bash" }, text: "resumed" },
		{ blocks: [{ text: "begin" }, { tool: "bash", arguments: { command: "echo ready && sleep 600" } }] },
	];

	test("an agent that was killed: requests fail, the run ends as interrupted, a reader misses nothing, and a prompt goes on", async () => {
		const server = await serve({ replies: slow });
		const { id } = await server.create();
		await server.learnFile(id);
		const uncut = await server.attach(id, "?mode=write");
		const { data } = await uncut.ask({ type: "prompt", message: "go" });
		await uncut.find(
			"the command runs",
			({ type, partialResult }) => type === "tool_execution_update" && JSON.stringify(partialResult).includes("ready"),
		);
		const open = uncut.ask({ type: "bash", command: "sleep 600" });
		await until("it waits", async () => (await server.session(id)).state === "busy");
		process.kill(server.agentPid(id), "SIGKILL");
		expect(await open).toMatchObject({ success: false, code: "agent_crashed" });
		const result = await uncut.type("run_result");
		expect(result).toMatchObject({ runId: data.runId, status: "interrupted" });
		const settled = await uncut.type("agent_settled");
		expect(settled.aborted).toBe(true);
		const session = await server.inState(id, "crashed");
		expect(session.lastExit).toMatchObject({ signal: "SIGKILL" });
		expect(uncut.frames.find(({ type, state }) => type === "session_state" && state === "crashed")?.exit).toMatchObject({ signal: "SIGKILL" });
		await checkCuts(server, id, uncut.frames, 3);
		const again = await uncut.ask({ type: "resume_run" });
		expect(again).toMatchObject({ success: true, data: { disposition: "started" } });
		await uncut.find("the resumed run ends", ({ type, runId }) => type === "run_result" && runId === again.data.runId);
		await checkCuts(server, id, uncut.frames, 6);
	});

	test("onCrash resume goes on without a client", async () => {
		const server = await serve({ replies: slow });
		const { id } = await server.create({ onCrash: "resume" });
		await server.learnFile(id);
		const reader = await server.attach(id);
		await server.post(`/v1/sessions/${id}/prompts`, { message: "go" });
		await reader.find(
			"the command runs",
			({ type, partialResult }) => type === "tool_execution_update" && JSON.stringify(partialResult).includes("ready"),
		);
		process.kill(server.agentPid(id), "SIGKILL");
		await reader.find("the run was interrupted", ({ type, status }) => type === "run_result" && status === "interrupted");
		await reader.find("it was resumed and ended", ({ type, status }) => type === "run_result" && status === "completed");
	});

	test("server and agent killed: the next server gives everything, and the run has one result", async () => {
		const at = place();
		const server = await serve({ at, replies: slow });
		const { id } = await server.create();
		await server.learnFile(id);
		const before = await server.attach(id);
		const { json } = await server.post(`/v1/sessions/${id}/prompts`, { message: "go" }, { "Idempotency-Key": "k1" });
		await before.find(
			"the command runs",
			({ type, partialResult }) => type === "tool_execution_update" && JSON.stringify(partialResult).includes("ready"),
		);
		const agent = server.agentPid(id);
		process.kill(agent, "SIGKILL");
		server.child.kill("SIGKILL");
		await server.exited;
		const next = await serve({ at });
		const cursor = Math.max(...before.frames.flatMap(({ seq }) => seq ?? 0));
		const after = await next.attach(id, `?after=${cursor}`);
		await after.type("snapshot");
		const results = numbered(after.frames).filter(({ type }) => type === "run_result");
		expect(results).toMatchObject([{ runId: json.runId, status: "interrupted" }]);
		const all = await lines(next, id, 0);
		// What the server had passed on, or the agent had only written: each number once, and equal.
		const known = byNumber(before.frames);
		for (const frame of numbered(all)) if (known.has(frame.seq)) expect(frame).toEqual(known.get(frame.seq));
		const numbers = numbered(all).map(({ seq }) => seq);
		expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
		for (const seq of known.keys()) expect(numbers).toContain(seq);
		expect(numbered(all).filter(({ type }) => type === "run_result")).toHaveLength(1);
		// The key still holds.
		const twin = await next.post(`/v1/sessions/${id}/prompts`, { message: "go" }, { "Idempotency-Key": "k1" });
		expect(twin.json).toMatchObject({ runId: json.runId, duplicate: true });
	});
});
