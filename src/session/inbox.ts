/** The two queues. Messages are found by identity, never by their text. */
import type { Queues } from "../agent/loop.ts";
import type { QueueMode } from "../protocol/commands/queue.ts";
import type { CustomMessage, UserMessage } from "../protocol/messages.ts";

/** What may wait: messages of the user, and of extensions. */
export type Queued = UserMessage | CustomMessage;
export type QueueName = "steering" | "followUp";

export interface QueueTexts {
	steering: string[];
	followUp: string[];
}

export class Inbox implements Queues {
	steeringMode: QueueMode;
	followUpMode: QueueMode;
	#queues: Record<QueueName, Queued[]> = { steering: [], followUp: [] };
	#onTaken: (left: QueueTexts) => void;

	/** `onTaken` is called with what is left, after messages have left a queue to be delivered. */
	constructor(steeringMode: QueueMode, followUpMode: QueueMode, onTaken: (left: QueueTexts) => void) {
		this.steeringMode = steeringMode;
		this.followUpMode = followUpMode;
		this.#onTaken = onTaken;
	}

	get count(): number {
		return this.#queues.steering.length + this.#queues.followUp.length;
	}

	get texts(): QueueTexts {
		return { steering: this.#queues.steering.map(textOf), followUp: this.#queues.followUp.map(textOf) };
	}

	add(queue: QueueName, message: Queued): void {
		this.#queues[queue].push(message);
	}

	/** Empties both queues and gives the texts that were in them. */
	clear(): QueueTexts {
		const texts = this.texts;
		this.#queues = { steering: [], followUp: [] };
		return texts;
	}

	hasSteering(): boolean {
		return this.#queues.steering.length > 0;
	}

	takeSteering(): Queued[] {
		return this.#take("steering", this.steeringMode);
	}

	takeFollowUps(): Queued[] {
		return this.#take("followUp", this.followUpMode);
	}

	#take(queue: QueueName, mode: QueueMode): Queued[] {
		const taken = this.#queues[queue].splice(0, mode === "all" ? Number.POSITIVE_INFINITY : 1);
		if (taken.length) this.#onTaken(this.texts);
		return taken;
	}
}

export function textOf(message: Queued): string {
	if (typeof message.content === "string") return message.content;
	return message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
}
