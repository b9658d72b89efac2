/** Readers that are cut after every frame of a long run, and kills at many of its points: each kept frame comes once, equal, over every transport. */
import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isEphemeral } from "../../src/protocol/live.ts";
import { later } from "../later.ts";
import { endServer, type Frame, isAlive, place, serve, type TestServer, until } from "./support.ts";

const bash = (command: string) => ({ tool: "bash", arguments: { command } });
const task = (assignment: string) => ({ tool: "task", arguments: { agent: "task", tasks: [{ id: "Part", description: "A part", assignment }] } });
const submit = { tool: "submit_result", arguments: { result: { data: { ok: true } } } };

/** Each process plays it from its start. The word of a prompt chooses the run. */
const replies = [
	{ when: { depth: 1, text: "part" }, blocks: [submit] },
	{ when: { depth: 1, text: "long" }, blocks: [bash("echo ready; sleep 600")] },
	{ when: { text: "a command" }, blocks: [{ text: "now" }, bash("echo ready; sleep 600")] },
	{ when: { text: "a reply" }, text: "word ".repeat(5000), pieceDelayMs: 100 },
	{ when: { text: "a retry" }, fail: { status: 529, body: "overloaded" }, times: "always" },
	{ when: { text: "a subagent" }, blocks: [task("long")] },
	{ when: { text: "whole" }, blocks: [{ text: "looking" }, bash("seq 3000"), bash("echo two")] },
	{ when: { tool: "bash" }, blocks: [{ thinking: "hm" }, task("part")] },
	{ when: { tool: "task" }, fail: { status: 529, body: "overloaded" } },
	{ when: { tool: "task" }, fail: { status: 400, body: "prompt is too long" } },
	{ when: { matches: "summar" }, text: "What happened so far." },
	{ text: "all done, and a few more words to stream" },
];

const kept = (frames: readonly Frame[]) => frames.filter((frame) => frame.seq !== undefined && frame.type !== "snapshot" && !isEphemeral(frame));

const lastOf = (frames: readonly Frame[]) => Math.max(0, ...frames.flatMap(({ seq }) => seq ?? 0));

type Take = (frame: Frame) => "more" | "enough";
/** Takes frames after a number until it has enough, then cuts the connection without a word. */
type Read = (server: TestServer, id: string, after: number, take: Take) => Promise<void>;

async function bySocket(server: TestServer, id: string, after: number, take: Take): Promise<void> {
	const reader = await server.attach(id, `?after=${after}`);
	let at = 0;
	await until(`frames after ${after}`, () => {
		while (at < reader.frames.length) if (take(reader.frames[at++]) === "enough") return true;
		return false;
	});
	await reader.cut();
}

const overHttp = (query: string, accept: string, prefix: string): Read => {
	return (server, id, after, take) =>
		new Promise((resolve, reject) => {
			const path = `/v1/sessions/${id}/events?after=${after}${query}`;
			const headers = { Authorization: `Bearer ${server.token}`, Accept: accept };
			const sent = request({ host: "127.0.0.1", port: server.port, path, headers }, (response) => {
				if (response.statusCode !== 200) return reject(new Error(`${path}: ${response.statusCode}`));
				let rest = "";
				response.setEncoding("utf8");
				response.on("data", (chunk: string) => {
					const lines = (rest + chunk).split("\n");
					rest = lines.pop() ?? "";
					for (const line of lines) {
						if (!line.startsWith(`${prefix}{`) || take(JSON.parse(line.slice(prefix.length))) === "more") continue;
						resolve();
						return sent.destroy();
					}
				});
				response.on("error", () => undefined); // It was cut here.
			});
			later(() => sent.destroy());
			sent.on("error", (error) => (sent.destroyed ? undefined : reject(error)));
			sent.end();
		});
};

const transports: Record<string, Read> = {
	socket: bySocket,
	events: overHttp("", "text/event-stream", "data: "),
	lines: overHttp("&follow=1", "application/jsonl", ""),
};

/** The kept frames up to the result of the last run, by a reader that is cut after each `count` of them. */
async function readInPieces(read: Read, server: TestServer, id: string, count: number, isLast: (frame: Frame) => boolean): Promise<Frame[]> {
	const got: Frame[] = [];
	for (;;) {
		const before = got.length;
		await read(server, id, lastOf(got), (frame) => {
			if (frame.type === "gap") expect(frame.durableLost).toBe(false);
			got.push(...kept([frame]));
			return got.length >= before + count || (got.length > 0 && isLast(got.at(-1))) ? "enough" : "more";
		});
		if (isLast(got.at(-1))) return got;
	}
}

const isResult = ({ type }: Frame) => type === "run_result";
const pairs = [
	["agent_start", "agent_end"],
	["turn_start", "turn_end"],
	["message_start", "message_end"],
	["tool_execution_start", "tool_execution_end"],
] as const;

/** Whatever was killed when: what has begun has an end, the run has one result, numbers rise, and all that was seen before comes again, equal. */
function expectWhole(frames: readonly Frame[], seen: readonly Frame[], runId: string): void {
	const numbers = frames.map(({ seq }) => seq);
	expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
	const count = (name: string) => frames.filter(({ type }) => type === name).length;
	for (const [open, closed] of pairs) expect([open, count(closed)]).toEqual([open, count(open)]);
	expect(frames.filter(isResult).map((frame) => frame.runId)).toEqual([runId]);
	const before = kept(seen);
	// The one frame that may differ: the end of a call whose result was not stored.
	const comparable = (each: Frame) => (each.type === "tool_execution_end" ? { ...each, result: undefined, isError: undefined } : each);
	const known = new Set(before.map(({ seq }) => seq));
	expect(frames.filter(({ seq }) => known.has(seq)).map(comparable)).toEqual(before.map(comparable));
}

describe("one server", () => {
	let server: TestServer;
	beforeAll(async () => {
		server = await serve({ replies, args: ["--set", "retry.baseDelayMs=5", "--set", "compaction.keepRecentTokens=10"], isShared: true });
	}, 60_000);
	afterAll(() => endServer(server), 60_000);

	test("tools, a retry, a compaction and a subagent in one run: cut after every frame, while it runs and after it", async () => {
		const { id } = await server.create();
		const uncut = await server.attach(id);
		const during = Object.entries(transports).map(async ([name, read]) => [name, await readInPieces(read, server, id, 1, isResult)] as const);
		expect((await server.prompt(id, "whole")).json.result.status).toBe("completed");
		await uncut.type("run_result");
		const whole = kept(uncut.frames);
		const types = new Set(whole.map(({ type }) => type));
		for (const type of ["tool_execution_end", "auto_retry_start", "auto_compaction_end", "subagent_end", "agent_settled"])
			expect(types).toContain(type);
		for (const [name, got] of await Promise.all(during)) expect(got, name).toEqual(whole);
		await server.post(`/v1/sessions/${id}/stop`);
		await server.inState(id, "asleep");
		for (const [name, read] of Object.entries(transports))
			expect(await readInPieces(read, server, id, 7, isResult), `${name}, asleep`).toEqual(whole);
	});

	test("an agent that is killed at kept frames of all kinds: over every transport all is closed, and comes once", async () => {
		const points = ["agent_start", "tool_execution_start", "tool_execution_end", "subagent_start", "auto_retry_start", "auto_compaction_start"];
		await Promise.all(
			points.map(async (point) => {
				const { id } = await server.create();
				await server.learnFile(id);
				const uncut = await server.attach(id);
				const { json } = await server.post(`/v1/sessions/${id}/prompts`, { message: "whole" });
				await uncut.type(point);
				process.kill(server.agentPid(id), "SIGKILL");
				await uncut.find("it crashed", ({ type, state }) => type === "session_state" && state === "crashed");
				await uncut.type("run_result");
				const whole = kept(uncut.frames);
				expectWhole(whole, whole, json.runId);
				for (const [name, read] of Object.entries(transports))
					expect(await readInPieces(read, server, id, 10, isResult), `${name}, killed at ${point}`).toEqual(whole);
			}),
		);
	});
});

test("a server that is killed in the middle of four runs: the next one gives each run its end, over every transport", async () => {
	const at = place();
	const server = await serve({ at, replies, args: ["--set", "retry.baseDelayMs=60000"] });
	const points: [prompt: string, isThere: (frame: Frame) => boolean][] = [
		["a command", ({ type, partialResult }) => type === "tool_execution_update" && JSON.stringify(partialResult).includes("ready")],
		["a reply", ({ type }) => type === "message_update"],
		["a retry", ({ type }) => type === "auto_retry_start"],
		["a subagent", ({ type }) => type === "subagent_start"],
	];
	const runs = await Promise.all(
		points.map(async ([message, isThere]) => {
			const { id } = await server.create();
			await server.learnFile(id);
			const before = await server.attach(id);
			const { json } = await server.post(`/v1/sessions/${id}/prompts`, { message });
			await before.find(`${message} is there`, isThere);
			return { id, message, before, agent: server.agentPid(id), runId: json.runId as string };
		}),
	);
	server.child.kill("SIGKILL");
	await server.exited;
	for (const { message, agent, before } of runs) {
		await until("the socket is closed", () => before.closed);
		await until(`the agent of ${message} ended`, () => !isAlive(agent));
	}
	const next = await serve({ at });
	await Promise.all(
		runs.map(async ({ id, message, before, runId }) => {
			const got = await Promise.all(Object.values(transports).map((read) => readInPieces(read, next, id, 8, isResult)));
			const [whole = []] = got;
			expect(got, message).toEqual(got.map(() => whole));
			expectWhole(whole, before.frames, runId);
			expect(whole.find(isResult).status, message).not.toBe("completed");
			// A reader that comes back with the cursor of before gets the rest alone.
			const cursor = lastOf(before.frames);
			const rest = await next.attach(id, `?after=${cursor}`);
			await rest.type("snapshot");
			expect(rest.durable).toEqual(whole.filter(({ seq }) => seq > cursor));
		}),
	);
});
