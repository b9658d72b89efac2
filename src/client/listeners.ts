/** The registered listeners. They outlive the agent, so that a restart changes nothing for them. */
import type { AgentEvent, EventName, EventOf, ExtensionUiRequest, Gap, Response, ServedSession, Snapshot } from "../protocol/types.generated.ts";
import type { Exit } from "./channel.ts";
import { EventQueue } from "./event-queue.ts";

/** The things to listen to, and what each listener receives. */
export type ListenerTypes = { [Name in EventName]: EventOf<Name> } & {
	/** Every event, including types that only other agents have. */
	event: AgentEvent;
	/** Dialogs and notices of extensions. `onDialog` answers the dialogs among them. */
	extension_ui_request: ExtensionUiRequest;
	/** An answer that no request waits for: a prompt that failed after it was accepted, an extension that could not send. */
	response: Response;
	/** The agent has ended. */
	exit: Exit;
	/** After a lost connection to a server: frames are missing here. With `durableLost`, read the entries again. */
	gap: Gap;
	/** What is going on, after a lost connection to a server. */
	snapshot: Snapshot;
	/** Of a server: what became of the session's process. */
	session_state: SessionStateChange;
	/** Of a server: who drives the session. */
	seat: SeatChange;
	/** Of a server: the session went on as another one, such as a fork. */
	session_moved: { type: "session_moved"; from: string; to: string };
	/** The server is about to end. */
	draining: { type: "draining"; deadlineMs: number };
};

export interface SessionStateChange {
	type: "session_state";
	sessionId: string;
	state: ServedSession["state"];
	since: number;
	reason?: string;
	exit?: { code: number | null; signal: string | null };
}

export interface SeatChange {
	type: "seat";
	sessionId: string;
	/** Whether this client holds it. */
	held: boolean;
	/** Who took it from this client. */
	by?: string;
	seat?: ServedSession["seat"];
}

type Listener = (value: never) => void;

/** Names that are not event names. If an agent has an event of such a name, only listeners to all events receive it. */
const ownNames: ReadonlySet<string> = new Set(["event", "extension_ui_request", "response", "exit"]);

export class Listeners {
	#byName = new Map<string, Set<Listener>>();
	#queues = new Set<EventQueue>();
	#report: (error: unknown) => void;

	constructor(report: (error: unknown) => void) {
		this.#report = report;
	}

	on<Name extends keyof ListenerTypes>(name: Name, listener: (value: ListenerTypes[Name]) => void): () => void {
		const listeners = this.#byName.get(name) ?? new Set();
		this.#byName.set(name, listeners);
		// A function of our own, so that one that is registered twice is also removed twice.
		const own = (value: ListenerTypes[Name]) => listener(value);
		listeners.add(own);
		return () => void listeners.delete(own);
	}

	events(): EventQueue {
		const queue = new EventQueue((over) => this.#queues.delete(over));
		this.#queues.add(queue);
		return queue;
	}

	event(event: AgentEvent): void {
		if (!ownNames.has(event.type)) this.#tell(event.type, event);
		this.#tell("event", event);
		for (const queue of this.#queues) queue.push(event);
	}

	tell<Name extends "extension_ui_request" | "response" | "exit">(name: Name, value: ListenerTypes[Name]): void {
		this.#tell(name, value);
	}

	/** The agent has ended: so do the iterators. */
	endQueues(): void {
		for (const queue of [...this.#queues]) queue.end();
	}

	#tell(name: string, value: unknown): void {
		for (const listener of this.#byName.get(name) ?? []) {
			try {
				listener(value as never);
			} catch (error) {
				this.#report(error);
			}
		}
	}
}
