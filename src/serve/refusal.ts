/** A request that is not served: a status, a code that programs compare, and a text that names the remedy. */
export class Refusal extends Error {
	override name = "Refusal";
	readonly status: number;
	readonly code: string;
	readonly details: Readonly<Record<string, unknown>> | undefined;
	readonly headers: Readonly<Record<string, string>>;

	constructor(status: number, code: string, message: string, more: { details?: Record<string, unknown>; headers?: Record<string, string> } = {}) {
		super(message);
		this.status = status;
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
