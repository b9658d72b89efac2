import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { BudgetLimits, ModelRequest, StreamEvent } from "../../src/agent/contracts.ts";
import { stderrLog } from "../../src/lib/log.ts";
import { budgetPolicy } from "../../src/policies/budget.ts";
import type { BudgetReason } from "../../src/protocol/budget.ts";
import { budgetRefusal } from "../../src/protocol/budget-refusal.ts";
import type { AgentEvent } from "../../src/protocol/events.ts";
import type { AssistantMessage } from "../../src/protocol/messages.ts";
import type { Usage } from "../../src/protocol/model.ts";
import { Bus } from "../../src/session/bus.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function used(changes: Partial<Usage> = {}, total = 0): Usage {
	const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total };
	return { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost, ...changes };
}

function reply(usage: Usage): AssistantMessage {
	return { role: "assistant", content: [], api: "a", provider: "p", model: "m", usage, stopReason: "stop", timestamp: 0 };
}

const run: AgentEvent = { type: "agent_start" };
const turn = (usage: Usage): AgentEvent => ({ type: "turn_end", message: reply(usage), toolResults: [] });
const call: AgentEvent = { type: "tool_execution_start", toolCallId: "c", toolName: "t", args: {} };
const subagent: AgentEvent = { type: "subagent_start", id: "0-A", agent: "task", isolated: false };

function bench(limits: BudgetLimits, warnAtRatio = 0.8, onExceeded: "stop" | "finish" = "stop") {
	const bus = new Bus(stderrLog());
	const heard: string[] = [];
	const budget = budgetPolicy({ limits, warnAtRatio, onExceeded, emit: bus.emit, clock: () => performance.now() });
	bus.observe((event) => budget.observe?.(event));
	bus.observe((event) => {
		const { scope, snapshot } = event as Partial<Extract<AgentEvent, { type: "budget_warning" }>>;
		heard.push(snapshot ? `${event.type} ${scope} ${snapshot.status} ${snapshot.reason}` : event.type);
	});
	return { budget, heard, emit: bus.emit };
}

/** The events that bring each dimension of a limit of 10 to 8, and those that bring it to 10. */
const steps: [BudgetReason, AgentEvent[], AgentEvent[]][] = [
	["input_tokens", [turn(used({ input: 8 }))], [turn(used({ input: 2 }))]],
	["output_tokens", [turn(used({ output: 8 }))], [turn(used({ output: 2 }))]],
	["total_tokens", [turn(used({ totalTokens: 8 }))], [turn(used({ input: 1, cacheRead: 1 }))]],
	["cost", [turn(used({}, 8))], [turn(used({}, 2))]],
	["tool_calls", Array(8).fill(call), [call, call]],
	["subagents", Array(8).fill(subagent), [subagent, subagent]],
];

describe("each dimension warns once and is exceeded once, right after the event that did it", () => {
	test.each(steps)("%s", (reason, near, over) => {
		const { budget, heard, emit } = bench({ [reason]: 10 });
		emit(run);
		for (const event of [...near, ...over, ...over]) emit(event);
		const told = heard.filter((line) => line.startsWith("budget"));
		expect(told).toEqual([`budget_warning session warning ${reason}`, `budget_exceeded session exceeded ${reason}`]);
		expect(heard.indexOf(told[0] as string)).toBe(1 + near.length);
		expect(heard.indexOf(told[1] as string)).toBe(2 + near.length + over.length);
		expect([budget.exceeded, budget.halt?.aborted]).toEqual([reason, true]);
		expect(budget.halt?.reason.message).toBe(budgetRefusal(reason));
		expect([budget.snapshot.status, budget.snapshot.reason, budget.remaining()]).toEqual(["exceeded", reason, { [reason]: 0 }]);
	});

	test.each(steps)("%s, with all others near their limit", (reason, near, over) => {
		const others = Object.fromEntries(steps.map(([name]) => [name, name === reason ? 10 : 1000]));
		const { budget, heard, emit } = bench(others, 0.8);
		budget.spend({ usage: used({ input: 850, output: 850, totalTokens: 850 }, 850), toolCalls: 850, subagents: 850 });
		// The dimension in question is far past its limit: only its end is reported.
		expect(heard).toEqual([`budget_exceeded session exceeded ${reason}`]);
		for (const event of [...near, ...over]) emit(event);
		expect(heard.filter((line) => line.startsWith("budget")).length).toBe(1);
	});
});

test("a second dimension warns although a first one has", () => {
	const { budget, heard } = bench({ input_tokens: 10, tool_calls: 10, cost: 10 });
	budget.spend({ usage: used({ input: 9 }, 9) });
	budget.spend({ toolCalls: 8 });
	budget.spend({ usage: used({ input: 0.5 }, 0.5), toolCalls: 1 });
	expect(heard).toEqual(["input_tokens", "cost", "tool_calls"].map((reason) => `budget_warning session warning ${reason}`));
	expect(budget.snapshot).toEqual({
		status: "warning",
		wallTimeMs: 0,
		inputTokens: 9.5,
		outputTokens: 0,
		totalTokens: 9.5,
		costUsd: 9.5,
		toolCalls: 9,
		subagents: 0,
		reason: "input_tokens",
	});
	expect(budget.remaining()).toEqual({ input_tokens: 0.5, cost: 0.5, tool_calls: 1 });
});

test("before anything happens all is well", () => {
	const { budget } = bench({ cost: 1 });
	const { status, reason } = budget.snapshot;
	expect([status, reason, budget.exceeded, budget.halt?.aborted, budget.remaining()]).toEqual(["ok", undefined, undefined, false, { cost: 1 }]);
});

test("the first dimension of the table gives the reason", () => {
	const { budget } = bench({ subagents: 1, cost: 1, input_tokens: 1 });
	budget.spend({ usage: used({ input: 5 }, 5), subagents: 5 });
	expect(budget.exceeded).toBe("input_tokens");
});

test.each<[BudgetReason, AgentEvent[]]>([
	["wall_time", [run]],
	["input_tokens", [run, call, turn(used())]],
	["cost", [run, call, turn(used())]],
	["tool_calls", [run, turn(used()), call]],
	["subagents", [run, turn(used()), call, subagent]],
])("a limit of 0 for %s is reached with the first count of it", (reason, events) => {
	const { budget, emit } = bench({ [reason]: 0 });
	for (const event of events.slice(0, -1)) emit(event);
	expect(budget.exceeded).toBeUndefined();
	emit(events.at(-1) as AgentEvent);
	expect(budget.exceeded).toBe(reason);
});

describe("wall time", () => {
	test("runs from the first run on, through later ones and while idle", () => {
		const { budget, heard, emit } = bench({ wall_time: 1000 });
		vi.advanceTimersByTime(5000);
		expect([heard, vi.getTimerCount()]).toEqual([[], 0]);
		emit(run);
		vi.advanceTimersByTime(600);
		emit(run);
		expect(budget.snapshot.wallTimeMs).toBe(600);
		expect(budget.remaining()).toEqual({ wall_time: 400 });
		vi.advanceTimersByTime(200);
		expect(heard).toEqual(["agent_start", "agent_start", "budget_warning session warning wall_time"]);
		vi.advanceTimersByTime(200);
		expect(heard.at(-1)).toBe("budget_exceeded session exceeded wall_time");
		expect(vi.getTimerCount()).toBe(0);
	});

	test("is looked at every five seconds at most, and with everything that is counted", () => {
		const { heard, emit } = bench({ wall_time: 101_000 });
		emit(run);
		vi.advanceTimersByTime(84_999);
		expect(heard.length).toBe(1);
		vi.advanceTimersByTime(1);
		expect(heard.length).toBe(2);
		vi.advanceTimersByTime(18_000);
		expect(heard.length).toBe(2);
		emit(call);
		expect(heard.at(-1)).toBe("budget_exceeded session exceeded wall_time");
	});

	test("stands still at the end of the process", () => {
		const { budget, heard, emit } = bench({ wall_time: 1000 });
		emit(run);
		budget.close();
		vi.advanceTimersByTime(2000);
		expect([heard, vi.getTimerCount()]).toEqual([["agent_start"], 0]);
	});

	test("needs no timer when it has no limit", () => {
		const { budget, emit } = bench({ cost: 1 });
		emit(run);
		expect(vi.getTimerCount()).toBe(0);
		vi.advanceTimersByTime(70);
		expect(budget.snapshot.wallTimeMs).toBe(70);
	});
});

test("another session starts from nothing", () => {
	const { budget, heard, emit } = bench({ wall_time: 1000, tool_calls: 5 });
	emit(run);
	for (let count = 0; count < 5; count++) emit(call);
	const before = budget.halt;
	budget.renew?.();
	expect([before?.aborted, budget.halt?.aborted, budget.exceeded, vi.getTimerCount()]).toEqual([true, false, undefined, 0]);
	expect(budget.snapshot).toMatchObject({ status: "ok", toolCalls: 0, wallTimeMs: 0 });
	heard.length = 0;
	emit(run);
	for (let count = 0; count < 4; count++) emit(call);
	expect(heard.at(-1)).toBe("budget_warning session warning tool_calls");
	vi.advanceTimersByTime(1000);
	expect(budget.exceeded).toBe("wall_time");
});

test("after the end counting goes on, and the end stays", () => {
	const { budget, emit } = bench({ tool_calls: 1, input_tokens: 100 });
	emit(call);
	emit(call);
	emit(turn(used({ input: 500 })));
	expect(budget.snapshot).toMatchObject({ status: "exceeded", reason: "tool_calls", toolCalls: 2, inputTokens: 500 });
});

test("sums of small amounts are what they seem to be, and strange amounts are none", () => {
	const { budget } = bench({ cost: 1 });
	for (let count = 0; count < 10; count++) budget.spend({ usage: used({}, 0.1) });
	expect([budget.exceeded, budget.snapshot.costUsd]).toEqual(["cost", 1]);
	const strange = bench({ input_tokens: 10 }).budget;
	for (const input of [Number.NaN, -50, Number.POSITIVE_INFINITY]) strange.spend({ usage: used({ input }) });
	expect(strange.remaining()).toEqual({ input_tokens: 10 });
});

test("a share is reached as people count it", () => {
	const { budget, heard } = bench({ tool_calls: 100 }, 0.55);
	budget.spend({ toolCalls: 54 });
	expect(heard).toEqual([]);
	budget.spend({ toolCalls: 1 });
	expect(heard.length).toBe(1);
});

test("calls of a metered model count, also those that fail", async () => {
	const { budget } = bench({ input_tokens: 100 });
	const failed = { ...reply(used({ input: 3 })), stopReason: "error" as const };
	const events: StreamEvent[] = [
		{ type: "start", partial: reply(used()) },
		{ type: "done", reason: "stop", message: reply(used({ input: 4 })) },
		{ type: "error", reason: "error", error: failed, failure: { kind: "permanent" } },
	];
	const heard: StreamEvent[] = [];
	const stream = budget.meter(async (_, { onEvent }) => events.forEach(onEvent));
	const flow = { isOpen: true, whenOpen: async () => undefined };
	await stream({} as ModelRequest, { signal: new AbortController().signal, flow, onEvent: (event) => void heard.push(event) });
	expect(heard).toEqual(events);
	expect(budget.snapshot.inputTokens).toBe(7);
});

describe("when a ceiling is reached, the run that is going on", () => {
	const asks = (id: string) => ({ toolName: "t", toolCallId: id, input: {} });
	const starts = (toolCallId: string): AgentEvent => ({ type: "tool_execution_start", toolCallId, toolName: "t", args: {} });
	const { signal } = new AbortController();

	test("stops: calls that have begun run, others are refused, no further request is made", async () => {
		const { budget, emit } = bench({ tool_calls: 2 });
		for (const event of [run, starts("1"), starts("2"), starts("3")]) emit(event);
		expect(await budget.beforeTool?.(asks("1"), signal)).toBeUndefined();
		expect(await budget.beforeTool?.(asks("2"), signal)).toBeUndefined();
		expect(await budget.beforeTool?.(asks("3"), signal)).toEqual({ denied: "Budget exceeded (tool_calls)" });
		expect(budget.halt?.reason).toEqual({ message: budgetRefusal("tool_calls"), code: "budget_exceeded", run: "stop" });
		const events: StreamEvent[] = [];
		const stream = budget.meter(() => Promise.reject(new Error("asked")));
		await stream({ model: {} } as ModelRequest, {
			signal,
			flow: { isOpen: true, whenOpen: async () => undefined },
			onEvent: (event) => events.push(event),
		});
		expect(events).toMatchObject([{ type: "error", error: { errorMessage: budgetRefusal("tool_calls") }, failure: { kind: "permanent" } }]);
	});

	test("is aborted at the ceiling of time", () => {
		const { budget, emit } = bench({ wall_time: 0 });
		emit(run);
		expect(budget.halt?.reason).toMatchObject({ run: "abort" });
	});

	test("finishes where the setting says so", async () => {
		const { budget, emit } = bench({ tool_calls: 1 }, 0.8, "finish");
		for (const event of [run, starts("1"), starts("2")]) emit(event);
		expect(await budget.beforeTool?.(asks("2"), signal)).toBeUndefined();
		expect(budget.halt?.reason).toMatchObject({ run: "finish" });
	});
});

test("a reply that its provider did not count is counted by an estimate, and the snapshot says so", () => {
	const events: AgentEvent[] = [];
	const estimate = () => used({ input: 90, output: 20, totalTokens: 110 });
	const budget = budgetPolicy({
		limits: { total_tokens: 100 },
		warnAtRatio: 0.8,
		onExceeded: "stop",
		estimate,
		emit: (event) => events.push(event),
		clock: () => 0,
	});
	const message = { ...reply(used({})), content: [{ type: "text" as const, text: "hello" }] };
	budget.observe?.({ type: "turn_end", message, toolResults: [] });
	expect(events).toMatchObject([{ type: "budget_exceeded", snapshot: { estimated: true, totalTokens: 110 } }]);
});
