/** Questions about one request to a model: its messages, the body built from them, and the headers. */
import type { AgentMessage } from "../protocol/messages.ts";
import { type Answer, copyOf, isMessage, listIn, objectOf } from "./answers.ts";
import type { Question } from "./chain.ts";
import type { ExtensionEventName } from "./events.ts";

export type Ask = <Name extends ExtensionEventName>(question: Question<Name>) => Promise<boolean>;

/** The messages after the handlers: a copy that they change in place, or a replacement. */
export async function changedMessages(ask: Ask, messages: readonly AgentMessage[], signal?: AbortSignal): Promise<readonly AgentMessage[]> {
	let current = copyOf(messages) as AgentMessage[];
	const listOf = (holder: Answer) => listIn<AgentMessage>(holder, "messages", "a list of messages", isMessage);
	await ask({
		name: "context",
		event: () => ({ type: "context", messages: current }),
		signal,
		take: (given, event) => {
			const answer = objectOf(given);
			// The event's own list may have been replaced too.
			current = (answer && listOf(answer)) ?? listOf({ ...event }) ?? current;
			return undefined;
		},
	});
	return current;
}

/** The same for the body. */
export async function changedPayload<Body>(ask: Ask, payload: Body, signal?: AbortSignal): Promise<Body> {
	let current: unknown = copyOf(payload);
	await ask({
		name: "before_provider_request",
		event: () => ({ type: "before_provider_request", payload: current }),
		signal,
		take: (answer) => {
			if (answer !== undefined) current = answer;
			return undefined;
		},
	});
	return current as Body;
}

/** The same for the headers; a header set to null or undefined is omitted. */
export async function changedHeaders(ask: Ask, headers: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<Record<string, string>> {
	let current = { ...headers };
	await ask({
		name: "before_provider_headers",
		event: () => ({ type: "before_provider_headers", headers: { ...current } }),
		signal,
		take: (given, event) => {
			const wanted = Object.entries(objectOf(given) ?? event.headers).filter(([, value]) => value !== undefined && value !== null);
			if (!wanted.every(([, value]) => typeof value === "string")) throw new TypeError("headers must be strings");
			current = Object.fromEntries(wanted.map(([name, value]) => [name.toLowerCase(), value as string]));
			return undefined;
		},
	});
	return current;
}
