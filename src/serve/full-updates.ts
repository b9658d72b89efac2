/** For clients that need whole messages in updates: adds what the deltas add up to. Such clients' frames are parsed; others' are not. */
import type { OutboundFrame } from "../protocol/frames.ts";
import { idleState, nextState } from "../protocol/live.ts";

const bytesPerSecond = 8 * 1024 * 1024;

/** One reader's frames: whole messages, at most 8 MB of them a second. */
export function fullUpdates(now: () => number = () => performance.now()): (frame: { json: string; type: string }) => string | undefined {
	let state = idleState;
	let quietUntil = 0;
	return ({ json, type }) => {
		const frame = JSON.parse(json) as OutboundFrame;
		state = nextState(state, frame);
		if (type !== "message_update" || frame.type !== "message_update") return json;
		const time = now();
		if (time < quietUntil) return undefined;
		const full = JSON.stringify({
			...frame,
			message: state.message,
			assistantMessageEvent: { ...frame.assistantMessageEvent, partial: state.message },
		});
		quietUntil = time + (full.length / bytesPerSecond) * 1000;
		return full;
	};
}
