/** A refusal that a host can provoke and read. Its text is protocol. Anything else that is thrown is a bug. */
export class CommandError extends Error {
	override readonly name = "CommandError";
	/** A word for programs, where the protocol has one. */
	readonly code: string | undefined;

	constructor(message: string, code?: string) {
		super(message);
		this.code = code;
	}
}

/** By name, because the program is made of several bundles that each have their own copy of the class. */
export function isCommandError(error: unknown): error is CommandError {
	return error instanceof Error && error.name === "CommandError";
}
