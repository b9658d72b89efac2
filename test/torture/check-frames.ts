/** Rules that the frames of one process must keep, whatever was done to it. Pure. */
import { checkPermissions } from "./check-permissions.ts";
import type { Frame, Happening, Life } from "./host.ts";
import { isCommand } from "./play.ts";

export function checkFrames(life: Life): string[] {
	// A process that was killed, or whose last output was not read, may have left anything open.
	const isWhole = life.ending?.how === "eof" && life.ending.code === 0 && isRead(life.trace);
	const balance = new Balance(life.hadTrouble);
	for (const { way, frame } of life.trace) if (way === "<") balance.hear(frame);
	return [
		...balance.problems,
		...(isWhole ? balance.open() : []),
		...answers(life, isWhole),
		...prompts(life, isWhole),
		...checkPermissions(life, isWhole),
		...calm(life),
		...end(life),
	];
}

function isRead(trace: readonly Happening[]): boolean {
	return trace.findLast(({ way, frame }) => way === "!" && frame.type.startsWith("reads"))?.frame.type !== "reads no more";
}

/** Every start has its end, in the right order. */
class Balance {
	readonly problems: string[] = [];
	/** Results that cannot be stored are not reported. */
	#mayLackResults: boolean;
	#isRunning = false;
	#isInTurn = false;
	#message: string | undefined;
	#calls = new Set<string>();
	#resultsOwed: string[] = [];
	#isSettledOwed = false;
	#isRetrying = false;
	#isCompacting = false;
	#subagents = new Set<string>();

	constructor(mayLackResults: boolean) {
		this.#mayLackResults = mayLackResults;
	}

	hear(frame: Frame): void {
		const role = (frame.message as { role?: string } | undefined)?.role;
		const call = String(frame.toolCallId);
		switch (frame.type) {
			case "not a frame":
				return this.#expect(false, `stdout carries what is no frame: ${String(frame.line).slice(0, 200)}`);
			case "agent_start":
				this.#expect(!this.#isRunning, "agent_start inside a run");
				this.#isRunning = true;
				this.#isSettledOwed = true;
				return;
			case "agent_end":
				// A prompt that was aborted before its run began has an end without a start.
				if (!this.#isRunning && (frame.messages as unknown[] | undefined)?.length === 0) {
					this.#isSettledOwed = true;
					return;
				}
				this.#expect(this.#isRunning, "agent_end without agent_start");
				this.#expect(this.#subagents.size === 0, `agent_end while subagents run: ${[...this.#subagents]}`);
				this.#expect(!this.#isInTurn && !this.#message && this.#calls.size === 0, `agent_end with something open: ${this.open()}`);
				this.#expect(this.#mayLackResults || this.#resultsOwed.length === 0, `agent_end without the results of ${this.#resultsOwed}`);
				this.#resultsOwed = [];
				this.#isRunning = false;
				return;
			case "agent_settled":
				this.#expect(!this.#isRunning && this.#isSettledOwed, "agent_settled without a run before it");
				this.#expect(!this.#isRetrying && !this.#isCompacting, "agent_settled while something automatic is open");
				this.#isSettledOwed = false;
				return;
			case "turn_start":
				this.#expect(this.#isRunning && !this.#isInTurn, "turn_start outside a run or inside a turn");
				this.#isInTurn = true;
				return;
			case "turn_end":
				this.#expect(this.#isInTurn && this.#calls.size === 0, "turn_end outside a turn or with open calls");
				this.#isInTurn = false;
				return;
			case "message_start":
				this.#expect((this.#isInTurn || role === "custom") && !this.#message, `message_start of ${role} inside another message or outside a turn`);
				this.#message = role;
				return;
			case "message_update":
				return this.#expect(this.#message === "assistant", "message_update outside a reply");
			case "message_end":
				this.#expect(this.#message === role, `message_end of ${role} for ${this.#message}`);
				this.#message = undefined;
				if (role === "toolResult") this.#result(frame.message as { toolCallId: string });
				return;
			case "tool_execution_start":
				this.#expect(this.#isInTurn && !this.#calls.has(call), `tool_execution_start of ${call} twice or outside a turn`);
				this.#calls.add(call);
				this.#resultsOwed.push(call);
				return;
			case "tool_execution_update":
				return this.#expect(this.#calls.has(call), `tool_execution_update of ${call}, which is not running`);
			case "tool_execution_end":
				return this.#expect(this.#calls.delete(call), `tool_execution_end of ${call}, which is not running`);
			case "auto_retry_start":
				this.#expect(!this.#isRunning, "auto_retry_start inside a run");
				this.#isRetrying = true;
				return;
			case "auto_retry_end":
				this.#expect(this.#isRetrying, "auto_retry_end without a start");
				this.#isRetrying = false;
				return;
			case "subagent_start":
				this.#expect(!this.#subagents.has(String(frame.id)), `subagent_start of ${frame.id} twice`);
				this.#subagents.add(String(frame.id));
				return;
			case "subagent_end":
				return this.#expect(this.#subagents.delete(String(frame.id)), `subagent_end of ${frame.id} without a start`);
			case "auto_compaction_start":
				this.#expect(!this.#isCompacting, "auto_compaction_start twice");
				this.#isCompacting = true;
				return;
			case "auto_compaction_end":
				this.#expect(this.#isCompacting, "auto_compaction_end without a start");
				this.#isCompacting = false;
				return;
		}
	}

	/** Everything that has begun and not ended. */
	open(): string[] {
		return [
			...(this.#isRunning ? ["a run has no end"] : []),
			...(this.#isInTurn ? ["a turn has no end"] : []),
			...(this.#message ? [`a message of ${this.#message} has no end`] : []),
			...[...this.#calls].map((call) => `the call ${call} has no end`),
			...(this.#isSettledOwed && !this.#isRunning ? ["a busy period was not settled"] : []),
			...(this.#isRetrying ? ["a retry has no end"] : []),
			...(this.#isCompacting ? ["a compaction has no end"] : []),
			...[...this.#subagents].map((id) => `the subagent ${id} has no end`),
		];
	}

	/** Results come in the order of the calls. A result that could not be stored is not reported. */
	#result({ toolCallId }: { toolCallId: string }): void {
		this.#expect(this.#resultsOwed[0] === toolCallId, `the result of ${toolCallId} came when that of ${this.#resultsOwed[0]} was due`);
		this.#resultsOwed = this.#resultsOwed.filter((id) => id !== toolCallId);
	}

	#expect(holds: boolean, problem: string): void {
		if (!holds) this.problems.push(problem);
	}
}

const responses = (life: Life, id: string | undefined) =>
	life.trace.flatMap(({ way, frame }) => (way === "<" && frame.type === "response" && frame.id === id ? [frame] : []));

/** Each command with an id is answered once; prompts may fail after their success response. */
function answers(life: Life, isWhole: boolean): string[] {
	return life.trace.flatMap(({ way, frame }) => {
		if (way !== ">" || !isCommand(frame)) return [];
		const given = responses(life, frame.id);
		if (given.length === 0) return isWhole ? [`${frame.type} ${frame.id} was not answered`] : [];
		if (given.length === 1) return [];
		const isLate = given.length === 2 && given[0]?.success === true && given[1]?.success === false && /prompt$/.test(frame.type);
		return isLate ? [] : [`${frame.type} ${frame.id} was answered ${given.length} times`];
	});
}

const moving = new Set(["new_session", "switch_session", "fork", "branch", "clone", "open_session", "clear_queue"]);
const saying = new Set(["prompt", "abort_and_prompt", "steer", "follow_up"]);

/** Every accepted prompt was delivered once, failed with its id, was handled, or is still queued. */
function prompts(life: Life, isWhole: boolean): string[] {
	const problems: string[] = [];
	const queued = lastQueues(life);
	// An extension goes to another session without notice to the host, and does not carry over the queued messages.
	const mayDrop = life.trace.some(({ way, frame }) => way === ">" && /^\/move (new|fork|tree|summary)/.test(String(frame.message)));
	const delivered = life.trace.flatMap(({ way, frame }) => (way === "<" && frame.type === "message_end" ? [textOf(frame.message)] : []));
	for (const { way, frame } of life.trace) {
		if (way !== ">" || !saying.has(frame.type)) continue;
		const text = String(frame.message);
		const [ack, late] = responses(life, frame.id);
		if (!ack || text.startsWith("/")) continue;
		const count = delivered.filter((each) => each === text).length;
		if (count > 1) problems.push(`"${text}" was delivered ${count} times`);
		if (!isWhole || ack.success !== true) continue;
		const isTaken = text.includes("taken at input") && frame.type !== "steer" && frame.type !== "follow_up";
		const isDropped = life.trace.some(
			({ way: other, frame: { type, command, success, data } }, index) =>
				other === "<" &&
				type === "response" &&
				moving.has(String(command)) &&
				success === true &&
				index > life.trace.findIndex((each) => each.frame === ack) &&
				(data as { cancelled?: boolean })?.cancelled !== true,
		);
		const fates = [count > 0, late?.success === false, queued.includes(text)].filter(Boolean).length;
		if (fates > 1) problems.push(`"${text}" has ${fates} fates`);
		// Where nothing can be stored, nothing is delivered: the run says so instead.
		if (fates === 0 && !isTaken && !isDropped && !mayDrop && !life.hadTrouble) problems.push(`"${text}" was accepted and nothing came of it`);
	}
	return problems;
}

function lastQueues(life: Life): string[] {
	const { frame } = life.trace.findLast(({ way, frame: { type } }) => way === "<" && type === "queue_update") ?? {};
	return [...((frame?.steering as string[]) ?? []), ...((frame?.followUp as string[]) ?? [])];
}

function textOf(message: unknown): string {
	const { role, content } = message as { role: string; content: { text?: string }[] | string };
	if (role !== "user") return "";
	return typeof content === "string" ? content : (content[0]?.text ?? "");
}

/** The reported and visible state of a program that was stopped. */
function calm(life: Life): string[] {
	if (!life.wasCalmed) return [];
	const problems: string[] = [];
	const [state] = responses(life, "calm state");
	const { isStreaming, isCompacting, pendingMessageCount } = (state?.data ?? {}) as Record<string, unknown>;
	if (isStreaming !== false || isCompacting !== false)
		problems.push(`after an abort it is busy: streaming ${isStreaming}, compacting ${isCompacting}`);
	if (pendingMessageCount !== lastQueues(life).length) {
		problems.push(`${pendingMessageCount} messages are counted as queued, and ${JSON.stringify(lastQueues(life))} were told`);
	}
	const noted = (type: string) => life.trace.findLast(({ way, frame }) => way === "!" && frame.type === type)?.frame;
	const children = ((noted("children")?.lines as string[]) ?? []).filter((line) => !line.includes("sleep 301") && !line.includes("bowline-watchdog"));
	if (children.length) problems.push(`after an abort these run: ${children.join(" | ")}`);
	const told = life.trace.findLast(({ frame }) => String(frame.message).startsWith("resources "))?.frame.message as string | undefined;
	const resources = told ? (JSON.parse(told.slice("resources ".length)) as string[]) : [];
	if (resources.includes("Timeout")) problems.push(`after an abort timers are left: ${resources}`);
	const files = ((noted("open")?.files as string[]) ?? []).filter((name) => /\.jsonl|\.log|\.tmp|\.html/.test(name));
	if (files.length > 1) problems.push(`after an abort these files are open: ${files}`);
	return problems;
}

function end({ ending, stderr }: Life): string[] {
	const problems: string[] = [];
	const codes: Record<string, number | null> = { eof: 0, SIGTERM: 143, SIGKILL: null };
	if (!ending) return ["it has not ended"];
	if (ending.code !== codes[ending.how]) problems.push(`it ended with ${ending.code} by ${ending.how}; stderr: ${stderr.slice(-2000)}`);
	const bug = /bowline: .*(unexpected|could not end cleanly)[\s\S]{0,1500}/.exec(stderr);
	if (bug) problems.push(`it noticed a bug of its own: ${bug[0]}`);
	return problems;
}
