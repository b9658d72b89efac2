/** Calls the handlers of an event, one after another. */
import { linkedController, onAbort } from "../lib/abort.ts";
import type { ExtensionContext } from "./api.ts";
import { contextOf } from "./context.ts";
import type { ExtensionEvent, ExtensionEventName } from "./events.ts";
import { type Link, settle, slowAfterMs } from "./link.ts";
import type { AnyHandler, Registrations } from "./registrations.ts";
import type { DialogCall } from "./ui.ts";

export interface Question<Name extends ExtensionEventName> {
	name: Name;
	/** Created again for each handler, so that it sees the changes of the earlier ones. */
	event: () => ExtensionEvent<Name>;
	/** Ends the wait. */
	signal?: AbortSignal;
	/** Takes an answer; true ends the chain. An error thrown here counts as thrown by the handler. */
	take?: (answer: unknown, event: ExtensionEvent<Name>) => boolean | undefined;
	/** After a handler threw; true ends the chain. */
	onFailure?: (path: string, cause: unknown) => boolean;
}

/** Whether the chain ran to its end, that is, the signal did not cut it. */
export async function ask<Name extends ExtensionEventName>(
	extensions: readonly Registrations[],
	link: Link,
	question: Question<Name>,
): Promise<boolean> {
	const { name, take, onFailure } = question;
	// Listed before the first call: a handler that is added meanwhile receives the next event.
	const asked = extensions.flatMap((own) => (own.handlers.get(name) ?? []).map((handler) => ({ own, handler })));
	if (asked.length === 0 || !link.isBound || link.ended.aborted) return true;
	const { signal, release } = untilEither(question.signal, link.ended);
	try {
		for (const { own, handler } of asked) {
			if (signal.aborted) return false;
			const event = question.event();
			const settled = await link.waitingFor(
				own.path,
				name,
				called(own, handler, event, contextOf(link, own.path, signal, callOf(event)), link, signal),
			);
			if ("isAborted" in settled) return false;
			try {
				if ("failure" in settled) throw settled.failure;
				if (take?.(settled.answer, event)) return true;
			} catch (cause) {
				link.report(own.path, name, cause);
				if (onFailure?.(own.path, cause)) return true;
			}
		}
		return true;
	} finally {
		release();
	}
}

/** The call that an event is about. A dialog of `tool_call` decides whether the call runs. */
function callOf(event: { type: string; toolCallId?: string }): DialogCall | undefined {
	return event.toolCallId === undefined ? undefined : { toolCallId: event.toolCallId, isBeforeCall: event.type === "tool_call" };
}

function called(own: Registrations, handler: AnyHandler, event: { type: string }, context: ExtensionContext, link: Link, signal: AbortSignal) {
	return settle(
		() => handler(event, context),
		signal,
		() => {
			link.warn(`Extension ${own.path} has not answered ${event.type} for ${slowAfterMs / 1000} s. An abort ends the wait.`);
			return false;
		},
	);
}

/** A signal that fires with either of the two, until it is released. */
export function untilEither(given: AbortSignal | undefined, ended: AbortSignal): { signal: AbortSignal; release: () => void } {
	const { controller, release } = linkedController(ended);
	const releaseGiven = given && onAbort(given, () => controller.abort());
	return {
		signal: controller.signal,
		release: () => {
			release();
			releaseGiven?.();
		},
	};
}
