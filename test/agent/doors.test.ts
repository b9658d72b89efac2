/** Every door with no policy, with one and with two: who is asked, in which order, and whose answer counts. */
import { describe, expect, test } from "vitest";
import { Doors } from "../../src/agent/doors.ts";
import type { Outcome, Policy } from "../../src/agent/policy.ts";
import type { AgentEvent } from "../../src/protocol/events.ts";
import type { UserMessage } from "../../src/protocol/messages.ts";
import { user } from "./support.ts";

const { signal } = new AbortController();
const outcome: Outcome = { messages: [], last: undefined, failure: undefined };
const check = async (input: Record<string, unknown>) => input;
const call = { toolName: "bash", toolCallId: "1", input: { command: "ls" } };

/** Doors that are absent without a policy, so that asking costs nothing. */
const optional = [
	"admit",
	"preface",
	"prepare",
	"context",
	"payload",
	"headers",
	"watch",
	"beforeTool",
	"afterTool",
	"compact",
	"leave",
	"shell",
] as const;

test("a door at which no policy takes part is absent", () => {
	const doors = new Doors([{ name: "idle" }]);
	expect(optional.filter((name) => doors[name] !== undefined)).toEqual([]);
	expect(doors.foresee(outcome)).toBe(false);
	expect(doors.haltReason).toBeUndefined();
});

test("policies receive every event, and the steps of a reply only where they ask for them", () => {
	const seen: string[] = [];
	const observing = (name: string, observesUpdates?: boolean): Policy => ({
		name,
		observesUpdates,
		observe: ({ type }) => void seen.push(`${name} ${type}`),
	});
	const events = ["agent_start", "message_update"].map((type) => ({ type }) as unknown as AgentEvent);
	const doors = new Doors([observing("a"), observing("b", true)]);
	for (const event of events) doors.observe(event);
	expect(seen).toEqual(["a agent_start", "b agent_start", "b message_update"]);
	doors.put(observing("b"));
	for (const event of events) doors.observe(event);
	expect(seen.slice(3)).toEqual(["a agent_start", "b agent_start"]);
});

test("a policy can be replaced in its place, and a new one is asked last", async () => {
	const asked: string[] = [];
	const asking = (name: string, as = name): Policy => ({ name, prepare: async () => void asked.push(as) });
	const doors = new Doors([asking("a"), asking("b")]);
	doors.put(asking("a", "a again"));
	doors.put(asking("c"));
	await doors.prepare?.([], signal);
	expect(asked).toEqual(["a again", "b", "c"]);
});

test("policies that are added come in front of those that judge last", async () => {
	const asked: string[] = [];
	const asking = (name: string, more: Partial<Policy> = {}): Policy => ({
		name,
		beforeTool: async () => {
			asked.push(name);
			return undefined;
		},
		...more,
	});
	const doors = new Doors([asking("first")]);
	doors.put(asking("permissions", { isLast: true }));
	doors.put(asking("extensions"));
	doors.put(asking("gate", { isLast: true }));
	await doors.beforeTool?.(call, signal, check);
	expect(asked).toEqual(["first", "extensions", "permissions", "gate"]);
});

describe("admit", () => {
	const prompt = { messages: [user("hi")], source: "rpc" as const };
	const rewriting = (name: string): Policy => ({
		name,
		admit: async ({ messages }) => ({
			messages: messages.map((message) => ({ ...message, content: `${name}(${JSON.stringify((message as UserMessage).content)})` }) as never),
		}),
	});

	test("each policy sees what the previous one made of the prompt", async () => {
		const admission = await new Doors([rewriting("a"), rewriting("b")]).admit?.(prompt, signal);
		expect(admission).toEqual({ messages: [expect.objectContaining({ content: expect.stringMatching(/^b\("a\(/) })] });
	});

	test("the first refusal ends it", async () => {
		const doors = new Doors([
			rewriting("a"),
			{ name: "b", admit: async () => ({ refused: "no", code: "refused" }) },
			{ name: "c", admit: () => Promise.reject(new Error("asked")) },
		]);
		expect(await doors.admit?.(prompt, signal)).toEqual({ refused: "no", code: "refused" });
	});

	test("a prompt that a policy handled is gone for the others", async () => {
		const doors = new Doors([
			{ name: "a", admit: async () => ({ messages: [] }) },
			{ name: "b", admit: () => Promise.reject(new Error("asked")) },
		]);
		expect(await doors.admit?.(prompt, signal)).toEqual({ messages: [] });
	});

	test("a policy without an opinion changes nothing", async () => {
		expect(await new Doors([{ name: "a", admit: async () => undefined }]).admit?.(prompt, signal)).toEqual({ messages: prompt.messages });
	});
});

test("preface: messages are collected, the first tool and the last system prompt count", async () => {
	const said = (text: string) => ({ role: "custom" as const, customType: text, content: text, display: false, timestamp: 0 });
	const doors = new Doors([
		{ name: "a", preface: async () => ({ messages: [said("a")], tool: "todo_write" }) },
		{ name: "b", preface: async () => undefined },
		{ name: "c", preface: async ({ systemPrompt }) => ({ messages: [said("c")], tool: "other", systemPrompt: `${await systemPrompt()}!` }) },
	]);
	const preface = await doors.preface?.({ user: undefined, systemPrompt: async () => "be brief" }, signal);
	expect(preface).toEqual({ messages: [said("a"), said("c")], tool: "todo_write", systemPrompt: "be brief!" });
});

test.each(["context", "payload"] as const)("%s: each policy sees the previous one's", async (door) => {
	const adding = (name: string): Policy => ({ name, [door]: async (list: unknown[]) => [...list, name] });
	const ask = new Doors([adding("a"), adding("b")])[door] as (list: never, signal: AbortSignal) => Promise<unknown>;
	expect(await ask([] as never, signal)).toEqual(["a", "b"]);
});

test("headers: each policy sees the previous one's", async () => {
	const doors = new Doors([
		{ name: "a", headers: async (headers) => ({ ...headers, "x-a": "1" }) },
		{ name: "b", headers: async (headers) => ({ ...headers, "x-b": headers["x-a"] ?? "" }) },
	]);
	expect(await doors.headers?.({}, signal)).toEqual({ "x-a": "1", "x-b": "1" });
});

test("watch: the first cut wins, and the others are not asked", () => {
	const doors = new Doors([
		{ name: "a", watch: () => undefined },
		{ name: "b", watch: () => "stop" },
		{
			name: "c",
			watch: () => {
				throw new Error("asked");
			},
		},
	]);
	expect(doors.watch?.({ type: "text_start", contentIndex: 0, partial: {} as never })).toBe("stop");
});

describe("beforeTool", () => {
	test("a policy that judges sees the arguments that another has changed, checked", async () => {
		const judged: unknown[] = [];
		const doors = new Doors([
			{ name: "changes", beforeTool: async ({ input }) => ({ input: { ...input, timeout: "5" } }) },
			{ name: "judges", beforeTool: async ({ input }) => void judged.push(input) },
		]);
		const decision = await doors.beforeTool?.(call, signal, async (input) => ({ ...input, timeout: Number(input.timeout) }));
		expect(decision).toEqual({ input: { command: "ls", timeout: 5 } });
		expect(judged).toEqual([{ command: "ls", timeout: 5 }]);
	});

	test("the first denial ends it", async () => {
		const doors = new Doors([
			{ name: "denies", beforeTool: async () => ({ denied: "not here" }) },
			{ name: "later", beforeTool: () => Promise.reject(new Error("asked")) },
		]);
		expect(await doors.beforeTool?.(call, signal, check)).toEqual({ denied: "not here" });
	});

	test("changed arguments that do not fit reach no further policy", async () => {
		const doors = new Doors([
			{ name: "changes", beforeTool: async () => ({ input: { command: 1 } }) },
			{ name: "later", beforeTool: () => Promise.reject(new Error("asked")) },
		]);
		const refuse = () => Promise.reject(new Error("command must be string"));
		await expect(doors.beforeTool?.(call, signal, refuse)).rejects.toThrow("command must be string");
	});
});

test("afterTool: each policy sees the previous one's result", async () => {
	const marking = (name: string): Policy => ({
		name,
		afterTool: async (_, result) => ({ ...result, details: [...(result.details as string[]), name] }),
	});
	const given = { content: [], details: [], isError: false };
	expect(await new Doors([marking("a"), marking("b")]).afterTool?.(call, given, signal)).toEqual({ ...given, details: ["a", "b"] });
});

test("foresee: one policy that expects another run is enough", () => {
	expect(
		new Doors([
			{ name: "a", foresee: () => false },
			{ name: "b", foresee: () => true },
		]).foresee(outcome),
	).toBe(true);
});

test("settle: the first answer wins, and later policies are not asked", async () => {
	const again = { dropFailedReply: false, due: Promise.resolve(true) };
	const doors = new Doors([
		{ name: "a", settle: async () => undefined },
		{ name: "b", settle: async () => again },
		{ name: "c", settle: () => Promise.reject(new Error("asked")) },
	]);
	expect(await doors.settle(outcome, signal, () => signal)).toBe(again);
});

test.each(["compact", "leave", "shell"] as const)("%s: the first answer wins", async (door) => {
	const doors = new Doors([
		{ name: "a", [door]: async () => undefined },
		{ name: "b", [door]: async () => ({ cancel: true }) },
		{ name: "c", [door]: async () => ({ cancel: false }) },
	]);
	const ask = doors[door] as (...given: never[]) => Promise<unknown>;
	expect(await ask()).toEqual({ cancel: true });
});

test("halt: the reason of the first signal that has fired is what hosts read", () => {
	const [first, second] = [new AbortController(), new AbortController()];
	const doors = new Doors([
		{ name: "a", halt: first.signal },
		{ name: "b", halt: second.signal },
	]);
	expect(doors.haltReason).toBeUndefined();
	second.abort({ message: "spent", run: "stop" });
	expect(doors.haltReason).toBe("spent");
});
