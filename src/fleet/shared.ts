/** What every queue says and does in the same way: refusals, the reasons of results that no worker wrote, and what the next worker gets. */
import { type Checkpoint, QueueError, type SavedRun, seqOf, type Takeover } from "./queue.ts";
import { withoutCut } from "./takeovers.ts";

export const keyReused = (key: string, runId: string) =>
	new QueueError("key_reused", `The key ${JSON.stringify(key)} belongs to run ${runId}, which was submitted with other content. Use another key.`);
export const unknownLane = (lane: string) => new QueueError("unknown_lane", `There is no lane ${lane}. Make it: bowline fleet lanes set ${lane}`);
export const unknownBudget = (budget: string) =>
	new QueueError("unknown_budget", `There is no budget ${budget}. Make it: bowline fleet budgets set ${budget} --usd 10`);
export const unknownRun = (runId: string) => new QueueError("unknown_run", `There is no run ${runId}. See: bowline fleet status`);

/**
 * How many deaths of workers that it shared with other runs are not counted against a run: any of them may have killed the worker. From then on it is
 * under suspicion. A worker holds at most one such run at a time, so the next death points at it, and its attempts count.
 */
export const sharedDeathsAllowed = 2;

/** Why a run ended without a worker. `died` is followed by the reason of the last attempt. */
export const reasons = {
	cancelledEarly: "It was cancelled before it was given to a worker.",
	cancelledLate: "It was cancelled, and its worker is gone.",
	died: "Every attempt ended with the death of its worker.",
} as const;

interface StoredLine {
	line: number;
	body: string;
}

/** From all lines that were committed: those up to the checkpoint, and what there is to know about those that were cut. */
export function savedRun(lines: { session: StoredLine[]; events: StoredLine[] }, takeovers: readonly Takeover[], checkpoint?: Checkpoint): SavedRun {
	const { session, events } = lines;
	const last = takeovers.at(-1);
	return {
		session: withoutCut(session, takeovers, "session").map(({ body }) => body),
		events: withoutCut(events, takeovers, "events").map(({ body }) => body),
		...(checkpoint ? { checkpoint } : {}),
		cutEvents: events.filter(({ line }) => last && line > last.eventCut && line <= last.eventFrom).map(({ body }) => body),
		highestSeq: events.reduce((highest, { body }) => Math.max(highest, seqOf(body)), 0),
	};
}
