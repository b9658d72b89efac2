/** One session as hosts have them: tools, retry, queues, abort, compaction, commands. The same for every client. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { Client } from "./client.ts";
import { FamilyClient } from "./family.ts";
import type { Frame, Program } from "./process.ts";

const call = (tool: string, args: object = {}) => ({ tool, arguments: args });

export const program = (flags: string[]): Program => ({
	flags: ["--set", "retry.baseDelayMs=20", "--set", "compaction.keepRecentTokens=2", ...flags],
	files: { "a.txt": "content of a" },
	script: {
		replies: [
			{
				when: { text: "use tools" },
				thinking: "let me see",
				text: "I will look.",
				blocks: [call("read", { path: "a.txt" }), call("bash", { command: "echo one; sleep 0.3; echo two" }), call("nothing")],
			},
			{ when: { tool: "bash", text: "two" }, text: "I have looked." },
			{ when: { text: "pick one" }, blocks: [call("pick")] },
			{ when: { tool: "pick" }, text: "Picked." },
			{ when: { text: "try hard" }, fail: { status: 529, body: "overloaded" } },
			{ when: { text: "try hard" }, fail: { status: 529, body: "overloaded" } },
			{ when: { text: "try hard" }, text: "At last." },
			{ when: { text: "work long" }, text: "Working.", stall: true },
			{ when: { text: "be steered" }, blocks: [call("bash", { command: "while [ ! -e steered ]; do sleep 0.05; done" })] },
			{ when: { text: "turn left" }, text: "I turned left." },
			{ when: { text: "then rest" }, text: "I rest." },
			{ when: { text: "fill up" }, text: "I am full.", usage: { input: 190_000 } },
			{ when: { text: "keep walking" }, text: "I walk." },
			{ text: "the gist", times: "always" },
		],
	},
});

/** The texts of replies, as a client that reads `message_end` knows them. */
const replies = (frames: readonly Frame[]) =>
	frames.flatMap(({ type, message }) => {
		const { role, content } = (message ?? {}) as { role?: string; content?: { type: string; text?: string }[] };
		return type === "message_end" && role === "assistant" ? [(content ?? []).map((block) => block.text ?? "").join("")] : [];
	});

const count = (frames: readonly Frame[], type: string) => frames.filter((frame) => frame.type === type).length;

export async function wholeSession(client: Client): Promise<void> {
	await client.start();
	const since = () => {
		const from = client.heard.length;
		return () => client.heard.slice(from);
	};

	let heard = since();
	await client.promptAndWait("use tools");
	await client.idle();
	expect(replies(heard())).toEqual(["I will look.", "I have looked."]);
	expect(count(heard(), "tool_execution_end")).toBe(3);
	expect(count(heard(), "tool_execution_update")).toBeGreaterThan(0);
	expect(heard().find(({ type }) => type === "agent_end")).toMatchObject({ messages: { length: 6 } });

	if (client instanceof FamilyClient) {
		await client.promptAndWait("pick one");
		await client.idle();
		expect(client.calls).toMatchObject([{ toolName: "pick", arguments: {} }]);
		expect(replies(client.heard).at(-1)).toBe("Picked.");
	}

	heard = since();
	await client.promptAndWait("try hard");
	await client.idle();
	expect(replies(heard())).toEqual(["", "", "At last."]);

	heard = since();
	const streaming = client.next("a delta", ({ type }) => type === "message_update");
	const ended = client.next("the end of the aborted run", ({ type }) => type === "agent_end");
	await client.request("prompt", { message: "work long" });
	await streaming;
	expect(await client.request("get_state")).toMatchObject({ isStreaming: true });
	await client.request("abort");
	await ended;
	await client.idle();
	expect(replies(heard())).toEqual(["Working."]);

	heard = since();
	const working = client.next("a tool", ({ type }) => type === "tool_execution_start");
	const rested = client.next("the last reply", (frame) => replies([frame])[0] === "I rest.");
	await client.request("prompt", { message: "be steered" });
	await working;
	await client.request("steer", { message: "turn left" });
	await client.request("follow_up", { message: "then rest" });
	expect(await client.request("get_state")).toMatchObject({ pendingMessageCount: 2, queuedMessageCount: 2 });
	writeFileSync(join(client.agent.cwd, "steered"), "");
	await rested;
	await client.idle();
	expect(replies(heard()).slice(1)).toEqual(["I turned left.", "I rest."]);
	expect(count(heard(), "agent_end")).toBe(1);

	expect(await client.request("bash", { command: "echo from the host" })).toMatchObject({ output: "from the host\n", exitCode: 0 });
	await client.promptAndWait("fill up");
	await client.idle();
	const { messages } = (await client.request("get_messages")) as { messages: { summary?: string; content?: unknown }[] };
	// The summary of the older part: a role of its own, or an ordinary message for clients that know only four roles.
	expect(messages[0]?.summary ?? messages[0]?.content).toContain("the gist");
	await client.promptAndWait("keep walking");
	await client.idle();
	expect(await client.request("compact")).toMatchObject({ summary: expect.stringContaining("the gist") });
	expect(await client.request("get_last_assistant_text")).toEqual({ text: "I walk." });
	expect(await client.request("get_session_stats")).toMatchObject({ tokens: { total: expect.any(Number) } });
	await expect(client.request("set_model", { provider: "a", modelId: "b" })).rejects.toThrow("Model not found: a/b");
	expect(await client.request("new_session")).toEqual({ cancelled: false });
	expect(await client.agent.end()).toBe(0);
	expect(client.faults).toEqual([]);
}
