/** What a session is made of. Every part exists before the session does. Types only. */
import type { Doors } from "../agent/doors.ts";
import type { PromptSource } from "../agent/policy.ts";
import type { Flow } from "../agent/stream.ts";
import type { Log } from "../lib/log.ts";
import type { InterruptMode } from "../protocol/commands/queue.ts";
import type { Image, UserContent } from "../protocol/content.ts";
import type { SessionStore } from "../transcript/store.ts";
import type { Briefing } from "./briefing.ts";
import type { Bus } from "./bus.ts";
import type { Conversation } from "./conversation.ts";
import type { Inbox } from "./inbox.ts";
import type { Requests } from "./requests.ts";
import type { RequiredAnswer } from "./required-answer.ts";
import type { TodoList } from "./todo-list.ts";
import type { WriteAhead } from "./write-ahead.ts";

export interface SessionParts {
	conversation: Conversation;
	/** Where sessions are stored. */
	store: SessionStore;
	briefing: Briefing;
	doors: Doors;
	inbox: Inbox;
	requests: Requests;
	writeAhead: WriteAhead;
	todos: TodoList;
	controls: Controls;
	edges: Edges;
	/** Expands a text that starts with a slash. Throws CommandError when what it names cannot be had. */
	expand: (text: string, signal?: AbortSignal) => Promise<string | UserContent>;
}

/** What a host may switch while the session lives. */
export interface Controls {
	interruptMode: InterruptMode;
	autoCompaction: boolean;
	autoRetry: boolean;
}

/** Where the session meets the outside. */
export interface Edges {
	bus: Bus;
	flow: Flow;
	/** Removes credentials from a text. */
	redact: (text: string) => string;
	/** Warns the user about something that did not happen as requested. */
	warn: (text: string) => void;
	log: Log;
	now: () => number;
}

export interface PromptInput {
	text: string;
	images: Image[];
	streamingBehavior?: "steer" | "followUp";
	/** The value that the prompt asks for, if any. */
	answer?: RequiredAnswer;
	/** Default `rpc`. */
	source?: PromptSource;
}
