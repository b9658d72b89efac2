/** A tool failure that carries more than a text: its whole result is passed on as an error. */
export class ToolFailure<Result> extends Error {
	override readonly name = "ToolFailure";
	readonly result: Result;

	constructor(result: Result) {
		super("The tool failed.");
		this.result = result;
	}
}

/** By name, because the program is made of several bundles that each have their own copy of the class. */
export function isToolFailure(error: unknown): error is ToolFailure<unknown> {
	return error instanceof Error && error.name === "ToolFailure";
}
