/** For clients that need whole messages in updates: adds what the deltas add up to. Such clients' frames are parsed; others' are not. */
import type { EventOf } from "../protocol/events.ts";
import type { OutboundFrame } from "../protocol/frames.ts";
import { idleState, nextState } from "../protocol/live.ts";

const bytesPerSecond = 8 * 1024 * 1024;

type Update = EventOf<"message_update">;
type Delta = Extract<Update["assistantMessageEvent"], { delta: string }>;

export interface SpokenFrame {
	json: string;
	seq: number | undefined;
}

/**
 * Makes the frames of one reader, at most 8 MB of whole messages a second. A delta that comes sooner waits and is joined with those after it, so
 * the deltas of a block always add up to its text.
 */
export class FullUpdates {
	/** Called when the delta that waits may be sent. */
	onDue: () => void = () => undefined;
	#now: () => number;
	#state = idleState;
	#quietUntil = 0;
	#waiting: { update: Update; step: Delta; seq: number | undefined } | undefined;
	#timer: NodeJS.Timeout | undefined;

	constructor(now: () => number = () => performance.now()) {
		this.#now = now;
	}

	/** Returns what the reader gets now, in order. A frame that is not wanted is part of the message all the same. */
	push({ json, seq }: SpokenFrame, isWanted = true): SpokenFrame[] {
		const frame = JSON.parse(json) as OutboundFrame;
		const step = frame.type === "message_update" ? frame.assistantMessageEvent : undefined;
		const isNext = isWanted && step !== undefined && "delta" in step && continues(step, this.#waiting?.step);
		// Another frame must not overtake the delta that waits.
		const spoken = isNext ? [] : this.take();
		this.#state = nextState(this.#state, frame);
		if (!isWanted) return spoken;
		if (frame.type !== "message_update" || !step) return [...spoken, { json, seq }];
		if (!("delta" in step)) return [...spoken, this.#whole(frame, step, seq)];
		const joined = { ...step, delta: (this.#waiting?.step.delta ?? "") + step.delta };
		this.#waiting = { update: frame, step: joined, seq };
		const wait = this.#quietUntil - this.#now();
		if (wait <= 0) return [...spoken, ...this.take()];
		this.#timer ??= setTimeout(() => this.onDue(), wait).unref();
		return spoken;
	}

	/** Returns the delta that waits, if there is one. */
	take(): SpokenFrame[] {
		clearTimeout(this.#timer);
		this.#timer = undefined;
		const { update, step, seq } = this.#waiting ?? {};
		this.#waiting = undefined;
		return update && step ? [this.#whole(update, step, seq)] : [];
	}

	close(): void {
		clearTimeout(this.#timer);
	}

	#whole(update: Update, step: Update["assistantMessageEvent"], seq: number | undefined): SpokenFrame {
		const { message } = this.#state;
		const json = JSON.stringify({ ...update, message, assistantMessageEvent: { ...step, partial: message } });
		this.#quietUntil = this.#now() + (json.length / bytesPerSecond) * 1000;
		return { json, seq };
	}
}

const continues = (step: Delta, waiting: Delta | undefined) =>
	waiting === undefined || (waiting.type === step.type && waiting.contentIndex === step.contentIndex);
