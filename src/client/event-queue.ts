/** Events as an async iterator. For a slow reader deltas are joined, so that the queue stays small and nothing is lost. */
import type { AgentEvent } from "../protocol/types.generated.ts";

/** This many unread events are a mistake, even joined. */
const maxWaiting = 10_000;

export class EventQueue implements AsyncIterableIterator<AgentEvent> {
	#waiting: AgentEvent[] = [];
	#readers: ((result: IteratorResult<AgentEvent, undefined>) => void)[] = [];
	#isOver = false;
	#problem: Error | undefined;
	#onOver: () => void;

	constructor(onOver: (queue: EventQueue) => void) {
		this.#onOver = () => onOver(this);
	}

	push(event: AgentEvent): void {
		const reader = this.#readers.shift();
		if (reader) return reader({ value: event, done: false });
		const last = this.#waiting.at(-1);
		const joined = last && join(last, event);
		if (joined) this.#waiting[this.#waiting.length - 1] = joined;
		else this.#waiting.push(event);
		if (this.#waiting.length <= maxWaiting) return;
		this.#waiting = [];
		this.#problem = new Error(`events() was more than ${maxWaiting} events behind; read it faster, leave its loop, or use on()`);
		this.end();
	}

	/** No more events will come; queued ones can still be read. */
	end(): void {
		if (this.#isOver) return;
		this.#isOver = true;
		for (const reader of this.#readers.splice(0)) reader({ value: undefined, done: true });
		this.#onOver();
	}

	async next(): Promise<IteratorResult<AgentEvent, undefined>> {
		const event = this.#waiting.shift();
		if (event) return { value: event, done: false };
		const problem = this.#problem;
		this.#problem = undefined;
		if (problem) throw problem;
		if (this.#isOver) return { value: undefined, done: true };
		return new Promise((resolve) => this.#readers.push(resolve));
	}

	async return(): Promise<IteratorResult<AgentEvent, undefined>> {
		this.#waiting = [];
		this.end();
		return { value: undefined, done: true };
	}

	[Symbol.asyncIterator](): this {
		return this;
	}
}

/** One event with the content of both, if possible: the agent joins events in the same way when its host is slow. */
function join(earlier: AgentEvent, later: AgentEvent): AgentEvent | undefined {
	if (earlier.type === "tool_execution_update" && later.type === "tool_execution_update") {
		return earlier.toolCallId === later.toolCallId ? later : undefined;
	}
	if (earlier.type !== "message_update" || later.type !== "message_update") return undefined;
	const before = earlier.assistantMessageEvent;
	const after = later.assistantMessageEvent;
	if (!before || !after || !("delta" in before && "delta" in after) || before.type !== after.type || before.contentIndex !== after.contentIndex)
		return undefined;
	return { ...later, assistantMessageEvent: { ...after, delta: before.delta + after.delta } };
}
