/** The subagents of a session: who works on what, and how the work is checked. */
import { fieldsOf, listOf, numberOf, textOf } from "../../page/values.ts";
import type { Frame } from "./link.ts";

export interface Check {
	name: string;
	attempt: number;
	/** Undefined while it runs. */
	exitCode: number | undefined;
	durationMs: number | undefined;
	command: string;
	preview: string;
}

export interface SubagentView {
	id: string;
	taskId: string;
	agent: string;
	description: string;
	status: "running" | "checking" | "done" | "failed";
	currentTool: string;
	recent: string[];
	toolCount: number;
	tokens: number;
	cost: number;
	startedAt: number;
	endedAt: number | undefined;
	checks: Check[];
	verdict: string;
}

/** More than that, and the oldest go. */
const most = 100;

export class SubagentBoard {
	#all = new Map<string, SubagentView>();
	/** Grows with every change. */
	version = 0;

	get all(): SubagentView[] {
		return [...this.#all.values()];
	}

	take(frame: Frame): void {
		const id = textOf(frame.id);
		switch (frame.type) {
			case "subagent_start":
				this.#change(id, { taskId: textOf(frame.taskId), agent: textOf(frame.agent), startedAt: Date.now() });
				break;
			case "subagent_end": {
				const failed = numberOf(frame.exitCode) !== 0;
				this.#change(id, { status: failed ? "failed" : "done", endedAt: Date.now(), currentTool: "", ...verdictOf(frame.verification) });
				break;
			}
			case "subagent_verification_start":
				this.#change(id, { status: "checking", currentTool: "" });
				break;
			case "subagent_verification_command_start": {
				const { checks } = this.#view(id);
				const check = { name: textOf(frame.commandName), attempt: numberOf(frame.attempt), exitCode: undefined, durationMs: undefined };
				this.#change(id, { status: "checking", checks: [...checks, { ...check, command: "", preview: "" }] });
				break;
			}
			case "subagent_verification_command_end": {
				const checks = this.#view(id).checks.map((check) =>
					check.name === frame.commandName && check.attempt === frame.attempt
						? { ...check, exitCode: numberOf(frame.exitCode), durationMs: numberOf(frame.durationMs) }
						: check,
				);
				this.#change(id, { checks });
				break;
			}
			case "subagent_verification_end":
				this.#change(id, { status: "running", verdict: textOf(frame.status) });
				break;
			case "tool_execution_update":
				if (frame.toolName === "task") this.#progress(listOf(fieldsOf(fieldsOf(frame.partialResult).details).progress));
				break;
			case "snapshot":
				this.#restore(fieldsOf(frame.live));
				break;
			default:
		}
	}

	#progress(list: readonly unknown[]): void {
		for (const each of list) {
			const task = fieldsOf(each);
			const view = this.#running(textOf(task.id));
			if (!view) continue;
			const recent = listOf(task.recentTools)
				.map(fieldsOf)
				.map((tool) => `${textOf(tool.tool)} ${textOf(tool.args)}`.trim());
			this.#change(view.id, {
				description: textOf(task.description),
				currentTool: [textOf(task.currentTool), textOf(task.currentToolArgs)].filter(Boolean).join(" "),
				recent,
				toolCount: numberOf(task.toolCount),
				tokens: numberOf(task.tokens),
				cost: numberOf(task.cost),
			});
		}
	}

	/** Progress names the task, events a number and the task. The latest one with that task is meant. */
	#running(taskId: string): SubagentView | undefined {
		return this.#all.get(taskId) ?? [...this.#all.values()].findLast((view) => view.taskId === taskId);
	}

	/** What a snapshot names is at work; everything else that was is over. */
	#restore(live: Record<string, unknown>): void {
		const running = listOf(live.subagents).map(fieldsOf);
		for (const each of running) {
			if (!this.#all.has(textOf(each.id)))
				this.#change(textOf(each.id), { taskId: textOf(each.taskId), agent: textOf(each.agent), startedAt: Date.now() });
		}
		const ids = new Set(running.map((each) => textOf(each.id)));
		for (const view of this.#all.values()) {
			if (view.endedAt === undefined && !ids.has(view.id)) this.#change(view.id, { status: "failed", endedAt: Date.now(), currentTool: "" });
		}
		for (const tool of listOf(live.tools).map(fieldsOf)) {
			if (tool.toolName === "task") this.#progress(listOf(fieldsOf(fieldsOf(tool.partialResult).details).progress));
		}
	}

	#view(id: string): SubagentView {
		return (
			this.#all.get(id) ?? {
				id,
				taskId: "",
				agent: "",
				description: "",
				status: "running",
				currentTool: "",
				recent: [],
				toolCount: 0,
				tokens: 0,
				cost: 0,
				startedAt: Date.now(),
				endedAt: undefined,
				checks: [],
				verdict: "",
			}
		);
	}

	#change(id: string, change: Partial<SubagentView>): void {
		this.#all.set(id, { ...this.#view(id), ...change });
		if (this.#all.size > most) this.#all.delete(this.#all.keys().next().value as string);
		this.version += 1;
	}
}

/** The report at the end has the commands and the last lines of their output. */
function verdictOf(given: unknown): Partial<SubagentView> {
	const { status, attempts } = fieldsOf(given);
	if (typeof status !== "string" || status === "not_requested") return {};
	const checks = listOf(attempts)
		.map(fieldsOf)
		.flatMap((attempt) =>
			listOf(attempt.commandResults)
				.map(fieldsOf)
				.map((result) => ({
					name: textOf(result.name),
					attempt: numberOf(attempt.attempt),
					exitCode: numberOf(result.exitCode),
					durationMs: numberOf(result.durationMs),
					command: textOf(result.command),
					preview: textOf(result.outputPreview),
				})),
		);
	return { verdict: status, ...(checks.length > 0 && { checks }) };
}
