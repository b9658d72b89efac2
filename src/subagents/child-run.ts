/** One subagent: a process of our own program, driven by our own client, from its start until all its processes have ended. */
import { constants } from "node:os";
import type { Writable } from "node:stream";
import type { Budget } from "../agent/contracts.ts";
import { type Submitted, submitToolName } from "../answers/submit-result.ts";
import { type Client, ExitError, type GateHandler, RequestError, startClient } from "../client/index.ts";
import { after } from "../client/timer.ts";
import { onAbort } from "../lib/abort.ts";
import { deferred } from "../lib/deferred.ts";
import type { Program, Shell } from "../lib/shell/index.ts";
import type { AgentEvent, EventOf } from "../protocol/events.ts";
import type { AssistantMessage, ToolResultMessage } from "../protocol/messages.ts";
import type { Usage } from "../protocol/model.ts";
import type { PermissionOrigin } from "../protocol/permissions.ts";
import type { TaskDetails } from "../protocol/subagents.ts";
import type { ChildPermissions } from "./contracts.ts";
import { taskToolName } from "./dependencies.ts";
import { type Inheritance, inheritVariable } from "./inheritance.ts";
import { addUsage, noUsage } from "./usage.ts";

export interface ChildInput {
	program: string;
	shell: Shell;
	cwd: string;
	/** Variables that it does not see. */
	unset: readonly string[];
	prompt: string;
	inheritance: Inheritance;
	/** Where its conversation goes. */
	sessionFile: string | undefined;
	/** Milliseconds; 0 means no limit. */
	maxRuntimeMs: number;
	/** Requests to the model until it is asked to finish; 0 means no limit. */
	softRequestLimit: number;
	budget: Budget | undefined;
	/** Who answers its questions about tool calls, and who it is there. */
	approvals?: { permissions: ChildPermissions; origin: PermissionOrigin };
	/** Receives its events: all of them when it is watched, else those that are read anyway. */
	onEvent?: (event: AgentEvent) => void;
	isWatched?: boolean;
	/** Answers its questions before each step, where its host asks for them. */
	onGate?: GateHandler;
	signal: AbortSignal;
	watch: ChildWatch;
}

/** Receives what the child does. */
export interface ChildWatch {
	tool(name: string, args: Record<string, unknown>): void;
	turn(text: string, usage: Usage): void;
}

export interface ChildOutcome {
	exitCode: number;
	/** The answer; without one, what it said last. */
	output: string;
	/** The end of what it wrote to stderr. */
	stderr: string;
	usage: Usage;
	/** Its own, and those of its subagents. */
	toolCalls: number;
	error?: string;
	aborted?: true;
	abortReason?: string;
}

/** The events that are used; deltas are not among them. */
const wantedEvents = ["agent_start", "agent_settled", "turn_end", "tool_execution_start", "subagent_start", "auto_compaction_end"];
/** How long a child may take to end before it is killed; longer when it has to remove copies of the repository. */
const endMs = 900;
const endWithCopiesMs = 15_000;
/** At this many times the soft limit it is ended. */
const hardLimitFactor = 1.5;

const stopTexts = {
	aborted: "The task was aborted.",
	budget_exceeded: "Stopped because a ceiling of the session's budget was reached.",
	max_runtime: "Stopped because it took longer than task.maxRuntimeMs allows.",
	request_limit: "Stopped because it asked its model more often than task.softRequestLimit allows.",
};
type StopReason = keyof typeof stopTexts;

type End = { how: "submitted" } | { how: "settled" } | { how: "stopped"; reason: StopReason } | { how: "failed"; error: Error };

/** Never rejects: whatever happens to the child is its outcome. */
export async function runChild(input: ChildInput): Promise<ChildOutcome> {
	const { shell, program: path, cwd, unset, inheritance, sessionFile, signal } = input;
	const state = new ChildState(input);
	if (signal.aborted) return state.outcome({ how: "stopped", reason: "aborted" }, "");
	let program: Program;
	try {
		const session = sessionFile === undefined ? ["--no-session"] : ["--session", sessionFile];
		const options = { stdin: "pipe", hasHandoffPipe: true, added: { [inheritVariable]: "3" }, unset } as const;
		program = await shell.start(process.execPath, [path, "--mode", "rpc", ...session], cwd, options);
	} catch (error) {
		return state.outcome({ how: "failed", error: error as Error }, "");
	}
	const handoff = program.child.stdio[3] as Writable;
	// A child that died before it read is noticed by its exit.
	handoff.on("error", () => undefined);
	handoff.end(JSON.stringify(inheritance));
	const patience = {
		get endMs() {
			return state.hasCopies ? endWithCopiesMs : endMs;
		},
		termMs: 200,
	};
	const client = await startClient({
		command: [path],
		spawn: () => program.child,
		waitForReady: false,
		closePatience: patience,
		requestTimeoutMs: 0,
		...(input.onGate && { onGate: input.onGate }),
	});
	const release = input.approvals ? answerQuestions(client, input.approvals) : undefined;
	const end = await state.drive(client);
	release?.();
	const exit = await client.close();
	// A child that exited with 0 has ended its own processes.
	if (exit.code !== 0) await program.end();
	return state.outcome(end, exit.stderr);
}

/** The child's questions go to the agent that sent it. Changes of the mode go down at once. */
function answerQuestions(client: Client, { permissions, origin }: NonNullable<ChildInput["approvals"]>): () => void {
	// A child that is gone answers no command; its end is noticed elsewhere.
	const ignore = () => undefined;
	client.onPermission((request, signal) => permissions.answer({ request, origin }, signal)).catch(ignore);
	return permissions.follow({ setMode: (mode) => void client.request("set_permission_mode", { mode }).catch(ignore) });
}

class ChildState {
	#input: ChildInput;
	#usage = noUsage();
	#toolCalls = 0;
	#requests = 0;
	#last: AssistantMessage | undefined;
	/** The last reply that had any: one that was cut off says nothing. */
	#text = "";
	#submitted: Submitted | undefined;
	#end = deferred<End>();
	/** Whether it has sent subagents into copies. */
	hasCopies = false;

	constructor(input: ChildInput) {
		this.#input = input;
	}

	/** Has no effect when the end is known already: commands to a child that is being ended fail. */
	#fail = (error: Error) => this.#end.resolve({ how: "failed", error });

	/** Resolves when the child must be ended, or has ended. */
	async drive(client: Client): Promise<End> {
		const { prompt, maxRuntimeMs, signal, watch, budget, onEvent, isWatched } = this.#input;
		if (onEvent) client.on("event", onEvent);
		client.on("tool_execution_start", ({ toolName, args }) => {
			this.#spendCalls(1);
			if (toolName === taskToolName && args.isolated === true) this.hasCopies = true;
			watch.tool(toolName, args);
		});
		client.on("subagent_start", () => budget?.spend({ subagents: 1 }));
		client.on("auto_compaction_end", ({ result }) => result?.usage && this.#spend(result.usage));
		client.on("turn_end", (turn) => this.#turn(turn, client));
		const stop = (reason: StopReason) => this.#end.resolve({ how: "stopped", reason });
		const timer = after(maxRuntimeMs, () => stop("max_runtime"));
		const release = onAbort(signal, () => stop("aborted"));
		client.request("set_event_filter", { events: isWatched ? null : wantedEvents }).catch(this.#fail);
		client.promptAndWait(prompt).then(() => this.#end.resolve({ how: "settled" }), this.#fail);
		const end = await this.#end.promise;
		clearTimeout(timer);
		release();
		return end;
	}

	#turn({ message, toolResults }: EventOf<"turn_end">, client: Client): void {
		const { budget, softRequestLimit, watch } = this.#input;
		this.#last = message;
		this.#text = textOf(message) || this.#text;
		this.#requests += 1;
		const usage = noUsage();
		addUsage(usage, message.usage);
		for (const result of toolResults) this.#takeResult(result, usage);
		this.#spend(usage);
		watch.turn(textOf(message), this.#usage);
		if (this.#submitted) return this.#end.resolve({ how: "submitted" });
		if (budget && isSpent(budget)) return this.#end.resolve({ how: "stopped", reason: "budget_exceeded" });
		if (softRequestLimit <= 0) return;
		if (this.#requests >= softRequestLimit * hardLimitFactor) this.#end.resolve({ how: "stopped", reason: "request_limit" });
		else if (this.#requests === softRequestLimit) {
			const warning = `You have asked for ${this.#requests} turns, which is more than this assignment should need. Finish what you are doing and call ${submitToolName} with what you have.`;
			client.request("steer", { message: warning }).catch(this.#fail);
		}
	}

	#spend(usage: Usage): void {
		addUsage(this.#usage, usage);
		this.#input.budget?.spend({ usage });
	}

	#spendCalls(toolCalls: number): void {
		this.#toolCalls += toolCalls;
		this.#input.budget?.spend({ toolCalls });
	}

	/** The answer, and what subagents of the child used. */
	#takeResult({ toolName, isError, details }: ToolResultMessage, usage: Usage): void {
		if (toolName === taskToolName) {
			const { usage: spent, toolCalls } = (details as Partial<TaskDetails> | undefined) ?? {};
			if (spent) addUsage(usage, spent);
			if (toolCalls) this.#spendCalls(toolCalls);
		}
		if (toolName === submitToolName && !isError) this.#submitted = details as Submitted;
	}

	outcome(end: End, stderr: string): ChildOutcome {
		const text = this.#text;
		const common = { exitCode: 1, output: text, stderr, usage: this.#usage, toolCalls: this.#toolCalls };
		if (this.#submitted) return { ...common, ...answerOf(this.#submitted) };
		switch (end.how) {
			case "stopped":
				return { ...common, error: stopTexts[end.reason], aborted: true, abortReason: end.reason };
			case "failed":
				return { ...common, ...failureOf(end.error) };
			default: {
				if (this.#last?.stopReason === "error") return { ...common, error: this.#last.errorMessage ?? "The model failed." };
				const warning = `Warning: the subagent stopped without calling ${submitToolName}, also after reminders. This is what it said last.`;
				const error = `It stopped without calling ${submitToolName}.`;
				return { ...common, output: [warning, text].filter(Boolean).join("\n\n"), error, aborted: true, abortReason: "no_result" };
			}
		}
	}
}

/** A ceiling on the number of subagents keeps others from starting; it does not end those that did. */
function isSpent(budget: Budget): boolean {
	return budget.exceeded !== undefined && Object.entries(budget.remaining()).some(([reason, left]) => reason !== "subagents" && left <= 0);
}

function answerOf(submitted: Submitted): Pick<ChildOutcome, "exitCode" | "output" | "error"> {
	if (submitted.status === "error") return { exitCode: 1, output: "", error: submitted.error };
	const { data, schemaOverridden } = submitted;
	const answer = typeof data === "string" ? data : JSON.stringify(data, null, 2);
	const note = "Note: this result does not have the shape that was asked for.\n\n";
	return { exitCode: 0, output: schemaOverridden ? note + answer : answer };
}

function failureOf(error: Error): Pick<ChildOutcome, "exitCode" | "error"> {
	if (error instanceof RequestError) return { exitCode: 1, error: error.text };
	if (!(error instanceof ExitError)) return { exitCode: 1, error: `The subagent could not be run: ${error.message}` };
	const { exitCode, signal } = error;
	const code = signal === null ? exitCode || 1 : 128 + constants.signals[signal];
	const how = signal === null ? `exited with code ${exitCode}` : `was ended by ${signal}`;
	const said = error.stderr.trim();
	return { exitCode: code, error: `The subagent's process ${how} before it was done.${said === "" ? "" : `\n${said}`}` };
}

function textOf({ content }: AssistantMessage): string {
	return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}
