/** The command line, or what it names, cannot be used as it is. Exit code 2; RPC mode says 1 for every start that fails. */
export class UsageError extends Error {
	override readonly name = "UsageError";
}

/** By name, because the program is made of several bundles that each have their own copy of the class. */
export function isUsageError(error: unknown): error is UsageError {
	return error instanceof Error && error.name === "UsageError";
}
