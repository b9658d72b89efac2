/** What happens to a prompt that arrives: decided from what the session is doing, without doing it. */
import type { Doors } from "../agent/doors.ts";
import type { Halt, IncomingPrompt } from "../agent/policy.ts";
import type { BusyPeriod, Phase } from "./activity.ts";
import { type QueueName, textOf } from "./inbox.ts";
import { busy, halted, type Refusal } from "./refusal.ts";

export type Acceptance =
	/** Idle: the prompt opens a busy period. */
	| { act: "start" }
	/** A run has ended and something may follow it: the prompt comes first. */
	| { act: "take-over"; period: BusyPeriod; gap: AbortController }
	/** Exclusive work, or an abort that was read before, is in progress: the prompt runs when it has ended. */
	| { act: "succeed"; period: BusyPeriod }
	| { act: "queue"; queue: QueueName; period: BusyPeriod }
	| { act: "refuse"; refusal: Refusal };

export type StreamingBehavior = "steer" | "followUp";

/** `halt`: why nothing new may be started, if so. */
export function acceptanceOf(phase: Phase, streamingBehavior: StreamingBehavior | undefined, halt: Halt | undefined): Acceptance {
	switch (phase.name) {
		case "idle":
			return { act: "start" };
		case "settling":
			return { act: "take-over", period: phase.period, gap: phase.gap };
		default: {
			const { period } = phase;
			const isEnding = phase.name === "exclusive" || period.controller.signal.aborted;
			if (isEnding && !period.successor) return { act: "succeed", period };
			if (halt) return { act: "refuse", refusal: halted(halt) };
			if (!streamingBehavior) return { act: "refuse", refusal: busy };
			return { act: "queue", queue: streamingBehavior === "steer" ? "steering" : "followUp", period };
		}
	}
}

/** Whether no policy has to be asked about a prompt, and nothing expanded. Such a prompt can be queued at once. */
export function isPlain({ messages: [first], source }: IncomingPrompt, doors: Doors): boolean {
	return source === undefined || (!doors.admit && !(first?.role === "user" && textOf(first).startsWith("/")));
}
