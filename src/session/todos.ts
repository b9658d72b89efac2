/** The todo list in a session's file: stored when the host sets it, found again when the session is opened. */
import { todosFromHost } from "../lib/todos.ts";
import type { TodoPhase } from "../protocol/todos.ts";
import type { EntryBody } from "../transcript/entries.ts";
import { todosEntry } from "../transcript/projection.ts";
import type { Transcript } from "../transcript/transcript.ts";

export function todosBody(phases: readonly TodoPhase[]): EntryBody {
	return { type: "custom", customType: "todos", data: { phases } };
}

/** The list that the session ended with; empty when there is none that can be read. */
export function storedTodos({ branch }: Transcript): readonly TodoPhase[] {
	const entry = todosEntry(branch);
	const holder = entry?.type === "custom" ? entry.data : entry?.message.role === "toolResult" ? entry.message.details : undefined;
	const read = todosFromHost((holder as { phases?: unknown } | undefined)?.phases ?? []);
	return "phases" in read ? read.phases : [];
}
