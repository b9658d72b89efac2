/** A request that is not served: a code that programs compare, a text that names the remedy, and the status of the code's row. */
import { type HttpErrorCode, type HttpStatus, httpStatusOf } from "../protocol/errors.ts";

interface More<Code extends HttpErrorCode> {
	/** Of a code that has several. */
	status?: HttpStatus<Code>;
	details?: Record<string, unknown>;
	headers?: Record<string, string>;
}

export class Refusal<Code extends HttpErrorCode = HttpErrorCode> extends Error {
	override name = "Refusal";
	readonly status: number;
	readonly code: Code;
	readonly details: Readonly<Record<string, unknown>> | undefined;
	readonly headers: Readonly<Record<string, string>>;

	constructor(code: Code, message: string, more: More<Code> = {}) {
		super(message);
		this.status = more.status ?? httpStatusOf(code);
		this.code = code;
		this.details = more.details;
		this.headers = more.headers ?? {};
	}

	get body(): object {
		return { error: { code: this.code, message: this.message, ...(this.details && { details: this.details }) } };
	}
}

/** By its name: chunks of the program have their own copies of the class. */
export function isRefusal(error: unknown): error is Refusal {
	return error instanceof Error && error.name === "Refusal";
}
