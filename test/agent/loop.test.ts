/** The loop, as its contract says: which events, in which order, and what ends a run. */
import { describe, expect, test } from "vitest";
import { lastReply, playLoop, resultTexts, tool, user } from "./support.ts";

const turn = ["turn_start", "message_start", "message_update", "message_update", "message_update", "message_end", "turn_end"];

test("a prompt and its reply are one turn", async () => {
	const { types, outcome } = await playLoop({ replies: [{ text: "a" }] });
	expect(types).toEqual(["agent_start", "turn_start", "message_start", "message_end", ...turn.slice(1), "agent_end"]);
	expect(outcome.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
	expect(outcome.failure).toBeUndefined();
});

test("tool calls are answered, and the model is asked again with their results", async () => {
	const played = await playLoop({ replies: [{ calls: [{ id: "1", name: "look" }] }, { text: "a" }], tools: [tool("look")] });
	expect(resultTexts(played)).toEqual({ "1": "look ran" });
	expect(played.requests.map(({ messages }) => messages.map(({ role }) => role))).toEqual([["user"], ["user", "assistant", "toolResult"]]);
	expect(played.outcome.messages.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult", "assistant"]);
});

test("a run that ends with a tool whose call ends runs does not ask the model again", async () => {
	const { requests } = await playLoop({
		replies: [{ calls: [{ id: "1", name: "submit" }] }, { text: "more" }],
		tools: [tool("submit", undefined, { endsRun: true })],
	});
	expect(requests).toHaveLength(1);
});

describe("queues", () => {
	test("steering that waits at the start is delivered in the first turn, after the prompt", async () => {
		const { requests } = await playLoop({ replies: [{ text: "a" }], steering: [user("and this")] });
		expect(requests[0]?.messages.map((message) => JSON.stringify(message.content).includes("and this"))).toEqual([false, true]);
	});

	test("a follow-up starts another turn once there is nothing else to do", async () => {
		const { requests, types } = await playLoop({ replies: [{ text: "a" }, { text: "b" }], followUps: [user("next")] });
		expect(requests).toHaveLength(2);
		expect(types.filter((type) => type === "turn_start")).toHaveLength(2);
	});

	test("a run from the queues takes its first message from them", async () => {
		const { outcome } = await playLoop({ replies: [{ text: "a" }], followUps: [user("queued")], next: { from: "queues" } });
		expect(outcome.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
	});

	test.each([
		["finish", 2],
		["stop", 1],
		["abort", 1],
	] as const)("a halted run that is to %s asks the model %i times, and leaves the queues alone", async (run, requests) => {
		const halt = new AbortController();
		const followUps = [user("later")];
		const look = tool("look", async () => {
			halt.abort({ message: "spent", run });
			return { content: [{ type: "text", text: "ok" }] };
		});
		const played = await playLoop({
			replies: [{ calls: [{ id: "1", name: "look" }] }, { text: "a" }],
			tools: [look],
			followUps,
			policies: [{ name: "budget", halt: halt.signal, foresee: () => true }],
		});
		expect(played.requests).toHaveLength(requests);
		expect(resultTexts(played)).toEqual({ "1": "ok" });
		expect(followUps).toHaveLength(1);
		expect(played.events.at(-1)).toMatchObject({ type: "agent_end", willRetry: false });
	});
});

describe("policies", () => {
	test("prepare is asked between two turns, not before the first", async () => {
		const pending: number[] = [];
		await playLoop({
			replies: [{ calls: [{ id: "1", name: "look" }] }, { text: "a" }],
			tools: [tool("look")],
			policies: [{ name: "room", prepare: async (messages) => void pending.push(messages.length) }],
		});
		expect(pending).toEqual([0]);
	});

	test("what context answers is what the model gets, this time only", async () => {
		const { requests, outcome } = await playLoop({
			replies: [{ text: "a" }],
			policies: [{ name: "context", context: async (messages) => [...messages, user("between us")] }],
		});
		expect(requests[0]?.messages).toHaveLength(2);
		expect(outcome.messages).toHaveLength(2);
	});

	test("a watcher's cut ends the reply as aborted, with its text", async () => {
		let seen = "";
		const played = await playLoop({
			replies: [{ text: "abcdef" }],
			policies: [
				{
					name: "rules",
					watch(event) {
						if (event.type === "text_delta") seen += event.delta;
						return seen === "abc" ? "enough" : undefined;
					},
				},
			],
		});
		expect(lastReply(played)).toMatchObject({ stopReason: "aborted", errorMessage: "enough", content: [{ text: "abc" }] });
		expect(played.outcome.failure).toEqual({ kind: "permanent" });
	});

	test("agent_end says whether a policy expects another run", async () => {
		const { events } = await playLoop({
			replies: [{ fail: "transient" }],
			policies: [{ name: "retry", foresee: ({ failure }) => failure?.kind === "transient" }],
		});
		expect(events.at(-1)).toMatchObject({ type: "agent_end", willRetry: true });
	});
});

describe("an abort ends the run at", () => {
	test("the reply", async () => {
		const controller = new AbortController();
		const played = await playLoop({ replies: [{ text: "a", before: () => controller.abort() }, { text: "b" }], signal: controller.signal });
		expect(lastReply(played)).toMatchObject({ stopReason: "aborted", errorMessage: "Request was aborted" });
		expect(played.requests).toHaveLength(1);
	});

	test("a tool", async () => {
		const controller = new AbortController();
		const slow = tool("slow", ({ signal }) => {
			setImmediate(() => controller.abort());
			return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("stopped"))));
		});
		const played = await playLoop({
			replies: [{ calls: [{ id: "1", name: "slow" }] }, { text: "b" }],
			tools: [slow],
			signal: controller.signal,
		});
		expect(resultTexts(played)).toEqual({ "1": "stopped" });
		expect(played.requests).toHaveLength(1);
		expect(played.types.at(-1)).toBe("agent_end");
	});

	test("prepare, without losing a message that waits", async () => {
		const controller = new AbortController();
		const steering: never[] = [];
		const followUps = [user("waits")];
		const policies = [{ name: "room", prepare: async () => controller.abort() }];
		const { requests } = await playLoop({ replies: [{ text: "a" }, { text: "b" }], steering, followUps, policies, signal: controller.signal });
		expect(requests).toHaveLength(1);
		expect(followUps).toHaveLength(1);
	});
});
