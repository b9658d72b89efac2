/** The host's user, as an extension reaches them. Input is checked, because hosts may be strict; terminal-only members do nothing. */
import type { DialogOptions, Ui as HostUi } from "../agent/contracts.ts";
import type { Ui } from "./api.ts";
import type { Link } from "./link.ts";

const noThemes = { success: false, error: "Theme switching not supported in RPC mode" };
/** `theme.fg("accent", text)` and similar: returns the text unchanged. */
const paint = (...words: unknown[]) => words.findLast((word) => typeof word === "string") ?? "";
const theme = new Proxy({}, { get: (_, member) => (member === "then" ? undefined : paint) });

/** Members of the family's terminal: there is no terminal here, and extensions that use them still run. */
const terminalOnly: Record<string, unknown> = {
	theme,
	getAllThemes: () => [],
	getTheme: () => undefined,
	setTheme: () => noThemes,
	getEditorText: () => "",
	custom: async () => undefined,
	setFooter: () => undefined,
	setHeader: () => undefined,
	setWorkingMessage: () => undefined,
	setEditorComponent: () => undefined,
};

/** The call that dialogs belong to. */
export type DialogCall = Pick<DialogOptions, "toolCallId" | "isBeforeCall">;

export interface UiListeners {
	/** Called for members that exist nowhere. */
	onUnknown: (member: string) => void;
	/** Opens a dialog, and says so; absent if there is no one to ask. */
	asking?: Link["asking"];
}

const unheard: Link["asking"] = (_, __, dialog) => dialog();

/** Dialogs end with the hook that opened them. */
export function uiUntil(ui: HostUi, signal: AbortSignal, { onUnknown, asking = unheard }: UiListeners, call: DialogCall = {}): Ui {
	const until = (options?: DialogOptions): DialogOptions => {
		const own = options?.signal instanceof AbortSignal ? options.signal : undefined;
		return { ...options, ...call, signal: own ? AbortSignal.any([signal, own]) : signal };
	};
	const checked: Ui = {
		select: async (title, choices, options) => {
			const { labels, descriptions } = choicesOf(choices);
			return asking("select", String(title), () => ui.select(String(title), labels, { ...until(options), ...(descriptions && { descriptions }) }));
		},
		confirm: async (title, message, options) =>
			asking("confirm", String(title), () => ui.confirm(String(title), String(message ?? ""), until(options))),
		input: async (title, placeholder, options) => asking("input", String(title), () => ui.input(String(title), text(placeholder), until(options))),
		editor: async (title, prefill, options) => asking("editor", String(title), () => ui.editor(String(title), text(prefill), until(options))),
		notify: (message, type) => ui.notify(String(message), oneOf(["info", "warning", "error"], type)),
		setStatus: (key, words) => ui.setStatus(String(key), text(words)),
		setWidget(key, lines, options) {
			// The family also takes components, which cannot cross the wire.
			if (typeof lines === "function") return;
			const placement = oneOf(["aboveEditor", "belowEditor"], options?.placement);
			ui.setWidget(String(key), Array.isArray(lines) ? lines.map(String) : text(lines)?.split("\n"), placement && { placement });
		},
		setTitle: (title) => ui.setTitle(String(title)),
		setEditorText: (words) => ui.setEditorText(String(words)),
	};
	return new Proxy(checked, {
		get(known, member) {
			if (Object.hasOwn(known, member)) return known[member as keyof Ui];
			if (typeof member !== "string" || member === "then") return undefined;
			if (Object.hasOwn(terminalOnly, member)) return terminalOnly[member];
			onUnknown(member);
			return () => undefined;
		},
	});
}

/** Texts, or labels with a description. */
function choicesOf(choices: unknown): { labels: string[]; descriptions?: (string | undefined)[] } {
	const all = Array.isArray(choices) ? choices.map((choice) => (typeof choice === "string" ? { label: choice } : choice)) : [undefined];
	const isChoice = (choice: unknown): choice is Choice => typeof (choice as Choice | undefined)?.label === "string";
	if (!all.every(isChoice)) throw new TypeError("ui.select: options must be a list of strings, or of objects with a label");
	const descriptions = all.map(({ description }) => (typeof description === "string" ? description : undefined));
	return { labels: all.map(({ label }) => label), ...(descriptions.some((each) => each !== undefined) && { descriptions }) };
}

interface Choice {
	label: string;
	description?: unknown;
}

function oneOf<const Word extends string>(words: readonly Word[], value: unknown): Word | undefined {
	return words.find((word) => word === value);
}

function text(value: unknown): string | undefined {
	return value === undefined || value === null ? undefined : String(value);
}
