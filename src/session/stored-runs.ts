/** The live context with what was never read left as runs: the first prompt in a long session should not have to parse all of it. */
import type { ModelMessage, StoredRun } from "../agent/stream.ts";
import type { AgentMessage } from "../protocol/messages.ts";
import type { Branch } from "../transcript/entries.ts";
import { messageOf } from "../transcript/projection.ts";

export type ContextPart = AgentMessage | UnreadMessages;

/** The newest messages are read in any case: policies look at them. */
const newest = 40;
/** Short enough that reading one for the sake of one message costs little. */
const usualLength = 32;
/** Results that follow one reply must stay with it; a longer run is not worth the wait for its end. */
const longest = 256;

/** `places`: those of the live context in the branch. */
export function contextParts(branch: Branch, places: readonly number[]): ContextPart[] {
	const parts: ContextPart[] = [];
	const end = places.length - newest;
	let at = 0;
	while (at < places.length) {
		const next = at < end ? endOfRun(branch, places, at, end) : at;
		if (next - at >= usualLength) {
			parts.push(new UnreadMessages(branch, places[at] as number, places[next - 1] as number));
			at = next;
			continue;
		}
		// Also the one that ended the run too early.
		for (const stop = Math.min(next + 1, places.length); at < stop; at++) {
			const message = messageOf(branch.entry(places[at] as number));
			if (message) parts.push(message);
		}
	}
	return parts;
}

/** Where a run ends that starts at an index of `places`; the same index when none starts there. */
function endOfRun(branch: Branch, places: readonly number[], from: number, end: number): number {
	const last = Math.min(from + longest, end);
	/** The last index in front of which no result is separated from its call. */
	let safe = from;
	for (let at = from; at < last; at++) {
		const place = places[at] as number;
		const kind = branch.kind(place);
		if (kind === "message:user" || kind === "message:assistant") {
			if (at - from >= usualLength) return at;
			safe = at;
		} else if (at === from || kind !== "message:toolResult") {
			// Others may not be sent at all: then what follows them belongs to what precedes them.
			return safe;
		}
		if (branch.isRead(place) || (at > from && place !== (places[at - 1] as number) + 1)) return safe;
	}
	return safe;
}

export class UnreadMessages implements StoredRun {
	readonly role = "storedRun";
	readonly length: number;
	#branch: Branch;
	#first: number;
	#last: number;
	/** The place in the branch after them. */
	readonly end: number;

	constructor(branch: Branch, first: number, last: number) {
		this.#branch = branch;
		this.#first = first;
		this.#last = last;
		this.length = last - first + 1;
		this.end = last + 1;
	}

	lines(): string | undefined {
		return this.#branch.lines(this.#first, this.#last);
	}

	message(index: number): ModelMessage | undefined {
		const message = messageOf(this.#branch.entry(this.#first + index));
		return message?.role === "user" || message?.role === "assistant" || message?.role === "toolResult" ? message : undefined;
	}

	messages(): ModelMessage[] {
		const all = Array.from({ length: this.length }, (_, index) => this.message(index));
		return all.filter((message) => message !== undefined);
	}
}
