/** Who wants to hear what. Outlives the agent, so that a restart changes nothing for its listeners. */
import type { AgentEvent, EventName, EventOf, ExtensionUiRequest, Response } from "../protocol/types.generated.ts";
import type { Exit } from "./channel.ts";
import { EventQueue } from "./event-queue.ts";

/** What can be listened to, and what a listener is given. */
export type ListenerTypes = { [Name in EventName]: EventOf<Name> } & {
	/** Every event, also of types that only other agents have. */
	event: AgentEvent;
	/** Dialogs and notices of extensions. `onDialog` answers the dialogs among them. */
	extension_ui_request: ExtensionUiRequest;
	/** An answer that no request waits for: a prompt that failed after it was accepted, an extension that could not send. */
	response: Response;
	/** The agent has ended. */
	exit: Exit;
};

type Listener = (value: never) => void;

/** Names that are not those of events. An agent that has such an event is heard by those who listen to all. */
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
