/** What was said so far: the transcript, and the live context that is made of it. The two never differ. */
import { isCommandError } from "../lib/command-error.ts";
import type { AgentMessage, AssistantMessage } from "../protocol/messages.ts";
import { droppedReply, type EntryBody } from "../transcript/entries.ts";
import { contextLength, contextMessages, openCalls } from "../transcript/projection.ts";
import type { Transcript } from "../transcript/transcript.ts";

const lostResult = "Tool execution was aborted: the agent ended before its result was kept.";

export class Conversation {
	readonly transcript: Transcript;
	#now: () => number;
	/** Absent until somebody wants more than its length: most of a long session is never looked at. */
	#live: AgentMessage[] | undefined;
	#length: number | undefined;

	constructor(transcript: Transcript, now: () => number) {
		this.transcript = transcript;
		this.#now = now;
		this.answerOpenCalls();
	}

	get messages(): AgentMessage[] {
		this.#live ??= contextMessages(this.transcript.branch);
		return this.#live;
	}

	get length(): number {
		if (this.#live) return this.#live.length;
		this.#length ??= contextLength(this.transcript.branch);
		return this.#length;
	}

	/** The text of the last reply; aborted ones without content do not count. */
	get lastText(): string | null {
		const last = this.messages.findLast(
			(message): message is AssistantMessage => message.role === "assistant" && !(message.stopReason === "aborted" && message.content.length === 0),
		);
		const text = last?.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
		return text?.trim() || null;
	}

	/** On disk first: what cannot be stored is not in the context either. */
	add(message: AgentMessage): void {
		// The result of a call may not have been stored, when the disk was full for a moment. Behind anybody's words it would be too late for one.
		if (message.role !== "toolResult") this.answerOpenCalls();
		this.transcript.append({ type: "message", message });
		this.#live?.push(message);
		this.#length = undefined;
	}

	/** Makes the live context anew from the branch: after a compaction, or when the branch is another. */
	reproject(): void {
		this.#live = undefined;
		this.#length = undefined;
	}

	/** Goes on from another entry of the file. False when there is no such entry. */
	moveTo(id: string | null): boolean {
		if (!this.transcript.moveTo(id)) return false;
		this.reproject();
		this.answerOpenCalls();
		return true;
	}

	/** Takes the last reply and its results out of the context, and notes that, so that they stay out. */
	dropLastReply(): void {
		const { transcript } = this;
		const { branch } = transcript;
		let place = branch.length - 1;
		while (place >= 0 && branch.kind(place) !== "message:assistant") place--;
		if (place < 0) return;
		const note: EntryBody = { type: "custom", customType: droppedReply, data: { entryId: branch.id(place) } };
		// Where it cannot be written now, it is with the next entry.
		if (problemWith(() => void transcript.append(note)) !== undefined) transcript.prepare(note);
		this.reproject();
	}

	/** A call whose result was never stored gets one that says so: no model takes a conversation without it. */
	answerOpenCalls(): void {
		for (const { id, name } of openCalls(this.transcript.branch)) {
			const content = [{ type: "text" as const, text: lostResult }];
			const message: AgentMessage = {
				role: "toolResult",
				toolCallId: id,
				toolName: name,
				content,
				details: {},
				isError: true,
				timestamp: this.#now(),
			};
			this.transcript.prepare({ type: "message", message });
			this.#live?.push(message);
			this.#length = undefined;
		}
	}
}

/** The reason when the session file could not be written. */
export function problemWith(store: () => void): string | undefined {
	try {
		store();
		return undefined;
	} catch (error) {
		if (!isCommandError(error)) throw error;
		return error.message;
	}
}
