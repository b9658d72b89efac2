import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
	applyTodoOps,
	openTodos,
	type TodoOp,
	type TodoStatus,
	todosFromHost,
	withOneInProgress,
	withoutDone,
} from "../../src/protocol/todo-changes.ts";
import type { TodoItem, TodoPhase } from "../../src/protocol/todos.ts";
import { TodoList } from "../../src/session/todo-list.ts";

const task = (n: number, status: TodoStatus = "pending", content = `t${n}`): TodoItem => ({ id: `task-${n}`, content, status });
const phase = (n: number, ...tasks: TodoItem[]): TodoPhase => ({ id: `phase-${n}`, name: `p${n}`, tasks });
const apply = (before: TodoPhase[], ...ops: TodoOp[]) => {
	const { phases, errors } = applyTodoOps(before, ops);
	return { phases, errors };
};

describe("changes by the tool", () => {
	test("replace makes a new list whose ids start at 1", () => {
		expect(
			apply([phase(7, task(9))], {
				op: "replace",
				phases: [
					{
						name: "A",
						tasks: [
							{ content: "a", status: "completed" },
							{ content: "b", details: "how" },
						],
					},
					{ name: "B", tasks: [{ content: "c" }] },
					{ name: "C" },
				],
			}),
		).toEqual({
			phases: [
				{
					id: "phase-1",
					name: "A",
					tasks: [
						{ id: "task-1", content: "a", status: "completed" },
						{ id: "task-2", content: "b", status: "in_progress", details: "how" },
					],
				},
				{ id: "phase-2", name: "B", tasks: [{ id: "task-3", content: "c", status: "pending" }] },
				{ id: "phase-3", name: "C", tasks: [] },
			],
			errors: [],
		});
	});

	test("ids go on from the highest over the whole list", () => {
		const { phases } = apply(
			[phase(2, task(5, "in_progress")), phase(1, task(3))],
			{ op: "add_phase", name: "p3", tasks: [{ content: "t6" }] },
			{ op: "add_task", phase: "phase-1", content: "t7" },
		);
		expect(phases).toEqual([phase(2, task(5, "in_progress")), phase(1, task(3), task(7)), phase(3, task(6))]);
	});

	test("an id that is gone is not given again", () => {
		const first = applyTodoOps([phase(1, task(1), task(2))], [{ op: "remove_task", id: "task-2" }]);
		const second = applyTodoOps(first.phases, [{ op: "add_task", phase: "phase-1", content: "t3" }], first.used);
		expect(second.phases[0]?.tasks.map(({ id }) => id)).toEqual(["task-1", "task-3"]);
	});

	test("update changes what is given and keeps the rest", () => {
		const before = [phase(1, { ...task(1, "in_progress"), notes: "n" }, task(2))];
		expect(apply(before, { op: "update", id: "task-1", status: "completed", details: "d" })).toEqual({
			phases: [phase(1, { ...task(1, "completed"), notes: "n", details: "d" }, task(2, "in_progress"))],
			errors: [],
		});
	});

	test("what cannot be done is reported, and the rest is done", () => {
		const before = [phase(1, task(1, "in_progress"))];
		expect(
			apply(
				before,
				{ op: "update", id: "task-9", status: "completed" },
				{ op: "add_task", phase: "phase-9", content: "x" },
				{ op: "add_task", phase: "phase-1", content: " " },
				{ op: "add_phase" },
				{ op: "remove_task" },
				{ op: "update", id: "task-1", status: "done" },
				{ op: "dance" } as never,
				{ op: "add_task", phase: "phase-1", content: "t2" },
			),
		).toEqual({
			phases: [phase(1, task(1, "in_progress"), task(2))],
			errors: [
				"Task not found: task-9",
				"Phase not found: phase-9",
				"A task needs content",
				"add_phase needs a name",
				"Task not found: undefined",
				"Unknown status: done. Use pending, in_progress, completed or abandoned",
				"Unknown op: dance",
			],
		});
	});

	test("the first task in progress stays, further ones go back; without one the first pending starts", () => {
		expect(withOneInProgress([phase(1, task(1), task(2, "in_progress")), phase(2, task(3, "in_progress"))])).toEqual([
			phase(1, task(1), task(2, "in_progress")),
			phase(2, task(3)),
		]);
		expect(withOneInProgress([phase(1, task(1, "completed")), phase(2, task(2), task(3))])).toEqual([
			phase(1, task(1, "completed")),
			phase(2, task(2, "in_progress"), task(3)),
		]);
		expect(withOneInProgress([phase(1, task(1, "abandoned"))])).toEqual([phase(1, task(1, "abandoned"))]);
	});

	test("whatever is asked for, ids are unique, one task is in progress while any is open, and nothing that was given changes", () => {
		const id = fc.integer({ min: 1, max: 6 });
		const status = fc.constantFrom<TodoStatus>("pending", "in_progress", "completed", "abandoned");
		const tasks = fc.array(fc.record({ content: fc.constant("x"), status }), { maxLength: 3 });
		const op: fc.Arbitrary<TodoOp> = fc.oneof(
			fc.record({ op: fc.constant("replace" as const), phases: fc.array(fc.record({ name: fc.constant("p"), tasks }), { maxLength: 3 }) }),
			fc.record({ op: fc.constant("add_phase" as const), name: fc.constant("p"), tasks }),
			fc.record({ op: fc.constant("add_task" as const), phase: id.map((n) => `phase-${n}`), content: fc.constant("x") }),
			fc.record({ op: fc.constant("update" as const), id: id.map((n) => `task-${n}`), status }),
			fc.record({ op: fc.constant("remove_task" as const), id: id.map((n) => `task-${n}`) }),
		);
		fc.assert(
			fc.property(fc.array(fc.array(op, { maxLength: 5 }), { maxLength: 5 }), (calls) => {
				let phases: TodoPhase[] = [];
				let used = { phase: 0, task: 0 };
				for (const ops of calls) {
					const frozen = structuredClone(phases);
					const changed = applyTodoOps(phases, ops, used);
					expect(phases).toEqual(frozen);
					({ phases, used } = changed);
					const all = phases.flatMap((each) => each.tasks);
					const ids = [...phases, ...all].map((each) => each.id);
					expect(new Set(ids).size).toBe(ids.length);
					expect(all.filter((each) => each.status === "in_progress").length).toBe(openTodos(phases).length > 0 ? 1 : 0);
				}
			}),
		);
	});
});

describe("a list from the host", () => {
	test("ids, status and tasks are filled in, names trimmed, unknown members dropped", () => {
		expect(
			todosFromHost([
				{
					name: "  Plan ",
					color: "red",
					tasks: [
						{ content: "a", notes: "n", details: "d", priority: 1 },
						{ id: "mine", content: "b", status: "completed" },
					],
				},
				{ id: "work", name: "Work", tasks: [{ content: "c" }] },
				{ name: "Later" },
			]),
		).toEqual({
			phases: [
				{
					id: "phase-1",
					name: "Plan",
					tasks: [
						{ id: "task-1", content: "a", status: "pending", notes: "n", details: "d" },
						{ id: "mine", content: "b", status: "completed" },
					],
				},
				{ id: "work", name: "Work", tasks: [{ id: "task-3", content: "c", status: "pending" }] },
				{ id: "phase-3", name: "Later", tasks: [] },
			],
		});
		expect(todosFromHost([])).toEqual({ phases: [] });
	});

	test("an id that is given is not made up again", () => {
		const read = todosFromHost([{ name: "A", tasks: [{ content: "a" }, { id: "task-1", content: "b" }, { content: "c" }] }]);
		expect("phases" in read && read.phases[0]?.tasks.map(({ id }) => id)).toEqual(["task-2", "task-1", "task-3"]);
	});

	test("surplus tasks in progress go back, and none is started", () => {
		const sent = [phase(1, task(1), task(2, "in_progress"), task(3, "in_progress")), phase(2, task(4, "in_progress"))];
		expect(todosFromHost(sent)).toEqual({ phases: [phase(1, task(1), task(2, "in_progress"), task(3)), phase(2, task(4))] });
		expect(todosFromHost([phase(1, task(1))])).toEqual({ phases: [phase(1, task(1))] });
	});

	test.each([
		["x", "phases must be a list of todo phases"],
		[[{ name: " " }], "Todo phase 1 must have a non-empty name"],
		[[{ name: "A" }, null], "Todo phase 2 must have a non-empty name"],
		[[{ name: "A", tasks: "x" }], 'The tasks of todo phase "A" must be a list'],
		[[{ name: "A", tasks: [{ content: "a" }, { content: "" }] }], 'Task 2 of todo phase "A" must have non-empty content'],
		[
			[{ name: "A", tasks: [{ content: "a", status: "done" }] }],
			'Task 1 of todo phase "A" has the status "done"; use pending, in_progress, completed or abandoned',
		],
		[[{ id: "x", name: "A", tasks: [{ id: "x", content: "a" }] }], 'Todo id "x" is used twice'],
	])("%j is refused", (sent, problem) => {
		expect(todosFromHost(sent)).toEqual({ problem });
	});
});

test("a session that is opened again shows what is open", () => {
	expect(withoutDone([phase(1, task(1, "completed")), phase(2, task(2, "abandoned"), task(3)), phase(3)])).toEqual([phase(2, task(3)), phase(3)]);
});

describe("the list forgets what is done", () => {
	let cleared = 0;
	const list = (seconds = 60) => new TodoList({ clearDelay: () => seconds, onAutoClear: () => (cleared += 1) });
	beforeEach(() => {
		vi.useFakeTimers();
		cleared = 0;
	});
	afterEach(() => {
		vi.useRealTimers();
	});

	test("after the delay, all together, with their phase, in one event", () => {
		const todos = list();
		todos.replace([phase(1, task(1, "completed"), task(2, "abandoned")), phase(2, task(3, "in_progress"))]);
		vi.advanceTimersByTime(59_999);
		expect([todos.read().length, cleared]).toEqual([2, 0]);
		vi.advanceTimersByTime(1);
		expect([todos.read(), cleared]).toEqual([[phase(2, task(3, "in_progress"))], 1]);
		expect(vi.getTimerCount()).toBe(0);
	});

	test("each after its own time, also when others change meanwhile", () => {
		const todos = list();
		todos.replace([phase(1, task(1, "completed"), task(2, "in_progress"))]);
		vi.advanceTimersByTime(40_000);
		todos.replace(applyTodoOps(todos.read(), [{ op: "update", id: "task-2", status: "completed" }]).phases);
		vi.advanceTimersByTime(20_000);
		expect([todos.read(), cleared]).toEqual([[phase(1, task(2, "completed"))], 1]);
		vi.advanceTimersByTime(40_000);
		expect([todos.read(), cleared]).toEqual([[], 2]);
	});

	test("a task that is taken up again stays", () => {
		const todos = list();
		todos.replace([phase(1, task(1, "completed"))]);
		todos.replace(applyTodoOps(todos.read(), [{ op: "update", id: "task-1", status: "pending" }]).phases);
		vi.advanceTimersByTime(600_000);
		expect([todos.read(), cleared]).toEqual([[phase(1, task(1, "in_progress"))], 0]);
	});

	test("the time of an old task does not reach a new one with its id", () => {
		const todos = list();
		todos.replace([phase(1, task(1, "completed"))]);
		vi.advanceTimersByTime(50_000);
		todos.replace(applyTodoOps(todos.read(), [{ op: "replace", phases: [{ name: "p1", tasks: [{ content: "t1", status: "completed" }] }] }]).phases);
		vi.advanceTimersByTime(10_000);
		expect([todos.read().length, cleared]).toEqual([1, 0]);
		vi.advanceTimersByTime(50_000);
		expect([todos.read().length, cleared]).toEqual([0, 1]);
	});

	test("0 is at once, -1 is never", () => {
		const [atOnce, never] = [list(0), list(-1)];
		for (const todos of [atOnce, never]) todos.replace([phase(1, task(1, "completed"))]);
		vi.advanceTimersByTime(1);
		expect([atOnce.read().length, never.read().length, cleared, vi.getTimerCount()]).toEqual([0, 1, 1, 0]);
	});

	test("a list from the host is taken or refused as a whole, and counts down too", () => {
		const todos = list();
		expect(todos.set([{ name: "A", tasks: [{ content: "a", status: "completed" }] }])).toEqual({ phases: todos.read() });
		expect(todos.set([{ name: "" }])).toEqual({ problem: "Todo phase 1 must have a non-empty name" });
		expect(todos.read().length).toBe(1);
		vi.advanceTimersByTime(60_000);
		expect([todos.read(), cleared]).toEqual([[], 1]);
	});

	test("nothing happens after dispose, and the list stays readable", () => {
		const todos = list();
		todos.replace([phase(1, task(1, "completed"))]);
		todos.dispose();
		vi.advanceTimersByTime(600_000);
		expect([todos.read().length, cleared, vi.getTimerCount()]).toEqual([1, 0, 0]);
	});

	test("what a session file ended with comes back without what was done", () => {
		const todos = list();
		todos.restore([phase(1, task(1, "completed"), task(2, "in_progress"))]);
		expect([todos.read(), vi.getTimerCount()]).toEqual([[phase(1, task(2, "in_progress"))], 0]);
	});
});
