/**
 * When is a prompt done? Some agents send `agent_settled`. Others only send `agent_end`, and a retry or a compaction may follow:
 * the client asks these for their state. The same question detects a prompt that led to no run at all.
 */
import type { AgentMessage, AssistantMessage, CommandParams, CommandResult, EventOf, Response, StopReason } from "../protocol/types.generated.ts";
import type { Exit, Frame } from "./channel.ts";
import type { Connection } from "./connection.ts";
import { ExitError, RequestError, TimeoutError } from "./errors.ts";
import type { JsonSchema } from "./schema-types.ts";
import { after } from "./timer.ts";

export interface WaitOptions {
	/** Default: as long as it takes. */
	timeoutMs?: number;
	signal?: AbortSignal;
}

/** `timeoutMs` and `signal` also abort the run. */
export interface PromptOptions extends Omit<CommandParams<"prompt">, "message" | "outputSchema">, WaitOptions {
	/** JSON Schema of a value to answer with. The outcome has it as `output`. */
	schema?: JsonSchema;
}

/** The outcome of a prompt. */
export interface PromptOutcome<Output = unknown> {
	/** Every message of the runs until the agent was idle again. None when an extension took the prompt. */
	messages: AgentMessage[];
	/** The text of the last reply. */
	text: string;
	/** How the last reply ended; absent when there was none. */
	stopReason: StopReason | undefined;
	/** Why, when it ended in an error or was aborted. */
	errorMessage: string | undefined;
	/** The value that fits `schema`, where one was asked for. */
	output?: Output;
	/** Why there is no such value. */
	outputError?: string;
}

/** Used as the state when the answer got lost: ask again. */
const unknown = { isStreaming: true };

/** The prompt led to no run, or the agent does not know `outputSchema`. */
const noValueText = "The agent reported no value.";

/** The events that tell how a run goes. */
const ofRuns: ReadonlySet<string> = new Set([
	"agent_start",
	"agent_end",
	"agent_settled",
	"auto_retry_start",
	"auto_retry_end",
	"auto_compaction_start",
	"auto_compaction_end",
]);

/** Intervals of asking for the state while no event reports it: the first, and the longest. */
const firstLookMs = 300;
const longestLookMs = 3000;
/** An agent that does not report the outcome of a prompt may need a moment before its state is busy. */
const quietMs = 2000;

class Watch {
	#connection: Connection;
	#done!: (error?: unknown) => void;
	/** Resolves when the agent is idle. */
	readonly over: Promise<void>;
	readonly messages: AgentMessage[] = [];
	/** What the last run said about the value that the prompt asked for. */
	concluded: Pick<PromptOutcome, "output" | "outputError"> = {};
	#promptId: string | undefined;
	/** From here on events concern the awaited run. */
	#isOn: boolean;
	#isPrompt: boolean;
	/** Its state can be trusted at once. */
	#isFrank: boolean;
	#hadRun = false;
	#isRunning = false;
	/** The agent announced that it will continue automatically. */
	#willGoOn = false;
	#isLooking = false;
	#heardAt = 0;
	#lookMs = firstLookMs;
	#timer: NodeJS.Timeout | undefined;
	/** Before the answer: after a lost connection, events of the run may come before the answer that was lost. */
	#early: Frame[] | undefined;

	constructor(connection: Connection, isPrompt: boolean) {
		this.#connection = connection;
		this.#isPrompt = isPrompt;
		this.#isOn = !isPrompt;
		this.#isFrank = !isPrompt;
		const release = connection.observe({ frame: (frame) => this.#hear(frame), exit: (exit) => this.#exit(exit) });
		this.over = new Promise((resolve, reject) => {
			this.#done = (error) => {
				release();
				clearTimeout(this.#timer);
				this.#isOn = false;
				this.#early = undefined;
				this.#promptId = undefined;
				if (error === undefined) resolve();
				else reject(error);
			};
		});
		// The waiting caller gets the error; without one, it is not reported.
		this.over.catch(() => undefined);
	}

	fail(error: unknown): void {
		this.#done(error);
	}

	/** The prompt whose answer opens the watch. */
	follow(id: string): void {
		this.#promptId = id;
		this.#early = [];
	}

	/** Asks for the state now. */
	look(): void {
		clearTimeout(this.#timer);
		if (!this.#isOn || this.#isLooking) return;
		this.#isLooking = true;
		const asked = performance.now();
		const { answer } = this.#connection.ask("get_state", undefined, {});
		answer.then(
			// An agent without this command, or without an answer, can report nothing more.
			(state) => this.#see((state ?? {}) as Partial<CommandResult<"get_state">>, asked),
			(error) => this.#see(error instanceof RequestError ? {} : unknown, asked),
		);
	}

	#see({ isStreaming, isCompacting }: Partial<CommandResult<"get_state">>, asked: number): void {
		this.#isLooking = false;
		if (!this.#isOn) return;
		const isIdle = !isStreaming && !isCompacting && !this.#isRunning && !this.#willGoOn;
		const isSure = this.#hadRun || this.#isFrank || asked - this.#heardAt >= quietMs;
		if (isIdle && isSure) this.#done();
		else this.#lookLater();
	}

	#lookLater(): void {
		clearTimeout(this.#timer);
		this.#timer = setTimeout(() => this.look(), this.#lookMs);
		this.#lookMs = Math.min(this.#lookMs * 2, longestLookMs);
	}

	#exit(exit: Exit): void {
		this.#done(new ExitError(exit, "before it was idle"));
	}

	#hear(frame: Frame): void {
		if (frame.type === "response") this.#answer(frame);
		else if (this.#isOn) this.#event(frame);
		else if (ofRuns.has(frame.type)) this.#early?.push(frame);
	}

	#answer({ id, success, command, data, error, code }: Response): void {
		if (id === undefined || id !== this.#promptId) return;
		if (!success) return this.#done(new RequestError(command, error, code));
		const disposition = (data as CommandResult<"prompt">)?.disposition;
		if (disposition === "handled") return this.#done();
		this.#isFrank = disposition !== undefined;
		this.#isOn = true;
		this.#heardAt = performance.now();
		this.#lookLater();
		this.#hearEarly((data as CommandResult<"prompt">)?.runId);
	}

	#hearEarly(runId: string | undefined): void {
		const early = this.#early ?? [];
		this.#early = undefined;
		const first = early.findIndex((frame) => frame.type === "agent_start" && frame.runId === runId);
		if (runId === undefined || first < 0) return;
		for (const frame of early.slice(first)) if (this.#isOn) this.#event(frame);
	}

	#event(event: Frame): void {
		this.#heardAt = performance.now();
		this.#lookMs = firstLookMs;
		switch (event.type) {
			case "agent_start":
				this.#hadRun = true;
				this.#isRunning = true;
				this.#willGoOn = false;
				clearTimeout(this.#timer);
				return;
			case "agent_end":
				this.#isRunning = false;
				this.messages.push(...messagesOf(event));
				if ("output" in event) this.concluded = { output: event.output };
				else if (event.outputError !== undefined) this.concluded = { outputError: event.outputError };
				// An agent that sends `agent_settled` does so next, and a retry may follow a failed reply.
				if (this.#isFrank || lastReply(messagesOf(event))?.stopReason === "error") this.#lookLater();
				else this.look();
				return;
			case "agent_settled":
				// A caller that waits for idle also waits for a compaction that aborted the run.
				return this.#isPrompt ? this.#done() : this.look();
			case "auto_retry_start":
			case "auto_compaction_start":
				this.#willGoOn = true;
				return;
			case "auto_retry_end":
				this.#willGoOn = false;
				return;
			case "auto_compaction_end":
				this.#willGoOn = event.willRetry;
				return;
		}
	}
}

/** Resolves when the agent is idle and has been answering. */
export async function waitForIdle(connection: Connection, options: WaitOptions): Promise<void> {
	const watch = new Watch(connection, false);
	await within(options, "The agent was not idle", watch, () => watch.look());
}

export async function promptAndWait(
	connection: Connection,
	message: string,
	{ timeoutMs, signal, schema, ...params }: PromptOptions,
	ackTimeoutMs: number,
): Promise<PromptOutcome> {
	const watch = new Watch(connection, true);
	try {
		await within({ timeoutMs, signal }, "The prompt was not done", watch, () => {
			const { id, answer } = connection.ask(
				"prompt",
				{ ...params, message, ...(schema ? { outputSchema: schema } : {}) },
				{ timeoutMs: ackTimeoutMs },
			);
			watch.follow(id);
			answer.catch((error) => watch.fail(error));
		});
	} catch (error) {
		// No caller waits for it any more: the run must not continue unobserved.
		const mayRun = !(error instanceof RequestError || error instanceof ExitError);
		if (mayRun) connection.ask("abort", undefined, {}).answer.catch(() => undefined);
		throw error;
	}
	const outcome = outcomeOf(watch.messages);
	if (!schema) return outcome;
	const { concluded } = watch;
	return { ...outcome, ...("output" in concluded || concluded.outputError !== undefined ? concluded : { outputError: noValueText }) };
}

async function within(options: WaitOptions, what: string, watch: Watch, begin: () => void): Promise<void> {
	const { timeoutMs = 0, signal } = options;
	const onAbort = () => watch.fail(signal?.reason);
	const timer = after(timeoutMs, () => watch.fail(new TimeoutError(`${what} within ${timeoutMs} ms`)));
	signal?.addEventListener("abort", onAbort, { once: true });
	try {
		if (signal?.aborted) onAbort();
		else begin();
		await watch.over;
	} finally {
		clearTimeout(timer);
		signal?.removeEventListener("abort", onAbort);
	}
}

/** Other agents may leave them out. */
function messagesOf({ messages }: EventOf<"agent_end">): AgentMessage[] {
	return Array.isArray(messages) ? messages : [];
}

function outcomeOf(messages: AgentMessage[]): PromptOutcome {
	const reply = lastReply(messages);
	const text = reply?.content.map((block) => (block.type === "text" ? block.text : "")).join("") ?? "";
	return { messages, text, stopReason: reply?.stopReason, errorMessage: reply?.errorMessage };
}

function lastReply(messages: readonly AgentMessage[]): AssistantMessage | undefined {
	return messages.findLast((message): message is AssistantMessage => message.role === "assistant");
}
