/** Messages about the todo list that go with a prompt: make a plan first, if settings say so; the last attempt to change it failed. */
import type { Policy, Preface } from "../agent/contracts.ts";
import type { CustomMessage } from "../protocol/messages.ts";
import type { TodoPhase } from "../protocol/todos.ts";

export interface TodoPreludeOptions {
	/** `todo.eager`. */
	isEager: () => boolean;
	todos: () => readonly TodoPhase[];
	/** Whether the model has `todo_write`. */
	isToolActive: () => boolean;
	/** Whether nothing has been said in this session yet. */
	isBeginning: () => boolean;
	/** Whether the conversation, which may be another one by now, holds the result of this call. */
	holdsCall: (toolCallId: string) => boolean;
	now: () => number;
}

const tool = "todo_write";

export function todoPreludePolicy(options: TodoPreludeOptions): Policy {
	const { isEager, todos, isToolActive, isBeginning, holdsCall, now } = options;
	/** The call that failed, when none has succeeded since. */
	let failed: string | undefined;
	const said = (customType: string, content: string): CustomMessage => ({ role: "custom", customType, content, display: false, timestamp: now() });

	return {
		name: "todo-prelude",
		observe(event) {
			if (event.type === "tool_execution_end" && event.toolName === tool) failed = event.isError ? event.toolCallId : undefined;
		},
		async preface(): Promise<Preface | undefined> {
			const last = failed;
			failed = undefined;
			if (!isToolActive()) return undefined;
			if (last !== undefined && holdsCall(last)) {
				return { messages: [said("todo-note", `Your last ${tool} call failed, so the user sees the plan as it was before. Bring it up to date.`)] };
			}
			if (!isEager() || !isBeginning() || todos().length > 0) return undefined;
			const wish = `Before you do anything else, plan your work with ${tool}: phases, and tasks in each. Then begin, and keep the plan up to date.`;
			return { messages: [said("todo-prelude", wish)], tool };
		},
	};
}
