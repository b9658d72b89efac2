/**
 * A prompt on its way, as one value with states: accepted → acknowledged → decided. The host has its acknowledgement before anything happens;
 * the outcome of the prompt is decided exactly once.
 */
import type { IncomingPrompt } from "../agent/policy.ts";
import { deferred } from "../lib/deferred.ts";
import type { AgentMessage } from "../protocol/messages.ts";
import type { Refusal } from "./refusal.ts";
import type { RequiredAnswer } from "./required-answer.ts";

/** What a session accepts as a prompt. */
export interface PromptToAccept extends IncomingPrompt {
	/** The value that the prompt asks for, if any. */
	answer?: RequiredAnswer;
	/** It goes on from the conversation as it is; messages, if there are any, come before. */
	resumes?: boolean;
}

export type Disposition = "started" | "queued" | "handled";

/**
 * Called at the very moment when the outcome of a prompt that is not refused is known: the next event is the first of its run, it waits
 * in a queue, or an extension handled it and nothing is left.
 */
export type OnDisposition = (disposition: Disposition, messages: readonly AgentMessage[]) => void;

export class AcceptedPrompt {
	/** What the host reads in the acknowledgement; absent when the prompt will be refused. */
	readonly expected: Disposition | undefined;
	/** Why the prompt will be refused, where that is known before the acknowledgement. */
	readonly known: Refusal | undefined;
	messages: AgentMessage[];
	readonly source: IncomingPrompt["source"];
	readonly answer: RequiredAnswer | undefined;
	/** The run goes on from the conversation as it is. */
	resumes: boolean;
	/** The tool that the first reply must call. */
	toolChoice: string | undefined;
	#goOn: (prompt: AcceptedPrompt) => void;
	#onDisposition: OnDisposition | undefined;
	#outcome = deferred<Refusal | undefined>();
	#isDecided = false;
	/** Why it does not run, once that is known. */
	refusal: Refusal | undefined;

	/** `goOn` runs once the host has been answered. */
	constructor(
		{ messages, source, answer, resumes = false }: PromptToAccept,
		expected: Disposition | undefined,
		goOn: (prompt: AcceptedPrompt) => void,
		known?: Refusal,
	) {
		this.known = known;
		this.messages = messages;
		this.source = source;
		this.answer = answer;
		this.resumes = resumes;
		this.expected = expected;
		this.#goOn = goOn;
	}

	/** A prompt that only waits for its acknowledgement to be refused. */
	static refused(refusal: Refusal, expected?: Disposition): AcceptedPrompt {
		return new AcceptedPrompt({ messages: [] }, expected, (prompt) => prompt.refuse(refusal), refusal);
	}

	/** The host has been answered. Resolves when the prompt has been decided: with the reason when it is refused. */
	acknowledge(onDisposition?: OnDisposition): Promise<Refusal | undefined> {
		this.#onDisposition = onDisposition;
		this.#goOn(this);
		return this.#outcome.promise;
	}

	/** It was accepted and is not run after all: nothing of it is left. */
	withdraw(): void {
		this.messages = [];
		this.resumes = false;
		void this.acknowledge();
	}

	decide(disposition: Disposition): void {
		if (this.#isDecided) return;
		this.#isDecided = true;
		this.#onDisposition?.(disposition, this.messages);
		this.#outcome.resolve(undefined);
	}

	refuse(refusal: Refusal): void {
		if (this.#isDecided) return;
		this.#isDecided = true;
		this.refusal = refusal;
		this.#outcome.resolve(refusal);
	}
}
