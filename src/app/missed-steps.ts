/** A host of `bowline attach` does not know that its connection was lost: it gets the steps of a reply that it missed, joined. */
import type { OutboundFrame } from "../protocol/frames.ts";
import type { AssistantMessage } from "../protocol/messages.ts";
import type { AssistantMessageEvent } from "../protocol/stream.ts";

type Block = AssistantMessage["content"][number];

/** The part of one block that the host has received. */
interface Had {
	/** The deltas so far. */
	text: string;
	isEnded: boolean;
}

export class MissedSteps {
	/** Of the open reply, by index; undefined while there is none. */
	#blocks: Had[] | undefined;
	#isBehind = false;

	/** Returns the updates that come before this frame of the server. */
	before(frame: OutboundFrame): OutboundFrame[] {
		switch (frame.type) {
			case "gap":
				this.#isBehind = true;
				return [];
			case "snapshot": {
				const missed = this.#upTo(frame.live.message, false);
				this.#isBehind = false;
				return missed;
			}
			case "message_start":
				if (frame.message.role === "assistant") this.#blocks = [];
				return [];
			case "message_update":
				this.#note(frame.assistantMessageEvent);
				return [];
			case "message_end": {
				if (frame.message.role !== "assistant") return [];
				const missed = this.#upTo(frame.message as AssistantMessage, true);
				this.#blocks = undefined;
				return missed;
			}
			default:
				return [];
		}
	}

	#note(step: AssistantMessageEvent): void {
		if (!this.#blocks) return;
		const block = this.#blocks[step.contentIndex] ?? { text: "", isEnded: false };
		this.#blocks[step.contentIndex] = block;
		if ("delta" in step) block.text += step.delta;
		else block.isEnded = step.type.endsWith("_end");
	}

	#upTo(message: AssistantMessage | undefined, isComplete: boolean): OutboundFrame[] {
		if (!this.#isBehind || !this.#blocks || !message) return [];
		const had = this.#blocks;
		const steps = message.content.flatMap((block, index) => stepsOf(block, index, had[index], isComplete || index < message.content.length - 1));
		return steps.map((step) => {
			this.#note(step);
			return { type: "message_update", message, assistantMessageEvent: { ...step, partial: message } };
		});
	}
}

/** Returns the steps from what the host has of a block to the whole of it. */
function stepsOf(block: Block, contentIndex: number, had: Had | undefined, isEnded: boolean): AssistantMessageEvent[] {
	if (had?.isEnded) return [];
	const steps: AssistantMessageEvent[] = [];
	const missing = (text: string) => (text.startsWith(had?.text ?? "") ? text.slice(had?.text.length ?? 0) : "");
	switch (block.type) {
		case "text": {
			const delta = missing(block.text);
			if (!had) steps.push({ type: "text_start", contentIndex });
			if (delta) steps.push({ type: "text_delta", contentIndex, delta });
			if (isEnded) steps.push({ type: "text_end", contentIndex, content: block.text });
			return steps;
		}
		case "thinking": {
			const delta = missing(block.thinking);
			if (!had) steps.push({ type: "thinking_start", contentIndex });
			if (delta) steps.push({ type: "thinking_delta", contentIndex, delta });
			if (isEnded) steps.push({ type: "thinking_end", contentIndex, content: block.thinking });
			return steps;
		}
		case "toolCall": {
			if (!had) steps.push({ type: "toolcall_start", contentIndex, id: block.id, toolName: block.name });
			if (!isEnded) return steps;
			// The model's own spelling of the arguments is not kept: what has begun can be continued only where ours is the same.
			const delta = missing(JSON.stringify(block.arguments));
			if (delta) steps.push({ type: "toolcall_delta", contentIndex, delta });
			steps.push({ type: "toolcall_end", contentIndex, toolCall: block });
			return steps;
		}
		default:
			return steps;
	}
}
