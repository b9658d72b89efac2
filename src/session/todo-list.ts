/** The todo list of one session. It removes tasks some time after they are done. */
import { isDone, todosFromHost, withoutDone, withoutTasks } from "../protocol/todo-changes.ts";
import type { TodoItem, TodoPhase } from "../protocol/todos.ts";

export interface TodoListOptions {
	/** `tasks.todoClearDelay`: seconds until what is done is removed; 0 at once, less never. */
	clearDelay: () => number;
	/** Called once for everything that was removed together. */
	onAutoClear: () => void;
	now?: () => number;
}

/** The list of one session. Each value it gives stays as it is. */
export class TodoList {
	#options: TodoListOptions;
	#now: () => number;
	#phases: readonly TodoPhase[] = [];
	/** When a done task is removed. By object: ids start over with a new plan, and an old time must not reach a new task. */
	#due = new Map<TodoItem, number>();
	#timer: NodeJS.Timeout | undefined;

	constructor(options: TodoListOptions) {
		this.#options = options;
		this.#now = options.now ?? Date.now;
	}

	read(): readonly TodoPhase[] {
		return this.#phases;
	}

	/** Takes a list that is already in order: from the tool, or empty for a new session. */
	replace(phases: readonly TodoPhase[]): void {
		this.#phases = phases;
		const delay = this.#options.clearDelay();
		const done = phases.flatMap((phase) => phase.tasks.filter(isDone));
		const dueAt = this.#now() + Math.min(delay, 2_000_000) * 1000;
		this.#due = new Map(delay < 0 ? [] : done.map((task) => [task, this.#due.get(task) ?? dueAt]));
		this.#schedule();
	}

	/** Takes a list from the host. Returns it as it was taken, or what is wrong with it; then the old one stays. */
	set(value: unknown): { phases: readonly TodoPhase[] } | { problem: string } {
		const read = todosFromHost(value);
		if ("phases" in read) this.replace(read.phases);
		return read;
	}

	/** Takes the list that a session file ended with. */
	restore(phases: readonly TodoPhase[]): void {
		this.replace(withoutDone(phases));
	}

	/** Cancels the timer; nothing is removed after that. */
	dispose(): void {
		this.#due.clear();
		this.#schedule();
	}

	#schedule(): void {
		clearTimeout(this.#timer);
		this.#timer = undefined;
		if (this.#due.size === 0) return;
		const wait = Math.max(0, Math.min(...this.#due.values()) - this.#now());
		this.#timer = setTimeout(() => this.#clear(), wait).unref();
	}

	#clear(): void {
		const now = this.#now();
		const isDue = (task: TodoItem) => (this.#due.get(task) ?? Number.POSITIVE_INFINITY) <= now;
		const left = withoutTasks(this.#phases, isDue);
		const hasChanged = left.some((phase, index) => phase !== this.#phases[index]) || left.length !== this.#phases.length;
		this.replace(left);
		if (hasChanged) this.#options.onAutoClear();
	}
}
