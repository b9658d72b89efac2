/** Runs the loop until no policy asks for more. The only place that starts a run. */
import { agentLoop, type LoopInput, type Next } from "../agent/loop.ts";
import type { Again, Emit, Outcome } from "../agent/policy.ts";
import type { Turn } from "../agent/stream.ts";
import { linkedController } from "../lib/abort.ts";
import type { Log } from "../lib/log.ts";
import type { Activity, BusyPeriod } from "./activity.ts";
import { closeOpenEvents } from "./close-open-events.ts";

export interface DriveInput {
	loop: Omit<LoopInput, "next" | "turn">;
	period: BusyPeriod;
	activity: Activity;
	/** Gets the prompt of the period ready to run: the messages the run begins with, or nothing when no run starts. */
	prepareRun: () => Promise<Next | undefined>;
	/** Removes the last reply and what follows it from the live context. */
	dropLastReply: () => void;
	emit: Emit;
	log: Log;
}

export async function drive(input: DriveInput): Promise<void> {
	const { period, loop, prepareRun, emit, log } = input;
	const { doors, queues, signal, now } = loop;
	let next = await prepareRun();
	let turn: Turn = {};
	while (next) {
		period.hadRun = true;
		const from = next;
		const outcome = await closeOpenEvents((observed) => agentLoop({ ...loop, next: from, turn }, observed), { emit, log, now });
		const again = await settle(input, outcome);
		if (!again) turn = {};
		if (period.prompt) next = await prepareRun();
		else if (signal.aborted || doors.haltReason !== undefined) next = undefined;
		else if (again) next = again.messages ? { from: "prompt", messages: again.messages, toolChoice: again.tool } : { from: "context" };
		// Messages that arrived after the run last looked at the queues. After a failure they wait for the next prompt.
		else next = outcome.failure || queues.count === 0 ? undefined : { from: "queues" };
	}
}

/** Asks the policies whether another run follows. Returns the answer when it is time to run. A prompt or an abort ends the wait. */
async function settle({ loop, period, activity, dropLastReply }: DriveInput, outcome: Outcome): Promise<Again | undefined> {
	const { doors, signal } = loop;
	const { halts } = doors;
	const { controller: gap, release } = linkedController(signal, ...halts);
	activity.enter(period, { name: "settling", period, gap });
	const again = await doors.settle(outcome, gap.signal, () => (halts.some(({ aborted }) => aborted) ? gap.signal : signal));
	if (again?.dropFailedReply) dropLastReply();
	const isDue = again ? await again.due : false;
	release();
	activity.enter(period, { name: "running", period });
	return isDue && !gap.signal.aborted ? again : undefined;
}
