/** How the agent reaches the person in front of the host. Types only. */

export interface DialogOptions {
	/** Milliseconds; then the default is the answer. */
	timeout?: number;
	signal?: AbortSignal;
	/** The call that the dialog belongs to. */
	toolCallId?: string;
	/** What the choices mean, in their order. */
	descriptions?: readonly (string | undefined)[];
	/** The call waits for the answer: the dialog decides whether it runs. */
	isBeforeCall?: boolean;
}

/** A form to fill in, or an address to visit, that an MCP server asks a person about. */
export interface Elicitation {
	server: string;
	/** With the server's name in front. */
	message: string;
	/** The call in whose course it asks, where that is known. */
	toolCallId?: string;
	/** A flat JSON Schema. */
	form?: Record<string, unknown>;
	url?: string;
}

export type Elicit = (
	request: Elicitation,
	signal: AbortSignal,
) => Promise<{ action: "accept" | "decline" | "cancel"; content?: Record<string, unknown> }>;

/** A dialog always ends; without an answer it gives its default. */
export interface Ui {
	select(title: string, choices: string[], options?: DialogOptions): Promise<string | undefined>;
	confirm(title: string, message: string, options?: DialogOptions): Promise<boolean>;
	input(title: string, placeholder?: string, options?: DialogOptions): Promise<string | undefined>;
	editor(title: string, prefill?: string, options?: DialogOptions): Promise<string | undefined>;
	notify(message: string, type?: "info" | "warning" | "error"): void;
	setStatus(key: string, text?: string): void;
	setWidget(key: string, lines?: string[], options?: { placement?: "aboveEditor" | "belowEditor" }): void;
	setTitle(title: string): void;
	setEditorText(text: string): void;
	/** Has an address opened that the user agreed to. Absent where no host can do that. */
	openUrl?(url: string, instructions: string): void;
}
