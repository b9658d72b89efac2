/** Prompts in, outcome out. Knows no provider, no file, no clock. */
import type { InterruptMode } from "../protocol/commands/queue.ts";
import type { ToolCall } from "../protocol/content.ts";
import type { AgentMessage, AssistantMessage, ToolResultMessage } from "../protocol/messages.ts";
import type { Doors } from "./doors.ts";
import type { Emit, Outcome } from "./policy.ts";
import { streamReply } from "./reply.ts";
import type { Flow, Setup, StreamFunction, Turn } from "./stream.ts";
import type { ValidateArguments } from "./tool.ts";
import { refuseToolCalls, runToolCalls } from "./tool-calls.ts";

/** The queues, as the loop sees them. Taking respects the queue modes. */
export interface Queues {
	/** How many messages wait. */
	readonly count: number;
	hasSteering(): boolean;
	takeSteering(): AgentMessage[];
	takeFollowUps(): AgentMessage[];
}

/** Where a run takes its first messages from. */
export type Next = { from: "prompt"; messages: AgentMessage[]; toolChoice?: string } | { from: "context" } | { from: "queues" };

export interface LoopInput {
	next: Next;
	/** Kept while runs go on with the same turn. */
	turn: Turn;
	/** The live context, as it is at the moment of the call. */
	context: () => readonly AgentMessage[];
	setup: () => Promise<Setup>;
	stream: StreamFunction;
	validate: ValidateArguments;
	queues: Queues;
	interruptMode: () => InterruptMode;
	doors: Doors;
	sessionId: () => string;
	/** Removes credentials from what tools return. */
	redact: (text: string) => string;
	flow: Flow;
	signal: AbortSignal;
	now: () => number;
}

export async function agentLoop(input: LoopInput, emit: Emit): Promise<Outcome> {
	const { doors, queues, signal } = input;
	const outcome: Outcome = { messages: [], last: undefined, failure: undefined };
	const deliver = (message: AgentMessage) => {
		outcome.messages.push(message);
		emit({ type: "message_start", message });
		emit({ type: "message_end", message });
	};
	/** A halted run that may finish still answers its own tool calls, but waiting messages do not prolong it. */
	const mayGoOn = (hasCalls: boolean) => {
		const { halted } = doors;
		return !signal.aborted && (!halted || (hasCalls && halted.run === "finish"));
	};

	emit({ type: "agent_start" });
	let pending = firstMessages(input);
	for (let turnIndex = 0; ; turnIndex++) {
		emit({ type: "turn_start", turnIndex, timestamp: input.now() });
		pending.forEach(deliver);
		// Messages that were queued while idle are delivered in the first turn, after the prompt.
		if (turnIndex === 0 && input.next.from !== "queues") queues.takeSteering().forEach(deliver);

		await input.flow.whenOpen(signal);
		const setup = inTurn(await input.setup(), input.turn);
		if (turnIndex === 0 && input.next.from === "prompt") setup.toolChoice = input.next.toolChoice;
		const { message, failure } = await streamReply(input, setup, emit);
		const hasFailed = message.stopReason === "error" || message.stopReason === "aborted";
		const calls = message.content.filter((block) => block.type === "toolCall");
		const toolResults = await resultsOf(calls, message, setup, input, emit);
		outcome.messages.push(message, ...toolResults);
		outcome.last = message;
		outcome.failure = failure;
		emit({ type: "turn_end", message, toolResults, turnIndex });
		if (hasFailed || endsRun(toolResults, setup)) break;

		// Before the queues are asked: an abort here must not lose a message between its queue and its turn.
		const hasCalls = calls.length > 0;
		if ((hasCalls || queues.count > 0) && mayGoOn(hasCalls)) await doors.prepare?.([], signal);
		// A halted run ends here: what has begun has its results.
		if (doors.halted && !mayGoOn(hasCalls)) break;
		pending = mayGoOn(hasCalls) ? queues.takeSteering() : [];
		if (!hasCalls && pending.length === 0) {
			if (mayGoOn(hasCalls)) pending = queues.takeFollowUps();
			if (pending.length === 0) break;
		}
	}
	const willRetry = !signal.aborted && doors.haltReason === undefined && doors.foresee(outcome);
	emit({ type: "agent_end", messages: outcome.messages, willRetry });
	return outcome;
}

/** Keeps the level with which a turn began until the turn ends. Another model starts over. */
function inTurn(setup: Setup, turn: Turn): Setup {
	const model = `${setup.model.provider}/${setup.model.id}`;
	if (turn.model !== model) Object.assign(turn, { model, level: setup.thinkingLevel, thinks: undefined });
	return { ...setup, thinkingLevel: turn.level ?? setup.thinkingLevel };
}

function endsRun(results: readonly ToolResultMessage[], { tools }: Setup): boolean {
	return results.some(({ toolName, isError }) => !isError && tools.some((tool) => tool.endsRun && tool.name === toolName));
}

function firstMessages({ next, queues }: LoopInput): AgentMessage[] {
	if (next.from === "prompt") return next.messages;
	if (next.from === "context") return [];
	const steering = queues.takeSteering();
	return steering.length ? steering : queues.takeFollowUps();
}

/** Every call in a reply gets a result, also when it must not run. */
async function resultsOf(
	calls: readonly ToolCall[],
	message: AssistantMessage,
	setup: Setup,
	input: LoopInput,
	emit: Emit,
): Promise<ToolResultMessage[]> {
	if (calls.length === 0) return [];
	const batch = { ...input, tools: setup.tools, emit, isInterrupted: () => input.interruptMode() === "immediate" && input.queues.hasSteering() };
	switch (message.stopReason) {
		case "aborted":
			return refuseToolCalls(calls, `Tool execution was aborted: ${message.errorMessage}`, batch);
		case "error":
			return refuseToolCalls(calls, `Tool execution failed due to an error: ${message.errorMessage}`, batch);
		case "length":
			return refuseToolCalls(
				calls,
				"The reply reached its output limit, so the arguments of this call may be cut off and it was not run. Send it again in smaller pieces.",
				batch,
			);
		default:
			return runToolCalls(calls, batch);
	}
}
