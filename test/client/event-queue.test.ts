/** A slow reader loses nothing and costs little. */
import { expect, test } from "vitest";
import { EventQueue } from "../../src/client/event-queue.ts";
import type { AgentEvent } from "../../src/protocol/index.ts";

const delta = (text: string, contentIndex = 0, type: "text_delta" | "thinking_delta" = "text_delta"): AgentEvent => ({
	type: "message_update",
	assistantMessageEvent: { type, contentIndex, delta: text },
});
const progress = (toolCallId: string, text: string): AgentEvent => ({
	type: "tool_execution_update",
	toolCallId,
	toolName: "bash",
	args: {},
	partialResult: { content: [{ type: "text", text }] },
});

async function read(events: AgentEvent[]): Promise<AgentEvent[]> {
	const queue = new EventQueue(() => undefined);
	for (const event of events) queue.push(event);
	queue.end();
	const all: AgentEvent[] = [];
	for await (const event of queue) all.push(event);
	return all;
}

test("deltas of one block are joined, those of others are not, and the order stays", async () => {
	const start: AgentEvent = { type: "agent_start" };
	const given = [
		start,
		delta("a"),
		delta("b"),
		delta("c", 1),
		delta("d", 1, "thinking_delta"),
		start,
		delta("e", 1, "thinking_delta"),
		delta("f", 1),
	];
	expect(await read(given)).toEqual([
		start,
		delta("ab"),
		delta("c", 1),
		delta("d", 1, "thinking_delta"),
		start,
		delta("e", 1, "thinking_delta"),
		delta("f", 1),
	]);
});

test("of the progress of one call the last word counts", async () => {
	const given = [progress("1", "a"), progress("1", "ab"), progress("2", "x"), progress("1", "abc")];
	expect(await read(given)).toEqual([progress("1", "ab"), progress("2", "x"), progress("1", "abc")]);
});

test("a reader that waits gets each event as it comes", async () => {
	const queue = new EventQueue(() => undefined);
	const first = queue.next();
	const second = queue.next();
	queue.push(delta("a"));
	queue.push(delta("b"));
	expect([await first, await second]).toEqual([
		{ value: delta("a"), done: false },
		{ value: delta("b"), done: false },
	]);
	const third = queue.next();
	queue.end();
	expect(await third).toEqual({ value: undefined, done: true });
});

test("a queue that no one reads ends with a reason, and is forgotten", async () => {
	let isForgotten = false;
	const queue = new EventQueue(() => {
		isForgotten = true;
	});
	for (let count = 0; count <= 10_000; count++) queue.push({ type: "agent_start" });
	expect(isForgotten).toBe(true);
	await expect(queue.next()).rejects.toThrow("events() was more than 10000 events behind");
	expect(await queue.next()).toEqual({ value: undefined, done: true });
});

test("leaving the loop ends it", async () => {
	let isForgotten = false;
	const queue = new EventQueue(() => {
		isForgotten = true;
	});
	queue.push({ type: "agent_start" });
	queue.push({ type: "agent_start" });
	for await (const _ of queue) break;
	expect(isForgotten).toBe(true);
	expect(await queue.next()).toEqual({ value: undefined, done: true });
});
