/** Changes of the visible plan. Pure: unchanged tasks keep their identity. Without the schema library, because every process loads it. */
import type { TodoItem, TodoPhase } from "./todos.ts";

export const todoStatuses = ["pending", "in_progress", "completed", "abandoned"] as const;
export type TodoStatus = (typeof todoStatuses)[number];

export const todoOps = ["replace", "add_phase", "add_task", "update", "remove_task"] as const;

const statusWords = "pending, in_progress, completed or abandoned";

interface NewTask {
	content?: string;
	status?: string;
	notes?: string;
	details?: string;
}

/** One change, as the model asks for it. Which members an `op` needs is checked when it is applied. */
export interface TodoOp extends NewTask {
	op: (typeof todoOps)[number];
	phases?: { name: string; tasks?: NewTask[] }[];
	name?: string;
	tasks?: NewTask[];
	phase?: string;
	id?: string;
}

/** The highest numbers given to phases and tasks. They are not given again, even after the phase or task is gone. */
export interface UsedNumbers {
	phase: number;
	task: number;
}

export interface Changed {
	phases: TodoPhase[];
	/** Changes that could not be made. All others were made. */
	errors: string[];
	used: UsedNumbers;
}

/** Applies the changes in order, then keeps exactly one task in progress while any is open. */
export function applyTodoOps(before: readonly TodoPhase[], ops: readonly TodoOp[], used: UsedNumbers = { phase: 0, task: 0 }): Changed {
	let phases: readonly TodoPhase[] = before;
	let numbers = atLeast(before, used);
	const errors: string[] = [];

	const newPhase = (name: string, tasks: readonly NewTask[] = []): TodoPhase => {
		numbers = { ...numbers, phase: numbers.phase + 1 };
		return { id: `phase-${numbers.phase}`, name, tasks: tasks.flatMap((task) => newTask(task)) };
	};
	const newTask = ({ content, status = "pending", notes, details }: NewTask): TodoItem[] => {
		if (!content?.trim()) errors.push("A task needs content");
		else if (!isStatus(status)) errors.push(`Unknown status: ${status}. Use ${statusWords}`);
		else {
			numbers = { ...numbers, task: numbers.task + 1 };
			return [{ id: `task-${numbers.task}`, content, status, ...given({ notes, details }) }];
		}
		return [];
	};
	/** Puts something else, or nothing, in a task's place. */
	const changeTask = (id: string | undefined, change: (task: TodoItem) => TodoItem[]) => {
		if (!phases.some((phase) => phase.tasks.some((task) => task.id === id))) errors.push(`Task not found: ${id}`);
		phases = phases.map((phase) =>
			phase.tasks.some((task) => task.id === id)
				? { ...phase, tasks: phase.tasks.flatMap((task) => (task.id === id ? change(task) : [task])) }
				: phase,
		);
	};
	const apply = (op: TodoOp) => {
		switch (op.op) {
			case "replace":
				numbers = { phase: 0, task: 0 };
				phases = (op.phases ?? []).map(({ name, tasks }) => newPhase(name, tasks));
				return;
			case "add_phase":
				if (op.name?.trim()) phases = [...phases, newPhase(op.name, op.tasks)];
				else errors.push("add_phase needs a name");
				return;
			case "add_task": {
				if (!phases.some(({ id }) => id === op.phase)) return void errors.push(`Phase not found: ${op.phase}`);
				const added = newTask({ ...op, status: "pending" });
				phases = phases.map((phase) => (phase.id === op.phase ? { ...phase, tasks: [...phase.tasks, ...added] } : phase));
				return;
			}
			case "update": {
				const { content, status, notes, details } = op;
				if (status !== undefined && !isStatus(status)) return void errors.push(`Unknown status: ${status}. Use ${statusWords}`);
				return changeTask(op.id, (task) => [{ ...task, ...given({ content: content?.trim() ? content : undefined, status, notes, details }) }]);
			}
			case "remove_task":
				return changeTask(op.id, () => []);
			default:
				errors.push(`Unknown op: ${(op as { op: unknown }).op}`);
		}
	};

	for (const op of ops) apply(op);
	return { phases: withOneInProgress(phases), errors, used: numbers };
}

/** Keeps the first task in progress, sets further ones back, and starts the first open one if none is. */
export function withOneInProgress(phases: readonly TodoPhase[]): TodoPhase[] {
	const demoted = withAtMostOneInProgress(phases);
	const tasks = demoted.flatMap((phase) => phase.tasks);
	if (tasks.some((task) => task.status === "in_progress")) return demoted;
	const next = tasks.find((task) => task.status === "pending");
	return next ? mapTasks(demoted, (task) => (task === next ? { ...task, status: "in_progress" } : task)) : demoted;
}

function withAtMostOneInProgress(phases: readonly TodoPhase[]): TodoPhase[] {
	let hasOne = false;
	return mapTasks(phases, (task) => {
		if (task.status !== "in_progress") return task;
		if (hasOne) return { ...task, status: "pending" };
		hasOne = true;
		return task;
	});
}

/** The list as a host sent it, with missing members filled in; or what is wrong with it. */
export function todosFromHost(value: unknown): { phases: TodoPhase[] } | { problem: string } {
	if (!Array.isArray(value)) return { problem: "phases must be a list of todo phases" };
	const sent = value.map((phase) => fieldsOf(phase));
	const taskLists = sent.map(({ tasks }) => (Array.isArray(tasks) ? tasks.map((task) => fieldsOf(task)) : []));
	const taken = [...sent, ...taskLists.flat()].flatMap(({ id }) => (isText(id) ? [id] : []));
	const twice = taken.find((id, index) => taken.indexOf(id) !== index);
	if (twice !== undefined) return { problem: `Todo id ${JSON.stringify(twice)} is used twice` };
	const ids = new Set(taken);
	const freeId = (kind: string, from: number): string => {
		const id = `${kind}-${from}`;
		if (ids.has(id)) return freeId(kind, from + 1);
		ids.add(id);
		return id;
	};

	const phases: TodoPhase[] = [];
	let count = 0;
	for (const [index, { id, name, tasks }] of sent.entries()) {
		if (!isText(name)) return { problem: `Todo phase ${index + 1} must have a non-empty name` };
		if (tasks !== undefined && !Array.isArray(tasks)) return { problem: `The tasks of todo phase ${JSON.stringify(name.trim())} must be a list` };
		const items: TodoItem[] = [];
		for (const task of taskLists[index] ?? []) {
			count += 1;
			const where = `Task ${items.length + 1} of todo phase ${JSON.stringify(name.trim())}`;
			if (!isText(task.content)) return { problem: `${where} must have non-empty content` };
			const status = task.status ?? "pending";
			if (!isStatus(status)) return { problem: `${where} has the status ${JSON.stringify(status)}; use ${statusWords}` };
			const notes = typeof task.notes === "string" ? task.notes : undefined;
			const details = typeof task.details === "string" ? task.details : undefined;
			const blocker = typeof task.blocker === "string" ? task.blocker : undefined;
			items.push({ id: isText(task.id) ? task.id : freeId("task", count), content: task.content, status, ...given({ notes, details, blocker }) });
		}
		phases.push({ id: isText(id) ? id : freeId("phase", index + 1), name: name.trim(), tasks: items });
	}
	return { phases: withAtMostOneInProgress(phases) };
}

/** Everything that is still to be done, without its phases. */
export function openTodos(phases: readonly TodoPhase[]): TodoItem[] {
	return phases.flatMap((phase) => phase.tasks.filter((task) => !isDone(task)));
}

export function isDone({ status }: TodoItem): boolean {
	return status === "completed" || status === "abandoned";
}

/** For a session that is opened again: what was done is not shown any more. */
export function withoutDone(phases: readonly TodoPhase[]): TodoPhase[] {
	return withoutTasks(phases, isDone);
}

/** Without these tasks, and without the phases that this leaves empty. */
export function withoutTasks(phases: readonly TodoPhase[], isGone: (task: TodoItem) => boolean): TodoPhase[] {
	return phases.flatMap((phase) => {
		const tasks = phase.tasks.filter((task) => !isGone(task));
		if (tasks.length === phase.tasks.length) return [phase];
		return tasks.length === 0 ? [] : [{ ...phase, tasks }];
	});
}

function mapTasks(phases: readonly TodoPhase[], change: (task: TodoItem) => TodoItem): TodoPhase[] {
	return phases.map((phase) => {
		const tasks = phase.tasks.map(change);
		return tasks.some((task, index) => task !== phase.tasks[index]) ? { ...phase, tasks } : phase;
	});
}

function atLeast(phases: readonly TodoPhase[], used: UsedNumbers): UsedNumbers {
	const highest = (kind: string, ids: string[]) => {
		const numbers = ids.map((id) => (id.startsWith(`${kind}-`) ? Number(id.slice(kind.length + 1)) : 0));
		return Math.max(0, ...numbers.filter((number) => Number.isSafeInteger(number)));
	};
	const phase = highest(
		"phase",
		phases.map(({ id }) => id),
	);
	const task = highest(
		"task",
		phases.flatMap(({ tasks }) => tasks.map(({ id }) => id)),
	);
	// Nothing is left that could be mistaken for something else.
	if (phases.length === 0) return { phase: 0, task: 0 };
	return { phase: Math.max(phase, used.phase), task: Math.max(task, used.task) };
}

function given<T extends object>(fields: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
	return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as { [Key in keyof T]?: Exclude<T[Key], undefined> };
}

function fieldsOf(value: unknown): Record<string, unknown> {
	return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function isText(value: unknown): value is string {
	return typeof value === "string" && value.trim() !== "";
}

function isStatus(value: unknown): value is TodoStatus {
	return todoStatuses.some((status) => status === value);
}
