import { expect, test } from "vitest";
import type { Outcome } from "../../src/agent/contracts.ts";
import { todoReminderPolicy } from "../../src/policies/todo-reminder.ts";
import type { AgentEvent } from "../../src/protocol/events.ts";
import type { AgentMessage, AssistantMessage, DeveloperMessage } from "../../src/protocol/messages.ts";
import type { TodoPhase } from "../../src/protocol/todos.ts";

const usage = {
	input: 0,
	output: 0,
	cacheRead: 0,
	cacheWrite: 0,
	totalTokens: 0,
	cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

function reply(text: string, changes: Partial<AssistantMessage> = {}): AssistantMessage {
	return {
		role: "assistant",
		content: [{ type: "text", text }],
		api: "a",
		provider: "p",
		model: "m",
		usage,
		stopReason: "stop",
		timestamp: 0,
		...changes,
	};
}

const outcome = (last: AssistantMessage | undefined = reply("Done."), failure?: Outcome["failure"]): Outcome => ({ messages: [], last, failure });

const open: TodoPhase[] = [
	{
		id: "phase-1",
		name: "Work",
		tasks: [
			{ id: "task-1", content: "Read", status: "completed" },
			{ id: "task-2", content: "Build", status: "in_progress" },
		],
	},
	{ id: "phase-2", name: "Ship", tasks: [{ id: "task-3", content: "Tag", status: "pending" }] },
	{ id: "phase-3", name: "Gone", tasks: [{ id: "task-4", content: "Skip", status: "abandoned" }] },
];

function bench() {
	const state = { enabled: true, reminders: true, max: 3, isToolActive: true, hasQueued: false, todos: open };
	const said: (AgentEvent | DeveloperMessage)[] = [];
	const policy = todoReminderPolicy({
		settings: () => state,
		todos: () => state.todos,
		isToolActive: () => state.isToolActive,
		hasQueued: () => state.hasQueued,

		emit: (event) => said.push(event),
		now: () => 5,
	});
	const signal = new AbortController().signal;
	return {
		state,
		said,
		/** Whether it asks for another run; `foresee` must have known. */
		async settles(after = outcome(), at: AbortSignal = signal): Promise<boolean> {
			const foreseen = policy.foresee?.(after);
			const again = await policy.settle?.(after, at, at);
			if (!at.aborted) expect(foreseen).toBe(again !== undefined);
			said.push(...((again?.messages ?? []) as DeveloperMessage[]));
			if (again) expect([again.dropFailedReply, await again.due]).toEqual([false, true]);
			return again !== undefined;
		},
		works: () => policy.observe?.({ type: "tool_execution_start", toolCallId: "c", toolName: "bash", args: {} }),
		hears: (message: AgentMessage) => policy.observe?.({ type: "message_start", message }),
	};
}

test("an agent that stops with open items learns which, and runs again", async () => {
	const { settles, said } = bench();
	expect(await settles()).toBe(true);
	expect(said).toEqual([
		{
			type: "todo_reminder",
			todos: [
				{ id: "task-2", content: "Build", status: "in_progress" },
				{ id: "task-3", content: "Tag", status: "pending" },
			],
			attempt: 1,
			maxAttempts: 3,
		},
		{
			role: "developer",
			content: [
				"You stopped, but there are open items on your todo list (reminder 1 of 3):",
				"Work:\n- task-2 Build [in_progress]",
				"Ship:\n- task-3 Tag [pending]",
				"Go on and finish them. If they are done already or not needed any more, update the list with todo_write.",
			].join("\n\n"),
			timestamp: 5,
		},
	]);
});

test("at most three times, until the user says something", async () => {
	const { settles, works, hears, said } = bench();
	for (const expected of [true, true, true, false]) {
		works();
		expect(await settles()).toBe(expected);
	}
	hears({ role: "developer", content: "x", timestamp: 0 });
	hears({ role: "user", content: "x", synthetic: true, timestamp: 0 });
	expect(await settles()).toBe(false);
	hears({ role: "user", content: "go on", timestamp: 0 });
	expect(await settles()).toBe(true);
	expect(said.flatMap((each) => ("attempt" in each ? [each.attempt] : []))).toEqual([1, 2, 3, 1]);
});

test("no second time when nothing was done since the first", async () => {
	const { settles, works } = bench();
	expect(await settles()).toBe(true);
	expect(await settles()).toBe(false);
	works();
	expect(await settles()).toBe(true);
});

test.each<[string, Outcome]>([
	["a question", outcome(reply("I could do both. Which one do you want?"))],
	["a question in bold", outcome(reply("**Shall I go on?**\n"))],
	["a question in Japanese", outcome(reply("続けますか？"))],
	["an abort", outcome(reply("x", { stopReason: "aborted" }))],
	["an error", outcome(reply("x", { stopReason: "error" }), { kind: "permanent" })],
	["a reply that was too long", outcome(reply("x", { stopReason: "length" }))],
	["a tool call", outcome(reply("x", { content: [{ type: "toolCall", id: "c", name: "bash", arguments: {} }] }))],
	["nothing", { messages: [], last: undefined, failure: undefined }],
])("no reminder behind %s", async (_name, after) => {
	const { settles, said } = bench();
	expect([await settles(after), said]).toEqual([false, []]);
});

test.each([
	{ enabled: false },
	{ reminders: false },
	{ max: 0 },
	{ isToolActive: false },
	{ hasQueued: true },
	{ todos: [] },
	{ todos: open.slice(2) },
])("no reminder with %j", async (changes) => {
	const { settles, said, state } = bench();
	Object.assign(state, changes);
	expect([await settles(), said]).toEqual([false, []]);
});

test("no reminder once the user has aborted", async () => {
	const { settles, said } = bench();
	expect([await settles(outcome(), AbortSignal.abort()), said]).toEqual([false, []]);
});
