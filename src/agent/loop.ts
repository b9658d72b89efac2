/** Prompts in, outcome out. Knows no provider, no file, no clock. */
import type { ToolCall } from "../protocol/content.ts";
import type { AgentMessage, AssistantMessage, ToolResultMessage } from "../protocol/messages.ts";
import type { Emit, LoopInput, Outcome, Setup } from "./contracts.ts";
import { streamReply } from "./reply.ts";
import { refuseToolCalls, runToolCalls } from "./tool-calls.ts";

export async function agentLoop(input: LoopInput, publish: Emit): Promise<Outcome> {
	const outcome: Outcome = { messages: [], last: undefined, failure: undefined };
	const emit: Emit = (event) => {
		if (event.type === "message_end") outcome.messages.push(event.message);
		publish(event);
	};
	const deliver = (message: AgentMessage) => {
		emit({ type: "message_start", message });
		emit({ type: "message_end", message });
	};

	emit({ type: "agent_start" });
	let pending = firstMessages(input);
	for (let turnIndex = 0; ; turnIndex++) {
		emit({ type: "turn_start", turnIndex, timestamp: input.now() });
		pending.forEach(deliver);
		// What was queued while idle is delivered in the first turn, behind the prompt.
		if (turnIndex === 0 && input.next.from !== "queues") input.queues.takeSteering().forEach(deliver);

		await input.flow.whenOpen(input.signal);
		const setup = await input.setup();
		if (turnIndex === 0 && input.next.from === "prompt") setup.toolChoice = input.next.toolChoice;
		const { message, failure } = await streamReply(input, setup, emit);
		outcome.last = message;
		outcome.failure = failure;
		const hasFailed = message.stopReason === "error" || message.stopReason === "aborted";
		const calls = message.content.filter((block) => block.type === "toolCall");
		const toolResults = await resultsOf(calls, message, setup, input, emit);
		emit({ type: "turn_end", message, toolResults, turnIndex });
		if (hasFailed || isLastAct(toolResults, setup)) break;

		// Before the queues are asked: a message must not be lost between its queue and its turn when this is aborted.
		const mayGoOn = () => !input.signal.aborted && (calls.length > 0 || !input.isHalted());
		if (calls.length + input.queues.count > 0 && mayGoOn()) await input.prepare();
		pending = mayGoOn() ? input.queues.takeSteering() : [];
		if (calls.length === 0 && pending.length === 0) {
			if (mayGoOn()) pending = input.queues.takeFollowUps();
			if (pending.length === 0) break;
		}
	}
	emit({ type: "agent_end", messages: outcome.messages, willRetry: input.foresee(outcome) });
	return outcome;
}

function isLastAct(results: readonly ToolResultMessage[], { tools }: Setup): boolean {
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
