/** kill -9 at any moment, a second process, a disk without room: with the real program. */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { AgentMessage } from "../../src/protocol/messages.ts";
import { openTranscript } from "../../src/transcript/open.ts";
import type { Transcript } from "../../src/transcript/transcript.ts";
import { sampled } from "../exhaustive.ts";
import { Agent } from "../wire/support/agent.ts";
import type { Frame } from "../wire/support/match.ts";
import { fileOf, folder, header, linesOf, partsOf } from "./support.ts";

const script = {
	replies: [
		{
			blocks: [
				{ text: "Looking at it." },
				{ tool: "read", arguments: { path: "a.txt" } },
				{ tool: "bash", arguments: { command: "echo hi; sleep 0.02" } },
			],
		},
		{ blocks: [{ thinking: "Now write." }, { tool: "write", arguments: { path: "b.txt", content: "x".repeat(2000) } }] },
		{ fail: { status: 529 } },
		{ text: "Done." },
		{ text: "Still here.", times: "always" },
	],
};

const isRunOver = ({ type }: Frame) => type === "agent_settled";
const ended = (frames: readonly Frame[]) => frames.flatMap((frame) => (frame.type === "message_end" ? [frame.message as AgentMessage] : []));
const messagesIn = (transcript: Transcript) => transcript.entries.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));

function agentOn(path: string): Agent {
	return new Agent({ flags: ["--session", path, "--updates", "delta"], files: { "a.txt": "content" }, script });
}

/** Runs the script and kills the agent after this many frames, or this long after its first. Returns the frames that it had sent. */
async function killedAfter(path: string, { frames = 1, ms = 0 }): Promise<Frame[]> {
	const agent = agentOn(path);
	try {
		agent.send({ id: "1", type: "prompt", message: "go" });
		for (let seen = 0; seen < frames; seen++) {
			const frame = await agent.next();
			if (!frame || isRunOver(frame)) break;
		}
		if (ms) await new Promise((resolve) => setTimeout(resolve, ms));
		agent.child.kill("SIGKILL");
		await agent.exited();
		return [...agent.frames];
	} finally {
		await agent.dispose();
	}
}

// One at a time: tests that share the cores with five others run out of time on a busy machine.
describe("kill -9", () => {
	// A whole run has some seventy frames.
	const counts = sampled(
		Array.from({ length: 70 }, (_, index) => ({ frames: index + 1 })),
		5,
	);
	const times = sampled(
		Array.from({ length: 30 }, (_, index) => ({ ms: 5 + index * 7 })),
		7,
	);
	test.each([...counts, ...times])("after %o: every message that was told is there, and the conversation goes on", async (moment) => {
		const path = join(mkdtempSync(join(tmpdir(), "bowline-crash-")), "s.jsonl");
		try {
			const told = ended(await killedAfter(path, moment));
			const kept = existsSync(path) ? messagesIn(openTranscript(path, { ...partsOf("/"), mode: "read" }) as Transcript) : [];
			expect(kept.slice(0, told.length)).toEqual(told);

			const next = agentOn(path);
			next.send({ id: "1", type: "prompt", message: "and now?" });
			await next.until(isRunOver);
			next.send({ id: "2", type: "get_messages" });
			const { data } = (await next.response("2")) as unknown as { data: { messages: AgentMessage[] } };
			await next.dispose();
			const lines = linesOf(path);
			expect(lines.slice(1).every(({ id, parentId }, index) => typeof id === "string" && parentId === (index ? lines[index]?.id : null))).toBe(true);
			expect(ended(next.frames).at(-1)).toMatchObject({ role: "assistant", stopReason: "stop" });
			expectEveryCallAnswered(data.messages);
		} finally {
			rmSync(join(path, ".."), { recursive: true, force: true });
		}
	});
});

function expectEveryCallAnswered(messages: AgentMessage[]): void {
	const calls = messages
		.flatMap((message) => (message.role === "assistant" ? message.content : []))
		.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
	const results = messages.flatMap((message) => (message.role === "toolResult" ? [message.toolCallId] : []));
	expect(results).toEqual(calls);
}

test("after a kill between making the lock and writing it the next process goes on", async () => {
	const path = join(folder(), "s.jsonl");
	writeFileSync(`${path}.lock`, "");
	const agent = agentOn(path);
	onTestFinished(() => agent.dispose());
	agent.send({ id: "1", type: "prompt", message: "go" });
	await agent.until(isRunOver);
	expect(ended(agent.frames).at(-1)).toMatchObject({ role: "assistant", stopReason: "stop" });
});

test("after a whole run the file says what the live context said", async () => {
	const path = join(folder(), "s.jsonl");
	const agent = agentOn(path);
	onTestFinished(() => agent.dispose());
	agent.send({ id: "1", type: "prompt", message: "go" });
	await agent.until(isRunOver);
	agent.send({ id: "2", type: "get_messages" });
	const live = (await agent.response("2")).data;
	agent.send({ id: "3", type: "switch_session", sessionPath: path });
	agent.send({ id: "4", type: "get_messages" });
	expect((await agent.response("4")).data).toEqual(live);
});

test("a second process is refused, by flag and by command, until the first has ended or died", async () => {
	const path = join(folder(), "s.jsonl");
	writeFileSync(path, fileOf(header));
	const first = agentOn(path);
	onTestFinished(() => first.dispose());
	await first.event("ready");
	const text = `Session is in use by process ${first.child.pid}: ${path}`;

	const second = agentOn(path);
	onTestFinished(() => second.dispose());
	expect(await second.exited()).toBe(1);
	expect(second.frames).toEqual([]);
	expect(second.stderr).toContain(text);

	const third = new Agent({ flags: ["--no-tools"] });
	onTestFinished(() => third.dispose());
	third.send({ id: "1", type: "switch_session", sessionPath: path });
	expect(await third.response("1")).toMatchObject({ success: false, error: expect.stringContaining(text) });
	first.child.kill("SIGKILL");
	await first.exited();
	third.send({ id: "2", type: "switch_session", sessionPath: path });
	expect(await third.response("2")).toMatchObject({ success: true });
	third.child.stdin.end();
	expect(await third.exited()).toBe(0);
	expect(readdirSync(join(path, ".."))).toEqual(["s.jsonl"]);
});

test("SIGTERM leaves no lock", async () => {
	const path = join(folder(), "s.jsonl");
	const agent = agentOn(path);
	onTestFinished(() => agent.dispose());
	agent.send({ id: "1", type: "prompt", message: "go" });
	await agent.event("message_end");
	expect(existsSync(`${path}.lock`)).toBe(true);
	agent.child.kill("SIGTERM");
	expect(await agent.exited()).toBe(143);
	expect(existsSync(`${path}.lock`)).toBe(false);
});

/** A disk of its own with little room; nothing where this is not allowed. */
function smallDisk(): string | undefined {
	const place = mkdtempSync(join(tmpdir(), "bowline-small-"));
	try {
		execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "none", place], { stdio: "ignore" });
	} catch {
		rmSync(place, { recursive: true });
		return undefined;
	}
	onTestFinished(() => {
		execFileSync("umount", ["-l", place]);
		rmSync(place, { recursive: true, force: true });
	});
	return place;
}

test("a disk that gets full in the middle of a run: the run ends with the reason, memory and file agree, later it goes on", async () => {
	const place = smallDisk();
	if (!place) return console.warn("no small disk could be made here: not tested");
	const path = join(place, "s.jsonl");
	const big = { blocks: [{ tool: "read", arguments: { path: "big.txt" } }] };
	const agent = new Agent({
		flags: ["--session", path, "--updates", "delta"],
		files: { "big.txt": "0123456789\n".repeat(1500) },
		script: { replies: [big, big, big, big, { text: "never" }, { text: "room again", times: "always" }] },
	});
	onTestFinished(() => agent.dispose());
	const messages = async (id: string) => {
		agent.send({ id, type: "get_messages" });
		return ((await agent.response(id)) as unknown as { data: { messages: AgentMessage[] } }).data.messages;
	};
	agent.send({ id: "1", type: "prompt", message: "go" });
	await agent.until(isRunOver);
	const text = `Session file could not be written: ENOSPC ${path}`;
	expect(ended(agent.frames).at(-1)).toMatchObject({ role: "assistant", stopReason: "error", errorMessage: text });
	expect(agent.frames.some(({ type }) => type === "auto_retry_start")).toBe(false);
	// The context and the file contain exactly the messages that were reported, except the last one.
	expect(await messages("2")).toEqual(ended(agent.frames).slice(0, -1));
	expect(messagesIn(openTranscript(path, { ...partsOf("/"), mode: "read" }) as Transcript)).toEqual(ended(agent.frames).slice(0, -1));

	agent.send({ id: "3", type: "set_session_name", name: "x".repeat(40_000) });
	expect(await agent.response("3")).toMatchObject({ success: false, error: text });
	agent.send({ id: "4", type: "get_state" });
	expect((await agent.response("4")).data).not.toHaveProperty("sessionName");

	execFileSync("mount", ["-o", "remount,size=10m", place]);
	agent.send({ id: "5", type: "prompt", message: "again" });
	await agent.until(isRunOver);
	const after = await messages("6");
	expect(after.at(-1)).toMatchObject({ role: "assistant", stopReason: "stop" });
	expectEveryCallAnswered(after);
	expect(messagesIn(openTranscript(path, { ...partsOf("/"), mode: "read" }) as Transcript)).toEqual(after);
});

test("where nothing may be written a session can be read, and a prompt is told why not", async () => {
	const place = join(folder(), "read-only");
	mkdirSync(place);
	const path = join(place, "s.jsonl");
	writeFileSync(path, fileOf(header));
	const before = readFileSync(path, "utf8");
	const undo = readOnly(place);
	if (!undo) return console.warn("no read-only place could be made here: not tested");
	onTestFinished(undo);
	const agent = agentOn(path);
	onTestFinished(() => agent.dispose());
	agent.send({ id: "1", type: "get_state" });
	expect((await agent.response("1")).data).toMatchObject({ sessionId: "s" });
	agent.send({ id: "2", type: "prompt", message: "go" });
	await agent.until(isRunOver);
	expect(ended(agent.frames)).toMatchObject([
		{ stopReason: "error", errorMessage: expect.stringMatching(/^Session file could not be written: (EROFS|EACCES) /) },
	]);
	expect(readFileSync(path, "utf8")).toBe(before);
});

/** Root may write everywhere except on a read-only mount; the mode keeps out all other users. */
function readOnly(place: string): (() => void) | undefined {
	if (process.getuid?.() !== 0) {
		chmodSync(join(place, "s.jsonl"), 0o400);
		chmodSync(place, 0o500);
		return () => chmodSync(place, 0o700);
	}
	try {
		execFileSync("mount", ["--bind", place, place], { stdio: "ignore" });
		execFileSync("mount", ["-o", "remount,bind,ro", place], { stdio: "ignore" });
		return () => void execFileSync("umount", ["-l", place]);
	} catch {
		return undefined;
	}
}
