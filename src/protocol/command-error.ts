import type { ErrorCode } from "./errors.ts";

/** A refusal that a host can provoke and read. Its text and its code are protocol. Anything else that is thrown is a bug. */
export class CommandError extends Error {
	override readonly name = "CommandError";
	readonly code: ErrorCode;
	/** A sentence for people, next to a text that programs compare. */
	readonly hint: string | undefined;

	constructor(code: ErrorCode, message: string, hint?: string) {
		super(message);
		this.code = code;
		this.hint = hint;
	}
}

/** By name, because the program is made of several bundles that each have their own copy of the class. */
export function isCommandError(error: unknown): error is CommandError {
	return error instanceof Error && error.name === "CommandError";
}
