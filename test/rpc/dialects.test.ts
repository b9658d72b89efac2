/** Dialects against the real process, where a transcript cannot say it: long frames, hooks, filters, documented members. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ShellUpdate } from "../../src/lib/shell/index.ts";
import type { OmpEvent } from "../../src/protocol/dialect-events.ts";
import { outputPieces } from "../../src/rpc/dialects/bash-output.ts";
import { chunks, maxFrameBytes, maxReassembledFrameBytes } from "../../src/rpc/dialects/chunks.ts";
import { Agent, type AgentOptions, program } from "../wire/support/agent.ts";
import type { Frame } from "../wire/support/match.ts";
import { undocumented } from "./dialects-documented.ts";

async function withAgent(options: AgentOptions, use: (agent: Agent) => Promise<void>): Promise<void> {
	const agent = new Agent(options);
	try {
		await use(agent);
	} finally {
		await agent.dispose();
	}
}

/** Puts the parts of frames together again, as a host does. */
function reassembled(frames: readonly Frame[]): Frame[] {
	const parts = new Map<string, Buffer[]>();
	return frames.flatMap((frame) => {
		if (frame.type !== "rpc_chunk") return [frame];
		const { chunkId, index, count, byteLength, data } = frame as unknown as Extract<OmpEvent, { type: "rpc_chunk" }>;
		const known = parts.get(chunkId) ?? [];
		parts.set(chunkId, known);
		expect(index).toBe(known.length);
		known.push(Buffer.from(data, "base64"));
		if (known.length < count) return [];
		const whole = Buffer.concat(known);
		expect(whole.length).toBe(byteLength);
		return [JSON.parse(whole.toString()) as Frame];
	});
}

const linesOf = (line: string) => chunks(line).split("\n");
const long = (bytes: number) => JSON.stringify({ type: "notice", text: "€".repeat(Math.ceil(bytes / 3)) });

describe("frames in parts", () => {
	test("a frame that fits stays whole", () => {
		const line = JSON.stringify({ type: "x", text: "a".repeat(maxFrameBytes - 30) });
		expect(linesOf(line)).toEqual([line]);
	});

	test.each([maxFrameBytes, 3 * maxFrameBytes, 10 * maxFrameBytes + 1])("one of about %i bytes comes in parts that fit, and is the same", (bytes) => {
		const line = long(bytes);
		const lines = linesOf(line);
		expect(lines.length).toBeGreaterThan(1);
		const sizes = lines.map((part) => Buffer.from((JSON.parse(part) as { data: string }).data, "base64").length);
		// Readers of omp take at most 255 KiB at once, and join the base64 of the parts.
		expect(Math.max(...sizes)).toBeLessThanOrEqual(255 * 1024);
		expect(sizes.slice(0, -1).filter((size) => size % 3 !== 0)).toEqual([]);
		expect(reassembled(lines.map((part) => JSON.parse(part) as Frame))).toEqual([JSON.parse(line)]);
	});

	test("what no one could put together is reported: a response keeps its id", () => {
		const text = "a".repeat(maxReassembledFrameBytes);
		expect(JSON.parse(chunks(JSON.stringify({ id: "7", type: "response", command: "get_messages", success: true, data: text })))).toMatchObject({
			id: "7",
			type: "response",
			command: "get_messages",
			success: false,
			code: "frame_too_large",
			error: expect.stringContaining("get_messages_page"),
		});
		expect(JSON.parse(chunks(JSON.stringify({ type: "agent_end", messages: [text] })))).toMatchObject({
			type: "rpc_frame_error",
			frameType: "agent_end",
			byteLength: expect.any(Number),
		});
	});

	test("a conversation of megabytes reaches a host that has negotiated, and one that has not", { timeout: 60_000 }, async () => {
		const message = "ü".repeat(1_500_000);
		for (const version of [1, 2]) {
			await withAgent({ flags: ["--dialect", "omp", "--no-session"], script: { replies: [{ text: "ok", times: "always" }] } }, async (agent) => {
				agent.send({ id: "n", type: "negotiate_protocol", protocolVersion: version });
				await agent.response("n");
				agent.send({ id: "p", type: "prompt", message });
				await agent.event("session_settled");
				agent.send({ id: "m", type: "get_messages" });
				agent.send({ id: "s", type: "get_last_assistant_text" });
				await agent.response("s");
				const isChunked = agent.frames.some(({ type }) => type === "rpc_chunk");
				expect(isChunked).toBe(version === 2);
				const frames = reassembled(agent.frames);
				expect(frames.find(({ id }) => id === "m")).toMatchObject({ data: { messages: [{ content: [{ text: message }] }, { role: "assistant" }] } });
				expect(frames.find(({ type }) => type === "agent_end")).toMatchObject({
					messages: [{ content: [{ text: message }] }, { role: "assistant" }],
				});
			});
		}
	});
});

describe("output of commands", () => {
	const update = (output: string, totalBytes = Buffer.byteLength(output)) => ({ output, truncation: { totalBytes } }) as ShellUpdate;
	function listening() {
		const pieces: string[] = [];
		let time = 0;
		const hear = outputPieces(
			(piece) => pieces.push(piece),
			() => time,
		);
		return {
			pieces,
			hear: (given: ShellUpdate, afterMs = 100) => {
				time += afterMs;
				hear(given);
			},
		};
	}

	test("what was added is reported, once", () => {
		const { pieces, hear } = listening();
		hear(update("één"));
		hear(update("één twé"));
		hear(update("één twé"));
		expect(pieces).toEqual(["één", " twé"]);
	});

	test("no more than one piece in 100 ms; what was left out comes with the next", () => {
		const { pieces, hear } = listening();
		hear(update("a"));
		hear(update("ab"), 50);
		hear(update("abc"), 50);
		expect(pieces).toEqual(["a", "bc"]);
	});

	test("no more than 16 KB, whole characters, the newest", () => {
		const { pieces, hear } = listening();
		hear(update(`${"€".repeat(20_000)}end`, 1_000_000));
		expect(Buffer.byteLength(pieces[0] ?? "")).toBeLessThanOrEqual(16 * 1024);
		expect(pieces[0]).toMatch(/^€+end$/);
	});
});

const hooks = `export default (api) => {
	api.on("input", ({ text }) => (text.includes("mine") ? { action: "handled" } : { action: "continue" }));
	api.registerCommand("cmd", { handler: () => undefined });
	api.on("session_before_fork", () => ({ cancel: true }));
	api.on("session_start", (_event, { ui }) => ui.setTitle("hello"));
};`;

describe("prompts that extensions take", () => {
	const options = (dialect: string): AgentOptions => ({
		flags: ["--dialect", dialect, "-e", "hooks.ts"],
		files: { "hooks.ts": hooks },
		script: { replies: [{ text: "one" }, { text: "two", stall: true }] },
	});

	test("pi: one answer, which says so", () =>
		withAgent(options("pi"), async (agent) => {
			agent.send({ id: "1", type: "prompt", message: "mine" });
			expect(await agent.response("1")).toMatchObject({ success: true, data: { disposition: "handled" } });
			agent.send({ id: "2", type: "prompt", message: "/cmd" });
			expect(await agent.response("2")).toMatchObject({ success: true, data: { disposition: "handled" } });
			agent.send({ id: "3", type: "prompt", message: "go" });
			expect(await agent.response("3")).toMatchObject({ data: { disposition: "started" } });
			await agent.event("agent_settled");
			agent.send({ id: "4", type: "get_fork_messages" });
			const [point] = ((await agent.response("4")).data as { messages: { entryId: string }[] }).messages;
			agent.send({ id: "5", type: "fork", entryId: point?.entryId });
			expect(await agent.response("5")).toMatchObject({ data: { cancelled: true } });
			expect(agent.frames.filter(({ type, id }) => type === "response" && id === "1")).toHaveLength(1);
			expect(agent.frames.find(({ id }) => id === "5")?.data).toEqual({ cancelled: true });
			expect(agent.frames.some(({ method, title }) => method === "setTitle" && title === "hello")).toBe(true);
		}));

	test("omp: a result without the agent", () =>
		withAgent(options("omp"), async (agent) => {
			agent.send({ id: "1", type: "prompt", message: "mine" });
			expect(await agent.event("prompt_result")).toMatchObject({ id: "1", agentInvoked: false, status: "completed", sessionSettled: true });
			agent.send({ id: "2", type: "prompt", message: "/cmd" });
			expect((await agent.response("2")).data).toEqual({ disposition: "handled" });
			expect(await agent.event("prompt_result")).toMatchObject({ id: "2", agentInvoked: false, status: "completed" });
			agent.send({ id: "3", type: "prompt", message: "go" });
			expect(await agent.event("prompt_result")).toMatchObject({ id: "3", agentInvoked: true });
			agent.send({ id: "4", type: "prompt", message: "go" });
			await agent.event("message_update");
			agent.send({ id: "5", type: "prompt", message: "mine too", streamingBehavior: "steer" });
			expect(await agent.event("prompt_result")).toMatchObject({ id: "5", agentInvoked: false, sessionSettled: false });
			agent.send({ id: "6", type: "prompt", message: "wait", streamingBehavior: "steer" });
			await agent.response("6");
			agent.send({ id: "7", type: "new_session" });
			await agent.response("7");
			const results = () => agent.frames.flatMap((frame) => (frame.type === "prompt_result" ? [`${frame.id} ${frame.status}`] : []));
			await agent.until(() => results().length === 6);
			expect(results()).toEqual(["1 completed", "2 completed", "3 completed", "5 completed", "4 aborted", "6 aborted"]);
		}));
});

test("the filter knows the dialect's names, and results of prompts always pass", () =>
	withAgent({ flags: ["--dialect", "omp"], script: { replies: [{ text: "one" }] } }, async (agent) => {
		agent.send({ id: "f", type: "set_event_filter", events: ["session_settled"] });
		await agent.response("f");
		agent.send({ id: "1", type: "prompt", message: "go" });
		await agent.event("session_settled");
		const types = agent.frames.map(({ type }) => type);
		expect(types.slice(types.indexOf("response"))).toEqual(["response", "response", "prompt_result", "session_settled"]);
	}));

test("a prompt that is read right before the end has one answer in dialect pi", () =>
	withAgent({ flags: ["--dialect", "pi"], script: { replies: [{ stall: true }] } }, async (agent) => {
		agent.send({ id: "1", type: "prompt", message: "go" });
		agent.child.stdin.end();
		expect(await agent.exited()).toBe(0);
		expect(agent.frames.filter(({ type }) => type === "response")).toMatchObject([{ id: "1", success: false, error: "Request was aborted" }]);
	}));

test("a member that is not described would be found", () => {
	expect(undocumented({ type: "agent_start" })).toEqual([]);
	expect(undocumented({ type: "agent_start", more: 1 })).toHaveLength(1);
	expect(undocumented({ type: "response", command: "get_last_assistant_text", success: true, data: { text: null, more: 1 } })).toHaveLength(1);
	expect(undocumented({ type: "something" })).toEqual(["something"]);
});

describe.each(["classic", "pi", "omp"])("dialect %s", (dialect) => {
	test("sends no member that is not described", { timeout: 60_000 }, () =>
		withAgent(
			{
				flags: ["--dialect", dialect, "--set", "compaction.keepRecentTokens=2", "--approve"],
				files: { "a.txt": "content", ".bowline/prompts/fix.md": "Fix it" },
				env: { ANTHROPIC_API_KEY: "k" },
				script: {
					replies: [
						{
							blocks: [
								{ thinking: "hm" },
								{ tool: "read", arguments: { path: "a.txt" } },
								{ tool: "bash", arguments: { command: "echo x; sleep 0.2" } },
							],
						},
						{ text: "one" },
						{ fail: { status: 529, body: "overloaded" } },
						{ text: "two", usage: { input: 190_000 } },
						{ text: "gist" },
						{ text: "three", stall: true },
						{ text: "four", times: "always" },
					],
				},
			},
			async (agent) => {
				const end = dialect === "omp" ? "session_settled" : "agent_settled";
				for (const message of ["a", "b"]) {
					agent.send({ id: message, type: "prompt", message });
					await agent.event(end);
				}
				agent.send({ id: "c", type: "prompt", message: "c" });
				await agent.event("message_update");
				const frames = [
					{ type: "steer", message: "s" },
					{ type: "clear_queue" },
					{ type: "bash", command: "echo hi; sleep 0.2" },
					{ type: "abort" },
					{ type: "get_state" },
					{ type: "get_messages" },
					{ type: "get_session_stats" },
					{ type: "get_entries" },
					{ type: "get_tree" },
					{ type: "get_commands" },
					{ type: "get_messages_page" },
					{ type: "get_available_models" },
					{ type: "set_model", provider: "anthropic", modelId: "claude-opus-5" },
					{ type: "cycle_thinking_level" },
					{ type: "set_session_name", name: "n" },
					{ type: "compact" },
					{ type: "clone" },
					{ type: "new_session" },
				];
				for (const [index, frame] of frames.entries()) {
					agent.send({ id: `q${index}`, ...frame });
					await agent.response(`q${index}`);
				}
				expect([...new Set(agent.frames.flatMap(undocumented))]).toEqual([]);
			},
		),
	);
});

test("the program in between that the migration page shows", () => {
	const page = readFileSync(join(import.meta.dirname, "../../docs/migration.md"), "utf8");
	const [, code = ""] = /^```js\n(.*?)^```/ms.exec(page) as RegExpExecArray;
	const folder = mkdtempSync(join(tmpdir(), "bowline-test-"));
	try {
		writeFileSync(join(folder, "between.cjs"), code.replace(/require\(.*\)/, `require(${JSON.stringify(program)})`));
		const answer = execFileSync(process.execPath, [join(folder, "between.cjs"), "--mode", "rpc", "--no-session"], {
			input: '{"id":"1","type":"fly"}\n',
			encoding: "utf8",
			cwd: folder,
		});
		expect(
			answer
				.trim()
				.split("\n")
				.map((line) => JSON.parse(line)),
		).toMatchObject([{ type: "ready" }, { id: "1", command: "fly" }]);
	} finally {
		rmSync(folder, { recursive: true });
	}
});
