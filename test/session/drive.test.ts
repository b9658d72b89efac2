/** Runs that follow one another: who asks for them, what they begin with, and what ends them. */
import { describe, expect, test } from "vitest";
import type { Policy } from "../../src/agent/policy.ts";
import { deferred } from "../../src/lib/deferred.ts";
import type { AgentMessage } from "../../src/protocol/messages.ts";
import { type Reply, scriptedStream, user } from "../agent/support.ts";
import { type KernelInput, kernel, ticks } from "./kernel.ts";

function started(replies: readonly Reply[], policies: Policy[] = [], more: Partial<KernelInput> = {}) {
	const world = kernel({ stream: scriptedStream(replies), policies: () => policies, ...more });
	const refusal = world.session.prompt({ text: "go", images: [] }).acknowledge();
	return { ...world, refusal };
}

const runs = (types: string[]) => types.filter((type) => type === "agent_start").length;
const again = (more: { messages?: AgentMessage[] } = {}) => ({ dropFailedReply: false, due: Promise.resolve(true), ...more });

/** Asks for another run once. */
const once = (answer: ReturnType<typeof again>): Policy => {
	let isAsked = false;
	return {
		name: "once",
		async settle() {
			if (isAsked) return undefined;
			isAsked = true;
			return answer;
		},
	};
};

test("a run that nothing follows settles once", async () => {
	const { session, types } = started([{ text: "a" }]);
	await session.settled();
	expect(runs(types())).toBe(1);
	expect(types().slice(-2)).toEqual(["agent_end", "agent_settled"]);
});

test("a policy asks for another run, with messages of its own", async () => {
	const { session, types } = started([{ text: "a" }, { text: "b" }], [once(again({ messages: [user("go on")] }))]);
	await session.settled();
	expect(runs(types())).toBe(2);
	expect(session.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
	expect(types().filter((type) => type === "agent_settled")).toHaveLength(1);
});

test("a dropped reply leaves the context before the next run", async () => {
	const { session } = started([{ fail: "transient" }, { text: "b" }], [once({ ...again(), dropFailedReply: true })]);
	await session.settled();
	expect(session.messages.map((message) => ("stopReason" in message ? message.stopReason : message.role))).toEqual(["user", "stop"]);
});

test("a run that was called off does not start", async () => {
	const { session, types } = started([{ text: "a" }, { text: "b" }], [once({ dropFailedReply: false, due: Promise.resolve(false) })]);
	await session.settled();
	expect(runs(types())).toBe(1);
});

test("messages that arrive after the last look at the queues start a run; after a failure they wait", async () => {
	const late = (world: { queue: () => void }): Policy => ({ name: "late", settle: async () => world.queue() as undefined });
	for (const [reply, expected] of [
		[{ text: "a" }, 2],
		[{ fail: "permanent" as const }, 1],
	] as const) {
		let isQueued = false;
		const world: { queue: () => void } = { queue: () => undefined };
		const { session, types } = started([reply, { text: "b" }], [late({ queue: () => world.queue() })]);
		world.queue = () => {
			if (!isQueued) session.queue("followUp", "one more", []);
			isQueued = true;
		};
		await session.settled();
		expect(runs(types())).toBe(expected);
	}
});

describe("a prompt while a run is about to be followed by another", () => {
	test("comes first, and ends the wait", async () => {
		const wait: Policy = {
			name: "wait",
			settle: async (_, gap) => ({ dropFailedReply: false, due: new Promise((resolve) => gap.addEventListener("abort", () => resolve(false))) }),
		};
		const { session, types } = started([{ text: "a" }, { text: "b" }], [wait]);
		await ticks(20);
		expect(session.activity.phase.name).toBe("settling");
		expect(await session.prompt({ text: "me first", images: [] }).acknowledge()).toBeUndefined();
		await ticks(20);
		expect(runs(types())).toBe(2);
		await session.abort();
	});
});

describe("an abort", () => {
	test("while policies admit a prompt: the prompt is refused, and no run starts", async () => {
		const slow: Policy = {
			name: "slow",
			admit: (_, signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined))),
		};
		const { session, refusal, types } = started([{ text: "a" }], [slow]);
		await ticks(3);
		await session.abort();
		expect(await refusal).toMatchObject({ code: "aborted" });
		expect(types()).toEqual(["agent_end", "agent_settled"]);
	});

	test("while room is made: the prompt is refused, and no run starts", async () => {
		const slow: Policy = {
			name: "slow",
			prepare: (_, signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve())),
		};
		const { session, refusal, types } = started([{ text: "a" }], [slow]);
		await ticks(5);
		await session.abort();
		expect(await refusal).toMatchObject({ code: "aborted" });
		expect(types()).toEqual(["agent_end", "agent_settled"]);
	});

	test("while a policy settles: nothing follows", async () => {
		const slow: Policy = {
			name: "slow",
			settle: (_, gap) => new Promise((resolve) => gap.addEventListener("abort", () => resolve(again()))),
		};
		const { session, types } = started([{ text: "a" }, { text: "b" }], [slow]);
		await ticks(20);
		await session.abort();
		expect(runs(types())).toBe(1);
		expect(types().at(-1)).toBe("agent_settled");
	});
});

describe("policies at the doors of a prompt", () => {
	test("two policies rewrite a prompt one after the other", async () => {
		const adding = (word: string): Policy => ({
			name: word,
			admit: async ({ messages }) => ({
				messages: messages.map((message) =>
					message.role === "user" ? user(`${(message.content as { text: string }[])[0]?.text} ${word}`) : message,
				),
			}),
		});
		const { session } = started([{ text: "a" }], [adding("one"), adding("two")]);
		await session.settled();
		expect(session.messages[0]).toMatchObject({ content: [{ text: "go one two" }] });
	});

	test("a refusal reaches the host with its text, and no run starts", async () => {
		const { refusal, types, session } = started([{ text: "a" }], [{ name: "no", admit: async () => ({ refused: "Not today.", code: "refused" }) }]);
		expect(await refusal).toEqual({ text: "Not today.", code: "refused" });
		await session.settled();
		expect(types()).toEqual([]);
	});

	test("prefaces of two policies follow the prompt, and a system prompt holds for this run only", async () => {
		const said = (text: string) => ({ role: "custom" as const, customType: "note", content: text, display: false, timestamp: 0 });
		const { session, briefing } = started(
			[{ text: "a" }],
			[
				{ name: "a", preface: async () => ({ messages: [said("first")] }) },
				{ name: "b", preface: async () => ({ messages: [said("second")], systemPrompt: "just now" }) },
			],
		);
		await session.settled();
		expect(session.messages.map((message) => (message.role === "custom" ? message.content : message.role))).toEqual([
			"user",
			"first",
			"second",
			"assistant",
		]);
		expect(briefing.systemPrompt).toBe("just now");
		expect((await briefing.setup()).systemPrompt).toBe("");
	});

	test("once a policy halts, a later prompt is refused with its reason, and queued messages wait", async () => {
		const halt = new AbortController();
		const { session, types } = started(
			[{ text: "a", before: () => halt.abort({ message: "spent", run: "stop" }) }],
			[{ name: "budget", halt: halt.signal }],
		);
		session.queue("followUp", "more", []);
		await session.settled();
		expect(runs(types())).toBe(1);
		expect(session.inbox.count).toBe(1);
	});
});

test("a bug inside a run is logged with words, and the session goes on", async () => {
	const broken: Policy = { name: "broken", settle: () => Promise.reject(new Error("oops")) };
	const { session, refusal, log, doors } = started([{ text: "a" }, { text: "b" }], [broken]);
	await session.settled();
	expect(await refusal).toBeUndefined();
	expect(log.lines).toEqual(["a run failed unexpectedly"]);
	doors.set(doors.policies.filter(({ name }) => name !== "broken"));
	expect(await session.prompt({ text: "still there?", images: [] }).acknowledge()).toBeUndefined();
	await session.settled();
	expect(session.isBusy).toBe(false);
});

test("what fails while a run is being aborted is no bug: it is kept for those who look for a cause", async () => {
	const reached = deferred<void>();
	const aborted = deferred<void>();
	const failing: Policy = {
		name: "failing",
		settle: async () => {
			reached.resolve();
			await aborted.promise;
			throw new Error("cut off");
		},
	};
	const { session, log } = started([{ text: "a" }], [failing]);
	await reached.promise;
	const ending = session.abort();
	aborted.resolve();
	await ending;
	expect(log.lines).toEqual([]);
	expect(log.debugLines).toEqual(["a run failed while it was aborted: Error: cut off"]);
	expect(session.isBusy).toBe(false);
});
