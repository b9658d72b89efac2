/** The tool with which the model keeps its plan. */
import type { Static } from "typebox";
import type { Tool } from "../agent/contracts.ts";
import Type from "../protocol/plain-schema.ts";
import { applyTodoOps, isDone, todoOps, todoStatuses, type UsedNumbers } from "../protocol/todo-changes.ts";
import type { TodoItem, TodoPhase } from "../protocol/todos.ts";
import { textResult } from "./options.ts";

export interface TodoToolOptions {
	read: () => readonly TodoPhase[];
	replace: (phases: readonly TodoPhase[]) => void;
	/** Whether the list outlives the process. Default: it does. */
	storage?: () => "session" | "memory";
}

const text = (description: string) => Type.Optional(Type.String({ description }));
const status = Type.Optional(Type.Enum([...todoStatuses]));
const task = Type.Object({ content: Type.String(), status, notes: text("A remark."), details: text("How to do it.") });

/** One flat object per change: unions are what models and providers get wrong. */
const parameters = Type.Object({
	ops: Type.Array(
		Type.Object({
			op: Type.Enum([...todoOps]),
			phases: Type.Optional(
				Type.Array(Type.Object({ name: Type.String(), tasks: Type.Optional(Type.Array(task)) }), { description: "replace: the new plan." }),
			),
			name: text("add_phase: its name."),
			tasks: Type.Optional(Type.Array(task, { description: "add_phase: its tasks." })),
			phase: text("add_task: id of the phase, such as phase-1."),
			id: text("update, remove_task: id of the task, such as task-1."),
			content: text("add_task, update: what is to be done."),
			status,
			notes: text("add_task, update: a remark."),
			details: text("add_task, update: how to do it."),
		}),
		{ description: "Changes, applied in order." },
	),
});

export function todoTool({ read, replace, storage = () => "session" }: TodoToolOptions): Tool {
	let used: UsedNumbers | undefined;
	return {
		name: "todo_write",
		label: "Todo",
		effect: { kind: "none" },
		offered: "default",
		view: { kind: "other", glyph: "☑", plan: true },
		description:
			"Keep the plan of a task that has several steps; the user sees it. Start with replace and all phases and tasks, then update tasks as you work: completed as soon as something is done, abandoned when it is not needed any more. One task is in progress at a time; the next one is started for you.",
		hint: "Keep a plan of phases and tasks",
		parameters: { ...parameters },
		concurrency: "exclusive",
		async execute({ args }) {
			const changed = applyTodoOps(read(), (args as Static<typeof parameters>).ops, used);
			used = changed.used;
			replace(changed.phases);
			return textResult(describe(changed.phases, changed.errors), { phases: changed.phases, storage: storage() });
		},
	};
}

/** Open items, the one in progress, and the whole plan. */
function describe(phases: readonly TodoPhase[], errors: readonly string[]): string {
	const lines = errors.length > 0 ? [`Errors: ${errors.join("; ")}`] : [];
	if (phases.length === 0) return [...lines, "The todo list is empty."].join("\n");
	const open = phases.flatMap((phase) => phase.tasks.filter((item) => !isDone(item)).map((item) => ({ item, phase })));
	lines.push(open.length > 0 ? `Remaining items (${open.length}):` : "Remaining items: none.");
	for (const { item, phase } of open) {
		lines.push(`  - ${item.id} ${item.content} [${item.status}] (${phase.name})`);
		if (item.status === "in_progress" && item.details) lines.push(...item.details.split("\n").map((line) => `      ${line}`));
	}
	const current = open.find(({ item }) => item.status === "in_progress")?.phase ?? open[0]?.phase;
	if (current) {
		const done = current.tasks.filter(isDone).length;
		lines.push(`Phase ${phases.indexOf(current) + 1} of ${phases.length}, ${current.name}: ${done} of ${current.tasks.length} tasks done.`);
	}
	for (const phase of phases) lines.push("", `${phase.name} (${phase.id}):`, ...phase.tasks.map(row));
	return lines.join("\n");
}

const marks = { pending: " ", in_progress: ">", completed: "x", abandoned: "-" } as const;

function row({ id, content, status, notes }: TodoItem): string {
	return `  [${marks[status]}] ${id} ${content}${notes ? ` (${notes})` : ""}`;
}
