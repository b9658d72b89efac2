/** Reports what the subagents of one call are doing, at a limited rate. */
import type { ToolResult } from "../protocol/messages.ts";
import type { Usage } from "../protocol/model.ts";
import type { ChildWatch } from "./child-run.ts";

export type TaskStatus = "pending" | "running" | "completed" | "failed" | "aborted";

/** A member of `details.progress`. */
export interface TaskProgress {
	index: number;
	id: string;
	agent: string;
	description: string;
	status: TaskStatus;
	currentTool?: string;
	/** Its arguments in a few words. */
	currentToolArgs?: string;
	/** When the tool was called, and when the task began: milliseconds since 1970. */
	currentToolStartMs?: number;
	startMs?: number;
	recentTools: { tool: string; args: string; endMs: number }[];
	recentOutput: string[];
	toolCount: number;
	tokens: number;
	cost: number;
	durationMs: number;
}

const intervalMs = 150;
const recentTools = 5;
const recentLines = 8;
const longestLine = 200;
const longestArguments = 80;

export interface ProgressOptions {
	tasks: readonly Pick<TaskProgress, "id" | "agent" | "description">[];
	/** What else an update contains. */
	details: (progress: TaskProgress[]) => object;
	onUpdate: (partial: ToolResult) => void;
	now: () => number;
}

export class Progress {
	#options: ProgressOptions;
	#tasks: TaskProgress[];
	#timer: NodeJS.Timeout | undefined;
	#lastAt = Number.NEGATIVE_INFINITY;
	#isOver = false;

	constructor(options: ProgressOptions) {
		this.#options = options;
		const fresh = { status: "pending" as const, recentTools: [], recentOutput: [], toolCount: 0, tokens: 0, cost: 0, durationMs: 0 };
		this.#tasks = options.tasks.map((task, index) => ({ index, ...task, ...structuredClone(fresh) }));
	}

	begin(index: number): void {
		this.#change(index, { status: "running", startMs: this.#options.now() });
	}

	end(index: number, status: TaskStatus): void {
		this.#change(index, { ...this.#toolEnded(index), status });
		// The result contains the rest.
		if (this.#tasks.every(isOver)) this.close();
	}

	/** Follows a run of a child. The usage of a repair run is added to the usage before it. */
	watch(index: number): ChildWatch {
		const { tokens, cost } = this.#task(index);
		return {
			tool: (name, args) => {
				const running = { currentTool: name, currentToolArgs: preview(args), currentToolStartMs: this.#options.now() };
				this.#change(index, { ...this.#toolEnded(index), ...running, toolCount: this.#task(index).toolCount + 1 });
			},
			turn: (text, usage: Usage) => {
				const lines = text.split("\n").filter((line) => line.trim() !== "");
				const recentOutput = [...this.#task(index).recentOutput, ...lines.map((line) => line.slice(0, longestLine))].slice(-recentLines);
				const used = { tokens: tokens + usage.totalTokens, cost: cost + usage.cost.total };
				this.#change(index, { ...this.#toolEnded(index), ...used, recentOutput });
			},
		};
	}

	/** Reports at once what is waiting. */
	flush(): void {
		if (!this.#timer) return;
		clearTimeout(this.#timer);
		this.#tell();
	}

	/** Ends the reports. */
	close(): void {
		this.#isOver = true;
		clearTimeout(this.#timer);
	}

	#task(index: number): TaskProgress {
		return this.#tasks[index] as TaskProgress;
	}

	#toolEnded(index: number): Partial<TaskProgress> {
		const { currentTool, currentToolArgs = "", recentTools: before } = this.#task(index);
		const none = { currentTool: undefined, currentToolArgs: undefined, currentToolStartMs: undefined };
		if (currentTool === undefined) return none;
		const ended = { tool: currentTool, args: currentToolArgs, endMs: this.#options.now() };
		return { ...none, recentTools: [...before, ended].slice(-recentTools) };
	}

	#change(index: number, change: Partial<TaskProgress>): void {
		if (this.#isOver) return;
		const now = this.#options.now();
		const before = this.#task(index);
		const startMs = change.startMs ?? before.startMs;
		this.#tasks[index] = { ...before, ...change, durationMs: startMs === undefined ? 0 : now - startMs };
		if (this.#timer || this.#tasks.every(isOver)) return;
		const wait = this.#lastAt + intervalMs - now;
		if (wait <= 0) this.#tell();
		else this.#timer = setTimeout(() => this.#tell(), wait);
	}

	#tell(): void {
		this.#timer = undefined;
		this.#lastAt = this.#options.now();
		const count = this.#tasks.filter(({ status }) => status === "running").length;
		const text = `${count} of ${this.#tasks.length} ${this.#tasks.length === 1 ? "agent" : "agents"} running`;
		this.#options.onUpdate({ content: [{ type: "text", text }], details: this.#options.details(this.#tasks.map((task) => ({ ...task }))) });
	}
}

const isOver = ({ status }: TaskProgress) => status !== "pending" && status !== "running";

/** The most informative text about a call, on one line. */
function preview(args: Record<string, unknown>): string {
	const value = Object.values(args).find((each) => typeof each === "string") ?? JSON.stringify(args);
	const line = String(value).replace(/\s+/g, " ").trim();
	return line.length > longestArguments ? `${line.slice(0, longestArguments - 1)}…` : line;
}
