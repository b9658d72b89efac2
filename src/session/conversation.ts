/**
 * What was said so far: the transcript, and the live context that is made of it. The two never differ. Made first, and the same object for
 * as long as the process lives: a switch to another session replaces the transcript in place.
 */
import { isCommandError } from "../protocol/command-error.ts";
import type { AgentMessage, AssistantMessage } from "../protocol/messages.ts";
import { lostResultText } from "../protocol/texts.ts";
import { droppedReply, type Entry, type EntryBody, type EntryOf } from "../transcript/entries.ts";
import { type ContextJson, contextJson, contextMessages, contextPlaces, openCalls } from "../transcript/projection.ts";
import type { Transcript } from "../transcript/transcript.ts";
import { answerMessage } from "./required-answer.ts";

export class Conversation {
	#transcript: Transcript;
	#now: () => number;
	/** Absent until a caller needs more than its length: most of a long session is never looked at. */
	#live: AgentMessage[] | undefined;
	/** The places of its messages in the branch, as long as the branch ends there. */
	#places: { leafId: string | null; places: number[] } | undefined;
	/** Records that arrived during a run: between a call and its result they would break the history. */
	#deferred: AgentMessage[] = [];

	constructor(transcript: Transcript, now: () => number) {
		this.#transcript = transcript;
		this.#now = now;
		this.answerOpenCalls();
	}

	get transcript(): Transcript {
		return this.#transcript;
	}

	/** Goes on with another transcript. Nothing may be running. */
	adopt(transcript: Transcript): void {
		// The same file opened again is still ours.
		this.#transcript.close(transcript.file === this.#transcript.file);
		this.#transcript = transcript;
		this.#deferred = [];
		this.reproject();
		this.answerOpenCalls();
	}

	get messages(): AgentMessage[] {
		this.#live ??= contextMessages(this.transcript.branch, this.#livePlaces());
		return this.#live;
	}

	/** The same as JSON, for a host that asks for all of them. */
	get json(): ContextJson {
		// A copy: messages that are added while it is written are not a part of it.
		return contextJson(this.transcript.branch, [...this.#livePlaces()]);
	}

	get length(): number {
		return this.#live?.length ?? this.#livePlaces().length;
	}

	/** The text of the last reply. Aborted replies without content do not count. */
	get lastText(): string | null {
		const last = this.messages.findLast(
			(message): message is AssistantMessage => message.role === "assistant" && !(message.stopReason === "aborted" && message.content.length === 0),
		);
		const text = last?.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
		return text?.trim() || null;
	}

	/** On disk first: a message that cannot be stored is not in the context either. Throws a CommandError then. */
	add(message: AgentMessage): void {
		// The result of a call may not have been stored, when the disk was full for a moment. After another message it would be too late for one.
		if (message.role !== "toolResult") this.answerOpenCalls();
		const leafBefore = this.transcript.leafId;
		this.transcript.append({ type: "message", message });
		this.#live?.push(message);
		// A reply may replace one that failed.
		if (this.#places?.leafId === leafBefore && message.role !== "assistant") {
			this.#places.places.push(this.transcript.branch.length - 1);
			this.#places.leafId = this.transcript.leafId;
		}
	}

	/** True once a prompt asked for a value. */
	get hasAsked(): boolean {
		const { branch } = this.transcript;
		for (let place = branch.lastOf("message:custom"); place >= 0; place--) {
			if (branch.kind(place) !== "message:custom") continue;
			const { message } = branch.entry(place) as EntryOf<"message">;
			if (message.role === "custom" && message.customType === answerMessage) return true;
		}
		return false;
	}

	/** Adds an entry that is not a message. Throws a CommandError when it cannot be stored. */
	append(entry: EntryBody): Entry {
		return this.transcript.append(entry);
	}

	/** Keeps a record until the run has ended. */
	defer(message: AgentMessage): void {
		this.#deferred.push(message);
	}

	/** Adds the records that waited for the end of a run. */
	addDeferred(): void {
		for (let message = this.#deferred[0]; message; message = this.#deferred[0]) {
			this.add(message);
			this.#deferred.shift();
		}
	}

	/** Makes the live context again from the branch: after a compaction, or on another branch. */
	reproject(): void {
		this.#live = undefined;
		this.#places = undefined;
	}

	/** Continues from another entry of the file. False when there is no such entry. */
	moveTo(id: string | null): boolean {
		if (!this.transcript.moveTo(id)) return false;
		this.reproject();
		this.answerOpenCalls();
		return true;
	}

	/** Removes the last reply and its results from the context, and records that, so that they stay out. */
	dropLastReply(): void {
		const { transcript } = this;
		const { branch } = transcript;
		let place = branch.length - 1;
		while (place >= 0 && branch.kind(place) !== "message:assistant") place--;
		if (place < 0) return;
		const note: EntryBody = { type: "custom", customType: droppedReply, data: { entryId: branch.id(place) } };
		// When it cannot be written now, it is written with the next entry.
		if (problemWith(() => void transcript.append(note)) !== undefined) transcript.prepare(note);
		this.reproject();
	}

	#livePlaces(): readonly number[] {
		const { leafId, branch } = this.transcript;
		if (this.#places?.leafId !== leafId) this.#places = { leafId, places: contextPlaces(branch) };
		return this.#places.places;
	}

	/** A call whose result was never stored gets one that says so: no model takes a conversation without it. */
	answerOpenCalls(): void {
		for (const { id, name } of openCalls(this.transcript.branch)) {
			const content = [{ type: "text" as const, text: lostResultText }];
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
