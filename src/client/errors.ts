/** The errors between a host and an agent. Distinguish them by class or by `name`. */
import type { ErrorCode } from "../protocol/types.generated.ts";
import type { Exit } from "./channel.ts";
import { ServerError } from "./server-address.ts";

/** The agent refused a command, or failed it after it had accepted it. */
export class RequestError extends Error {
	override readonly name = "RequestError";
	readonly command: string;
	/** The agent's own words. */
	readonly text: string;
	/** For a `switch`: docs/errors.md says what to do about each. Absent where an agent of another kind gives none. */
	readonly code: ErrorCode | undefined;
	/** A guess for a person, such as the name that was probably meant. */
	readonly hint: string | undefined;

	constructor(command: string, given: unknown, code?: ErrorCode, hint?: string) {
		const text = typeof given === "string" ? given : (JSON.stringify(given) ?? "failed without a reason");
		// Many texts begin with the command.
		super(text.startsWith(`${command}: `) ? text : `${command}: ${text}`);
		this.command = command;
		this.text = text;
		this.code = code;
		this.hint = hint;
	}
}

/** Something took longer than it was given. */
export class TimeoutError extends Error {
	override readonly name = "TimeoutError";
}

/** The agent is gone: it could not be started, it died, or it was closed. */
export class ExitError extends Error {
	override readonly name = "ExitError";
	readonly exitCode: number | null;
	readonly signal: NodeJS.Signals | null;
	/** The last lines of its stderr. */
	readonly stderr: string;

	/** `meanwhile`: what was going on, as in "while get_state was pending". */
	constructor(exit: Exit, meanwhile = "") {
		const when = meanwhile && !exit.cause ? ` ${meanwhile}` : "";
		super([`${howItEnded(exit)}${when}.`, lastLines(exit.stderr)].filter(Boolean).join("\n"), { cause: exit.cause });
		this.exitCode = exit.code;
		this.signal = exit.signal;
		this.stderr = exit.stderr;
	}
}

function howItEnded({ code, signal, cause }: Exit): string {
	if (cause instanceof ServerError) return cause.message.replace(/\.$/, "");
	if (cause) return `The agent could not be started: ${cause.message}`;
	return signal ? `The agent was ended by ${signal}` : `The agent exited with code ${code}`;
}

const quotedLines = 10;

function lastLines(text: string): string {
	return text.trimEnd().split("\n").slice(-quotedLines).join("\n");
}
