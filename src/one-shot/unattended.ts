/** Dialogs without a person to answer: each gets its default as answer at once; notices go to stderr. */
import type { Ui } from "../agent/ui.ts";

export function unattended(warn: (text: string) => void): Ui {
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
