/** A refusal that a host can provoke and read. Its text is protocol. Anything else that is thrown is a bug. */
export class CommandError extends Error {
	override readonly name = "CommandError";
	/** A machine-readable code, where the protocol has one. */
	readonly code: string | undefined;
	/** For internal callers: the kind of refusal. Not on the wire. */
	readonly kind: "cancelled" | undefined;

	/** A sentence for people, next to a text that programs compare. */
	readonly hint: string | undefined;

	constructor(message: string, code?: string, kind?: "cancelled", hint?: string) {
		super(message);
		this.code = code;
		this.kind = kind;
		this.hint = hint;
	}
}

/** By name, because the program is made of several bundles that each have their own copy of the class. */
export function isCommandError(error: unknown): error is CommandError {
	return error instanceof Error && error.name === "CommandError";
}
