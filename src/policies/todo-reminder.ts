/** Asks the model to go on when it stops with open todos. */
import type { Emit, Outcome, Policy } from "../agent/contracts.ts";
import type { AssistantMessage, DeveloperMessage } from "../protocol/messages.ts";
import { openTodos } from "../protocol/todo-changes.ts";
import type { TodoPhase } from "../protocol/todos.ts";

export interface TodoReminderOptions {
	settings: () => { enabled: boolean; reminders: boolean; max: number };
	todos: () => readonly TodoPhase[];
	/** Whether the model has `todo_write` to answer with. */
	isToolActive: () => boolean;
	/** Queued user messages come first. */
	hasQueued: () => boolean;
	emit: Emit;
	now: () => number;
}

export function todoReminderPolicy(options: TodoReminderOptions): Policy {
	/** Reminders since the last user message. */
	let count = 0;
	/** Whether a tool was called since the last reminder. If two reminders led to no work, a third will not help either. */
	let hasWorked = false;

	const isDue = ({ last, failure }: Outcome): boolean => {
		const { enabled, reminders, max } = options.settings();
		if (!enabled || !reminders || count >= max || (count > 0 && !hasWorked)) return false;
		if (failure || last?.stopReason !== "stop" || last.content.some((block) => block.type === "toolCall")) return false;
		if (!options.isToolActive() || options.hasQueued() || asksTheUser(last)) return false;
		return openTodos(options.todos()).length > 0;
	};

	return {
		name: "todo-reminder",
		observe(event) {
			if (event.type === "tool_execution_start") hasWorked = true;
			if (event.type === "message_start" && event.message.role === "user" && !event.message.synthetic) count = 0;
		},
		foresee: isDue,
		async settle(outcome, gap) {
			if (gap.aborted || !isDue(outcome)) return undefined;
			count += 1;
			hasWorked = false;
			const { max } = options.settings();
			const todos = openTodos(options.todos());
			options.emit({ type: "todo_reminder", todos, attempt: count, maxAttempts: max });
			const reminder: DeveloperMessage = { role: "developer", content: reminderText(options.todos(), count, max), timestamp: options.now() };
			return { dropFailedReply: false, due: Promise.resolve(true), messages: [reminder] };
		},
	};
}

/** A question at the end is for the user to answer, whatever marks follow it. */
function asksTheUser(message: AssistantMessage): boolean {
	const text = message.content.findLast((block) => block.type === "text")?.text ?? "";
	return /[?？؟][\s"'”’»*_)\]`~]*$/.test(text.slice(-64));
}

function reminderText(phases: readonly TodoPhase[], attempt: number, max: number): string {
	const groups = phases.flatMap((phase) => {
		const open = openTodos([phase]);
		return open.length === 0 ? [] : [`${phase.name}:\n${open.map(({ id, content, status }) => `- ${id} ${content} [${status}]`).join("\n")}`];
	});
	return [
		`You stopped, but there are open items on your todo list (reminder ${attempt} of ${max}):`,
		...groups,
		"Go on and finish them. If they are done already or not needed any more, update the list with todo_write.",
	].join("\n\n");
}
