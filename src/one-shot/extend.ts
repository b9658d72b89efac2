/** Extensions where no host is: they can do what they always can, and nobody answers their dialogs. */
import type { Hooks, Ui } from "../agent/contracts.ts";
import type { Assembly } from "../live/assemble.ts";
import { sessionHandlers } from "../live/commands/session.ts";
import type { Extensions } from "../live/extensions.ts";
import type { EventWriter } from "../rpc/event-writer.ts";
import type { SettingsView } from "../settings/settings.ts";

export interface ExtendInput extends Assembly {
	settings: SettingsView;
	cwd: string;
	hooks: Hooks;
	warn: (text: string) => void;
	/** A message of an extension could not be sent. */
	refuse: (command: string, error: string) => void;
	/** An extension asks for the end. */
	shutdown: () => void;
}

export function extend(extensions: Extensions, input: ExtendInput): Promise<void> {
	const { session, hooks, cwd, warn, refuse } = input;
	const send: EventWriter["send"] = (frame) => {
		if (frame.type !== "response" || frame.error === undefined) return;
		warn(`A message of an extension could not be sent: ${frame.error}`);
		refuse(frame.command, frame.error);
	};
	return extensions.start({
		...input,
		handlers: sessionHandlers(session, hooks, cwd),
		server: { inTurn: turns() },
		events: { send },
		hostTools: { tools: [] },
		ui: nobody(warn),
		hasUI: false,
		now: Date.now,
	});
}

/** One piece of work after another, whatever becomes of it. */
function turns(): <T>(work: () => Promise<T>) => Promise<T> {
	let last: Promise<unknown> = Promise.resolve();
	return (work) => {
		const result = last.then(work, work);
		last = result;
		return result;
	};
}

/** Every dialog has its default as answer at once; notices go to stderr. */
function nobody(warn: (text: string) => void): Ui {
	const nothing = () => undefined;
	return {
		select: async () => undefined,
		confirm: async () => false,
		input: async () => undefined,
		editor: async () => undefined,
		notify: (message, type) => (type === "warning" || type === "error" ? warn(message) : console.error(message)),
		setStatus: nothing,
		setWidget: nothing,
		setTitle: nothing,
		setEditorText: nothing,
	};
}
