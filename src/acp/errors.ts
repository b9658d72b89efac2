/** Failures as the editor reads them. */
import { isCommandError } from "../protocol/command-error.ts";

export const codes = {
	parse: -32700,
	invalidRequest: -32600,
	methodNotFound: -32601,
	invalidParams: -32602,
	internal: -32603,
	/** No credential is configured. Not for a key that a provider refuses. */
	authRequired: -32000,
	unknownSession: -32002,
	cancelled: -32800,
} as const;

export class RpcError extends Error {
	override readonly name = "RpcError";
	readonly code: number;
	readonly data: Record<string, unknown>;

	/** Some clients show only the message, others only the details, so both hold the same words. */
	constructor(code: number, message: string, data: Record<string, unknown> = {}) {
		super(message);
		this.code = code;
		this.data = { details: message, ...data };
	}
}

/** By name, because chunks have their own copies of the class. */
export function isRpcError(error: unknown): error is RpcError {
	return error instanceof Error && error.name === "RpcError";
}

export const invalid = (text: string) => new RpcError(codes.invalidParams, text);
export const failed = (text: string) => new RpcError(codes.internal, text);
export const unknownSession = (id: string) => new RpcError(codes.unknownSession, `Unknown session: ${id}`);

/** Whatever was thrown, with its own words. */
export function asRpcError(error: unknown): RpcError {
	if (isRpcError(error)) return error;
	if (isCommandError(error)) return failed(error.message);
	const text = error instanceof Error ? error.message : String(error);
	return failed(text || "The request failed without a reason.");
}

/** Whether it is a fault of ours, which belongs into the log with its stack. */
export const isBug = (error: unknown) => !isRpcError(error) && !isCommandError(error) && (error as Error)?.name !== "UsageError";
