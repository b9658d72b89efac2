/** The visible plan. */
import type { Static } from "typebox";
import { list, optional, shape, text, words } from "./define.ts";
import { todoStatuses } from "./todo-changes.ts";

export const TodoStatus = words(...todoStatuses);

export const TodoItem = shape("TodoItem", "One thing to do.", {
	id: text(),
	content: text(),
	status: TodoStatus,
	notes: optional(text()),
	details: optional(text()),
	blocker: optional(text({ description: "What it waits for." })),
});

export const TodoPhase = shape("TodoPhase", "A group of things to do.", {
	id: text(),
	name: text(),
	tasks: list(TodoItem),
});

export const TodoPhaseInput = shape("TodoPhaseInput", "A phase as hosts send it; ids, status and tasks are filled in.", {
	id: optional(text()),
	name: text(),
	tasks: optional(
		list(
			shape("TodoItemInput", "A task as hosts send it.", {
				id: optional(text()),
				content: text(),
				status: optional(TodoStatus),
				notes: optional(text()),
				details: optional(text()),
				blocker: optional(text()),
			}),
		),
	),
});

export type TodoItem = Static<typeof TodoItem>;
export type TodoPhase = Static<typeof TodoPhase>;
