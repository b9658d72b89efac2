/** The tool that sends subagents. Only what the model is shown; the rest is loaded with the first call. */
import type { Tool } from "../agent/contracts.ts";
import { sendable, type TaskParts, taskToolName } from "./dependencies.ts";
import { taskParameters } from "./parameters.generated.ts";
import { Slots } from "./slots.ts";

/** Subagents are ended within seconds; to capture what they did to a large repository takes longer. */
const abortPatienceMs = 60_000;

export function taskTool(parts: TaskParts): Tool {
	const slots = new Slots({ limit: () => parts.setting("task.maxConcurrency"), isSubagent: parts.depth > 0 });
	const isIsolating = parts.setting("task.isolation.mode") !== "none";
	return {
		name: taskToolName,
		label: "Task",
		effect: { kind: "run", delegates: true },
		offered: "default",
		view: { kind: "think", glyph: "⇉", tasks: true },
		description: description(parts, isIsolating),
		hint: "Send subagents to do pieces of work, several at once",
		parameters: parameters(isIsolating),
		concurrency: "shared",
		abortPatienceMs,
		// A call without tasks is answered in words, as other mistakes of this kind are.
		adapt: (args) => ({ tasks: [], ...args }),
		async execute(call) {
			const { runTasks } = await import("./task-call.ts");
			return runTasks(parts, slots, call);
		},
	};
}

function description(parts: TaskParts, isIsolating: boolean): string {
	const lines = [
		"Send subagents: each gets a task, works on it with a context of its own, and hands in a result. All tasks of a call run side by side and are given to the same kind of agent; the call ends when all have ended.",
		"A subagent knows nothing of this conversation. Its assignment, together with context, must say everything: the goal, the files that matter, what to leave alone, how to know that it is done.",
		"Tasks of one call must not depend on each other, and must not change the same files.",
		...(isIsolating
			? [
					"With isolated each task works in a copy of the repository, and what it changed is merged when all have ended; verify names checks that its work must pass first.",
				]
			: []),
		...(parts.setting("task.eager") ? ["Use it freely: for research, and for every piece of work that can be done apart from the others."] : []),
		`Agents:\n${sendable(parts)
			.map(({ name, description }) => `- ${name}: ${description}`)
			.join("\n")}`,
	];
	return lines.join("\n\n");
}

function parameters(isIsolating: boolean): Record<string, unknown> {
	const { properties, required } = taskParameters;
	const { isolated: _, verify: __, ...always } = properties;
	return { type: "object", properties: isIsolating ? properties : always, required };
}
