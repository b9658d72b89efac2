/** What a session is given, told and answers. Types only. */
import type { Flow, Hooks, ModelAccess, Policy, PromptSource, Tool, ValidateArguments } from "../agent/contracts.ts";
import type { InterruptMode, QueueMode } from "../protocol/commands/queue.ts";
import type { Image } from "../protocol/content.ts";
import type { AgentMessage } from "../protocol/messages.ts";
import type { SessionStore } from "../transcript/store.ts";
import type { Transcript } from "../transcript/transcript.ts";
import type { Bus } from "./bus.ts";
import type { ModelChoice } from "./model-choice.ts";
import type { TodoList } from "./todo-list.ts";

/** What a session is made of; the app puts it together. */
export interface SessionParts {
	models: ModelAccess;
	choice: ModelChoice;
	/** Said when a prompt arrives and there is no model. */
	noModelText: () => string;
	/** The active tools, in their stable order. Loaded before the first run. */
	tools: () => Promise<readonly Tool[]>;
	validate: ValidateArguments;
	systemPrompt: (tools: readonly Tool[]) => Promise<string>;
	/** What a text that starts with a slash stands for. */
	expand: (text: string) => Promise<string>;
	policies: readonly Policy[];
	hooks?: Hooks;
	/** Takes credentials out of a text. */
	redact: (text: string) => string;
	todos: TodoList;
	transcripts: SessionStore;
	/** The session to go on with; without it a new one begins. */
	transcript?: Transcript;
	bus: Bus;
	flow: Flow;
	now: () => number;
	start: {
		steeringMode: QueueMode;
		followUpMode: QueueMode;
		interruptMode: InterruptMode;
		autoCompaction: boolean;
	};
}

export interface PromptInput {
	text: string;
	images: Image[];
	streamingBehavior?: "steer" | "followUp";
	/** Default `rpc`. */
	source?: PromptSource;
}

export interface Acceptance {
	disposition: "started" | "queued" | undefined;
	/** Goes on with the prompt once it has been acknowledged. Tells why it cannot run after all. */
	begin: (begun?: Begun) => Promise<string | undefined>;
}

/**
 * Told at the very moment when it is clear what becomes of a prompt that is not refused: the next event is the first of its run, it waits in
 * a queue, or an extension took it and nothing is left.
 */
export type Begun = (disposition: "started" | "queued" | "handled", messages: readonly AgentMessage[]) => void;
