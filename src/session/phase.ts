/** What the session is doing. `isStreaming` and its like are read from here, there are no flags beside it. */
import type { Hooks, PromptSource } from "../agent/contracts.ts";
import { deferred } from "../lib/deferred.ts";
import type { AgentMessage } from "../protocol/messages.ts";
import type { Acceptance, Begun } from "./dependencies.ts";
import { textOf } from "./inbox.ts";

/** What is said, and by whom. Without a source it is taken as it is. */
export interface Said {
	messages: AgentMessage[];
	source?: PromptSource;
}

/** Whether nobody has to be asked about it, and nothing expanded. */
export function isPlain({ messages: [first], source }: Said, hooks: Hooks | undefined): boolean {
	return source === undefined || (!hooks?.input && !(first?.role === "user" && textOf(first).startsWith("/")));
}

/** A prompt that was accepted and whose run has not begun. */
export interface AcceptedPrompt extends Said {
	/** The tool that the first reply shall call. */
	toolChoice?: string;
	/** Tells why it cannot run after all, or nothing when its run begins. */
	answer: (refusal: string | undefined) => void;
	/** Who wants to hear that nothing stands in its way any more. */
	begun?: Begun;
}

/** A prompt that is accepted for a run, and the way to let it go on once it has been acknowledged. */
export function accepting(said: Said): { prompt: AcceptedPrompt; started: (start?: () => void) => Acceptance } {
	const answer = deferred<string | undefined>();
	const prompt: AcceptedPrompt = { ...said, answer: answer.resolve };
	return {
		prompt,
		started: (start) => ({
			disposition: "started",
			async begin(begun) {
				prompt.begun = begun;
				start?.();
				return answer.promise;
			},
		}),
	};
}

/** From the acceptance of a prompt until nothing automatic will follow. */
export interface BusyPeriod {
	controller: AbortController;
	/** Resolves when the session is idle again. */
	done: Promise<void>;
	prompt: AcceptedPrompt | undefined;
	/** A prompt that came while the period was being aborted; it opens the next one. */
	successor: AcceptedPrompt | undefined;
	hadRun: boolean;
	/** What an extension wants for the runs of the last prompt. */
	systemPrompt?: string;
	/** The conversation is being condensed, by a command or automatically. */
	isCompacting: boolean;
}

export function newPeriod(done: Promise<void>, prompt?: AcceptedPrompt): BusyPeriod {
	return { controller: new AbortController(), done, prompt, successor: undefined, hadRun: false, isCompacting: false };
}

export type Phase =
	| { name: "idle" }
	/** A run is active or about to start: a prompt must be queued. */
	| { name: "running"; period: BusyPeriod }
	/** A command condenses the conversation: a prompt waits for its end. */
	| { name: "compacting"; period: BusyPeriod }
	/** Between a run's end and what may follow by itself: a prompt takes over. `gap` ends the wait. */
	| { name: "settling"; period: BusyPeriod; gap: AbortController };
