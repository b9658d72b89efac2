/** The command line, or a file it names, cannot be used. Exit code 2; RPC mode exits with 1 for every failed start. */
export class UsageError extends Error {
	override readonly name = "UsageError";
}

/** By name, because the program is made of several bundles that each have their own copy of the class. */
export function isUsageError(error: unknown): error is UsageError {
	return error instanceof Error && error.name === "UsageError";
}
