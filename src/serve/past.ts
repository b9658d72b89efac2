/** Frames that are not in memory any more, and the ends of what a killed process had begun. */
import { idleState } from "../protocol/live.ts";
import type { Ring, RingFrame } from "./ring.ts";

export interface PastFrame {
	seq: number;
	type: string;
	json: string;
}

export interface PastQuery {
	file: string | undefined;
	after: number;
	upTo: number;
	reason: "ephemeral" | "slow_reader";
	epoch: number;
	ring: Ring;
	/** Of the agent; absent while there is none. */
	snapshot: string | undefined;
}

export function logPosition(_file: string): { firstSeq: number; lastSeq: number; epoch: number } {
	return { firstSeq: 0, lastSeq: 0, epoch: 0 };
}

export function* pastOf({ after, upTo, reason, epoch, ring, snapshot }: PastQuery): Generator<{ json: string; seq?: number; type: string }> {
	if (after < upTo) yield { type: "gap", json: JSON.stringify({ type: "gap", from: after + 1, to: upTo, reason, durableLost: false }) };
	for (let position = ring.start; position < ring.end; position++) {
		const frame = ring.at(position) as RingFrame;
		if (frame.isDurable && frame.seq > after && frame.seq <= upTo) yield frame;
	}
	yield { type: "snapshot", json: snapshot ?? JSON.stringify({ type: "snapshot", seq: upTo, epoch, live: idleState }) };
}

export function balanceAfterCrash(_file: string, _after: number, _isCrash: boolean, _report: (text: string) => void): PastFrame[] {
	return [];
}
