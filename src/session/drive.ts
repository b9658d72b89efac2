/** Runs the loop until nobody asks for more. The only place that starts a run. */
import type { Again, Emit, LoopInput, Next, Outcome, Policy, StreamEvent } from "../agent/contracts.ts";
import { agentLoop } from "../agent/loop.ts";
import { linkedController } from "../lib/abort.ts";
import { balanced } from "./close-open-events.ts";
import { haltText } from "./halt.ts";
import type { BusyPeriod } from "./phase.ts";

export { admitted, expanded, refusalOf } from "./admission.ts";

export interface DriveInput {
	loop: Omit<LoopInput, "next" | "foresee" | "isHalted" | "prepare" | "watch">;
	policies: readonly Policy[];
	period: BusyPeriod;
	/** Why the accepted prompt cannot run, if so. */
	refusal: () => Promise<string | undefined>;
	hasQueued: () => boolean;
	/** Takes the last reply and what follows it out of the live context. */
	dropLastReply: () => void;
	/** Tells the session whether it is in the gap between two runs. */
	enter: (gap: AbortController | undefined) => void;
	emit: Emit;
}

export async function drive(input: DriveInput): Promise<void> {
	const { period, loop, policies, emit } = input;
	const watchers = policies.filter((policy) => policy.watch);
	const watch = watchers.length ? (event: StreamEvent) => firstCut(watchers, event) : undefined;
	const isHalted = () => haltText(policies) !== undefined;
	let next = await acceptedPrompt(input);
	while (next) {
		period.hadRun = true;
		const foresee = (outcome: Outcome) => !loop.signal.aborted && !isHalted() && policies.some((policy) => policy.foresee?.(outcome));
		const prepare = async () => {
			for (const policy of policies) await policy.prepare?.([], loop.signal);
		};
		const outcome = await balanced((heard) => agentLoop({ ...loop, next: next as Next, foresee, isHalted, prepare, watch }, heard), emit, loop.now);
		const again = await settle(input, outcome);
		if (period.prompt) next = await acceptedPrompt(input);
		else if (loop.signal.aborted || isHalted()) next = undefined;
		else if (again) next = again.messages ? { from: "prompt", messages: again.messages, toolChoice: again.tool } : { from: "context" };
		// What arrived behind the run's last look at the queues; after a failure it waits for the next prompt.
		else next = outcome.failure || !input.hasQueued() ? undefined : { from: "queues" };
	}
}

function firstCut(watchers: readonly Policy[], event: StreamEvent): string | undefined {
	for (const policy of watchers) {
		const cut = policy.watch?.(event);
		if (cut !== undefined) return cut;
	}
	return undefined;
}

/** The prompt whose run is due, unless it is refused. */
async function acceptedPrompt({ period, refusal }: DriveInput): Promise<Next | undefined> {
	const prompt = period.prompt;
	if (!prompt) return undefined;
	const reason = await refusal();
	period.prompt = undefined;
	const { messages, toolChoice } = prompt;
	// Nothing is left of a prompt that an extension took.
	const isTaken = messages.length === 0;
	if (!reason) prompt.begun?.(isTaken ? "handled" : "started", messages);
	prompt.answer(reason);
	return reason || isTaken ? undefined : { from: "prompt", messages, toolChoice };
}

/** Asks the policies, one after another; the first answer wins. Gives it when it is time to run again. A prompt or an abort ends the wait. */
async function settle({ policies, loop, enter, dropLastReply }: DriveInput, outcome: Outcome): Promise<Again | undefined> {
	const halts = policies.flatMap(({ halt }) => halt ?? []);
	const { controller: gap, release } = linkedController(loop.signal, ...halts);
	enter(gap);
	let again: Again | undefined;
	for (const policy of policies) {
		const isHalted = halts.some(({ aborted }) => aborted);
		again = await policy.settle?.(outcome, gap.signal, isHalted ? gap.signal : loop.signal);
		if (again) break;
	}
	if (!again && !gap.signal.aborted) await loop.hooks?.beforeSettle?.(gap.signal);
	if (again?.dropFailedReply) dropLastReply();
	const isDue = again ? await again.due : false;
	release();
	enter(undefined);
	return isDue && !gap.signal.aborted ? again : undefined;
}
