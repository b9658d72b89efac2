import { expect, test } from "vitest";
import { validateArguments } from "../../src/agent/validate.ts";
import type { TodoPhase } from "../../src/protocol/todos.ts";
import { todoTool } from "../../src/tools/todo.ts";
import { textOf } from "./workbench.ts";

function plan() {
	let phases: readonly TodoPhase[] = [];
	const tool = todoTool({
		read: () => phases,
		replace: (next) => {
			phases = next;
		},
	});
	const run = async (...ops: unknown[]) => {
		const checked = await validateArguments(tool, { ops });
		if ("problems" in checked) throw new Error(JSON.stringify(checked.problems));
		return tool.execute({ toolCallId: "t1", args: checked.args, signal: new AbortController().signal, onUpdate: () => undefined });
	};
	return { tool, run, phases: () => phases };
}

const start = {
	op: "replace",
	phases: [
		{ name: "Look", tasks: [{ content: "Read", status: "completed" }] },
		{
			name: "Work",
			tasks: [
				{ content: "Build", details: "with care\nand tests" },
				{ content: "Test", details: "not shown", notes: "twice" },
			],
		},
	],
};

test("the model sees what is left, where it is and the whole plan", async () => {
	const { run, phases } = plan();
	const result = await run(start);
	expect(textOf(result)).toBe(
		[
			"Remaining items (2):",
			"  - task-2 Build [in_progress] (Work)",
			"      with care",
			"      and tests",
			"  - task-3 Test [pending] (Work)",
			"Phase 2 of 2, Work: 0 of 2 tasks done.",
			"",
			"Look (phase-1):",
			"  [x] task-1 Read",
			"",
			"Work (phase-2):",
			"  [>] task-2 Build",
			"  [ ] task-3 Test (twice)",
		].join("\n"),
	);
	expect(result.details).toEqual({ phases: phases(), storage: "session" });
});

test("an unknown id is reported in the text and is not a failure", async () => {
	const { run, phases } = plan();
	await run(start);
	const result = await run({ op: "update", id: "task-9", status: "completed" }, { op: "update", id: "task-2", status: "completed" });
	expect(textOf(result).split("\n").slice(0, 4)).toEqual([
		"Errors: Task not found: task-9",
		"Remaining items (1):",
		"  - task-3 Test [in_progress] (Work)",
		"      not shown",
	]);
	expect(phases()[1]?.tasks.map(({ status }) => status)).toEqual(["completed", "in_progress"]);
});

test("ids are not given twice, until a new plan is made", async () => {
	const { run, phases } = plan();
	await run(start);
	await run({ op: "remove_task", id: "task-3" });
	await run({ op: "add_task", phase: "phase-2", content: "Ship" });
	expect(phases()[1]?.tasks.map(({ id }) => id)).toEqual(["task-2", "task-4"]);
	await run({ op: "replace", phases: [{ name: "New", tasks: [{ content: "One" }] }] });
	expect(phases()).toEqual([{ id: "phase-1", name: "New", tasks: [{ id: "task-1", content: "One", status: "in_progress" }] }]);
});

test("a plan without open tasks and an empty one are described", async () => {
	const { run } = plan();
	expect(textOf(await run({ op: "replace", phases: [{ name: "A", tasks: [{ content: "a", status: "completed" }] }] }))).toBe(
		"Remaining items: none.\n\nA (phase-1):\n  [x] task-1 a",
	);
	expect(textOf(await run({ op: "replace", phases: [] }))).toBe("The todo list is empty.");
});

test("an op or a status no one knows is refused before it runs", async () => {
	const { tool } = plan();
	expect(tool.concurrency).toBe("exclusive");
	for (const ops of [[{ op: "dance" }], [{ op: "update", id: "task-1", status: "done" }], "x"]) {
		expect(await validateArguments(tool, { ops })).toHaveProperty("problems");
	}
});
