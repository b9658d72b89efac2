/** The todo list in a session's file: stored when the host sets it, found again when the session is opened. */
import { CommandError } from "../protocol/command-error.ts";
import { todosFromHost } from "../protocol/todo-changes.ts";
import type { TodoPhase } from "../protocol/todos.ts";
import type { EntryBody } from "../transcript/entries.ts";
import { todosEntry } from "../transcript/projection.ts";
import type { Transcript } from "../transcript/transcript.ts";
import type { TodoList } from "./todo-list.ts";

/** Takes the list as the host wants it; in the file first. */
export function replaceTodos(todos: TodoList, value: unknown, append: (entry: EntryBody) => void): readonly TodoPhase[] {
	const read = todosFromHost(value);
	if ("problem" in read) throw new CommandError("bad_field", `set_todos: ${read.problem}`);
	append({ type: "custom", customType: "todos", data: { phases: read.phases } });
	todos.replace(read.phases);
	return todos.read();
}

/** The list that the session ended with; empty when there is none that can be read. */
export function storedTodos({ branch }: Transcript): readonly TodoPhase[] {
	const entry = todosEntry(branch);
	const holder = entry?.type === "custom" ? entry.data : entry?.message.role === "toolResult" ? entry.message.details : undefined;
	const read = todosFromHost((holder as { phases?: unknown } | undefined)?.phases ?? []);
	return "phases" in read ? read.phases : [];
}
